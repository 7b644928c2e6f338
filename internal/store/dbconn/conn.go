package dbconn

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"chairside/internal/entx/rowscan"
)

// driverConn is what the connections of both drivers implement.
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

// conn wraps a driver's connection. It counts round trips, tracks whether a transaction is
// open and takes the locks of TxOptions. cachedConn and pooledConn embed it.
type conn struct {
	driverConn
	inTx       bool
	confined   *confinement // nil if the connection may see all practices
	roundTrips *atomic.Int64
	names      Names
}

// wrap returns connection as a conn, or closes it and fails if the driver lacks a method.
func wrap(connection driver.Conn, roundTrips *atomic.Int64, names Names) (*conn, error) {
	inner, ok := connection.(driverConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("store: %T lacks methods of a connection", connection), connection.Close())
	}
	return &conn{driverConn: inner, roundTrips: roundTrips, names: names}, nil
}

func (c *conn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	c.roundTrips.Add(1)
	m := measure(ctx, beginTransaction)
	inner, err := c.begin(ctx, opts)
	m.end(err)
	if err != nil {
		return nil, err
	}
	c.inTx = true
	return &tx{Tx: inner, conn: c, statements: m.to}, nil
}

// begin begins a transaction. On PostgreSQL it takes the locks of ctx in the same round trip;
// it recognises lib/pq by its connection, which is also its driver.Tx. SQLite has no such
// locks.
func (c *conn) begin(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	inner, ok := c.driverConn.(driver.Tx)
	if !ok || opts != (driver.TxOptions{}) {
		return c.driverConn.BeginTx(ctx, opts)
	}
	if err := c.beginLocked(ctx, SortLocks(txOptionsOf(ctx).Locks)); err != nil {
		c.confined.forget()
		_ = inner.Rollback() // if this fails, the driver discards the connection
		return nil, err
	}
	return inner, nil
}

// beginLocked begins a transaction on PostgreSQL and waits until it holds the locks.
func (c *conn) beginLocked(ctx context.Context, locks []Lock) error {
	begin := beginStatement
	practice, set := c.confined.change(ctx, false)
	if set {
		begin += "; " + c.confined.statement(practice)
		c.confined.set(practice) // if this fails, the rollback forgets it
	}
	if len(locks) == 0 {
		_, err := c.driverConn.ExecContext(ctx, begin, nil)
		return err
	}
	try := tryLocksStatement(locks)
	text := begin + "; " + try
	return WaitForLocks(ctx, func() (bool, error) {
		locked, err := queryValue[bool](ctx, c.driverConn, text)
		if text == try { // BeginTx has counted the first attempt
			c.roundTrips.Add(1)
		}
		text = try
		return locked, err
	})
}

// query runs a statement without preparing it. Its rows have the form that ctx requests
// (rowscan.RawRows).
func (c *conn) query(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	m := c.measureText(ctx, text)
	result, err := c.driverConn.QueryContext(ctx, text, args)
	if err != nil {
		m.end(err)
		return nil, err
	}
	if c.confined != nil || m.to != nil {
		result = &rows{Rows: result, confined: c.confined, done: m.done()}
	}
	return rowscan.WrapRaw(ctx, result), nil
}

// exec runs a statement without preparing it.
func (c *conn) exec(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	m := c.measureText(ctx, text)
	result, err := c.driverConn.ExecContext(ctx, text, args)
	m.end(err)
	return result, err
}

// CheckNamedValue forwards to the driver, because database/sql does not look for the
// driver's method behind a wrapper.
func (c *conn) CheckNamedValue(value *driver.NamedValue) error {
	if checker, ok := c.driverConn.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(value)
	}
	return driver.ErrSkip
}

// tx records the end of a transaction on its connection.
type tx struct {
	driver.Tx
	conn       *conn
	statements *Statements // of the context that began it; may be nil
}

func (t *tx) Commit() error {
	t.conn.roundTrips.Add(1)
	t.conn.inTx = false
	m := t.statements.measure(commitStatement)
	err := t.Tx.Commit()
	m.end(err)
	if err != nil || t.conn.confined != nil && t.conn.confined.local {
		t.conn.confined.forget()
	}
	return err
}

func (t *tx) Rollback() error {
	t.conn.roundTrips.Add(1)
	t.conn.inTx = false
	t.conn.confined.forget()
	m := t.statements.measure(rollbackName)
	err := t.Tx.Rollback()
	m.end(err)
	return err
}

// rows calls done when it is closed for the first time. It also hides the driver's column
// types, so that no code depends on them: only unprepared statements have them.
type rows struct {
	driver.Rows
	confined *confinement // forgets the practice after an error, which undoes it; may be nil
	done     func() error // nil once called
}

func (r *rows) Next(to []driver.Value) error {
	err := r.Rows.Next(to)
	if err != nil && !errors.Is(err, io.EOF) {
		r.confined.forget()
	}
	return err
}

func (r *rows) Close() error {
	err := r.Rows.Close()
	if err != nil {
		r.confined.forget()
	}
	if r.done == nil {
		return err
	}
	done := r.done
	r.done = nil
	return errors.Join(err, done())
}

// queryValue returns the single value that a query returns.
func queryValue[V any](ctx context.Context, c driver.QueryerContext, text string) (v V, err error) {
	rows, err := c.QueryContext(ctx, text, nil)
	if err != nil {
		return v, err
	}
	value := make([]driver.Value, 1)
	err = rows.Next(value)
	v, ok := value[0].(V)
	switch closed := rows.Close(); {
	case err != nil:
		return v, err
	case !ok:
		return v, fmt.Errorf("store: %q returned %T, not %T", text, value[0], v)
	default:
		return v, closed
	}
}
