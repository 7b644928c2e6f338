package server

import (
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
)

func TestRateLimitIsEnforced(t *testing.T) {
	t.Parallel()
	b := setup(t, func(o *Options, _ *fakeOperations) { o.RateLimit = 60 }) // one per minute
	expect := func(a result, remaining int) {
		t.Helper()
		reset := b.now.Add(time.Duration(60-remaining) * time.Minute).Unix()
		for header, want := range map[string]string{"Limit": "60", "Remaining": strconv.Itoa(remaining), "Reset": strconv.FormatInt(reset, 10)} {
			if got := a.Header.Get("X-RateLimit-" + header); got != want {
				t.Errorf("X-RateLimit-%s is %s, want %s", header, got, want)
			}
		}
	}
	for left := 59; left > 0; left-- {
		expect(b.get("/sites").ok(t, 200), left)
	}
	b.get("/nothing").ok(t, 404)                     // does not count: it is refused before authentication
	expect(b.get("/sites?per_page=x").ok(t, 400), 0) // counts

	a := b.get("/sites")
	a.refused(t, 429, "rate_limited")
	expect(a, 0)
	if got := a.Header.Get("Retry-After"); got != "60" {
		t.Errorf("Retry-After is %s", got)
	}
	expect(b.get("/rate_limit").ok(t, 200), 0) // never limited

	b.get("/sites", "Authorization: Bearer "+b.mint("practice")).ok(t, 200) // another token has its own limit

	b.now = b.now.Add(30 * time.Second)
	if got := b.get("/sites").ok(t, 429).Header.Get("Retry-After"); got != "30" {
		t.Errorf("Retry-After is %s", got)
	}
	b.now = b.now.Add(30 * time.Second)
	expect(b.get("/sites").ok(t, 200), 0)
	b.now = b.now.Add(2 * time.Hour)
	expect(b.get("/sites").ok(t, 200), 59)
}

func TestRateLimitCanBeRead(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ limit, wantLimit, wantRemaining int }{{60, 60, 60}, {0, 0, 2147483647}} {
		b := setup(t, func(o *Options, _ *fakeOperations) { o.RateLimit = test.limit })
		var page struct {
			Resources struct {
				Core struct {
					Limit, Remaining int
					Reset            int64
				}
			}
		}
		if err := json.Unmarshal([]byte(b.get("/rate_limit").ok(t, 200).body), &page); err != nil {
			t.Fatal(err)
		}
		if core := page.Resources.Core; core.Limit != test.wantLimit || core.Remaining != test.wantRemaining || core.Reset != b.now.Unix() {
			t.Errorf("limit %d: %+v", test.limit, core)
		}
		b.get("/rate_limit", "Authorization:").refused(t, 401, "missing_token")
	}
}

func TestLimiterDropsFullBuckets(t *testing.T) {
	t.Parallel()
	l := newLimiter(3600)
	now := time.Date(2026, 7, 1, 9, 0, 0, 0, time.UTC)
	busy := uuid.New()
	for range 100 {
		l.take(busy, now)
	}
	for i := range 10 * minSweep {
		now = now.Add(2 * time.Millisecond)
		l.take(uuid.New(), now)
		if len(l.buckets) > 4*minSweep {
			t.Fatalf("%d buckets after %d tokens", len(l.buckets), i)
		}
	}
	if a := l.peek(busy, now); a.remaining >= 3600-50 {
		t.Errorf("the bucket of a token in use was dropped: %d remaining", a.remaining)
	}
}

func BenchmarkLimiter(b *testing.B) {
	l, now, id := newLimiter(1<<30), time.Now(), uuid.New()
	for b.Loop() {
		l.take(id, now)
	}
}
