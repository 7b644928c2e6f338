package server

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"chairside/internal/apierror"
	"chairside/internal/clock"
	"chairside/internal/ratelimit"
)

// newLimiter returns the limiter of tokens and practices, whose buckets all processes share, except those
// on a replica.
func (s *Server) newLimiter() *ratelimit.Limiter {
	share := ratelimit.Database(s.DB.SQL, s.DB.Dialect, func(err error) {
		s.Logger.Warn("rate limits are not shared with other servers", slog.String("cause", describeError(err)))
	})
	return ratelimit.New(ratelimit.Options{
		PerToken: s.RateLimit, PerPractice: s.PracticeRateLimit,
		Share: func(spent []ratelimit.Spending) ([]time.Time, error) {
			if is, _ := s.replica.now(); is {
				return nil, errReplica
			}
			return share(spent)
		},
	})
}

// limit counts the request against the limits of its token and its practice, and sets the
// headers. Reading the limit does not count. The requests of a batch count instead of it.
func (s *Server) limit(x *requestState) error {
	now := clock.Now(x.r.Context())
	if x.pattern == rateLimitPath || x.pattern == batchPath {
		limitHeaders(x.header, s.limiter.Peek(x.caller.TokenID, x.caller.PracticeID, now), now)
		return nil
	}
	return s.take(x)
}

// take is limit for a request of any kind.
func (s *Server) take(x *requestState) error {
	now := clock.Now(x.r.Context())
	usage, ok := s.limiter.Take(x.caller.TokenID, x.caller.PracticeID, now)
	limitHeaders(x.header, usage, now)
	if !ok {
		return apierror.RateLimited(usage.Wait())
	}
	return nil
}

// limitAddress counts a request without a valid token against the limit of its address. refused
// is the error that says so; beyond the limit it returns another.
func (s *Server) limitAddress(x *requestState, refused error) error {
	if apierror.From(refused).Status != http.StatusUnauthorized {
		return refused
	}
	now := clock.Now(x.r.Context())
	left, ok := s.addresses.Take(clientAddress(x.r), now)
	if ok {
		return refused
	}
	policies(x.header, now, policy{"address", left})
	return apierror.RateLimited(left.Wait)
}

// clientAddress returns the client's address, or the zero address if it is not known.
func clientAddress(r *http.Request) netip.Addr {
	if peer, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		return peer.Addr()
	}
	address, _ := netip.ParseAddr(r.RemoteAddr) // as throughProxies writes it
	return address
}

func limitHeaders(h http.Header, u ratelimit.Usage, now time.Time) {
	h.Set("X-RateLimit-Limit", strconv.Itoa(u.Token.Limit))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(u.Token.Remaining))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(reset(u.Token), 10))
	policies(h, now, policy{"token", u.Token}, policy{"practice", u.Practice})
}

// policy is a named limit.
type policy struct {
	name string
	ratelimit.Allowance
}

// policies sets the RateLimit-Policy and RateLimit headers
// (draft-ietf-httpapi-ratelimit-headers-10) for the policies that limit.
func policies(h http.Header, now time.Time, all ...policy) {
	var quotas, left []string
	for _, p := range all {
		if p.Limit == 0 {
			continue
		}
		quotas = append(quotas, fmt.Sprintf("%q;q=%d;w=3600", p.name, p.Limit))
		left = append(left, fmt.Sprintf("%q;r=%d;t=%d", p.name, p.Remaining, seconds(p.Full.Sub(now))))
	}
	if len(quotas) > 0 {
		h.Set("RateLimit-Policy", strings.Join(quotas, ", "))
		h.Set("RateLimit", strings.Join(left, ", "))
	}
}

// seconds rounds up.
func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// reset returns when the limit is available again, in Unix seconds, rounded up.
func reset(a ratelimit.Allowance) int64 { return a.Full.Add(time.Second - 1).Unix() }

// rateLimit responds with the values of the token's headers as a body.
func (s *Server) rateLimit(w http.ResponseWriter, r *http.Request) {
	caller := stateOf(r.Context()).caller
	a := s.limiter.Peek(caller.TokenID, caller.PracticeID, clock.Now(r.Context())).Token
	type bucket struct {
		Limit     int   `json:"limit"`
		Remaining int   `json:"remaining"`
		Reset     int64 `json:"reset"`
	}
	w.Header().Set("Content-Type", jsonType)
	_ = json.NewEncoder(w).Encode(map[string]any{ // writes to memory, so it cannot fail
		"resources": map[string]bucket{"core": {a.Limit, a.Remaining, reset(a)}},
	})
}
