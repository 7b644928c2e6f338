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

// ForUpdate locks the rows of a query until the transaction ends, but for those
// who only point at them: no id changes, and who books a patient that is being
// edited must not wait, holding the practitioner's diary. On SQLite a transaction
// of DB.Tx holds the one write lock from its beginning.
func ForUpdate(s *sql.Selector) {
	if s.Dialect() == dialect.Postgres {
		s.For("NO KEY UPDATE")
	}
}

// Lock is a lock that one transaction at a time holds, whichever process it is
// of. Nothing in the database has it: it keeps out only who asks for it too.
type Lock int64

// theWriteLock stands for the one that SQLite has for the whole database.
const theWriteLock Lock = 0

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
// ends. A transaction takes all of its locks at once, here or with its beginning. On
// SQLite it has the one write lock from its beginning.
func TakeLocks(ctx context.Context, tx *ent.Client, locks ...Lock) error {
	keys := make([]int64, 0, len(locks))
	for _, l := range inOrder(locks) {
		keys = append(keys, int64(l))
	}
	return tx.Lock(ctx, keys...)
}

// held is what a transaction begins with; its context has it under heldKey.
type held struct {
	locks        []Lock
	oneStatement *bool // BeginTx sets it where the transaction is to be one statement; nil where it must not be
}

type heldKey struct{}

func heldOf(ctx context.Context) held {
	h, _ := ctx.Value(heldKey{}).(held)
	return h
}

// beginHolding is the statement that begins a transaction and takes the locks of
// ctx. Its isolation is said each time: at another, which a database or a role may
// have for its default, a statement after the lock would not see what was written
// by those who had it before.
func beginHolding(ctx context.Context) string {
	var text strings.Builder
	text.WriteString("BEGIN ISOLATION LEVEL READ COMMITTED")
	for _, l := range inOrder(heldOf(ctx).locks) {
		fmt.Fprintf(&text, "; SELECT pg_advisory_xact_lock(%d)", int64(l))
	}
	return text.String()
}
