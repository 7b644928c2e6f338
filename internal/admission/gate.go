package admission

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
)

// MaxWait is the longest wait for a place.
const MaxWait = 2 * time.Second

// errFull is a context.DeadlineExceeded, as the pool itself gives for a connection
// that does not become free in time.
var errFull = fmt.Errorf("admission: no connection became free within %v: %w", MaxWait, context.DeadlineExceeded)

// Gate admits work to a pool of connections. It is safe for concurrent use.
type Gate struct {
	limits
	maxWait time.Duration // MaxWait, except in tests

	mu         sync.Mutex
	inUse      int
	practices  map[uuid.UUID]int // places in use
	operations map[string]int
	kinds      map[string]*Usage // every kind that ever came
	lines      []*line           // where work waits; few
	arrivals   int64             // of work that had to wait
}

// limits are numbers of places.
type limits struct {
	places int // in all
	half   int // who has these has a share; more is above it

	// Work above a share gets a place only while fewer than these are in use, by whose
	// share it is above.
	practice, kind, both int
}

// limitsOf divides a pool. Of 20 connections 2 have no place; of the other 18 one kind
// of one practice gets at most 14, that kind 15, that practice 16.
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

// Usage is how one kind of work uses a gate.
type Usage struct {
	Kind     string
	InUse    int   // places now
	Waiting  int   // how often one is waited for now
	Admitted int64 // how often one was given
	Waited   int64 // how often one was waited for
	Refused  int64 // how often none was given in time
}

// line is where work of one share waits, first come, first served.
type line struct {
	share
	waiters []*waiter
}

type waiter struct {
	ready  chan struct{}
	number int64 // who came before whom
}

// NewGate gives a gate in front of so many connections.
func NewGate(connections int) *Gate {
	return &Gate{
		limits:     limitsOf(connections),
		maxWait:    MaxWait,
		practices:  map[uuid.UUID]int{},
		operations: map[string]int{},
		kinds:      map[string]*Usage{},
	}
}

// Enter waits for a place for the work of ctx, which may then use one connection
// until it calls leave. Where Hold has a place for all of the work, that one serves.
// The error is a context.DeadlineExceeded after MaxWait, else that of ctx.
func (g *Gate) Enter(ctx context.Context) (leave func(), err error) {
	l := of(ctx)
	if l.held.Load() {
		return func() {}, nil
	}
	return g.enter(ctx, shareOf(ctx, l))
}

// Hold is Enter for all of the work of ctx, between its statements too. That bounds
// what such work has in memory. Work that waits for anything but the database must
// not hold a place.
func (g *Gate) Hold(ctx context.Context) (leave func(), err error) {
	l := of(ctx)
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
	if len(g.lines) == 0 && g.fits(s) {
		g.take(s)
		g.mu.Unlock()
		return leave, nil
	}
	g.arrivals++
	w := &waiter{ready: make(chan struct{}), number: g.arrivals}
	g.join(s, w)
	g.admit()
	g.mu.Unlock()

	timer := time.NewTimer(g.maxWait)
	defer timer.Stop()
	select {
	case <-w.ready:
		return leave, nil
	case <-ctx.Done():
		err = fmt.Errorf("admission: wait for a connection: %w", ctx.Err())
	case <-timer.C:
		err = errFull
	}
	if g.giveUp(s, w) {
		return nil, err
	}
	return leave, nil // it got its place at the last moment
}

func (g *Gate) leave(s share) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inUse--
	g.of(s).InUse--
	less(g.operations, s.operation)
	if s.practice != uuid.Nil {
		less(g.practices, s.practice)
	}
	g.admit()
}

// less takes one off a count, and forgets a count of zero.
func less[K comparable](counts map[K]int, key K) {
	if counts[key]--; counts[key] == 0 {
		delete(counts, key)
	}
}

func (g *Gate) take(s share) {
	g.inUse++
	u := g.of(s)
	u.InUse++
	u.Admitted++
	g.operations[s.operation]++
	if s.practice != uuid.Nil {
		g.practices[s.practice]++
	}
}

func (g *Gate) of(s share) *Usage {
	u, ok := g.kinds[s.kind]
	if !ok {
		u = &Usage{Kind: s.kind}
		g.kinds[s.kind] = u
	}
	return u
}

// fits reports whether there is a place for s, whoever waits.
func (g *Gate) fits(s share) bool {
	limit := g.places
	switch practice, kind := g.practices[s.practice] >= g.half, g.of(s).InUse >= g.half; {
	case practice && kind:
		limit = g.both
	case kind:
		limit = g.kind
	case practice:
		limit = g.practice
	}
	return g.inUse < limit
}

// admit gives free places to those who wait.
func (g *Gate) admit() {
	for {
		var next *line
		for _, l := range g.lines {
			if g.fits(l.share) && (next == nil || g.before(l, next)) {
				next = l
			}
		}
		if next == nil {
			return
		}
		w := next.waiters[0]
		g.remove(next, 0)
		g.take(next.share)
		close(w.ready)
	}
}

// before reports whether a is served before b: below its half first, then by the
// places in use, then by arrival.
func (g *Gate) before(a, b *line) bool {
	if above, other := g.above(a.share), g.above(b.share); above != other {
		return other
	}
	if used, other := g.used(a.share), g.used(b.share); used != other {
		return used < other
	}
	return a.waiters[0].number < b.waiters[0].number
}

func (g *Gate) above(s share) bool {
	return g.of(s).InUse >= g.half || g.practices[s.practice] >= g.half
}

func (g *Gate) used(s share) int {
	return g.practices[s.practice] + g.of(s).InUse + g.operations[s.operation]
}

func (g *Gate) join(s share, w *waiter) {
	u := g.of(s)
	u.Waiting++
	u.Waited++
	for _, l := range g.lines {
		if l.share == s {
			l.waiters = append(l.waiters, w)
			return
		}
	}
	g.lines = append(g.lines, &line{share: s, waiters: []*waiter{w}})
}

// remove takes a waiter out of its line, and the line away where it was the last.
func (g *Gate) remove(l *line, at int) {
	g.of(l.share).Waiting--
	l.waiters = slices.Delete(l.waiters, at, at+1)
	if len(l.waiters) == 0 {
		g.lines = slices.DeleteFunc(g.lines, func(other *line) bool { return other == l })
	}
}

// giveUp takes a waiter out of its line, and reports whether it was still there.
func (g *Gate) giveUp(s share, w *waiter) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, l := range g.lines {
		if l.share != s {
			continue
		}
		if at := slices.Index(l.waiters, w); at >= 0 {
			g.remove(l, at)
			g.of(s).Refused++
			return true
		}
	}
	return false
}

// Usage is how each kind of work uses the gate, by name.
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
