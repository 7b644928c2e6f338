package admission

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
)

// MaxWait is the longest wait for a place at a pool (NewGate).
const MaxWait = 2 * time.Second

// fullError wraps context.DeadlineExceeded, the error of a pool without a free connection.
func fullError(waited time.Duration) error {
	return fmt.Errorf("admission: no place became free within %v: %w", waited.Round(time.Millisecond), context.DeadlineExceeded)
}

// Gate admits requests to a pool of connections. It is safe for concurrent use.
type Gate struct {
	limits
	patience Patience

	mu         sync.Mutex
	inUse      int
	practices  map[uuid.UUID]int // places in use
	operations map[string]int
	kinds      map[string]*Usage // all kinds seen so far
	queues     []*queue          // only those with waiters
	arrivals   int64             // requests that had to wait, ever

	// Start-time fair queueing: each request of a practice gets the next start, counted from the clock, which
	// is the latest start admitted so far. A practice that asks again at once therefore cannot hold up one that
	// asked for several places.
	clock int64
	next  map[uuid.UUID]int64 // start of the practice's next request, unless the clock is later
}

// limits are numbers of places.
type limits struct {
	places int // in total
	half   int // the share of a practice or a kind

	// A request whose practice, kind, or both are above their share gets a place only
	// while fewer than this many are in use.
	practice, kind, both int
}

// limitsOf divides a pool. Of 20 connections, 2 are reserved for work that does not pass
// the gate. Of the 18 places, one kind of one practice gets at most 14, one kind of all
// practices 15, and one practice 16.
func limitsOf(connections int) limits {
	var reserved, spare int
	switch {
	case connections >= 10:
		reserved, spare = 2, connections/10
	case connections >= 4:
		reserved, spare = 1, 1
	}
	l := limits{places: connections - reserved, half: max(connections/2, 1)}
	l.practice = max(l.places-spare, l.half)
	l.both = max(l.places-2*spare, l.half)
	l.kind = min(l.both+1, l.places)
	return l
}

// Usage counts the requests of one kind.
type Usage struct {
	Kind     string
	InUse    int   // places held now
	Waiting  int   // requests waiting now
	Admitted int64 // requests that got a place
	Waited   int64 // requests that had to wait
	Refused  int64 // requests for which no place became free in time
}

// queue holds the waiting requests of one share: first in, first out.
type queue struct {
	share
	waiters []*waiter
}

type waiter struct {
	ready  chan struct{}
	start  int64
	number int64 // position in the order of arrival, over all queues
}

// NewGate returns a gate for a pool of that many connections.
func NewGate(connections int) *Gate {
	return newGate(limitsOf(connections), AtMost(MaxWait))
}

// Patience is how long a request waits for its turn.
type Patience func(ctx context.Context) time.Duration

// NewTurns returns a gate for work that runs at most so many times at once, whatever connections are
// free. It reserves no place.
func NewTurns(places int, patience Patience) *Gate {
	return newGate(limits{places: places, half: places, practice: places, kind: places, both: places}, patience)
}

// AtMost returns the patience of requests that all wait that long.
func AtMost(d time.Duration) Patience { return func(context.Context) time.Duration { return d } }

// ThreeFifths is the patience of a request that leaves two fifths of its context's time for the work.
func ThreeFifths(ctx context.Context) time.Duration {
	end, ok := ctx.Deadline()
	if !ok {
		return math.MaxInt64
	}
	return time.Until(end) / 5 * 3
}

func newGate(l limits, patience Patience) *Gate {
	return &Gate{
		limits:     l,
		patience:   patience,
		practices:  map[uuid.UUID]int{},
		operations: map[string]int{},
		kinds:      map[string]*Usage{},
		next:       map[uuid.UUID]int64{},
	}
}

// Enter waits for a place, which allows the use of one connection until leave is called.
// It returns at once if the request already holds a place (Hold). It fails with
// context.DeadlineExceeded after the longest wait, or with the error of ctx.
func (g *Gate) Enter(ctx context.Context) (leave func(), err error) {
	l := loadOf(ctx)
	if l.held.Load() {
		return func() {}, nil
	}
	return g.enter(ctx, shareOf(ctx, l))
}

// Hold takes one place for the whole request, between its statements too. This bounds
// the number of requests that keep rows in memory. A request that waits for anything but
// the database must not hold a place.
func (g *Gate) Hold(ctx context.Context) (leave func(), err error) {
	l := loadOf(ctx)
	if l == other || !l.held.CompareAndSwap(false, true) {
		return g.Enter(ctx)
	}
	free, err := g.enter(ctx, shareOf(ctx, l))
	if err != nil {
		l.held.Store(false)
		return nil, err
	}
	return func() {
		l.held.Store(false)
		free()
	}, nil
}

func (g *Gate) enter(ctx context.Context, s share) (leave func(), err error) {
	leave = func() { g.leave(s) }
	g.mu.Lock()
	start := g.startOf(s.practice)
	if len(g.queues) == 0 && g.fits(s) {
		g.take(s, start)
		g.mu.Unlock()
		return leave, nil
	}
	g.arrivals++
	w := &waiter{ready: make(chan struct{}), start: start, number: g.arrivals}
	g.enqueue(s, w)
	g.admit()
	g.mu.Unlock()

	longest := g.patience(ctx)
	timer := time.NewTimer(longest)
	defer timer.Stop()
	full := false
	select {
	case <-w.ready:
		return leave, nil
	case <-ctx.Done():
		full, err = errors.Is(ctx.Err(), context.DeadlineExceeded), fmt.Errorf("admission: wait for a place: %w", ctx.Err())
	case <-timer.C:
		full, err = true, fullError(longest)
	}
	if g.giveUp(s, w, full) {
		return nil, err
	}
	return leave, nil // admitted at the last moment
}

// startOf returns the start of a request of a practice that has come. Requests of no practice, such as
// lookups of tokens, do not wait for each other: they start at the clock.
func (g *Gate) startOf(practice uuid.UUID) int64 {
	if practice == uuid.Nil {
		return g.clock
	}
	start := max(g.clock, g.next[practice])
	g.next[practice] = start + 1
	return start
}

func (g *Gate) leave(s share) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inUse--
	g.usageOf(s).InUse--
	decrement(g.operations, s.operation)
	if s.practice != uuid.Nil {
		decrement(g.practices, s.practice)
	}
	g.admit()
	if g.inUse == 0 { // nobody is waiting either, so every practice starts afresh
		g.clock = 0
		clear(g.next)
	}
}

// decrement decrements a count and removes it at zero.
func decrement[K comparable](counts map[K]int, key K) {
	if counts[key]--; counts[key] == 0 {
		delete(counts, key)
	}
}

// take counts a place as in use by a request with that start.
func (g *Gate) take(s share, start int64) {
	g.clock = max(g.clock, start)
	if s.practice == uuid.Nil {
		g.clock++ // otherwise later requests without a practice would always go before a practice's second one
	}
	g.inUse++
	u := g.usageOf(s)
	u.InUse++
	u.Admitted++
	g.operations[s.operation]++
	if s.practice != uuid.Nil {
		g.practices[s.practice]++
	}
}

func (g *Gate) usageOf(s share) *Usage {
	u, ok := g.kinds[s.kind]
	if !ok {
		u = &Usage{Kind: s.kind}
		g.kinds[s.kind] = u
	}
	return u
}

// fits reports whether a place is free for s, disregarding the requests that wait.
func (g *Gate) fits(s share) bool {
	limit := g.places
	switch practice, kind := g.practices[s.practice] >= g.half, g.usageOf(s).InUse >= g.half; {
	case practice && kind:
		limit = g.both
	case kind:
		limit = g.kind
	case practice:
		limit = g.practice
	}
	return g.inUse < limit
}

// admit gives the free places to waiters.
func (g *Gate) admit() {
	for {
		var next *queue
		for _, l := range g.queues {
			if g.fits(l.share) && (next == nil || g.before(l, next)) {
				next = l
			}
		}
		if next == nil {
			return
		}
		w := next.waiters[0]
		g.remove(next, 0)
		g.take(next.share, w.start)
		close(w.ready)
	}
}

// before reports whether a is served before b: shares below their half first, then by
// places in use, then by start, then by arrival.
func (g *Gate) before(a, b *queue) bool {
	if above, other := g.above(a.share), g.above(b.share); above != other {
		return other
	}
	if used, other := g.used(a.share), g.used(b.share); used != other {
		return used < other
	}
	first, second := a.waiters[0], b.waiters[0]
	return cmp.Or(cmp.Compare(first.start, second.start), cmp.Compare(first.number, second.number)) < 0
}

// above reports whether the kind or the practice of s holds at least half of the places.
func (g *Gate) above(s share) bool {
	return g.usageOf(s).InUse >= g.half || g.practices[s.practice] >= g.half
}

// used is the number of places that the practice, kind and operation of s hold together.
func (g *Gate) used(s share) int {
	return g.practices[s.practice] + g.usageOf(s).InUse + g.operations[s.operation]
}

// enqueue adds a waiter to the queue of its share.
func (g *Gate) enqueue(s share, w *waiter) {
	u := g.usageOf(s)
	u.Waiting++
	u.Waited++
	for _, l := range g.queues {
		if l.share == s {
			l.waiters = append(l.waiters, w)
			return
		}
	}
	g.queues = append(g.queues, &queue{share: s, waiters: []*waiter{w}})
}

// remove removes a waiter, and its queue once that is empty.
func (g *Gate) remove(l *queue, at int) {
	g.usageOf(l.share).Waiting--
	l.waiters = slices.Delete(l.waiters, at, at+1)
	if len(l.waiters) == 0 {
		g.queues = slices.DeleteFunc(g.queues, func(other *queue) bool { return other == l })
	}
}

// giveUp removes a waiter and reports whether it was still waiting. If no place became free in time it was
// refused; else its client left.
func (g *Gate) giveUp(s share, w *waiter, refused bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, l := range g.queues {
		if l.share != s {
			continue
		}
		if at := slices.Index(l.waiters, w); at >= 0 {
			g.remove(l, at)
			if s.practice != uuid.Nil {
				g.next[s.practice]-- // it had no place
			}
			if refused {
				g.usageOf(s).Refused++
			}
			return true
		}
	}
	return false
}

// Usage returns the counts of each kind, sorted by name.
func (g *Gate) Usage() []Usage {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := make([]Usage, 0, len(g.kinds))
	for u := range maps.Values(g.kinds) {
		all = append(all, *u)
	}
	slices.SortFunc(all, func(a, b Usage) int { return strings.Compare(a.Kind, b.Kind) })
	return all
}

// Sum adds up the usage of gates.
func Sum(gates ...[]Usage) []Usage {
	byKind := map[string]Usage{}
	for _, u := range slices.Concat(gates...) {
		all := byKind[u.Kind]
		byKind[u.Kind] = Usage{u.Kind, all.InUse + u.InUse, all.Waiting + u.Waiting, all.Admitted + u.Admitted, all.Waited + u.Waited, all.Refused + u.Refused}
	}
	return slices.SortedFunc(maps.Values(byKind), func(a, b Usage) int { return strings.Compare(a.Kind, b.Kind) })
}
