package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync/atomic"

	"chairside/internal/row"
)

// driverConn is what both drivers implement.
type driverConn interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ConnBeginTx
	driver.QueryerContext
	driver.ExecerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// tracked is a driver's connection that knows whether it is in a transaction,
// and counts what it asks of the database.
// It is what the wrapped connections of statements and pooled have in common.
type tracked struct {
	driverConn
	inTx  bool
	asked *atomic.Int64
}

func track(connection driver.Conn, asked *atomic.Int64) (*tracked, error) {
	inner, ok := connection.(driverConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("store: %T lacks methods of a connection", connection), connection.Close())
	}
	return &tracked{driverConn: inner, asked: asked}, nil
}

func (c *tracked) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	c.asked.Add(1)
	inner, err := c.begin(ctx, opts)
	if err != nil {
		return nil, err
	}
	c.inTx = true
	return &tx{Tx: inner, conn: c}, nil
}

// begin takes the locks of ctx in the round trip that begins the transaction.
//
// lib/pq's connection is its own transaction (driver.Tx); SQLite's is not. lib/pq's
// BeginTx would leave a function on the connection that stops watching ctx, and call it
// at the end of every later transaction too. Nothing is lost without: database/sql
// watches the context of the transaction, lib/pq that of each statement. Where options
// need BeginTx, it gets a context with nothing to watch.
func (c *tracked) begin(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	inner, ok := c.driverConn.(driver.Tx)
	switch {
	case !ok:
		return c.driverConn.BeginTx(ctx, opts)
	case opts != driver.TxOptions{}:
		return c.driverConn.BeginTx(context.WithoutCancel(ctx), opts)
	}
	if _, err := c.driverConn.ExecContext(ctx, beginHolding(ctx), nil); err != nil {
		// It has begun, and failed, if a lock was not to be had in time.
		_ = inner.Rollback() // where this fails the driver gives the connection up
		return nil, err
	}
	return inner, nil
}

// query asks the driver, which gives the rows as ctx wants them.
func (c *tracked) query(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	result, err := c.driverConn.QueryContext(ctx, text, args)
	if err != nil {
		return nil, err
	}
	return row.Given(ctx, result), nil
}

// CheckNamedValue lets the driver convert arguments its own way; database/sql
// does not see the driver's method through a wrapper.
func (c *tracked) CheckNamedValue(value *driver.NamedValue) error {
	if checker, ok := c.driverConn.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(value)
	}
	return driver.ErrSkip
}

// tx tells its connection when it ends.
type tx struct {
	driver.Tx
	conn *tracked
}

func (t *tx) Commit() error {
	t.conn.asked.Add(1)
	t.conn.inTx = false
	return t.Tx.Commit()
}

func (t *tx) Rollback() error {
	t.conn.asked.Add(1)
	t.conn.inTx = false
	return t.Tx.Rollback()
}

// rows call done once when they are closed. Unlike those of a statement that is not
// prepared they do not tell the types of their columns, so nothing may depend on
// these: Ent does where a query has columns that it does not know, and gives their
// values as the driver has them.
type rows struct {
	driver.Rows
	done func() error
}

func (r *rows) Close() error {
	err := r.Rows.Close()
	if r.done == nil { // closed before
		return err
	}
	done := r.done
	r.done = nil
	return errors.Join(err, done())
}
