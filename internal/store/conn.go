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
// PostgreSQL's connection is its own transaction (driver.Tx); SQLite's is not.
func (c *tracked) begin(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	inner, ok := c.driverConn.(driver.Tx)
	if !ok || opts != (driver.TxOptions{}) {
		return c.driverConn.BeginTx(ctx, opts)
	}
	if err := c.beginHolding(ctx, inOrder(heldOf(ctx).locks)); err != nil {
		_ = inner.Rollback() // where this fails the driver gives the connection up
		return nil, err
	}
	return inner, nil
}

// beginHolding begins a transaction on PostgreSQL and waits until it has locks.
func (c *tracked) beginHolding(ctx context.Context, locks []Lock) error {
	if len(locks) == 0 {
		_, err := c.driverConn.ExecContext(ctx, beginStatement, nil)
		return err
	}
	try := tryStatement(locks)
	text := beginStatement + "; " + try
	return untilLocked(ctx, func() (bool, error) {
		locked, err := ask[bool](ctx, c.driverConn, text)
		if text == try { // the first one counts as the beginning
			c.asked.Add(1)
		}
		text = try
		return locked, err
	})
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
