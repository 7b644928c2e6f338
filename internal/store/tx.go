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
// check and a write is locked by work. Nothing is tried a second time: an error
// that Fault calls unavailable is the client's to repeat.
func (db *DB) Tx(ctx context.Context, work func(tx *ent.Client) error) error {
	return db.TxHolding(ctx, nil, work)
}

// TxHolding is Tx with locks that are taken together with its beginning, in one
// round trip. The first statement of work sees what those before it have done
// who held one of them. Those of this process wait for each other without a
// connection, 10 s at most (queues).
func (db *DB) TxHolding(ctx context.Context, locks []Lock, work func(tx *ent.Client) error) error {
	return db.tx(ctx, held{locks: locks}, work)
}

// TxOfOne is TxHolding for work that on PostgreSQL is one statement: mostly that
// takes one round trip, the locks and the commit included. What it has written stays,
// whatever work returns, unless the statement fails. Where another process has a
// lock, work is done again when it is to be had: its clock is to be read in it.
func (db *DB) TxOfOne(ctx context.Context, locks []Lock, work func(tx *ent.Client) error) error {
	err := db.tx(ctx, held{locks: locks, alone: true}, work)
	if errors.Is(err, errBusy) {
		return db.TxHolding(ctx, locks, work)
	}
	return err
}

func (db *DB) tx(ctx context.Context, with held, work func(tx *ent.Client) error) (err error) {
	if !db.postgres() {
		with.locks = []Lock{theWriteLock}
	}
	leave, err := db.queues.enter(ctx, with.locks)
	if err != nil {
		return fmt.Errorf("store: wait for other transactions: %w", err)
	}
	defer leave()
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
