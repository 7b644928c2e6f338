package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	gen "entgo.io/ent"
	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"chairside/ent"
)

// viewSettings are for queries that read much and seldom: sums of a year fit
// the memory, and compiling them would take longer than it saves.
const viewSettings = "SET LOCAL work_mem = '64MB'; SET LOCAL jit = off"

// ErrReadOnly is the error of a mutation, or of a statement that is no query, in a view.
var ErrReadOnly = errors.New("a view only reads: it cannot create, update or delete records")

// View runs work on one state of the database: whatever others write meanwhile,
// all that work reads through the client it is given belongs together. It is
// for reading much, as reports do. It keeps nobody from writing, and cannot
// write itself: mutations fail with ErrReadOnly before they reach the database, and
// the database refuses statements that write.
//
// On PostgreSQL the transaction is REPEATABLE READ READ ONLY, on SQLite a
// deferred one of a connection that is set to query_only.
func (db *DB) View(ctx context.Context, work func(client *ent.Client) error) error {
	return db.view(ctx, func(d dialect.Driver) dialect.Driver { return d }, work)
}

// ViewOf is View for one practice's records. The names of tables mean that practice's
// rows alone, in each part of a statement (see practiceOnly).
func (db *DB) ViewOf(ctx context.Context, practice uuid.UUID, work func(client *ent.Client) error) error {
	only := newPracticeOnly(db, practice)
	return db.view(ctx, only.driver, work)
}

func (db *DB) view(ctx context.Context, through func(dialect.Driver) dialect.Driver, work func(client *ent.Client) error) (err error) {
	leave, err := db.gate.Enter(ctx)
	if err != nil {
		return fmt.Errorf("store: begin: %w", err)
	}
	defer leave()
	conn, err := db.SQL.Conn(ctx)
	if err != nil {
		return fmt.Errorf("store: begin: %w", err)
	}
	defer func() {
		if closing := conn.Close(); closing != nil && !errors.Is(closing, sql.ErrConnDone) {
			err = errors.Join(err, fmt.Errorf("store: end: %w", closing))
		}
	}()
	if !db.postgres() {
		defer allowWrites(ctx, conn) // also after a panic, and where the next statement fails
		if _, err := conn.ExecContext(ctx, "PRAGMA query_only = ON"); err != nil {
			return fmt.Errorf("store: begin: %w", err)
		}
	}
	tx, err := conn.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
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
	client := ent.NewClient(ent.Driver(through(entsql.NewDriver(db.Dialect, entsql.Conn{ExecQuerier: tx}))))
	client.Use(refuse)
	client.Intercept(auditReads())
	return work(client)
}

// refuse is the hook of a view.
func refuse(gen.Mutator) gen.Mutator {
	return gen.MutateFunc(func(context.Context, gen.Mutation) (gen.Value, error) { return nil, ErrReadOnly })
}

// allowWrites ends query_only. A connection on which that fails is closed: it does
// not go back to the pool.
func allowWrites(ctx context.Context, conn *sql.Conn) {
	if _, err := conn.ExecContext(context.WithoutCancel(ctx), "PRAGMA query_only = OFF"); err != nil {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // it fails where the connection is gone already
	}
}
