package cache

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/google/uuid"

	"chairside/internal/principal"
)

func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	const most = 50
	m := New[int, string](most)
	for i := range 3 * most {
		r := m.reading(t.Context())
		r.set(i, "kept")
		if n := len(r.state.values); n > most {
			t.Fatalf("%d values are remembered", n)
		}
		if v, ok := r.get(i); !ok || v != "kept" {
			t.Fatal("what was kept last is not there")
		}
	}
}

func TestValuesExpire(t *testing.T) {
	t.Parallel()
	m := New[int, string](1)
	r := m.reading(t.Context())
	r.began -= fresh
	r.set(1, "old")
	if v, ok := m.reading(t.Context()).get(1); ok {
		t.Errorf("%q is recalled after its time", v)
	}
}

// TestSlowReadDoesNotReplaceNewerValue: what was read before is not put over what was read since.
func TestSlowReadDoesNotReplaceNewerValue(t *testing.T) {
	t.Parallel()
	m := New[int, string](1)
	slow, quick := m.reading(t.Context()), m.reading(t.Context())
	slow.began--
	quick.set(1, "new")
	slow.set(1, "old")
	if v, ok := m.reading(t.Context()).get(1); ok && v != "new" {
		t.Errorf("%q is remembered", v)
	}
}

// TestReadOvertakenByAChangeIsNotCached: Get has begun before it reads.
func TestReadOvertakenByAChangeIsNotCached(t *testing.T) {
	t.Parallel()
	m := New[int, string](1)
	v, found, err := m.Get(t.Context(), 1, nil, func() (string, bool, error) {
		m.clear()
		return "old", true, nil
	})
	if v != "old" || !found || err != nil {
		t.Errorf("who reads gets %q, %v, %v", v, found, err)
	}
	_, err = m.GetAll(t.Context(), []int{2}, func([]int) (map[int]string, error) {
		m.clear()
		return map[int]string{2: "old"}, nil
	})
	if err != nil {
		t.Error(err)
	}
	for key := range 3 {
		if v, ok := m.reading(t.Context()).get(key); ok {
			t.Errorf("%q is remembered", v)
		}
	}
}

// TestGetReadsIfNothingUsableIsCached, or not there, and remembers what was found.
func TestGetReadsIfNothingUsableIsCached(t *testing.T) {
	t.Parallel()
	m, lost := New[int, string](10), errors.New("connection lost")
	all, none := func(string) bool { return true }, func(string) bool { return false }
	for _, test := range []struct {
		usable func(string) bool
		value  string // that is read
		err    error
		want   string
		reads  int
	}{
		{all, "", nil, "", 1}, // not found: not remembered
		{all, "x", lost, "x", 1},
		{all, "first", nil, "first", 1},
		{all, "second", nil, "first", 0},
		{none, "third", nil, "third", 1},
		{all, "fourth", nil, "third", 0},
	} {
		reads := 0
		v, found, err := m.Get(t.Context(), 1, test.usable, func() (string, bool, error) {
			reads++
			return test.value, test.value != "", test.err
		})
		if v != test.want || found != (test.want != "") || !errors.Is(err, test.err) || reads != test.reads {
			t.Errorf("%q: got %q, %v, %v after %d readings", test.value, v, found, err, reads)
		}
	}
}

// TestGetAllReadsMissingKeys alone.
func TestGetAllReadsMissingKeys(t *testing.T) {
	t.Parallel()
	m := New[int, int](10)
	for _, test := range []struct{ keys, missing, want []int }{
		{[]int{1, 2}, []int{1, 2}, []int{1, 2}},
		{[]int{2, 1}, nil, []int{1, 2}},
		{[]int{1, 3, -4}, []int{3, -4}, []int{1, 3}}, // what is negative is not found
	} {
		var asked []int
		found, err := m.GetAll(t.Context(), test.keys, func(missing []int) (map[int]int, error) {
			asked = missing
			values := map[int]int{}
			for _, key := range missing {
				if key > 0 {
					values[key] = 10 * key
				}
			}
			return values, nil
		})
		if got := slices.Sorted(maps.Keys(found)); err != nil || !slices.Equal(got, test.want) || !slices.Equal(asked, test.missing) || found[1] != 10 {
			t.Errorf("%v: got %v, asked for %v, %v", test.keys, found, asked, err)
		}
	}
}

// TestPrincipalsGetOnlyTheirOwnValues: the same key is another value for another
// practice, another site, and for work of no practice.
func TestPrincipalsGetOnlyTheirOwnValues(t *testing.T) {
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
		if v, ok := m.reading(ctx).get(1); ok {
			t.Errorf("%s recalls what %s has read", who, v)
		}
		m.reading(ctx).set(1, who)
	}
	callers["a site"] = as(principal.Principal{PracticeID: ours, SiteID: &site, UserID: 7, TokenID: uuid.New()}) // a colleague there
	for who, ctx := range callers {
		if v, ok := m.reading(ctx).get(1); v != who || !ok {
			t.Errorf("%s recalls what %q has read", who, v)
		}
	}
}
