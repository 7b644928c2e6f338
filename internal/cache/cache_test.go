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

func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	const capacity = 50
	m := New[int, string](capacity)
	for i := range 3 * capacity {
		r := m.For(t.Context())
		r.Set(i, "value")
		if n := len(r.state.values); n > capacity {
			t.Fatalf("the cache has %d values", n)
		}
		if v, ok := r.Get(i); !ok || v != "value" {
			t.Fatal("the value set last is missing")
		}
	}
}

func TestValuesExpire(t *testing.T) {
	t.Parallel()
	m := New[int, string](1)
	r := m.For(t.Context())
	r.began -= fresh
	r.Set(1, "old")
	if v, ok := m.For(t.Context()).Get(1); ok {
		t.Errorf("got the expired value %q", v)
	}
}

// patience is longer than any step of these tests takes.
const patience = 20 * time.Second

// TestSlowReadDoesNotReplaceNewerValue: the read that began later wins.
func TestSlowReadDoesNotReplaceNewerValue(t *testing.T) {
	t.Parallel()
	m := New[int, string](1)
	slow, fast := m.For(t.Context()), m.For(t.Context())
	slow.began--
	fast.Set(1, "new")
	slow.Set(1, "old")
	if v, ok := m.For(t.Context()).Get(1); ok && v != "new" {
		t.Errorf("the cache has %q", v)
	}
}

// startRead starts to read a value; end lets the read return.
func startRead(t *testing.T, r Scoped[int, string], key int, v string) (end func()) {
	t.Helper()
	started, result, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		got, err := r.Do(context.WithoutCancel(t.Context()), key, func() (string, error) {
			close(started)
			<-result
			r.Set(key, v)
			return v, nil
		})
		if got != v || err != nil {
			t.Errorf("the read of %q returned %q, %v", v, got, err)
		}
	}()
	end = sync.OnceFunc(func() {
		close(result)
		<-done
	})
	t.Cleanup(end)
	select {
	case <-started:
	case <-time.After(patience):
		t.Fatalf("the read of %q joined another", v)
	}
	return end
}

// readAlone reads a value and fails if the read joins another one.
func readAlone(t *testing.T, r Scoped[int, string], key int, v string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if got, err := r.Do(ctx, key, func() (string, error) { return v, nil }); got != v || err != nil {
		t.Fatalf("the read of %q returned %q, %v", v, got, err)
	}
}

// TestReadThatBeganBeforeAChangeIsDropped: it is neither cached nor joined after the change.
func TestReadThatBeganBeforeAChangeIsDropped(t *testing.T) {
	t.Parallel()
	m := New[int, string](1)
	end := startRead(t, m.For(t.Context()), 1, "old")
	m.clear()
	readAlone(t, m.For(t.Context()), 1, "new")
	end()
	if v, ok := m.For(t.Context()).Get(1); ok {
		t.Errorf("the cache has %q", v)
	}
}

// TestDoReturnsPanicAsError: nothing else would recover it on the goroutine of the read, and
// the process would end.
func TestDoReturnsPanicAsError(t *testing.T) {
	t.Parallel()
	m := New[int, string](1)
	var none *[]int
	for what, read := range map[string]func() (string, error){
		"a text":        func() (string, error) { panic("secret") },
		"a nil pointer": func() (string, error) { return "", fmt.Errorf("%d", (*none)[0]) },
	} {
		_, err := m.For(t.Context()).Do(t.Context(), 1, read)
		if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "cache_test.go:") {
			t.Errorf("a panic with %s returned %v", what, err)
		}
	}
	readAlone(t, m.For(t.Context()), 1, "value")
}

// TestValuesAreScopedToTheCaller: each practice, each site and work across practices has
// values and reads of its own for the same key.
func TestValuesAreScopedToTheCaller(t *testing.T) {
	t.Parallel()
	m := New[int, string](10)
	as := func(c principal.Principal) context.Context { return principal.With(t.Context(), &c) }
	practice, site, other := uuid.New(), uuid.New(), uuid.New()
	callers := map[string]context.Context{
		"no principal":       t.Context(),
		"the practice":       as(principal.Principal{PracticeID: practice}),
		"a site":             as(principal.Principal{PracticeID: practice, SiteID: &site}),
		"its other site":     as(principal.Principal{PracticeID: practice, SiteID: &other}),
		"the other practice": as(principal.Principal{PracticeID: uuid.New()}),
	}
	for who, ctx := range callers {
		r := m.For(ctx)
		if v, ok := r.Get(1); ok {
			t.Errorf("%s got the value of %s", who, v)
		}
		readAlone(t, r, 1, who)
		startRead(t, r, 1, who)
	}
	for who, ctx := range callers {
		m.For(ctx).Set(2, who)
	}
	callers["a site"] = as(principal.Principal{PracticeID: practice, SiteID: &site, UserID: 7, TokenID: uuid.New()}) // another user of the site
	for who, ctx := range callers {
		if v, ok := m.For(ctx).Get(2); v != who || !ok {
			t.Errorf("%s got the value of %q", who, v)
		}
	}
}

func TestDoEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	result := make(chan struct{})
	defer close(result)
	_, err := New[int, int](1).For(ctx).Do(ctx, 1, func() (int, error) { <-result; return 1, nil })
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
