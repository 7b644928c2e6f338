package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"runtime"

	gen "entgo.io/ent"
	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"github.com/google/uuid"
	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"chairside/ent"
	"chairside/internal/store/admission"
)

// viewSettings are for rare queries that read much. With this memory the sums of a year need no
// temporary files; JIT compilation would take longer than it saves. One processor must do: parallel workers would
// take those that other requests need (decision 11). A prepared statement is planned each time, because a
// plan for any period assumes a short one.
const viewSettings = "SET LOCAL work_mem = '64MB'; SET LOCAL jit = off; SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL plan_cache_mode = force_custom_plan"

// ErrReadOnly is the error of a mutation, or of any statement but a query, in a view.
var ErrReadOnly = errors.New("a view only reads: it cannot create, update or delete records")

// View runs work on one snapshot of the database: whatever others write meanwhile, everything
// that work reads through its client is consistent. It is for reports and other work that reads
// much. It does not block writers and cannot write: mutations fail with ErrReadOnly before they
// reach the database, and the database refuses statements that write.
//
// On PostgreSQL the transaction is REPEATABLE READ READ ONLY. On SQLite it is a deferred one, on
// a connection that is set to query_only.
func (db *DB) View(ctx context.Context, work func(client *ent.Client) error) error {
	return db.Snapshot(ctx, func(client *ent.Client, _ *sql.Tx) error { return work(client) })
}

// newReportTurns returns the turns of the reports that a process runs. They may use half of its
// processors, and as many of the database's: each adds up many rows, and requests that read a few
// would wait behind them.
func newReportTurns() *admission.Gate {
	return admission.NewTurns(max(1, runtime.GOMAXPROCS(0)/2), admission.ThreeFifths)
}

// ViewForReport is View for a report, on a replica if one can answer, or else on the primary (OnReplica).
// Reports take turns, so that they do not slow other requests: it fails with context.DeadlineExceeded if
// its turn does not come within three fifths of the time that ctx has. If the replica fails, work runs a
// second time, unless a statement has taken too long: it would on the primary too.
func (db *DB) ViewForReport(ctx context.Context, work func(client *ent.Client) error) error {
	ctx, leave, err := db.enterReports(ctx)
	if err != nil {
		return fmt.Errorf("store: report: %w", err)
	}
	defer leave()
	done, err := db.OnReplica(ctx, Reading{Report: true}, func(ctx context.Context) error { return db.View(ctx, work) })
	var refused *pq.Error
	if done || errors.As(err, &refused) && refused.Code == pqerror.QueryCanceled {
		return err
	}
	return db.View(ctx, work)
}

// Snapshot is View for work that also needs statements that Ent cannot express, in the same
// transaction.
func (db *DB) Snapshot(ctx context.Context, work func(client *ent.Client, tx *sql.Tx) error) error {
	return db.view(ctx, func(d dialect.Driver) dialect.Driver { return d }, work)
}

// ViewOf is View of one practice's records: in every part of a statement, the names of tables mean
// only the rows of that practice (see practiceOnly).
func (db *DB) ViewOf(ctx context.Context, practice uuid.UUID, work func(client *ent.Client) error) error {
	only := newPracticeOnly(db, practice)
	return db.view(ctx, only.driver, func(client *ent.Client, _ *sql.Tx) error { return work(client) })
}

func (db *DB) view(ctx context.Context, through func(dialect.Driver) dialect.Driver, work func(client *ent.Client, tx *sql.Tx) error) (err error) {
	pool, gate := db.poolOf(ctx)
	if v := visitOf(ctx); v != nil {
		pool, gate = v.pool, v.gated.gate
	}
	leave, err := enterGate(ctx, gate)
	if err != nil {
		return fmt.Errorf("store: begin: %w", err)
	}
	defer leave()
	conn, err := pool.Conn(ctx)
	if err != nil {
		return fmt.Errorf("store: begin: %w", err)
	}
	defer func() {
		if closing := conn.Close(); closing != nil && !errors.Is(closing, sql.ErrConnDone) {
			err = errors.Join(err, fmt.Errorf("store: end: %w", closing))
		}
	}()
	if !db.postgres() {
		defer allowWrites(ctx, conn) // also after a panic, or if the next statement fails
		if _, err := conn.ExecContext(ctx, "PRAGMA query_only = ON"); err != nil {
			return fmt.Errorf("store: begin: %w", err)
		}
	}
	tx, err := conn.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return fmt.Errorf("store: begin: %w", err)
	}
	defer func() {
		// There is nothing to commit. If ctx has ended, the driver has already rolled back.
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
	client.Use(refuseWrites)
	client.Intercept(auditReads())
	return work(client, tx)
}

// refuseWrites is the hook of a view.
func refuseWrites(gen.Mutator) gen.Mutator {
	return gen.MutateFunc(func(context.Context, gen.Mutation) (gen.Value, error) { return nil, ErrReadOnly })
}

// allowWrites switches query_only off. If that fails, the connection is closed instead of going
// back to the pool.
func allowWrites(ctx context.Context, conn *sql.Conn) {
	if _, err := conn.ExecContext(context.WithoutCancel(ctx), "PRAGMA query_only = OFF"); err != nil {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // fails if the connection is already closed
	}
}
