// Package cache remembers for less than a second what was read from the
// database, where nearly every request asks for the same again (decision 7).
//
// Whatever changes it, and wherever: what is remembered is at most 0.9 s old. A
// change by a transaction of this process's client counts with the next request:
// ForgetAfter is a hook that forgets everything when such a change is committed.
//
// What a caller's work reads is remembered for callers who see the same rows:
// those of one practice, and of one site where their tokens are limited to it.
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

// Cache remembers values by their keys. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	most  int
	state atomic.Pointer[state[K, V]]
}

// state is what was read since something was last changed in this process. A
// change puts a new one in its place, so that what is being read meanwhile is
// neither remembered nor joined after it.
type state[K comparable, V any] struct {
	lookups singleflight.Group // by place
	mu      sync.Mutex
	values  map[scopedKey[K]]entry[V]
}

// place is a key as the callers who see the same rows know it. Work that belongs
// to no practice has the zero ids.
type scopedKey[K comparable] struct {
	practice, site uuid.UUID
	key            K
}

type entry[V any] struct {
	v     V
	asked time.Duration // on clock.Uptime, before the database was asked
}

// New gives an empty memory of that many values at most.
func New[K comparable, V any](most int) *Cache[K, V] {
	m := &Cache[K, V]{most: most}
	m.clear()
	return m
}

func (m *Cache[K, V]) clear() { m.state.Store(&state[K, V]{values: map[scopedKey[K]]entry[V]{}}) }

// ClearOnCommit is a hook for what the remembered values are made of. It forgets
// them when a change is committed, or when nobody knows whether it was. Not noticed
// are what is written outside a transaction, and the statement of store.DB.TxSingleStatement
// where what comes after it fails: it stays, but nothing commits it here.
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

// Scoped is the memory as the caller of one request sees it. It is to be had
// before the database is asked for what Keep is given.
type Scoped[K comparable, V any] struct {
	state *state[K, V]
	of    scopedKey[K]
	most  int
	began time.Duration
}

// For begins a reading for the caller of ctx.
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

// Get gives what was read a moment ago, if anything was.
func (r Scoped[K, V]) Get(key K) (v V, ok bool) {
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	kept, ok := r.state.values[r.at(key)]
	if !ok || clock.Uptime()-kept.asked >= fresh {
		return v, false
	}
	return kept.v, true
}

// Do has one of all who want the same now read it, the first, and gives it to
// each. That one may leave while others wait, so read must not end with its ctx.
// A reading that began after a change joins none that began before it. read does not
// run on the goroutine of a request, where a panic is caught: its panic is an error.
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

// raised is where the panic that is being recovered from was, as file:line.
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

// Set remembers v, unless somebody who began later has kept another. A full memory
// is emptied: nearly all of it is too old anyway, or will be in a moment.
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
