package store

import (
	"context"
	"database/sql/driver"
	"sync/atomic"

	"chairside/internal/row"
)

// pooled is a driver.Connector for PostgreSQL behind a pooler that may give each
// transaction another server connection (PgBouncer in transaction mode).
//
// lib/pq sends a statement with arguments in two steps, and outside a
// transaction the pooler may run the second step on a server connection on
// which somebody else has just done the first: the answer is then that of
// another statement. So each statement gets a transaction of its own.
type pooled struct {
	driver.Connector
	asked *atomic.Int64 // round trips
}

func (p *pooled) Connect(ctx context.Context) (driver.Conn, error) {
	connection, err := p.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	inner, err := track(connection, p.asked)
	if err != nil {
		return nil, err
	}
	return &pooledConn{inner}, nil
}

type pooledConn struct{ *tracked }

func (c *pooledConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	c.asked.Add(1)
	if c.inTx || len(args) == 0 {
		return c.query(ctx, text, args)
	}
	transaction, err := c.BeginTx(ctx, driver.TxOptions{})
	if err != nil {
		return nil, err
	}
	result, err := c.driverConn.QueryContext(ctx, text, args)
	if err != nil {
		_ = transaction.Rollback() // where this fails the driver gives the connection up
		return nil, err
	}
	return row.Given(ctx, &rows{Rows: result, done: transaction.Commit}), nil
}

func (c *pooledConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	c.asked.Add(1)
	if c.inTx || len(args) == 0 {
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
