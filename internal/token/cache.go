package token

import (
	"crypto/sha256"

	"chairside/ent"
	"chairside/internal/cache"
)

// maxEntries is the most cached tokens, of about 400 bytes each.
const maxEntries = 4096

// Cache resolves tokens and caches the result for less than a second. It is safe for
// concurrent use.
type Cache struct {
	client *ent.Client
	memory *cache.Cache[[sha256.Size]byte, *entry]
}

// NewCache returns an empty cache, which changes through client clear.
func NewCache(client *ent.Client) *Cache {
	c := &Cache{client: client, memory: cache.New[[sha256.Size]byte, *entry](maxEntries)}
	client.AccessToken.Use(c.memory.ClearOnCommit) // only the last use is written outside a transaction
	client.User.Use(c.memory.ClearOnCommit)
	client.Practice.Use(c.memory.ClearOnCommit)
	client.Application.Use(c.memory.ClearOnCommit)
	return c
}
