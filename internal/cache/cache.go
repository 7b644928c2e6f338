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

// fresh is how long what was read may be used: revoking a token works within a
// second on every process (behaviour.md section 7).
const fresh = 900 * time.Millisecond

// Cache holds values by key. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	most  int
	state atomic.Pointer[state[K, V]]
}

// state is what was read since something was last changed in this process. A
// change puts a new one in its place, so that what is being read meanwhile is
// neither remembered nor joined after it.
type state[K comparable, V any] struct {
	lookups singleflight.Group // by scopedKey
	mu      sync.Mutex
	values  map[scopedKey[K]]entry[V]
}

// scopedKey is a key within what one practice, or one site, may see. Work across
// practices has zero ids.
type scopedKey[K comparable] struct {
	practice, site uuid.UUID
	key            K
}

type entry[V any] struct {
	v     V
	asked time.Duration // on clock.Uptime, before the database was asked
}

// New returns an empty cache of at most that many values.
func New[K comparable, V any](most int) *Cache[K, V] {
	m := &Cache[K, V]{most: most}
	m.clear()
	return m
}

func (m *Cache[K, V]) clear() { m.state.Store(&state[K, V]{values: map[scopedKey[K]]entry[V]{}}) }

// ClearOnCommit is a hook for the entities that cached values are made of. It clears the
// cache when a change is committed, or when the outcome of the commit is unknown. It does
// not see writes outside a transaction, nor the statement of store.DB.TxSingleStatement
// when what follows it fails: the row stays, but nothing commits it here.
func (m *Cache[K, V]) ClearOnCommit(next ent.Mutator) ent.Mutator {
	return ent.MutateFunc(func(ctx context.Context, mutation ent.Mutation) (ent.Value, error) {
		if changed, ok := mutation.(interface{ Tx() (*ent.Tx, error) }); ok {
			if tx, err := changed.Tx(); err == nil {
				tx.OnCommit(func(next ent.Committer) ent.Committer {
					return ent.CommitFunc(func(ctx context.Context, tx *ent.Tx) error {
						defer m.clear()
						return next.Commit(ctx, tx)
					})
				})
			}
		}
		return next.Mutate(ctx, mutation)
	})
}

// Scoped is the cache as one request may see it. Get it before the query whose result is
// passed to Set.
type Scoped[K comparable, V any] struct {
	state *state[K, V]
	of    scopedKey[K]
	most  int
	began time.Duration
}

// For returns the cache for the principal of ctx.
func (m *Cache[K, V]) For(ctx context.Context) Scoped[K, V] {
	r := Scoped[K, V]{state: m.state.Load(), most: m.most, began: clock.Uptime()}
	if c, err := principal.From(ctx); err == nil {
		r.of.practice = c.PracticeID
		if c.SiteID != nil {
			r.of.site = *c.SiteID
		}
	}
	return r
}

func (r Scoped[K, V]) at(key K) scopedKey[K] {
	r.of.key = key
	return r.of
}

// Get returns the value of a key if it is fresh.
func (r Scoped[K, V]) Get(key K) (v V, ok bool) {
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	kept, ok := r.state.values[r.at(key)]
	if !ok || clock.Uptime()-kept.asked >= fresh {
		return v, false
	}
	return kept.v, true
}

// Do calls read once for all concurrent requests for the key and returns its result to
// each. The first request may end while others wait, so read must not use its ctx. A
// request that began after a change never joins one that began before. A panic of read
// is returned as an error: it runs on a goroutine where nothing else would recover it.
func (r Scoped[K, V]) Do(ctx context.Context, key K, read func() (V, error)) (v V, err error) {
	result := r.state.lookups.DoChan(fmt.Sprintf("%#v", r.at(key)), func() (found any, err error) {
		defer func() {
			if reason := recover(); reason != nil {
				var none V
				found, err = none, fmt.Errorf("cache: panic with a %T at %s", reason, panicSite()) // its text may hold anything
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

// panicSite is the file:line of the panic being recovered.
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
func (r Scoped[K, V]) Set(key K, v V) {
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	at := r.at(key)
	kept, known := r.state.values[at]
	if known && kept.asked > r.began {
		return
	}
	if !known && len(r.state.values) >= r.most {
		clear(r.state.values)
	}
	r.state.values[at] = entry[V]{v, r.began}
}
