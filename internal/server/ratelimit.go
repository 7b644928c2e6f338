package server

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/time/rate"

	"chairside/internal/apierror"
	"chairside/internal/clock"
)

// limiter limits the requests of each token with a token bucket that holds an hour's requests
// and refills steadily. Full buckets are dropped, so memory is bounded by the tokens in use.
type limiter struct {
	perHour int // 0 is unlimited

	mu      sync.Mutex
	buckets map[uuid.UUID]*rate.Limiter
	sweepAt int // number of buckets at which full ones are dropped
}

// minSweep is the least number of buckets that are swept.
const minSweep = 1024

func newLimiter(perHour int) *limiter {
	return &limiter{perHour: perHour, buckets: map[uuid.UUID]*rate.Limiter{}, sweepAt: minSweep}
}

// allowance is what remains of a token's limit.
type allowance struct {
	limit, remaining int
	full             time.Time     // when the whole limit is available again
	wait             time.Duration // until the next request is possible; 0 if it is now
}

// unlimited is the number of remaining requests without a limit (behaviour.md section 7).
const unlimited = math.MaxInt32

// peek returns the token's allowance without counting a request.
func (l *limiter) peek(id uuid.UUID, now time.Time) allowance {
	if l.perHour == 0 {
		return allowance{limit: 0, remaining: unlimited, full: now}
	}
	return l.describe(l.bucket(id, now), now)
}

// take counts a request and returns what remains. ok is false if nothing remained.
func (l *limiter) take(id uuid.UUID, now time.Time) (a allowance, ok bool) {
	if l.perHour == 0 {
		return l.peek(id, now), true
	}
	bucket := l.bucket(id, now)
	ok = bucket.AllowN(now, 1)
	return l.describe(bucket, now), ok
}

func (l *limiter) rate() rate.Limit { return rate.Limit(float64(l.perHour) / time.Hour.Seconds()) }

func (l *limiter) describe(bucket *rate.Limiter, now time.Time) allowance {
	left := max(bucket.TokensAt(now), 0)
	after := func(requests float64) time.Duration {
		return time.Duration(requests / float64(l.rate()) * float64(time.Second))
	}
	a := allowance{limit: l.perHour, remaining: int(left), full: now.Add(after(float64(l.perHour) - left))}
	if left < 1 {
		a.wait = after(1 - left)
	}
	return a
}

func (l *limiter) bucket(id uuid.UUID, now time.Time) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if bucket, ok := l.buckets[id]; ok {
		return bucket
	}
	if len(l.buckets) >= l.sweepAt {
		l.sweep(now)
	}
	bucket := rate.NewLimiter(l.rate(), l.perHour)
	l.buckets[id] = bucket
	return bucket
}

// sweep drops the full buckets. The next sweep waits until the map has doubled, so the work
// for each request is constant on average.
func (l *limiter) sweep(now time.Time) {
	for id, bucket := range l.buckets {
		if bucket.TokensAt(now) >= float64(l.perHour) {
			delete(l.buckets, id)
		}
	}
	l.sweepAt = max(2*len(l.buckets), minSweep)
}

// limit counts the request against its token's limit and sets the headers. Reading the limit
// and a batch itself do not count.
func (s *Server) limit(x *requestState) error {
	now := clock.Now(x.r.Context())
	if x.pattern == rateLimitPath || x.pattern == batchPath { // the requests of a batch count
		limitHeaders(x.header, s.limiter.peek(x.caller.TokenID, now))
		return nil
	}
	a, ok := s.limiter.take(x.caller.TokenID, now)
	limitHeaders(x.header, a)
	if !ok {
		return apierror.RateLimited(a.wait)
	}
	return nil
}

func limitHeaders(h http.Header, a allowance) {
	h.Set("X-RateLimit-Limit", strconv.Itoa(a.limit))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(a.remaining))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(a.reset(), 10))
}

// reset returns full in Unix seconds, rounded up.
func (a allowance) reset() int64 { return a.full.Add(time.Second - 1).Unix() }

// rateLimit responds with the values of the headers as a body.
func (s *Server) rateLimit(w http.ResponseWriter, r *http.Request) {
	a := s.limiter.peek(stateOf(r.Context()).caller.TokenID, clock.Now(r.Context()))
	type bucket struct {
		Limit     int   `json:"limit"`
		Remaining int   `json:"remaining"`
		Reset     int64 `json:"reset"`
	}
	w.Header().Set("Content-Type", jsonType)
	_ = json.NewEncoder(w).Encode(map[string]any{ // writes to memory, so it cannot fail
		"resources": map[string]bucket{"core": {a.limit, a.remaining, a.reset()}},
	})
}
