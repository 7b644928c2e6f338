package store

import (
	"context"
	"database/sql"
	"errors"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"

	"chairside/internal/principal"
	"chairside/internal/store/admission"
	"chairside/internal/store/dbconn"
)

// gated is Ent's driver behind the gate of the pool. Each statement and each transaction waits
// for a place before it takes a connection, so that no practice and no kind of request can
// take all connections (package admission).
type gated struct {
	driver *entsql.Driver // not embedded, so that none of its methods bypasses the gate
	gate   *admission.Gate

	// serving is the same for statements with a principal, if they have a pool of their own
	// (DB.Confined). Queries of a read on a replica (visit) go there instead; everything else never does.
	serving *gated
}

// newGated returns the driver of a pool behind a gate of its own.
func newGated(dialectName string, pool *sql.DB) *gated {
	return &gated{driver: entsql.OpenDB(dialectName, pool), gate: admission.NewGate(pool.Stats().MaxOpenConnections)}
}

// of returns the driver and gate of a statement.
func (g *gated) of(ctx context.Context) *gated {
	if _, err := principal.From(ctx); err == nil && g.serving != nil {
		return g.serving
	}
	return g
}

// Hold takes one place for all statements of ctx until leave is called. It is for requests that
// only read and keep what they have read in memory.
func (db *DB) Hold(ctx context.Context) (leave func(), err error) {
	defer dbconn.MeasureWait(ctx, dbconn.WaitConnection).EndWait()
	return db.gate.Hold(ctx)
}

// enterGate waits for a place, and measures the wait.
func enterGate(ctx context.Context, gate *admission.Gate) (leave func(), err error) {
	defer dbconn.MeasureWait(ctx, dbconn.WaitConnection).EndWait()
	return gate.Enter(ctx)
}

// enterReports waits for the turn of a report, and measures the wait. A report without a kind, such as a
// scheduled one, gets one: else it would take two places at a replica.
func (db *DB) enterReports(ctx context.Context) (report context.Context, leave func(), err error) {
	defer dbconn.MeasureWait(ctx, dbconn.WaitTurn).EndWait()
	leave, err = db.reports.Enter(admission.With(ctx, admission.ReportTurns, ""))
	if admission.Kind(ctx) == admission.Other {
		ctx = admission.With(ctx, "reports", "")
	}
	return ctx, leave, err
}

// Usage returns how each kind of request uses the pool.
func (db *DB) Usage() []admission.Usage {
	if db.systemGate == db.gate {
		return admission.Sum(db.gate.Usage(), db.reports.Usage())
	}
	return admission.Sum(db.gate.Usage(), db.systemGate.Usage(), db.reports.Usage())
}

func (g *gated) Exec(ctx context.Context, text string, args, result any) error {
	g = g.of(ctx)
	leave, err := enterGate(ctx, g.gate)
	if err != nil {
		return err
	}
	defer leave()
	return g.driver.Exec(ctx, text, args, result)
}

func (g *gated) Query(ctx context.Context, text string, args, result any) error {
	if v := visitOf(ctx); v != nil && v.gated != g {
		return v.query(ctx, text, args, result)
	}
	g = g.of(ctx)
	leave, err := enterGate(ctx, g.gate)
	if err != nil {
		return err
	}
	if err := g.driver.Query(ctx, text, args, result); err != nil {
		leave()
		return err
	}
	rows, ok := result.(*entsql.Rows) // the driver accepts no other type
	if !ok {
		leave()
		return nil
	}
	rows.ColumnScanner = &gatedRows{ColumnScanner: rows.ColumnScanner, leave: leave}
	return nil
}

func (g *gated) Tx(ctx context.Context) (dialect.Tx, error) { return g.BeginTx(ctx, nil) }

// BeginTx implements the interface that Ent's Client.BeginTx looks for.
func (g *gated) BeginTx(ctx context.Context, options *sql.TxOptions) (dialect.Tx, error) {
	g = g.of(ctx)
	leave, err := enterGate(ctx, g.gate)
	if err != nil {
		return nil, err
	}
	begun, err := g.driver.BeginTx(ctx, options)
	if err != nil {
		leave()
		return nil, err
	}
	return &gatedTx{Tx: begun, leave: leave}, nil
}

func (g *gated) Close() error {
	if g.serving == nil {
		return g.driver.Close()
	}
	return errors.Join(g.driver.Close(), g.serving.Close())
}

func (g *gated) Dialect() string { return g.driver.Dialect() }

// gatedRows gives up its place when it is closed.
type gatedRows struct {
	entsql.ColumnScanner
	leave func() // nil once called
}

func (r *gatedRows) Close() error {
	err := r.ColumnScanner.Close()
	if r.leave != nil {
		r.leave()
		r.leave = nil
	}
	return err
}

// gatedTx gives up its place when it ends.
type gatedTx struct {
	dialect.Tx
	leave func() // nil once called
}

func (t *gatedTx) Commit() error {
	defer t.end()
	return t.Tx.Commit()
}

func (t *gatedTx) Rollback() error {
	defer t.end()
	return t.Tx.Rollback()
}

func (t *gatedTx) end() {
	if t.leave != nil {
		t.leave()
		t.leave = nil
	}
}
