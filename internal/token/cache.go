package token

import (
	"crypto/sha256"

	"chairside/ent"
	"chairside/internal/cache"
)

// remembered is how many tokens are kept at most, some 400 bytes each.
const remembered = 4096

// Cache finds for whom tokens act, and remembers it for less than a second. It
// is safe for concurrent use.
type Cache struct {
	client *ent.Client
	memory *cache.Cache[[sha256.Size]byte, *holder]
}

// NewCache gives an empty cache over client, and has client tell it of changes.
func NewCache(client *ent.Client) *Cache {
	c := &Cache{client: client, memory: cache.New[[sha256.Size]byte, *holder](remembered)}
	client.AccessToken.Use(c.memory.ClearOnCommit) // its last use alone is written outside a transaction
	client.User.Use(c.memory.ClearOnCommit)
	client.Practice.Use(c.memory.ClearOnCommit)
	client.Application.Use(c.memory.ClearOnCommit)
	return c
}
