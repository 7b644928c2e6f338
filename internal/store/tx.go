package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"chairside/ent"
	"chairside/internal/entx"
	"chairside/internal/store/dbconn"
)

// Tx runs work in one transaction. It commits if work returns nil and rolls back if
// work fails or panics. work uses only the client it is given: DB.Ent would not see the
// transaction, or would wait for it.
//
// On SQLite the transaction holds the only write lock from its beginning. On PostgreSQL
// it is READ COMMITTED, so work locks what must not change between a check and a write.
// Tx never repeats work; the client may, if APIError classifies the error as unavailable.
//
// The context decides how the transactions of a request end (DryRun, Once, Join).
func (db *DB) Tx(ctx context.Context, work func(tx *ent.Client) error) (err error) {
	switch m := modeOf(ctx); {
	case m.once:
		return errNotOnce
	case m.joined != nil:
		return work(m.joined)
	}
	leave, err := db.enter(ctx, nil)
	if err != nil {
		return err
	}
	defer leave(&err)
	return db.tx(ctx, dbconn.TxOptions{}, work, nil)
}

// TxSingleStatement is Tx for work that is mostly one statement: fast writes a row or, if
// a condition does not hold, writes nothing and returns entx.ErrConditionFailed. Then
// fallback reports why, or writes after all. Both see everything that earlier holders of
// one of the locks committed. Transactions of this process wait for each other without a
// connection, for at most 2 s (queues).
//
// On PostgreSQL the statement, its locks and its commit take one round trip. Where the
// connection cannot pipeline locks, or another process holds one, fast runs again in an
// ordinary transaction that takes the locks when it begins. fast and fallback read the
// clock themselves (clock.Refresh).
//
// A row that the statement has written stays written, even if ctx ends before
// TxSingleStatement returns. So the statement must be the last thing that fast does: a second
// one is refused, and if fast fails after it, the error also says that the rollback failed.
// The principal must be able to see the row that it writes. Otherwise no row comes back, as if
// a condition had failed, and fallback would write the row again. The generator refuses
// resources for which that could happen.
//
// If the connection is lost, or ctx ends, while the statement runs, whether it was
// committed is unknown.
func (db *DB) TxSingleStatement(ctx context.Context, locks []Lock, fast, fallback func(tx *ent.Client) error) (err error) {
	mode := modeOf(ctx)
	switch {
	case mode.once:
		return errNotOnce
	case mode.joined != nil:
		return joinSingleStatement(ctx, mode.joined, locks, fast, fallback)
	}
	leave, err := db.enter(ctx, locks)
	if err != nil {
		return err
	}
	defer leave(&err)
	if mode.dryRun { // a single statement commits itself
		return db.tx(ctx, dbconn.TxOptions{Locks: locks}, fast, fallback)
	}
	var single bool
	err = db.tx(ctx, dbconn.TxOptions{Locks: locks, Single: &single}, fast, fallback)
	switch {
	case single && errors.Is(err, dbconn.ErrNotSingle):
		return db.tx(ctx, dbconn.TxOptions{Locks: locks}, fast, fallback)
	case single && errors.Is(err, entx.ErrConditionFailed):
		return db.tx(ctx, dbconn.TxOptions{Locks: locks}, fallback, nil)
	}
	return err
}

// joinSingleStatement is TxSingleStatement as part of the transaction of tx.
func joinSingleStatement(ctx context.Context, tx *ent.Client, locks []Lock, fast, fallback func(tx *ent.Client) error) error {
	if err := TakeLocks(ctx, tx, locks...); err != nil {
		return err
	}
	err := fast(tx)
	if errors.Is(err, entx.ErrConditionFailed) {
		return fallback(tx)
	}
	return err
}

// enter waits for transactions of this process that hold one of the locks. leave lets the next one run. If
// this one did not fail, it then asks for the position that it reached, which takes a round trip.
func (db *DB) enter(ctx context.Context, locks []Lock) (leave func(failure *error), err error) {
	if !db.postgres() {
		locks = []Lock{sqliteWriteLock}
	}
	wait := dbconn.MeasureWait(ctx, dbconn.WaitLock)
	out, err := db.queues.enter(ctx, locks)
	wait.EndWait()
	if err != nil {
		return nil, fmt.Errorf("store: wait for other transactions: %w", err)
	}
	return func(failure *error) {
		out()
		if *failure == nil && !modeOf(ctx).dryRun {
			db.Reached(ctx, nil)
		}
	}, nil
}

// tx runs work in a transaction. If a condition fails, and the transaction has not ended with
// its single statement, it then runs fallback, which may be nil.
func (db *DB) tx(ctx context.Context, options dbconn.TxOptions, work, fallback func(tx *ent.Client) error) (err error) {
	transaction, err := db.Ent.Tx(dbconn.WithTxOptions(ctx, options))
	if err != nil {
		return fmt.Errorf("store: begin: %w", err)
	}
	finished := false
	defer func() {
		if finished {
			return
		}
		// If ctx has ended, the driver has already rolled back, and the error of
		// Rollback adds nothing to that of work.
		if rollback := transaction.Rollback(); rollback != nil && err != nil && ctx.Err() == nil {
			err = errors.Join(err, fmt.Errorf("store: roll back: %w", rollback))
		}
	}()
	err = work(transaction.Client())
	if ended := options.Single != nil && *options.Single; fallback != nil && !ended && errors.Is(err, entx.ErrConditionFailed) {
		err = fallback(transaction.Client())
	}
	if err != nil || modeOf(ctx).dryRun {
		return err
	}
	finished = true
	if err := transaction.Commit(); err != nil {
		if errors.Is(err, sql.ErrTxDone) && ctx.Err() != nil { // database/sql has rolled back because ctx ended
			err = ctx.Err()
		}
		return fmt.Errorf("store: commit: %w", err)
	}
	return nil
}
