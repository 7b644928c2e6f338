package dbconn

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"chairside/internal/entx"
)

// Lock is the key of a PostgreSQL advisory lock, held by one transaction at a time
// across all processes. It locks no row: it excludes only transactions that ask for
// the same key.
type Lock int64

// SortLocks returns locks sorted and without duplicates. Every transaction takes its
// locks in this order, so none of them deadlock.
func SortLocks(locks []Lock) []Lock { return slices.Compact(slices.Sorted(slices.Values(locks))) }

// maxLockWait is how long a transaction waits in the database for its locks before it
// fails with ErrLocked.
const maxLockWait = 2 * time.Second

// Pauses between attempts to take locks double from firstLockPause to lastLockPause.
const (
	firstLockPause = time.Millisecond
	lastLockPause  = 20 * time.Millisecond
)

// ErrLocked means that another transaction held a lock for longer than maxLockWait.
var ErrLocked = errors.New("store: another transaction has held a lock for too long")

// WaitForLocks calls try until it reports that the locks are held, or fails with
// ErrLocked. PostgreSQL logs an error for every lock wait that times out;
// pg_try_advisory_xact_lock never waits, so polling it logs nothing.
func WaitForLocks(ctx context.Context, try func() (bool, error)) error {
	limit := time.Now().Add(maxLockWait)
	defer MeasureWait(ctx, WaitLock).EndWait()
	for pause := firstLockPause; ; pause = min(2*pause, lastLockPause) {
		locked, err := try()
		if err != nil || locked {
			return err
		}
		wait := pause/2 + rand.N(pause) // jitter keeps waiters from polling in step
		if time.Now().Add(wait).After(limit) {
			return ErrLocked
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// TxOptions are the options of a transaction beyond those of database/sql.
type TxOptions struct {
	// Locks are taken in the round trip that begins the transaction.
	Locks []Lock
	// Single, if not nil, allows a single-statement transaction (singlestatement.go). BeginTx
	// sets the bool to true if the transaction has become one.
	Single *bool
}

type txOptionsKey struct{}

// WithTxOptions returns a context under which BeginTx applies options.
func WithTxOptions(ctx context.Context, options TxOptions) context.Context {
	return context.WithValue(ctx, txOptionsKey{}, options)
}

func txOptionsOf(ctx context.Context) TxOptions {
	options, _ := ctx.Value(txOptionsKey{}).(TxOptions)
	return options
}

// beginStatement begins a transaction. It names the isolation level because the
// default of the database or role may differ: above READ COMMITTED a statement would
// not see what the previous holders of its locks committed.
const beginStatement = "BEGIN ISOLATION LEVEL READ COMMITTED"

// tryLocksStatement is entx.TryLockStatement with the keys as literals: a statement without
// arguments can be sent together with BEGIN.
func tryLocksStatement(locks []Lock) string {
	keys := make([]string, len(locks))
	for i, l := range locks {
		keys[i] = strconv.FormatInt(int64(l), 10)
	}
	return entx.TryLockStatement(keys)
}
