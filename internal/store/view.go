package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	entsql "entgo.io/ent/dialect/sql"

	"chairside/ent"
)

// viewSettings are for queries that read much and seldom: sums of a year fit
// the memory, and compiling them would take longer than it saves.
const viewSettings = "SET LOCAL work_mem = '64MB'; SET LOCAL jit = off"

// View runs work on one state of the database: whatever others write meanwhile,
// all that work reads through the client it is given belongs together. It is
// for reading much, as reports do. It keeps nobody from writing, and cannot
// write itself: PostgreSQL refuses, and on SQLite it comes to nothing.
//
// On PostgreSQL the transaction is REPEATABLE READ READ ONLY, on SQLite a
// deferred one.
func (db *DB) View(ctx context.Context, work func(client *ent.Client) error) (err error) {
	leave, err := db.gate.Enter(ctx)
	if err != nil {
		return fmt.Errorf("store: begin: %w", err)
	}
	defer leave()
	tx, err := db.SQL.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return fmt.Errorf("store: begin: %w", err)
	}
	defer func() {
		// There is nothing to commit. After an error of ctx the driver has
		// rolled back by itself.
		if rollback := tx.Rollback(); rollback != nil && ctx.Err() == nil {
			err = errors.Join(err, fmt.Errorf("store: end: %w", rollback))
		}
	}()
	if db.postgres() {
		if _, err := tx.ExecContext(ctx, viewSettings); err != nil {
			return fmt.Errorf("store: begin: %w", err)
		}
	}
	client := ent.NewClient(ent.Driver(entsql.NewDriver(db.Dialect, entsql.Conn{ExecQuerier: tx})))
	client.Intercept(noteReads())
	return work(client)
}
