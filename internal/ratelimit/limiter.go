package ratelimit

import (
	"math"
	"sync"
	"time"

	"github.com/google/uuid"
)

// Unlimited is the number of remaining requests without a limit (behaviour.md section 7).
const Unlimited = math.MaxInt32

// reserve is the number of requests that a token must leave to others in its practice's
// bucket, for each request that it has made of late.
const reserve = 0.5

// Options are the limits in requests per hour; 0 is unlimited.
type Options struct {
	PerToken, PerPractice int
	// Share adds what this process has spent to the buckets that all processes share, and
	// returns when those are full again. nil if there is only this process.
	Share func(spent []Spending) (fullAt []time.Time, err error)
}

// Spending is what a process has spent of one bucket.
type Spending struct {
	ID    uuid.UUID // the token's or the practice's
	Since time.Time // of the first request
	Cost  time.Duration
	Now   time.Time
}

// Limiter limits the requests of tokens and practices. Full buckets are dropped, so memory is
// bounded by the tokens in use.
type Limiter struct {
	token, practice rate // limit 0 is unlimited
	unlimited       bool // tokens have no limit of their own: token is their practice's, and never refuses
	share           func([]Spending) ([]time.Time, error)

	mu      sync.Mutex
	buckets map[uuid.UUID]*bucket // by token and by practice
	sweepAt int                   // number of buckets at which full ones are dropped

	queue    []queued // buckets to share
	sharing  bool
	shared   chan struct{} // closed when the buckets that are being shared have been
	late     chan struct{} // shared, if a request has waited for it in vain
	pausedTo time.Time     // no sharing before, after it has failed
	working  sync.WaitGroup
}

const (
	// minSweep is the least number of buckets that are swept.
	minSweep = 1024
	// pause is the time between attempts to share while the database fails.
	pause = time.Second
	// maxAwait is how long a request waits for sharing under way, if its token or practice has
	// spent much since it began.
	maxAwait = 250 * time.Millisecond
	// A process shares a bucket once it has spent 1/slowPart of the rest, and at least 1/slowLeast of
	// the limit.
	slowPart, slowLeast = 10, 22
	// A burst is faster than the refill. A process shares it after 1/burstPart of the rest, and at least
	// 1/burstLeast of the limit. Five processes that empty a bucket together then exceed its limit by
	// at most 4/burstLeast, with a statement per hundred requests of 3600.
	burstPart, burstLeast = 7, 100
	// After the time fresh, others may have emptied the bucket: a burst is shared beyond
	// 1/burstLeast of the limit, if 1/staleLeast is to be shared or the bucket never was.
	fresh, staleLeast = 10 * time.Second, 36
	// While a process shares, it may spend 1/aheadLeast of the limit more without waiting.
	aheadLeast = 200
	// maxOthers is the most requests of other processes that are expected for each of this one.
	maxOthers = 7
	// maxBatch is the most buckets that are shared in one statement.
	maxBatch = 500
)

// New returns a limiter.
func New(o Options) *Limiter {
	l := &Limiter{share: o.Share, buckets: map[uuid.UUID]*bucket{}, sweepAt: minSweep, shared: make(chan struct{})}
	if o.PerToken > 0 {
		l.token = newRate(o.PerToken)
	}
	if o.PerPractice > 0 {
		l.practice = newRate(o.PerPractice)
		if o.PerToken == 0 {
			// Processes learn from a token's bucket what it has used elsewhere, for the reserve.
			l.token, l.unlimited = l.practice, true
		}
	}
	return l
}

// Usage is what remains for a token, of its own limit and of its practice's.
type Usage struct{ Token, Practice Allowance }

// Wait returns the time until the next request is possible; 0 if it is now.
func (u Usage) Wait() time.Duration { return max(u.Token.Wait, u.Practice.Wait) }

// Peek returns a token's usage without counting a request.
func (l *Limiter) Peek(token, practice uuid.UUID, now time.Time) Usage {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.usage(l.bucket(token, now), l.bucket(practice, now), now)
}

// Take counts a request if it is possible, and returns what remains. ok is false if it is not
// possible. In a burst it waits until other processes know of the requests before, at most maxAwait.
func (l *Limiter) Take(token, practice uuid.UUID, now time.Time) (u Usage, ok bool) {
	if l.token.limit == 0 && l.practice.limit == 0 {
		return l.usage(nil, nil, now), true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sweep(now)
	own, all := queued{token, l.bucket(token, now), l.token}, queued{practice, l.bucket(practice, now), l.practice}
	if l.sharing && (own.ahead() || all.ahead()) {
		l.await()
	}
	if u = l.usage(own.bucket, all.bucket, now); u.Wait() > 0 {
		if u.Token.Wait > 0 && own.asks(now) || u.Practice.Wait > 0 && all.asks(now) {
			l.shareSoon(now, own, all)
		}
		return u, false
	}
	for _, b := range []queued{own, all} {
		l.buckets[b.id] = b.bucket
		if b.rate.limit > 0 {
			b.spend(b.rate, now)
		}
	}
	own.uses, own.usedAt = own.recent(now)+1, now
	if l.share != nil && l.practice.limit > 0 && !own.listed {
		own.listed = true
		all.tokens = append(all.tokens, token)
	}
	if own.due(now, 0) || all.due(now, l.level(own.bucket, now)) {
		l.shareSoon(now, own, all)
	}
	return l.usage(own.bucket, all.bucket, now), true
}

// shareSoon shares a practice's bucket in the background, together with those of the token and of
// its other tokens that have spent: the reserve is right only if all processes know what each has used.
func (l *Limiter) shareSoon(now time.Time, own, all queued) {
	if l.share == nil {
		return
	}
	buckets := []queued{own, all}
	for _, token := range all.tokens {
		if b, ok := l.buckets[token]; ok { // not dropped
			b.listed = false
			buckets = append(buckets, queued{token, b, l.token})
		}
	}
	all.tokens = nil
	for _, b := range buckets {
		if b.rate.limit > 0 && !b.shares {
			l.buckets[b.id] = b.bucket // one that refuses may be new
			b.shares = true
			l.queue = append(l.queue, b)
		}
	}
	if len(l.queue) > 0 && !l.sharing && (!now.Before(l.pausedTo) || l.pausedTo.After(now.Add(pause))) {
		l.sharing = true
		l.working.Go(func() { l.shareQueue(now) })
	}
}

// usage describes the buckets, which are not used without a limit.
func (l *Limiter) usage(own, all *bucket, now time.Time) Usage {
	unlimited := Allowance{Remaining: Unlimited, Full: now}
	u := Usage{unlimited, unlimited}
	if l.token.limit > 0 && !l.unlimited {
		u.Token = own.describe(l.token, now, 0)
	}
	if l.practice.limit > 0 {
		level := l.level(own, now)
		u.Practice = all.describe(l.practice, now, level)
		if u.Practice.Wait > 0 {
			u.Practice.Wait = untilLevel(u.Practice.Wait, float64(level))
		}
	}
	return u
}

// level is the time that refills what a token must leave in its practice's bucket.
func (l *Limiter) level(own *bucket, now time.Time) time.Duration {
	level := reserve * own.recent(now) * float64(l.practice.cost)
	return time.Duration(min(level, float64(l.practice.span-l.practice.cost)))
}

// bucket returns a bucket, which is full if it is not known. mu is held.
func (l *Limiter) bucket(id uuid.UUID, now time.Time) *bucket {
	if b, ok := l.buckets[id]; ok {
		b.setBack(now)
		return b
	}
	return &bucket{}
}

// sweep drops the full buckets if there are many. The next sweep waits until the map has
// doubled, so the work for each request is constant on average. mu is held.
func (l *Limiter) sweep(now time.Time) {
	if len(l.buckets) < l.sweepAt {
		return
	}
	for id, b := range l.buckets {
		// Others may have emptied the shared bucket with what is not shared yet.
		refilled := l.share == nil || b.spent == 0 || now.Sub(b.since) > time.Hour
		if b.debt(now) == 0 && b.recent(now) < 1 && refilled && !b.shares {
			delete(l.buckets, id)
		}
	}
	l.sweepAt = max(2*len(l.buckets), minSweep)
}

// queued is a bucket to share.
type queued struct {
	id uuid.UUID
	*bucket
	rate rate
}

// due reports whether the bucket has spent so much, compared with what is left above a level, that the
// other processes must know of it.
func (q queued) due(now time.Time, level time.Duration) bool {
	if q.rate.limit == 0 || q.shares || q.spent == 0 {
		return false
	}
	left, spent := q.rate.span-q.debt(now)-q.unheard(q.rate)-level, time.Duration(q.spent)*q.rate.cost
	if spent >= max(left/slowPart, q.rate.span/slowLeast) {
		return true
	}
	most := max(left/burstPart, q.rate.span/burstLeast)
	if now.Sub(q.sharedAt) > fresh && (q.sharedAt.IsZero() || spent >= q.rate.span/staleLeast) {
		most = q.rate.span / burstLeast
	}
	return q.burst.Sub(now) >= most
}

// ahead reports whether the bucket has spent so much since it was due that this process must not
// go on before the others know.
func (q queued) ahead() bool { return q.shares && q.spent >= max(q.rate.limit/aheadLeast, 1) }

// await waits until the buckets that are being shared have been, unless that has taken a request
// too long already: a database that hangs delays a request once. mu is held, but not meanwhile.
func (l *Limiter) await() {
	shared := l.shared
	if shared == l.late {
		return
	}
	l.mu.Unlock()
	defer l.mu.Lock()
	select {
	case <-shared:
	case <-time.After(maxAwait):
		l.mu.Lock()
		l.late = shared
		l.mu.Unlock()
	}
}

// asks reports whether a bucket that refuses should learn what other processes have spent: a second
// after it was shared, then after 4 s, and then after eight times as long each time, at most a quarter of
// an hour.
func (q queued) asks(now time.Time) bool {
	if now.Before(q.askAt) {
		return false
	}
	q.askPause = min(max(8*q.askPause, 4*time.Second), q.rate.span/4)
	q.askAt = now.Add(q.askPause)
	return true
}

// settle sets when the bucket is full by what all processes have shared. What others have
// spent of a token's bucket counts as its use.
func (q queued) settle(shared time.Time, s Spending, now time.Time) {
	known := q.fullAt
	q.fullAt, q.sharedAt = shared, now
	if askAt := now.Add(max(q.askPause, time.Second)); askAt.After(q.askAt) {
		q.askAt = askAt
	}
	if q.spent > 0 { // meanwhile
		if q.fullAt.Before(q.since) {
			q.fullAt = q.since
		}
		q.fullAt = q.fullAt.Add(time.Duration(q.spent) * q.rate.cost)
	}
	if known.Before(s.Since) {
		known = s.Since
	}
	others := max(float64(q.fullAt.Sub(known))/float64(q.rate.cost), 0)
	q.learn(float64(s.Cost)/float64(q.rate.cost), others)
	q.uses, q.usedAt = q.recent(now)+others, now
}

// shareQueue shares the queued buckets until none is left or it fails. now is the time of the
// request that started it.
func (l *Limiter) shareQueue(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer func() { l.sharing = false }()
	for len(l.queue) > 0 {
		batch := l.queue[:min(len(l.queue), maxBatch)]
		l.queue = l.queue[len(batch):]
		spent := make([]Spending, len(batch))
		counts := make([]int, len(batch))
		for i, q := range batch {
			if q.spent == 0 { // it refuses
				q.since = now
			}
			spent[i] = Spending{q.id, q.since, time.Duration(q.spent) * q.rate.cost, now}
			counts[i], q.spent, q.burst = q.spent, 0, time.Time{}
		}
		l.mu.Unlock()
		fullAt, err := l.share(spent)
		l.mu.Lock()
		for i, q := range batch {
			q.shares = false
			if err != nil {
				q.spent, q.since = q.spent+counts[i], spent[i].Since
				continue
			}
			q.settle(fullAt[i], spent[i], now)
		}
		close(l.shared)
		l.shared = make(chan struct{})
		if err != nil {
			l.pausedTo = now.Add(pause)
			return
		}
	}
}

// Settle waits until no sharing is under way.
func (l *Limiter) Settle() { l.working.Wait() }
