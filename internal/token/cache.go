package token

import (
	"context"
	"crypto/sha256"
	"sync"
	"sync/atomic"
	"time"

	gen "entgo.io/ent"
	"golang.org/x/sync/singleflight"

	"chairside/ent"
	"chairside/internal/clock"
)

const (
	// fresh is how long what was read of a token may be used: revoking works
	// within a second on every process (behaviour.md section 7).
	fresh = 900 * time.Millisecond
	// remembered is how many tokens are kept at most, some 400 bytes each.
	remembered = 4096
)

// Cache finds for whom tokens act, and remembers it for less than a second. It
// is safe for concurrent use.
type Cache struct {
	client *ent.Client
	memory atomic.Pointer[memory]
}

// memory is what was read since a token, a user or a practice last changed in
// this process. A change puts a new one in its place, so that a lookup that
// began before the change can be neither remembered nor joined after it.
type memory struct {
	lookups singleflight.Group // by hash
	mu      sync.Mutex
	holders map[[sha256.Size]byte]*holder
}

// NewCache gives an empty cache over client, and has client tell it of changes.
func NewCache(client *ent.Client) *Cache {
	c := &Cache{client: client}
	c.forget()
	client.AccessToken.Use(c.forgetAfter)
	client.User.Use(c.forgetAfter)
	client.Practice.Use(c.forgetAfter)
	return c
}

func (c *Cache) forget() { c.memory.Store(&memory{holders: map[[sha256.Size]byte]*holder{}}) }

// forgetAfter is a hook that makes a change known when it is committed, or when
// nobody knows whether it was. What is new has not been remembered, and only
// the last use is written outside a transaction.
func (c *Cache) forgetAfter(next ent.Mutator) ent.Mutator {
	return ent.MutateFunc(func(ctx context.Context, m ent.Mutation) (ent.Value, error) {
		if changed, ok := m.(interface{ Tx() (*ent.Tx, error) }); ok && !m.Op().Is(gen.OpCreate) {
			if tx, err := changed.Tx(); err == nil {
				tx.OnCommit(func(next ent.Committer) ent.Committer {
					return ent.CommitFunc(func(ctx context.Context, tx *ent.Tx) error {
						defer c.forget()
						return next.Commit(ctx, tx)
					})
				})
			}
		}
		return next.Mutate(ctx, m)
	})
}

// recall gives the holder of a token that was read a moment ago, or nil.
func (m *memory) recall(hash [sha256.Size]byte) *holder {
	m.mu.Lock()
	defer m.mu.Unlock()
	if h := m.holders[hash]; h != nil && clock.Uptime()-h.asked < fresh {
		return h
	}
	return nil
}

// keep remembers h. A full memory is emptied: nearly all of it is too old
// anyway, or will be in a moment.
func (m *memory) keep(hash [sha256.Size]byte, h *holder) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.holders) >= remembered {
		clear(m.holders)
	}
	m.holders[hash] = h
}
