package store

import (
	"context"
	"errors"
	"fmt"

	"chairside/ent"
)

// Tx runs work in one transaction: it commits when work returns nil, and rolls
// back when work fails or panics. work does everything through the client it is
// given; that of DB.Ent would wait for, or not see, the transaction.
//
// On SQLite the transaction holds the only write lock from its beginning; on
// PostgreSQL its isolation is READ COMMITTED, so what must not change between a
// check and a write is locked by work. Work that fails is not done a second time: an
// error that Fault calls unavailable is the client's to repeat.
func (db *DB) Tx(ctx context.Context, work func(tx *ent.Client) error) error {
	leave, err := db.enter(ctx, nil)
	if err != nil {
		return err
	}
	defer leave()
	return db.tx(ctx, held{}, work)
}

// TxTrying is Tx for work that mostly is one statement, which writes a row or,
// where a condition does not hold, writes nothing and gives ent.ErrUnmet: then
// otherwise says why not, or writes after all. Both see what those before them have
// done who held one of the locks; those of this process wait for each other without
// a connection, 2 s at most (queues).
//
// On PostgreSQL the statement takes one round trip, with its locks before it and its
// commit behind. Where the connection cannot do that, or another process has a lock,
// there is a transaction around it, which takes its locks when it begins, and for
// which try is called again. Both read the clock themselves (clock.Again).
//
// What the statement has written stays, whatever happens after it: try fails, or ctx
// ends before TxTrying returns, which then gives an error all the same. So the
// statement is the last thing that try does. Its conditions have to imply that the
// caller sees the row: if they do not, no row comes back, which looks like ErrUnmet,
// and the function otherwise may write it a second time.
//
// If the connection is lost, or ctx ends, while the statement is under way, nobody
// knows whether it was committed.
func (db *DB) TxTrying(ctx context.Context, locks []Lock, try, otherwise func(tx *ent.Client) error) error {
	leave, err := db.enter(ctx, locks)
	if err != nil {
		return err
	}
	defer leave()
	both := func(tx *ent.Client) error {
		if err := try(tx); !errors.Is(err, ent.ErrUnmet) {
			return err
		}
		return otherwise(tx)
	}
	var oneStatement bool
	err = db.tx(ctx, held{locks: locks, oneStatement: &oneStatement}, func(tx *ent.Client) error {
		if oneStatement {
			return try(tx)
		}
		return both(tx)
	})
	switch {
	case oneStatement && errors.Is(err, errNotAlone):
		return db.tx(ctx, held{locks: locks}, both)
	case oneStatement && errors.Is(err, ent.ErrUnmet):
		return db.tx(ctx, held{locks: locks}, otherwise)
	}
	return err
}

// enter waits for the transactions of this process that hold one of the locks.
func (db *DB) enter(ctx context.Context, locks []Lock) (leave func(), err error) {
	if !db.postgres() {
		locks = []Lock{theWriteLock}
	}
	if leave, err = db.queues.enter(ctx, locks); err != nil {
		return nil, fmt.Errorf("store: wait for other transactions: %w", err)
	}
	return leave, nil
}

func (db *DB) tx(ctx context.Context, with held, work func(tx *ent.Client) error) (err error) {
	transaction, err := db.Ent.Tx(context.WithValue(ctx, heldKey{}, with))
	if err != nil {
		return fmt.Errorf("store: begin: %w", err)
	}
	finished := false
	defer func() {
		if finished {
			return
		}
		// After an error of ctx the driver has rolled back by itself; whatever
		// this adds, work's error (or panic) is the one that matters.
		if rollback := transaction.Rollback(); rollback != nil && err != nil && ctx.Err() == nil {
			err = errors.Join(err, fmt.Errorf("store: roll back: %w", rollback))
		}
	}()
	if err := work(transaction.Client()); err != nil {
		return err
	}
	finished = true
	if err := transaction.Commit(); err != nil {
		return fmt.Errorf("store: commit: %w", err)
	}
	return nil
}
