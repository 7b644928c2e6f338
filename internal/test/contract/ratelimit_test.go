package contract

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"chairside/internal/server"
	"chairside/internal/test/harness"
)

// startWithLimit starts a server with a limit of n requests per hour and token.
func startWithLimit(t *testing.T, n int) *harness.Env {
	t.Helper()
	return harness.Start(t, harness.SQLite(t), func(o *server.Options) { o.RateLimit = n })
}

// checkLimits checks the rate limit headers and returns the reset time.
func checkLimits(t *testing.T, r *harness.Response, limit, remaining int) time.Time {
	t.Helper()
	if got := r.Header.Get("X-RateLimit-Limit"); got != strconv.Itoa(limit) {
		t.Errorf("X-RateLimit-Limit is %q, want %d", got, limit)
	}
	if got := r.Header.Get("X-RateLimit-Remaining"); got != strconv.Itoa(remaining) {
		t.Errorf("X-RateLimit-Remaining is %q, want %d", got, remaining)
	}
	reset, err := strconv.ParseInt(r.Header.Get("X-RateLimit-Reset"), 10, 64)
	if err != nil {
		t.Error(err)
	}
	return time.Unix(reset, 0)
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	e := startWithLimit(t, 3)
	token, other, op := e.Token(t, ""), e.Token(t, ""), find(t, "getCurrentUser")
	ask := func(token string) *harness.Response {
		return send(t, e, op, harness.Request{Method: http.MethodGet, Path: "/v1/user", Token: token})
	}
	for remaining := 2; remaining >= 0; remaining-- {
		checkLimits(t, ask(token).Status(t, http.StatusOK), 3, remaining)
	}
	r := ask(token).Error(t, http.StatusTooManyRequests, "rate_limited")
	reset := checkLimits(t, r, 3, 0)
	wait, err := strconv.Atoi(r.Header.Get("Retry-After"))
	if err != nil || wait < 1 || wait > 3600 {
		t.Errorf("Retry-After is %q", r.Header.Get("Retry-After"))
	}
	checkLimits(t, ask(other).Status(t, http.StatusOK), 3, 2) // each token has its own limit

	// Refused until Retry-After, then accepted.
	e.Clock.Advance(time.Duration(wait-1)*time.Second - time.Millisecond)
	ask(token).Error(t, http.StatusTooManyRequests, "rate_limited")
	e.Clock.Advance(time.Second + time.Millisecond)
	checkLimits(t, ask(token).Status(t, http.StatusOK), 3, 0)
	ask(token).Error(t, http.StatusTooManyRequests, "rate_limited")

	e.Clock.Set(reset.Add(time.Hour))
	checkLimits(t, ask(token).Status(t, http.StatusOK), 3, 2)
}

// TestRefusedRequestsCount towards the limit.
func TestRefusedRequestsCount(t *testing.T) {
	t.Parallel()
	e := startWithLimit(t, 3)
	token, op := e.Token(t, "user:read"), find(t, "listPatients")
	for remaining := 2; remaining >= 0; remaining-- {
		r := send(t, e, op, harness.Request{Method: http.MethodGet, Path: "/v1/patients", Token: token})
		checkLimits(t, r.Error(t, http.StatusForbidden, "insufficient_scope"), 3, remaining)
	}
	r := send(t, e, op, harness.Request{Method: http.MethodGet, Path: "/v1/patients", Token: token})
	r.Error(t, http.StatusTooManyRequests, "rate_limited")
}

func TestRateLimitRequestsDoNotCount(t *testing.T) {
	t.Parallel()
	e := startWithLimit(t, 3)
	token, op := e.Token(t, "user:read"), find(t, "getRateLimit")
	e.Get(t, "/v1/user", token).Status(t, http.StatusOK)
	for range 5 {
		r := send(t, e, op, harness.Request{Method: http.MethodGet, Path: "/rate_limit", Token: token}).Status(t, http.StatusOK)
		reset := checkLimits(t, r, 3, 2)
		for member, want := range map[string]string{"limit": "3", "remaining": "2", "reset": itoa(reset.Unix())} {
			if got := r.Text(t, "resources.core."+member); got != want {
				t.Errorf("%s is %s, want %s", member, got, want)
			}
		}
		if !reset.Equal(e.Clock.Now().Truncate(time.Second).Add(20 * time.Minute)) {
			t.Errorf("reset is %v: one of three requests an hour comes back in 20 minutes", reset)
		}
	}
	for range 2 {
		e.Get(t, "/v1/user", token).Status(t, http.StatusOK)
	}
	send(t, e, op, harness.Request{Method: http.MethodGet, Path: "/rate_limit", Token: token}).Status(t, http.StatusOK)
}

func TestNoRateLimit(t *testing.T) {
	t.Parallel()
	e := startWithLimit(t, 0)
	token := e.Token(t, "user:read")
	const unlimited = 2147483647
	for range 50 {
		checkLimits(t, e.Get(t, "/v1/user", token).Status(t, http.StatusOK), 0, unlimited)
	}
	r := send(t, e, find(t, "getRateLimit"), harness.Request{Method: http.MethodGet, Path: "/rate_limit", Token: token}).Status(t, http.StatusOK)
	checkLimits(t, r, 0, unlimited)
	if r.Text(t, "resources.core.limit") != "0" || r.Text(t, "resources.core.remaining") != strconv.Itoa(unlimited) {
		t.Errorf("%s", r.Raw)
	}
}

// TestEveryResponseToATokenHasTheLimit, including errors and 304.
func TestEveryResponseToATokenHasTheLimit(t *testing.T) {
	t.Parallel()
	e := startWithLimit(t, 100_000)
	w, token := loadWorld(t, e, "demo"), e.Token(t, "")
	for _, op := range operations() {
		for _, corrupt := range []func(*harness.Request){
			func(*harness.Request) {},
			func(q *harness.Request) { q.Header = map[string]string{"If-None-Match": "*", "If-Match": `"x"`} },
			func(q *harness.Request) {
				q.Path += "?page=-1&zebra=1"
				q.Header = map[string]string{"Prefer": "handling=strict"}
			},
			func(q *harness.Request) { q.Body = "{" },
		} {
			q := w.request(op, 0)
			q.Token = token
			corrupt(&q)
			if r := send(t, e, op, q); r.Header.Get("X-RateLimit-Limit") != "100000" {
				t.Errorf("%s → %d: X-RateLimit-Limit is %q", op, r.Code, r.Header.Get("X-RateLimit-Limit"))
			}
		}
	}
}

// TestServersShareRateLimits on one database: together they serve a token, and a practice, what
// one server would, to within 5 %. Every refusal says when to try again.
func TestServersShareRateLimits(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]func(testing.TB) string{"sqlite": harness.SQLite, "postgres": harness.Postgres} {
		for _, limits := range [][2]int{{200, 0}, {1000, 200}} {
			t.Run(fmt.Sprintf("%s/%d of %d", name, limits[0], limits[1]), func(t *testing.T) {
				t.Parallel()
				shared := url(t)
				configure := func(o *server.Options) { o.RateLimit, o.PracticeRateLimit = limits[0], limits[1] }
				servers := []*harness.Env{harness.Start(t, shared, configure), harness.Start(t, shared, configure)}
				token, practice := servers[0].Token(t, "user:read"), limits[1] > 0
				served, refused := 0, 0
				for i := range 600 { // an hour
					e := servers[i*i%7%2]
					r := e.Get(t, "/v1/user", token)
					e.Settle()
					for _, e := range servers {
						e.Clock.Advance(6 * time.Second)
					}
					if r.Code == http.StatusOK {
						served++
						continue
					}
					refused++
					r.Error(t, http.StatusTooManyRequests, "rate_limited")
					if wait, err := strconv.Atoi(r.Header.Get("Retry-After")); err != nil || wait < 1 {
						t.Fatalf("Retry-After is %q", r.Header.Get("Retry-After"))
					}
				}
				least, most := 380, 420 // a bucket, and what refills in an hour
				if practice {
					least -= 100 // left to other tokens
				}
				if served < least || served > most || refused == 0 {
					t.Errorf("%d requests are served, %d refused; want %d to %d", served, refused, least, most)
				}
			})
		}
	}
}

// TestBurstsOverTwoServersShareTheLimit: requests of one token, all at once to two servers on one database,
// get what one server would serve, to within 5 %. The clock stands still in a burst, so nothing refills. A database
// that answers later than requests wait for it lets more through, by design, so on a slow machine one of
// several bursts must keep the limit; none may be served less.
func TestBurstsOverTwoServersShareTheLimit(t *testing.T) {
	t.Parallel()
	const limit, burst, clients, tries = 120, 400, 16, 10
	for name, url := range map[string]func(testing.TB) string{"sqlite": harness.SQLite, "postgres": harness.Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shared := url(t)
			configure := func(o *server.Options) { o.RateLimit = limit }
			servers := []*harness.Env{harness.Start(t, shared, harness.Patient, configure), harness.Start(t, shared, harness.Patient, configure)}
			for try := range tries {
				token := servers[0].Token(t, "user:read")
				var next, served, refused atomic.Int64
				var all sync.WaitGroup
				for range clients {
					all.Go(func() {
						for n := next.Add(1); n <= burst; n = next.Add(1) {
							switch r := servers[n%2].Get(t, "/v1/user", token); r.Code {
							case http.StatusOK:
								served.Add(1)
							case http.StatusTooManyRequests:
								refused.Add(1)
							default:
								t.Errorf("status %d: %s", r.Code, r.Raw)
							}
						}
					})
				}
				all.Wait()
				for _, e := range servers {
					e.Settle()
				}
				t.Logf("burst %d: %d requests were served, %d refused", try, served.Load(), refused.Load())
				if served.Load() < limit*95/100 {
					t.Fatalf("%d of %d requests were served by a limit of %d", served.Load(), burst, limit)
				}
				for i, e := range servers { // both know by now that nothing is left
					if r := e.Get(t, "/v1/user", token); r.Code != http.StatusTooManyRequests {
						t.Errorf("server %d, after the burst: status %d", i, r.Code)
					}
				}
				if served.Load() <= limit*105/100 {
					return
				}
				for _, e := range servers { // which do not share for a moment after a statement has failed
					e.Clock.Advance(time.Minute)
				}
			}
			t.Errorf("in each of %d bursts more than %d requests were served", tries, limit*105/100)
		})
	}
}
