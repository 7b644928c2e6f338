package server

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"
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
		for header, want := range map[string]string{
			"RateLimit-Policy": `"token";q=60;w=3600`,
			"RateLimit":        fmt.Sprintf(`"token";r=%d;t=%d`, remaining, 60*(60-remaining)),
		} {
			if got := a.Header.Get(header); got != want {
				t.Errorf("%s is %s, want %s", header, got, want)
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

// TestPracticeRateLimitIsEnforced over the tokens of a practice.
func TestPracticeRateLimitIsEnforced(t *testing.T) {
	t.Parallel()
	b := setup(t, func(o *Options, _ *fakeOperations) { o.RateLimit, o.PracticeRateLimit = 60, 60 })
	sync, desk := "Authorization: Bearer "+b.token, "Authorization: Bearer "+b.mint("practice")
	a := b.get("/sites", sync).ok(t, 200)
	if got := a.Header.Get("RateLimit-Policy"); got != `"token";q=60;w=3600, "practice";q=60;w=3600` {
		t.Errorf("RateLimit-Policy is %s", got)
	}
	if got := a.Header.Get("RateLimit"); got != `"token";r=59;t=60, "practice";r=58;t=60` {
		t.Errorf("RateLimit is %s", got)
	}
	used := 1
	for ; a.StatusCode == 200; used++ {
		a = b.get("/sites", sync)
	}
	a.refused(t, 429, "rate_limited")
	if used < 35 || used > 45 { // two thirds of the limit
		t.Errorf("one token could use %d of 60 requests", used)
	}
	if !strings.Contains(a.Header.Get("RateLimit"), `"practice";r=0;`) || a.Header.Get("X-RateLimit-Remaining") == "0" {
		t.Errorf("the practice's limit does not refuse: %s", a.Header.Get("RateLimit"))
	}
	wait, err := strconv.Atoi(a.Header.Get("Retry-After"))
	if err != nil || wait < 1 || wait > 60 {
		t.Errorf("Retry-After is %q", a.Header.Get("Retry-After"))
	}
	for range 10 { // what the first token had to leave
		b.get("/sites", desk).ok(t, 200)
	}
	if core := b.get("/rate_limit", desk).ok(t, 200); !strings.Contains(core.body, `"limit":60,"remaining":50`) {
		t.Errorf("%s", core.body)
	}
	b.now = b.now.Add(time.Hour)
	b.get("/sites", sync).ok(t, 200)
}

// TestRequestsWithoutValidTokenAreLimited by their address.
func TestRequestsWithoutValidTokenAreLimited(t *testing.T) {
	t.Parallel()
	b := setup(t, func(o *Options, _ *fakeOperations) {
		o.RateLimit, o.TrustedProxies = 60, []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")} // of httptest
	})
	guess := func(from string, n int) result {
		return b.get("/sites", "X-Forwarded-For: "+from, fmt.Sprintf("Authorization: Bearer cs_pat_%043d", n))
	}
	for i := range 59 {
		guess("2001:db8:1:2::1", i).refused(t, 401, "invalid_token")
	}
	b.get("/sites", "X-Forwarded-For: 2001:db8:1:2::2", "Authorization:").refused(t, 401, "missing_token")
	a := guess("2001:db8:1:2::3", 60)
	a.refused(t, 429, "rate_limited")
	if a.Header.Get("Retry-After") != "60" || a.Header.Get("RateLimit") != `"address";r=0;t=3600` {
		t.Errorf("Retry-After %s, RateLimit %s", a.Header.Get("Retry-After"), a.Header.Get("RateLimit"))
	}
	b.get("/sites", "X-Forwarded-For: 2001:db8:1:2::3").ok(t, 200) // a valid token is never locked out
	guess("2001:db8:1:3::1", 61).refused(t, 401, "invalid_token")  // another network
	b.now = b.now.Add(time.Minute)
	guess("2001:db8:1:2::3", 62).refused(t, 401, "invalid_token")
	guess("2001:db8:1:2::3", 63).refused(t, 429, "rate_limited")
}
