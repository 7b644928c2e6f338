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
	const capacity = 50
	m := New[int, string](capacity)
	for i := range 3 * capacity {
		r := m.access(t.Context())
		r.set(i, "value")
		if n := len(r.state.values); n > capacity {
			t.Fatalf("%d values are cached, the capacity is %d", n, capacity)
		}
		if v, ok := r.get(i); !ok || v != "value" {
			t.Fatal("the newest value is not cached")
		}
	}
}

func TestValuesExpire(t *testing.T) {
	t.Parallel()
	m := New[int, string](1)
	r := m.access(t.Context())
	r.began -= maxAge
	r.set(1, "old")
	if v, ok := m.access(t.Context()).get(1); ok {
		t.Errorf("got the expired value %q", v)
	}
}

// TestSlowReadDoesNotReplaceNewerValue checks that a value from a query that began earlier
// does not replace one from a later query.
func TestSlowReadDoesNotReplaceNewerValue(t *testing.T) {
	t.Parallel()
	m := New[int, string](1)
	slow, quick := m.access(t.Context()), m.access(t.Context())
	slow.began--
	quick.set(1, "new")
	slow.set(1, "old")
	if v, ok := m.access(t.Context()).get(1); ok && v != "new" {
		t.Errorf("%q is cached, want the newer value", v)
	}
}

// TestReadOvertakenByAChangeIsNotCached checks that a value read while a change is committed
// is returned but not cached.
func TestReadOvertakenByAChangeIsNotCached(t *testing.T) {
	t.Parallel()
	m := New[int, string](1)
	v, found, err := m.Get(t.Context(), 1, nil, func(context.Context) (string, bool, error) {
		m.clear()
		return "old", true, nil
	})
	if v != "old" || !found || err != nil {
		t.Errorf("Get returns %q, %v, %v", v, found, err)
	}
	_, err = m.GetAll(t.Context(), []int{2}, func(context.Context, []int) (map[int]string, error) {
		m.clear()
		return map[int]string{2: "old"}, nil
	})
	if err != nil {
		t.Error(err)
	}
	for key := range 3 {
		if v, ok := m.access(t.Context()).get(key); ok {
			t.Errorf("the outdated value %q is cached", v)
		}
	}
}

// TestGetReadsIfNothingUsableIsCached calls Get in turn with the same key.
func TestGetReadsIfNothingUsableIsCached(t *testing.T) {
	t.Parallel()
	m, errLost := New[int, string](10), errors.New("connection lost")
	anyValue, noValue := func(string) bool { return true }, func(string) bool { return false }
	for _, test := range []struct {
		usable func(string) bool
		value  string // returned by read; "" if not found
		err    error
		want   string
		reads  int
	}{
		{anyValue, "", nil, "", 1}, // not found, so not cached
		{anyValue, "x", errLost, "x", 1},
		{anyValue, "first", nil, "first", 1},
		{anyValue, "second", nil, "first", 0},
		{noValue, "third", nil, "third", 1},
		{anyValue, "fourth", nil, "third", 0},
	} {
		reads := 0
		v, found, err := m.Get(t.Context(), 1, test.usable, func(context.Context) (string, bool, error) {
			reads++
			return test.value, test.value != "", test.err
		})
		if v != test.want || found != (test.want != "") || !errors.Is(err, test.err) || reads != test.reads {
			t.Errorf("%q: got %q, %v, %v after %d calls of read", test.value, v, found, err, reads)
		}
	}
}

func TestGetAllReadsMissingKeys(t *testing.T) {
	t.Parallel()
	m := New[int, int](10)
	for _, test := range []struct{ keys, missing, want []int }{
		{[]int{1, 2}, []int{1, 2}, []int{1, 2}},
		{[]int{2, 1}, nil, []int{1, 2}},
		{[]int{1, 3, -4}, []int{3, -4}, []int{1, 3}}, // read finds no negative key
	} {
		var asked []int
		found, err := m.GetAll(t.Context(), test.keys, func(_ context.Context, missing []int) (map[int]int, error) {
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

// TestPrincipalsGetOnlyTheirOwnValues checks that one key has separate values for each
// practice, for each site, and for work without a principal.
func TestPrincipalsGetOnlyTheirOwnValues(t *testing.T) {
	t.Parallel()
	m := New[int, string](10)
	as := func(c principal.Principal) context.Context { return principal.With(t.Context(), &c) }
	ours, site, other := uuid.New(), uuid.New(), uuid.New()
	contexts := map[string]context.Context{
		"no principal":       t.Context(),
		"the whole practice": as(principal.Principal{PracticeID: ours}),
		"one site":           as(principal.Principal{PracticeID: ours, SiteID: &site}),
		"another site":       as(principal.Principal{PracticeID: ours, SiteID: &other}),
		"another practice":   as(principal.Principal{PracticeID: uuid.New()}),
	}
	for who, ctx := range contexts {
		if v, ok := m.access(ctx).get(1); ok {
			t.Errorf("%s gets the value of %s", who, v)
		}
		m.access(ctx).set(1, who)
	}
	// Another user of the site shares its values.
	contexts["one site"] = as(principal.Principal{PracticeID: ours, SiteID: &site, UserID: 7, TokenID: uuid.New()})
	for who, ctx := range contexts {
		if v, ok := m.access(ctx).get(1); v != who || !ok {
			t.Errorf("%s gets the value of %q", who, v)
		}
	}
}
