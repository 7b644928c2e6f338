// Package cache holds values read from the database for less than a second, where
// nearly every request needs the same ones (decision 7). Concurrent misses share one
// query.
//
// A cached value is at most 0.9 s old, whatever changes it. A change committed by this
// process takes effect with the next request: ClearOnCommit is the hook that clears the
// cache.
//
// Values are cached per practice, and per site for tokens limited to one, so that no
// principal gets a value read for rows that it may not see.
package cache

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/singleflight"

	"chairside/ent"
	"chairside/internal/clock"
	"chairside/internal/principal"
)

// fresh is how long a value may be used. It is below a second so that revoking a token takes
// effect within a second on every process (behaviour.md section 7).
const fresh = 900 * time.Millisecond

// Cache holds values by key. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	capacity int
	state    atomic.Pointer[state[K, V]]
}

// state holds the values since the last change in this process. A change replaces it, so a
// read that began before the change is neither cached nor joined after it.
type state[K comparable, V any] struct {
	lookups singleflight.Group // by scopedKey
	mu      sync.Mutex
	values  map[scopedKey[K]]entry[V]
}

// scopedKey is a key of one practice or one site. Work across practices has zero ids.
type scopedKey[K comparable] struct {
	practice, site uuid.UUID
	key            K
}

type entry[V any] struct {
	v      V
	readAt time.Duration // on clock.Uptime, before the query
}

// New returns an empty cache of at most capacity values.
func New[K comparable, V any](capacity int) *Cache[K, V] {
	c := &Cache[K, V]{capacity: capacity}
	c.clear()
	return c
}

func (c *Cache[K, V]) clear() { c.state.Store(&state[K, V]{values: map[scopedKey[K]]entry[V]{}}) }

// ClearOnCommit is a hook for the entities from which values are read. It clears the cache
// when a change is committed or the outcome of the commit is unknown. It misses writes
// outside a transaction, and the statement of store.DB.TxSingleStatement if a later step
// fails: the row stays, but no Commit is called.
func (c *Cache[K, V]) ClearOnCommit(next ent.Mutator) ent.Mutator {
	return ent.MutateFunc(func(ctx context.Context, mutation ent.Mutation) (ent.Value, error) {
		if changed, ok := mutation.(interface{ Tx() (*ent.Tx, error) }); ok {
			if tx, err := changed.Tx(); err == nil {
				tx.OnCommit(func(next ent.Committer) ent.Committer {
					return ent.CommitFunc(func(ctx context.Context, tx *ent.Tx) error {
						defer c.clear()
						return next.Commit(ctx, tx)
					})
				})
			}
		}
		return next.Mutate(ctx, mutation)
	})
}

// Scoped is the cache as one request may see it. Call For before the query whose result is
// passed to Set.
type Scoped[K comparable, V any] struct {
	state    *state[K, V]
	scope    scopedKey[K] // without a key
	capacity int
	began    time.Duration
}

// For returns the cache for the principal of ctx.
func (c *Cache[K, V]) For(ctx context.Context) Scoped[K, V] {
	s := Scoped[K, V]{state: c.state.Load(), capacity: c.capacity, began: clock.Uptime()}
	if p, err := principal.From(ctx); err == nil {
		s.scope.practice = p.PracticeID
		if p.SiteID != nil {
			s.scope.site = *p.SiteID
		}
	}
	return s
}

func (s Scoped[K, V]) scoped(key K) scopedKey[K] {
	s.scope.key = key
	return s.scope
}

// Get returns the value of a key if it is fresh.
func (s Scoped[K, V]) Get(key K) (v V, ok bool) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	cached, ok := s.state.values[s.scoped(key)]
	if !ok || clock.Uptime()-cached.readAt >= fresh {
		return v, false
	}
	return cached.v, true
}

// Do calls read once for all concurrent requests for the key and returns its result to
// each. The first request may end while others wait, so read must not use its ctx. A
// request that began after a change never joins one that began before. A panic of read
// is returned as an error, because it runs on a goroutine that nothing else recovers.
func (s Scoped[K, V]) Do(ctx context.Context, key K, read func() (V, error)) (v V, err error) {
	result := s.state.lookups.DoChan(fmt.Sprintf("%#v", s.scoped(key)), func() (found any, err error) {
		defer func() {
			if reason := recover(); reason != nil {
				var none V
				found, err = none, fmt.Errorf("cache: panic with a %T at %s", reason, panicSite()) // the value itself may be private
			}
		}()
		return read()
	})
	select {
	case found := <-result:
		return found.Val.(V), found.Err
	case <-ctx.Done():
		return v, ctx.Err()
	}
}

// panicSite returns the file:line of the panic being recovered.
func panicSite() string {
	callers := make([]uintptr, 32)
	frames := runtime.CallersFrames(callers[:runtime.Callers(0, callers)])
	panicked := false
	for {
		frame, more := frames.Next()
		switch ours := !strings.HasPrefix(frame.Function, "runtime."); {
		case frame.Function == "runtime.gopanic":
			panicked = true
		case panicked && ours, !more:
			return fmt.Sprintf("%s:%d", frame.File, frame.Line)
		}
	}
}

// Set caches v, unless a request that began later has set the key. A full cache is
// cleared: its values expire within a second anyway.
func (s Scoped[K, V]) Set(key K, v V) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	scoped := s.scoped(key)
	cached, ok := s.state.values[scoped]
	if ok && cached.readAt > s.began {
		return
	}
	if !ok && len(s.state.values) >= s.capacity {
		clear(s.state.values)
	}
	s.state.values[scoped] = entry[V]{v, s.began}
}
