package store

import (
	"context"
	"errors"
	"sync"

	"chairside/ent"
	"chairside/internal/store/dbconn"
)

// ErrLocked is returned by TxOnce while another transaction holds the lock.
var ErrLocked = errors.New("store: another transaction holds the lock")

// errNotOnce refuses a transaction that would not store the response of a request whose
// response must be stored.
var errNotOnce = errors.New("store: a request with an idempotency key writes with TxOnce: use write.Tx")

// requestMode is how the transactions of one request end.
type requestMode struct {
	once   bool        // only TxOnce may write
	dryRun bool        // every transaction rolls back
	joined *ent.Client // every transaction is part of this one
}

type requestModeKey struct{}

func modeOf(ctx context.Context) requestMode {
	m, _ := ctx.Value(requestModeKey{}).(requestMode)
	return m
}

// DryRun returns a context whose transactions do their work and then roll back. They return
// nil where they would have committed.
func DryRun(ctx context.Context) context.Context {
	m := modeOf(ctx)
	m.dryRun = true
	return context.WithValue(ctx, requestModeKey{}, m)
}

// Once returns a context in which only TxOnce runs transactions. Others fail, so that no
// operation writes without storing its response.
func Once(ctx context.Context) context.Context {
	m := modeOf(ctx)
	m.once = true
	return context.WithValue(ctx, requestModeKey{}, m)
}

// Join returns a context whose transactions are part of the transaction of tx, for several
// requests that succeed or fail together. They neither commit nor roll back: if one of them
// fails, the work of tx must fail too.
func Join(ctx context.Context, tx *ent.Client) context.Context {
	return context.WithValue(ctx, requestModeKey{}, requestMode{joined: tx})
}

// TxOnce is Tx under a lock for which it does not wait: while another transaction holds the
// lock, it returns ErrLocked at once. On SQLite it cannot see the transactions of other
// processes and waits for them as Tx does, for at most 2 s.
func (db *DB) TxOnce(ctx context.Context, lock Lock, work func(tx *ent.Client) error) (err error) {
	once := func(tx *ent.Client) error {
		held, err := tx.TryLock(ctx, int64(lock))
		switch {
		case err != nil:
			return err
		case !held:
			return ErrLocked
		}
		return work(tx)
	}
	if tx := modeOf(ctx).joined; tx != nil {
		return once(tx)
	}
	if !db.running.begin(lock) {
		return ErrLocked
	}
	defer db.running.end(lock)
	leave, err := db.enter(ctx, nil)
	if err != nil {
		return err
	}
	defer leave(&err)
	return db.tx(ctx, dbconn.TxOptions{}, once, nil)
}

// running holds the locks of this process's TxOnce. It refuses a second one without a
// connection, and on SQLite there are no other locks than this.
type running struct {
	mu    sync.Mutex
	locks map[Lock]bool
}

func (r *running) begin(lock Lock) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.locks[lock] {
		return false
	}
	if r.locks == nil {
		r.locks = map[Lock]bool{}
	}
	r.locks[lock] = true
	return true
}

func (r *running) end(lock Lock) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.locks, lock)
}
