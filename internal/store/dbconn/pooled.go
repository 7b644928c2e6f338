package dbconn

import (
	"context"
	"database/sql/driver"
	"sync/atomic"

	"chairside/internal/entx"
	"chairside/internal/entx/rowscan"
)

// Behind a pooler that may give each transaction another server connection (PgBouncer in
// transaction mode), a connection has no settings outside a transaction, and no prepared statements
// of its own: those belong to server connections, which clients share. So a statement is parsed
// without a name when it runs, in the same round trip:
//
//	lib/pq      Bind, Execute, Sync                                  of a statement that it has prepared
//	sent        Parse, Bind, Execute …, Parse, Bind, Execute, Sync   practice and locks, then the statement
//
// A statement that runs often is named after a hash of its text (sharedstatements.go). It is parsed only
// on server connections that do not have it:
//
//	sent        Bind, Execute …, Bind, Execute, Sync
//	refused     rolled back as a whole, because one Sync ends it
//	sent again  Close, Parse, Bind, Execute …, Close, Parse, Bind, Execute, Sync
//
// Inside an ordinary transaction, which an error would abort, statements have no names. lib/pq
// describes each statement once for a connection; from then on pipelineConn adds to its messages and
// hides the results.
//
// Over TLS messages cannot be added, and long statements are not worth remembering. pooledConn then
// gives each statement with arguments a transaction of its own: lib/pq sends it in two steps, and the
// pooler may send the second step to a server connection on which another client has just done
// the first step, so that the other client's statement runs.

// Pooled wraps the connector of a server behind a pooler. The schema identifies the types of all columns.
func Pooled(connector *Connector, roundTrips *atomic.Int64, names Names, schema string) driver.Connector {
	return &statementCache{Connector: connector, roundTrips: roundTrips, names: names, outdated: Outdated, pooled: newSharedNames(schema)}
}

// PooledConfined is Pooled for a role that row-level security confines: every transaction also sets
// the practice.
func PooledConfined(connector *Connector, roundTrips *atomic.Int64, names Names, schema string) driver.Connector {
	return &statementCache{Connector: connector, roundTrips: roundTrips, names: names, outdated: Outdated, pooled: newSharedNames(schema), confined: true}
}

// localPractice is preparePractice for one transaction.
const localPractice = `SELECT set_config('` + PracticeSetting + `', $1, true)`

// localLock is prepareLock for one transaction. Where the default isolation level is not READ
// COMMITTED it takes no lock, and the statement runs in an ordinary transaction.
const localLock = `SELECT CASE WHEN current_setting('` + entx.Unlocked + `', true) = 'true' THEN 'true'
WHEN current_setting('transaction_isolation') <> 'read committed' THEN set_config('` + entx.Unlocked + `', 'true', true)
ELSE set_config('` + entx.Unlocked + `', (NOT pg_try_advisory_xact_lock($1::bigint))::text, true) END`

type pooledConn struct{ *conn }

// alone reports whether a statement needs a transaction of its own.
func (c *pooledConn) alone(args []driver.NamedValue) bool {
	return !c.inTx && (len(args) > 0 || c.confined != nil)
}

// PrepareContext refuses to prepare a statement on a confined connection.
func (c *pooledConn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	if c.confined != nil {
		return nil, errPrepared
	}
	return c.conn.PrepareContext(ctx, text)
}

func (c *pooledConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	c.roundTrips.Add(1)
	if !c.alone(args) {
		if err := c.confine(ctx); err != nil {
			return nil, err
		}
		return c.query(ctx, text, args)
	}
	transaction, err := c.BeginTx(ctx, driver.TxOptions{})
	if err != nil {
		return nil, err
	}
	m := c.measureText(ctx, text)
	result, err := c.driverConn.QueryContext(ctx, text, args)
	if err != nil {
		m.end(err)
		_ = transaction.Rollback() // if this fails, the driver discards the connection
		return nil, err
	}
	return rowscan.WrapRaw(ctx, &rows{Rows: result, done: func() error { m.end(nil); return transaction.Commit() }}), nil
}

func (c *pooledConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	c.roundTrips.Add(1)
	if !c.alone(args) {
		if err := c.confine(ctx); err != nil {
			return nil, err
		}
		return c.exec(ctx, text, args)
	}
	transaction, err := c.BeginTx(ctx, driver.TxOptions{})
	if err != nil {
		return nil, err
	}
	result, err := c.exec(ctx, text, args)
	if err != nil {
		_ = transaction.Rollback() // as above
		return nil, err
	}
	return result, transaction.Commit()
}
