// Package cache holds values read from the database for less than a second, where
// nearly every request needs the same ones (decision 7).
//
// A cached value is at most 0.9 s old, whatever changes it. A change committed by this
// process takes effect with the next request: ClearOnCommit is the hook that clears the
// cache.
//
// Values are cached per practice, and per site for tokens limited to one, so that no
// principal gets a value read for rows that it may not see. A value is read by a function
// that Get or GetAll calls, so that its age counts from before the database was asked, and from the
// primary, because a replica may be older.
package cache

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/internal/store"
)

// maxAge is how long a cached value may be used. Revoking a token must take effect
// within a second on every process (behaviour.md section 7).
const maxAge = 900 * time.Millisecond

// Cache holds values by key. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	capacity int
	state    atomic.Pointer[state[K, V]]
}

// state holds the values read since this process last committed a change. A commit
// replaces it, so that a value read before the commit is not cached after it.
type state[K comparable, V any] struct {
	mu     sync.Mutex
	values map[scopedKey[K]]entry[V]
}

// scopedKey is a key with the practice, and the site if there is one, of the principal.
// Both are zero without a principal and for work across practices.
type scopedKey[K comparable] struct {
	practice, site uuid.UUID
	key            K
}

type entry[V any] struct {
	v     V
	asked time.Duration // on clock.Uptime, before the database was asked
}

// New returns an empty cache that holds at most capacity values.
func New[K comparable, V any](capacity int) *Cache[K, V] {
	c := &Cache[K, V]{capacity: capacity}
	c.clear()
	return c
}

func (c *Cache[K, V]) clear() { c.state.Store(&state[K, V]{values: map[scopedKey[K]]entry[V]{}}) }

// ClearOnCommit is a hook for the entities that cached values are read from. It clears the
// cache when a change is committed, or when the outcome of the commit is unknown. It does
// not see writes outside a transaction, or a row of store.DB.TxSingleStatement if the work
// fails after it: the server has committed the row, but Commit is never called.
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

// Get returns the cached value of a key if usable accepts it, or else calls read and caches
// what that returns. If read does not find a value or fails, nothing is cached.
func (c *Cache[K, V]) Get(ctx context.Context, key K, usable func(V) bool, read func(ctx context.Context) (v V, found bool, err error)) (v V, found bool, err error) {
	r := c.access(ctx)
	if v, ok := r.get(key); ok && usable(v) {
		return v, true, nil
	}
	v, found, err = read(store.OnPrimary(ctx))
	if found && err == nil {
		r.set(key, v)
	}
	return v, found, err
}

// GetAll returns the values of keys. It calls read for those that are not cached, and caches
// what that returns; a key that read does not find is missing from the result.
func (c *Cache[K, V]) GetAll(ctx context.Context, keys []K, read func(ctx context.Context, missing []K) (map[K]V, error)) (map[K]V, error) {
	r, values := c.access(ctx), make(map[K]V, len(keys))
	var missing []K
	for _, key := range keys {
		if v, ok := r.get(key); ok {
			values[key] = v
		} else {
			missing = append(missing, key)
		}
	}
	if len(missing) == 0 {
		return values, nil
	}
	found, err := read(store.OnPrimary(ctx), missing)
	for key, v := range found {
		r.set(key, v)
		values[key] = v
	}
	return values, err
}

// access is the cache as seen by one call of Get or GetAll: the state at its beginning, and
// the keys of its principal.
type access[K comparable, V any] struct {
	state    *state[K, V]
	owner    scopedKey[K] // without a key
	capacity int
	began    time.Duration // on clock.Uptime
}

// access begins a call for the principal of ctx.
func (c *Cache[K, V]) access(ctx context.Context) access[K, V] {
	r := access[K, V]{state: c.state.Load(), capacity: c.capacity, began: clock.Uptime()}
	if p, err := principal.From(ctx); err == nil {
		r.owner.practice = p.PracticeID
		if p.SiteID != nil {
			r.owner.site = *p.SiteID
		}
	}
	return r
}

func (r access[K, V]) scoped(key K) scopedKey[K] {
	r.owner.key = key
	return r.owner
}

// get returns the value of a key if it is not too old.
func (r access[K, V]) get(key K) (v V, ok bool) {
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	cached, ok := r.state.values[r.scoped(key)]
	if !ok || clock.Uptime()-cached.asked >= maxAge {
		return v, false
	}
	return cached.v, true
}

// set caches v, unless a call that began later has set the key. A full cache is
// cleared: its values expire within a second anyway.
func (r access[K, V]) set(key K, v V) {
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	at := r.scoped(key)
	cached, known := r.state.values[at]
	if known && cached.asked > r.began {
		return
	}
	if !known && len(r.state.values) >= r.capacity {
		clear(r.state.values)
	}
	r.state.values[at] = entry[V]{v, r.began}
}
