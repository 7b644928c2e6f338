package cache

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"chairside/internal/principal"
)

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	const most = 50
	m := New[int, string](most)
	for i := range 3 * most {
		r := m.For(t.Context())
		r.Set(i, "kept")
		if n := len(r.state.values); n > most {
			t.Fatalf("%d values are remembered", n)
		}
		if v, ok := r.Get(i); !ok || v != "kept" {
			t.Fatal("what was kept last is not there")
		}
	}
}

func TestOldReadingsAreNotRecalled(t *testing.T) {
	t.Parallel()
	m := New[int, string](1)
	r := m.For(t.Context())
	r.began -= fresh
	r.Set(1, "old")
	if v, ok := m.For(t.Context()).Get(1); ok {
		t.Errorf("%q is recalled after its time", v)
	}
}

// patience is more than any of this takes.
const patience = 20 * time.Second

// TestSlowReadingsAreLate: what was read before is not put over what was read since.
func TestSlowReadingsAreLate(t *testing.T) {
	t.Parallel()
	m := New[int, string](1)
	slow, quick := m.For(t.Context()), m.For(t.Context())
	slow.began--
	quick.Set(1, "new")
	slow.Set(1, "old")
	if v, ok := m.For(t.Context()).Get(1); ok && v != "new" {
		t.Errorf("%q is remembered", v)
	}
}

// slowly begins to read a value, and gives what ends that.
func slowly(t *testing.T, r Scoped[int, string], key int, v string) (end func()) {
	t.Helper()
	reading, answer, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		got, err := r.Do(context.WithoutCancel(t.Context()), key, func() (string, error) {
			close(reading)
			<-answer
			r.Set(key, v)
			return v, nil
		})
		if got != v || err != nil {
			t.Errorf("who reads %q gets %q, %v", v, got, err)
		}
	}()
	end = sync.OnceFunc(func() {
		close(answer)
		<-done
	})
	t.Cleanup(end)
	select {
	case <-reading:
	case <-time.After(patience):
		t.Fatalf("who reads %q has joined another", v)
	}
	return end
}

// alone reads a value that nobody else has begun to read.
func alone(t *testing.T, r Scoped[int, string], key int, v string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if got, err := r.Do(ctx, key, func() (string, error) { return v, nil }); got != v || err != nil {
		t.Fatalf("who reads %q alone gets %q, %v", v, got, err)
	}
}

// TestReadingThatAChangeOvertakesIsNotRemembered, nor joined after the change.
func TestReadingThatAChangeOvertakesIsNotRemembered(t *testing.T) {
	t.Parallel()
	m := New[int, string](1)
	end := slowly(t, m.For(t.Context()), 1, "old")
	m.clear()
	alone(t, m.For(t.Context()), 1, "new")
	end()
	if v, ok := m.For(t.Context()).Get(1); ok {
		t.Errorf("%q is remembered", v)
	}
}

// TestPanicOfAReadingIsAnError for whoever waits for it: on the goroutine of the
// reading nothing would catch it, and the whole process would end.
func TestPanicOfAReadingIsAnError(t *testing.T) {
	t.Parallel()
	m := New[int, string](1)
	var none *[]int
	for what, read := range map[string]func() (string, error){
		"a text":        func() (string, error) { panic("secret") },
		"a nil pointer": func() (string, error) { return "", fmt.Errorf("%d", (*none)[0]) },
	} {
		_, err := m.For(t.Context()).Do(t.Context(), 1, read)
		if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "cache_test.go:") {
			t.Errorf("a panic for %s gives %v", what, err)
		}
	}
	alone(t, m.For(t.Context()), 1, "value")
}

// TestCallersRecallWhatIsTheirs: the same key is another value for another
// practice, another site, and for work of no practice, and joined by nobody else.
func TestCallersRecallWhatIsTheirs(t *testing.T) {
	t.Parallel()
	m := New[int, string](10)
	as := func(c principal.Principal) context.Context { return principal.With(t.Context(), &c) }
	ours, site, other := uuid.New(), uuid.New(), uuid.New()
	callers := map[string]context.Context{
		"nobody":             t.Context(),
		"the practice":       as(principal.Principal{PracticeID: ours}),
		"a site":             as(principal.Principal{PracticeID: ours, SiteID: &site}),
		"its other site":     as(principal.Principal{PracticeID: ours, SiteID: &other}),
		"the other practice": as(principal.Principal{PracticeID: uuid.New()}),
	}
	for who, ctx := range callers {
		r := m.For(ctx)
		if v, ok := r.Get(1); ok {
			t.Errorf("%s recalls what %s has read", who, v)
		}
		alone(t, r, 1, who)
		slowly(t, r, 1, who)
	}
	for who, ctx := range callers {
		m.For(ctx).Set(2, who)
	}
	callers["a site"] = as(principal.Principal{PracticeID: ours, SiteID: &site, UserID: 7, TokenID: uuid.New()}) // a colleague there
	for who, ctx := range callers {
		if v, ok := m.For(ctx).Get(2); v != who || !ok {
			t.Errorf("%s recalls what %q has read", who, v)
		}
	}
}

func TestWhoeverLeavesGetsNoReading(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancel(t.Context())
	leave()
	answer := make(chan struct{})
	defer close(answer)
	_, err := New[int, int](1).For(ctx).Do(ctx, 1, func() (int, error) { <-answer; return 1, nil })
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
