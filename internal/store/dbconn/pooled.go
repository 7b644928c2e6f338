package dbconn

import (
	"context"
	"database/sql/driver"
	"sync/atomic"

	"chairside/internal/entx/rowscan"
)

// pooled is a driver.Connector for PostgreSQL behind a pooler that may give each
// transaction another server connection (PgBouncer in transaction mode).
//
// lib/pq sends a statement with arguments in two steps. Outside a transaction, the pooler may
// send the second step to a server connection on which another client has just done the first
// step, so that the other client's statement runs. So each statement gets a transaction of its
// own.
type pooled struct {
	driver.Connector
	roundTrips *atomic.Int64
	confined   bool // as of statementCache
}

// Pooled wraps the connector of a server behind a pooler: nothing is prepared, and
// each statement with arguments gets a transaction of its own.
func Pooled(connector driver.Connector, roundTrips *atomic.Int64) driver.Connector {
	return &pooled{connector, roundTrips, false}
}

// PooledConfined is Pooled for a role that row-level security confines: every statement runs in
// a transaction, whose first round trip also sets the practice.
func PooledConfined(connector driver.Connector, roundTrips *atomic.Int64) driver.Connector {
	return &pooled{connector, roundTrips, true}
}

func (p *pooled) Connect(ctx context.Context) (driver.Conn, error) {
	connection, err := p.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	inner, err := wrap(connection, p.roundTrips)
	if err != nil {
		return nil, err
	}
	if p.confined {
		inner.confined = &confinement{local: true}
	}
	return &pooledConn{inner}, nil
}

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
	result, err := c.driverConn.QueryContext(ctx, text, args)
	if err != nil {
		_ = transaction.Rollback() // if this fails, the driver discards the connection
		return nil, err
	}
	return rowscan.WrapRaw(ctx, &rows{Rows: result, done: transaction.Commit}), nil
}

func (c *pooledConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	c.roundTrips.Add(1)
	if !c.alone(args) {
		if err := c.confine(ctx); err != nil {
			return nil, err
		}
		return c.driverConn.ExecContext(ctx, text, args)
	}
	transaction, err := c.BeginTx(ctx, driver.TxOptions{})
	if err != nil {
		return nil, err
	}
	result, err := c.driverConn.ExecContext(ctx, text, args)
	if err != nil {
		_ = transaction.Rollback() // as above
		return nil, err
	}
	return result, transaction.Commit()
}
