package store

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

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

// maxLockWait is how long a transaction waits in the database for locks of others
// before it is refused as unavailable.
const maxLockWait = 2 * time.Second

// The pauses between two attempts to take locks grow from the first to the last.
const (
	firstLockPause = time.Millisecond
	lastLockPause  = 20 * time.Millisecond
)

// errLocked is returned where others held a lock for longer than maxLockWait.
var errLocked = errors.New("store: another transaction has held a lock for too long")

// TakeLocks waits until the transaction of tx has locks, which it keeps until it
// ends. A transaction takes all of its locks at once, here or with its beginning. On
// SQLite it has the one write lock from its beginning.
func TakeLocks(ctx context.Context, tx *ent.Client, locks ...Lock) error {
	keys := make([]int64, 0, len(locks))
	for _, l := range inOrder(locks) {
		keys = append(keys, int64(l))
	}
	return untilLocked(ctx, func() (bool, error) { return tx.TryLock(ctx, keys...) })
}

// untilLocked repeats try until it reports that the locks are held, for maxLockWait.
// PostgreSQL logs an error for each statement that waits for a lock in vain; one that
// asks without waiting (pg_try_advisory_xact_lock) leaves nothing in its log.
func untilLocked(ctx context.Context, try func() (bool, error)) error {
	limit := time.Now().Add(maxLockWait)
	for pause := firstLockPause; ; pause = min(2*pause, lastLockPause) {
		locked, err := try()
		if err != nil || locked {
			return err
		}
		wait := pause/2 + rand.N(pause) // or several would always ask at the same moments
		if time.Now().Add(wait).After(limit) {
			return errLocked
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
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

// beginStatement begins a transaction. It names the isolation each time: at another one,
// which may be the default of a database or a role, a statement after a lock would not
// see what was written by those who held the lock before.
const beginStatement = "BEGIN ISOLATION LEVEL READ COMMITTED"

// tryStatement takes locks in their order, up to the first one that another transaction
// holds, and reports whether it has all. CASE evaluates one after the other, unlike AND.
func tryStatement(locks []Lock) string {
	var text strings.Builder
	text.WriteString("SELECT CASE")
	for _, l := range locks {
		fmt.Fprintf(&text, " WHEN NOT pg_try_advisory_xact_lock(%d) THEN false", int64(l))
	}
	text.WriteString(" ELSE true END")
	return text.String()
}
