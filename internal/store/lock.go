package store

import (
	"context"
	"fmt"
	"hash/fnv"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"

	"chairside/ent"
	"chairside/internal/store/dbconn"
)

// ForUpdate locks the rows of a query until the transaction ends. Other transactions can still
// insert rows that reference them: ids never change, and a booking must not wait for an edit
// of its patient while it holds the practitioner's lock. On SQLite a transaction of DB.Tx holds
// the only write lock from its beginning.
func ForUpdate(s *sql.Selector) {
	if s.Dialect() == dialect.Postgres {
		s.For("NO KEY UPDATE")
	}
}

// ForReference locks the rows of a query as a row that references them does, until the transaction
// ends. Such locks exclude only an erasure of a patient, which locks the row for itself alone. So
// a condition that the patient is not erased still holds when the row is written: the database's
// own check of the reference comes after the condition, waits for the erasure, and does not ask
// again.
func ForReference(s *sql.Selector) {
	if s.Dialect() == dialect.Postgres {
		s.For("KEY SHARE")
	}
}

// ReferencedBy selects the row that a column of the row with an id references.
func ReferencedBy(table, column string, id any) func(*sql.Selector) {
	return func(s *sql.Selector) {
		t := sql.Table(table)
		s.Where(sql.In(s.C("id"), sql.Dialect(s.Dialect()).Select(t.C(column)).From(t).Where(sql.EQ(t.C("id"), id))))
	}
}

// Lock is the key of a lock that one transaction at a time holds, across all processes.
// It locks no row: it excludes only transactions that ask for the same key.
type Lock = dbconn.Lock

// sqliteWriteLock stands for the one write lock of an embedded database.
const sqliteWriteLock Lock = 0

// LockOf returns the lock of a name. Two names may share a lock; their transactions then
// wait for each other, which is slower but not wrong.
func LockOf(name ...any) Lock {
	hash := fnv.New64a()
	fmt.Fprint(hash, name...)
	return Lock(hash.Sum64())
}

// TakeLocks waits until the transaction of tx holds the locks; it holds them until it ends. A
// transaction must take all of its locks in one call, or when it begins, so that none of them
// deadlock. On SQLite it already holds the only write lock.
func TakeLocks(ctx context.Context, tx *ent.Client, locks ...Lock) error {
	keys := make([]int64, 0, len(locks))
	for _, l := range dbconn.SortLocks(locks) {
		keys = append(keys, int64(l))
	}
	return dbconn.WaitForLocks(ctx, func() (bool, error) { return tx.TryLock(ctx, keys...) })
}
