package store

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"

	"chairside/ent"
)

// ForUpdate locks the rows of a query until the transaction ends. On SQLite a
// transaction of DB.Tx holds the one write lock from its beginning.
func ForUpdate(s *sql.Selector) {
	if s.Dialect() == dialect.Postgres {
		s.ForUpdate()
	}
}

// Lock is a lock that one transaction at a time holds, whichever process it is
// of. Nothing in the database has it: it keeps out only who asks for it too.
type Lock int64

// LockOf is the lock of a name. Two names may have the same one: then their
// transactions wait for each other, which is slower and no less right.
func LockOf(name ...any) Lock {
	hash := fnv.New64a()
	fmt.Fprint(hash, name...)
	return Lock(hash.Sum64())
}

// inOrder gives locks in the order in which every transaction takes them, so
// that no two wait for each other.
func inOrder(locks []Lock) []Lock { return slices.Compact(slices.Sorted(slices.Values(locks))) }

// TakeLocks waits until the transaction of tx has locks, which it has until it
// ends. A transaction takes all of its locks at once, here or in TxHolding. On
// SQLite it has the one write lock from its beginning.
func TakeLocks(ctx context.Context, tx *ent.Client, locks ...Lock) error {
	keys := make([]int64, 0, len(locks))
	for _, l := range inOrder(locks) {
		keys = append(keys, int64(l))
	}
	return tx.Lock(ctx, keys...)
}

// heldKey is the context's key of what a transaction begins with.
type heldKey struct{}

// beginHolding is the statement that begins a transaction and takes the locks
// of ctx, "" where it has none.
func beginHolding(ctx context.Context) string {
	locks, _ := ctx.Value(heldKey{}).([]Lock)
	if len(locks) == 0 {
		return ""
	}
	var text strings.Builder
	text.WriteString("BEGIN")
	for _, l := range inOrder(locks) {
		fmt.Fprintf(&text, "; SELECT pg_advisory_xact_lock(%d)", int64(l))
	}
	return text.String()
}
