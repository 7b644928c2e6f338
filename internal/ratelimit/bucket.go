package ratelimit

import (
	"math"
	"time"

	"github.com/google/uuid"
)

// Allowance is what remains of a limit.
type Allowance struct {
	Limit     int           // per hour; 0 is unlimited
	Remaining int           // requests possible now
	Full      time.Time     // when the whole limit is available again
	Wait      time.Duration // until the next request is possible; 0 if it is now
}

// bucket is the state of one limit in this process.
type bucket struct {
	fullAt time.Time // includes what this process has not shared yet
	spent  int       // requests that are not shared yet
	since  time.Time // of the first of them
	shares bool      // being shared, or queued for it

	burst    time.Time // when a bucket with only what is not shared yet would be full
	sharedAt time.Time // zero if it never was

	tokens []uuid.UUID // of a practice: its tokens that have spent since it was shared
	listed bool        // of a token: among these

	own, others float64 // requests shared of late, by this process and by others: see learn

	askAt    time.Time // no asks before
	askPause time.Duration

	uses   float64 // of a token, of late: see recent
	usedAt time.Time
}

// rate is a limit: the time that one request costs and the time that fills a bucket.
type rate struct {
	limit      int
	cost, span time.Duration
}

// newRate returns the rate of a limit per hour, which is not 0.
func newRate(limit int) rate {
	cost := time.Hour / time.Duration(limit)
	return rate{limit: limit, cost: cost, span: cost * time.Duration(limit)}
}

const (
	// period is the time in which a limit is available again; spans are no longer.
	period = time.Hour
	// mostDebt is more than processes overspend together before they know of each other.
	mostDebt = 2 * period
)

// setBack corrects the bucket if the clock was set back since it was used. If more than mostDebt is to be filled, it is
// empty.
func (b *bucket) setBack(now time.Time) {
	if b.debt(now) > mostDebt {
		b.fullAt, b.askAt = now.Add(period), time.Time{}
	}
	if b.usedAt.After(now) {
		b.usedAt = now
	}
}

// debt is the time that the bucket needs to fill.
func (b *bucket) debt(now time.Time) time.Duration { return max(b.fullAt.Sub(now), 0) }

// unheard is the time that refills what other processes are likely to have spent since the bucket
// was shared: as many requests for each of this process as before.
func (b *bucket) unheard(r rate) time.Duration {
	if b.own == 0 {
		return 0
	}
	return time.Duration(float64(b.spent) * min(b.others/b.own, maxOthers) * float64(r.cost))
}

// learn records how many requests this process and the others have shared. Earlier ones count
// half.
func (b *bucket) learn(own, others float64) {
	b.own, b.others = b.own/2+own, b.others/2+others
}

// spend takes a request.
func (b *bucket) spend(r rate, now time.Time) {
	if b.spent == 0 {
		b.since = now
	}
	if b.debt(now) < r.span/2 {
		b.askPause = 0
	}
	b.spent++
	if b.burst.Before(now) {
		b.burst = now
	}
	b.burst = b.burst.Add(r.cost)
	b.fullAt = now.Add(b.debt(now) + r.cost)
}

// recent returns the number of requests of late: each counts less the older it is, by a factor
// of e in an hour.
func (b *bucket) recent(now time.Time) float64 {
	if b.uses == 0 {
		return 0
	}
	return b.uses * math.Exp(-now.Sub(b.usedAt).Hours())
}

// untilLevel returns the time until a bucket has refilled by lacking, while the level that must
// stay in it falls by a factor of e in an hour. It solves lacking = t + level (1 - exp(-t)) by
// Newton's method, which approaches the solution from below.
func untilLevel(lacking time.Duration, level float64) time.Duration {
	const hour = float64(time.Hour)
	t := 0.0
	for range 5 {
		left := level * math.Exp(-t/hour)
		t += (float64(lacking) - t - (level - left)) / (1 + left/hour)
	}
	return time.Duration(t) + time.Microsecond
}

// describe returns what remains above a level that must stay in the bucket. level is the
// time that refills it.
func (b *bucket) describe(r rate, now time.Time, level time.Duration) Allowance {
	left := r.span - b.debt(now) - b.unheard(r) - level
	a := Allowance{Limit: r.limit, Remaining: int(max(left, 0) / r.cost), Full: now.Add(b.debt(now))}
	if left < r.cost {
		a.Wait = r.cost - left
	}
	return a
}
