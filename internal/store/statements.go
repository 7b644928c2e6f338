package store

import (
	"container/list"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"
)

const (
	// maxStatements bounds the prepared statements of one connection; the one
	// unused for longest makes room.
	maxStatements = 200
	// maxStatementText is the longest statement kept, in bytes: bulk inserts
	// come once, and would fill the server's memory.
	maxStatementText = 8 << 10
)

// statements is a driver.Connector whose connections prepare a statement with
// arguments once and use it again.
//
// Ent hands database/sql a text and arguments each time, which costs lib/pq two
// round trips and SQLite a parse. The cache is the connection's own, so it
// needs no lock, works the same inside a transaction, and never takes a second
// connection while holding one (as *sql.Stmt does, which deadlocks a full
// pool).
type statements struct {
	driver.Connector
	// finalize closes every statement before its connection. PostgreSQL drops
	// them by itself; SQLite keeps a connection half open until they are closed.
	finalize bool
	// outdated recognises the error of a statement that can no longer run as it
	// was prepared (a migration changed its tables) and has done nothing.
	outdated func(error) bool
}

func (s *statements) Connect(ctx context.Context) (driver.Conn, error) {
	connection, err := s.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	inner, ok := connection.(driverConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("store: %T cannot cache statements", connection), connection.Close())
	}
	return &conn{driverConn: inner, origin: s, byText: map[string]*list.Element{}, recent: list.New()}, nil
}

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

type driverStmt interface {
	driver.Stmt
	driver.StmtQueryContext
	driver.StmtExecContext
}

// conn is one connection and its prepared statements. database/sql lets one
// goroutine at a time use it.
type conn struct {
	driverConn
	origin *statements
	byText map[string]*list.Element // of *stmt
	recent *list.List               // of *stmt, the most recently used first
	inTx   bool
}

type stmt struct {
	driverStmt
	text    string
	reading bool // its rows are open, so it cannot be executed again yet
	dropped bool // no longer in the cache: closed when its rows are
}

func (c *conn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	for again := true; ; again = false {
		s, err := c.prepared(ctx, text, args)
		if err != nil {
			return nil, err
		}
		if s == nil {
			return c.driverConn.QueryContext(ctx, text, args)
		}
		result, err := s.QueryContext(ctx, args)
		if err == nil {
			s.reading = true
			return &rows{Rows: result, stmt: s}, nil
		}
		if !again || !c.retry(s, err) {
			return nil, err
		}
	}
}

func (c *conn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	for again := true; ; again = false {
		s, err := c.prepared(ctx, text, args)
		if err != nil {
			return nil, err
		}
		if s == nil {
			return c.driverConn.ExecContext(ctx, text, args)
		}
		result, err := s.ExecContext(ctx, args)
		if err == nil || !again || !c.retry(s, err) {
			return result, err
		}
	}
}

// prepared gives the statement for text, or nil where it is not to be cached:
// what has no arguments may be several statements at once.
func (c *conn) prepared(ctx context.Context, text string, args []driver.NamedValue) (*stmt, error) {
	if len(args) == 0 || len(text) > maxStatementText {
		return nil, nil
	}
	if element, ok := c.byText[text]; ok {
		s := element.Value.(*stmt)
		if s.reading {
			return nil, nil
		}
		c.recent.MoveToFront(element)
		return s, nil
	}
	fresh, err := c.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	inner, ok := fresh.(driverStmt)
	if !ok {
		return nil, errors.Join(fmt.Errorf("store: %T cannot be executed with a context", fresh), fresh.Close())
	}
	s := &stmt{driverStmt: inner, text: text}
	c.byText[text] = c.recent.PushFront(s)
	if c.recent.Len() > maxStatements {
		return s, c.drop(c.recent.Back().Value.(*stmt))
	}
	return s, nil
}

// retry drops a statement that is out of date and reports whether it may be
// executed again: inside a transaction the error has already ended everything.
func (c *conn) retry(s *stmt, err error) bool {
	if !c.origin.outdated(err) {
		return false
	}
	return c.drop(s) == nil && !c.inTx
}

// drop removes a statement from the cache.
func (c *conn) drop(s *stmt) error {
	c.recent.Remove(c.byText[s.text])
	delete(c.byText, s.text)
	s.dropped = true
	if s.reading {
		return nil
	}
	return s.Close()
}

func (c *conn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	inner, err := c.driverConn.BeginTx(ctx, opts)
	if err != nil {
		return nil, err
	}
	c.inTx = true
	return &tx{Tx: inner, conn: c}, nil
}

func (c *conn) Close() error {
	var err error
	if c.origin.finalize {
		for _, element := range c.byText {
			err = errors.Join(err, element.Value.(*stmt).Close())
		}
	}
	return errors.Join(err, c.driverConn.Close())
}

// CheckNamedValue lets the driver convert arguments its own way; database/sql
// does not see the driver's method through conn.
func (c *conn) CheckNamedValue(value *driver.NamedValue) error {
	if checker, ok := c.driverConn.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(value)
	}
	return driver.ErrSkip
}

// tx tells its connection when it ends.
type tx struct {
	driver.Tx
	conn *conn
}

func (t *tx) Commit() error {
	t.conn.inTx = false
	return t.Tx.Commit()
}

func (t *tx) Rollback() error {
	t.conn.inTx = false
	return t.Tx.Rollback()
}

// rows frees their statement when they are closed.
type rows struct {
	driver.Rows
	stmt *stmt
}

func (r *rows) Close() error {
	err := r.Rows.Close()
	if !r.stmt.reading { // closed before
		return err
	}
	r.stmt.reading = false
	if r.stmt.dropped {
		return errors.Join(err, r.stmt.Close())
	}
	return err
}

// The methods below pass on what the driver knows about its columns, with
// database/sql's own answer for what it does not.

func (r *rows) ColumnTypeScanType(i int) reflect.Type {
	if inner, ok := r.Rows.(driver.RowsColumnTypeScanType); ok {
		return inner.ColumnTypeScanType(i)
	}
	return reflect.TypeFor[any]()
}

func (r *rows) ColumnTypeDatabaseTypeName(i int) string {
	if inner, ok := r.Rows.(driver.RowsColumnTypeDatabaseTypeName); ok {
		return inner.ColumnTypeDatabaseTypeName(i)
	}
	return ""
}

func (r *rows) ColumnTypeLength(i int) (int64, bool) {
	if inner, ok := r.Rows.(driver.RowsColumnTypeLength); ok {
		return inner.ColumnTypeLength(i)
	}
	return 0, false
}

func (r *rows) ColumnTypeNullable(i int) (nullable, ok bool) {
	if inner, ok := r.Rows.(driver.RowsColumnTypeNullable); ok {
		return inner.ColumnTypeNullable(i)
	}
	return false, false
}

func (r *rows) ColumnTypePrecisionScale(i int) (precision, scale int64, ok bool) {
	if inner, ok := r.Rows.(driver.RowsColumnTypePrecisionScale); ok {
		return inner.ColumnTypePrecisionScale(i)
	}
	return 0, 0, false
}
