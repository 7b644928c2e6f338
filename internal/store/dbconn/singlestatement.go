package dbconn

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"chairside/internal/entx"
)

// ErrNotSingle means that a statement could not run as a single-statement transaction and has
// done nothing: another transaction holds a lock, the locks cannot be pipelined (errNotBind),
// the statement does not depend on its locks (entx.IfLocked), or it must be prepared again.
var ErrNotSingle = errors.New("store: the statement must run in an ordinary transaction")

// errSecondStatement refuses a second statement in a single-statement transaction.
var errSecondStatement = errors.New("store: a single-statement transaction has no second statement")

// errCommitted is the error of a rollback after the statement has returned a row: the server
// has already committed it.
var errCommitted = errors.New("store: cannot roll back: the single statement is already committed")

// singleStatementTx is a transaction that begins and ends with its only statement.
type singleStatementTx struct {
	conn  *cachedConn
	locks []Lock
	sent  bool
	wrote bool // the statement returned a row
	// err is the statement's error up to its first row. By then it has written everything:
	// PostgreSQL completes the INSERT in a WITH clause before it sends a row of the SELECT.
	// An error of the commit that follows is returned at the end of the rows.
	err error
}

// BeginTx sends nothing if TxOptions allow a single-statement transaction and the connection
// can pipeline locks. Otherwise it begins an ordinary transaction.
func (c *cachedConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	options := txOptionsOf(ctx)
	if options.Single == nil || c.network == nil || c.network.encrypted {
		return c.conn.BeginTx(ctx, opts)
	}
	if !c.lockPrepared && c.origin.pooled == nil {
		if _, err := c.driverConn.ExecContext(ctx, prepareLock, nil); err != nil {
			return nil, err
		}
		c.lockPrepared = true
	}
	*options.Single = true
	c.single = &singleStatementTx{conn: c, locks: SortLocks(options.Locks)}
	return c.single, nil
}

// PrepareContext refuses to prepare a statement in a single-statement transaction, because it
// would run outside the transaction.
func (c *cachedConn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	if c.single != nil {
		return nil, errSecondStatement
	}
	if c.confined != nil {
		return nil, errPrepared
	}
	return c.conn.PrepareContext(ctx, text)
}

// admit is called before each statement; s is nil if the statement is not prepared. It admits
// the first statement, whose locks are then sent first (cachedConn.precede), and refuses all
// others. A nil t admits every statement.
func (t *singleStatementTx) admit(s *stmt) error {
	switch {
	case t == nil:
		return nil
	case t.sent:
		t.err = errSecondStatement
	case s == nil, len(t.locks) > 0 && !strings.Contains(s.text, entx.IfLocked):
		t.err = ErrNotSingle
	default:
		t.sent = true
		t.conn.network.unlocked = false
	}
	return t.err
}

// unsent admits the statement once more, after an error that says that it has done nothing.
func (t *singleStatementTx) unsent() {
	if t != nil {
		t.sent = false
	}
}

// notSent records an error from before the statement was sent, so that Commit fails
// even if the caller ignores the error.
func (t *singleStatementTx) notSent(err error) error {
	if t != nil {
		t.err = err
	}
	return err
}

// lockRefused is called once the statement has a result. It returns ErrNotSingle if another
// transaction holds one of the locks, in which case the statement has written nothing.
func (t *singleStatementTx) lockRefused() error {
	if t == nil || !t.conn.network.unlocked {
		return nil
	}
	return fmt.Errorf("%w: another transaction holds a lock", ErrNotSingle)
}

// failed classifies the error of the statement. Without a pooler, a prepared statement that is missing
// may be that of the lock, so the connection is not reused.
func (t *singleStatementTx) failed(err error) error {
	network := t.conn.network
	outdated := t.conn.origin.outdated(err)
	t.conn.lost = t.conn.lost || outdated && t.conn.origin.pooled == nil || network.refused != nil
	switch {
	case network.refused != nil:
		err = network.refused
	case outdated:
		err = fmt.Errorf("%w: %w", ErrNotSingle, err)
	}
	t.err = err
	return err
}

// Commit sends nothing: the server has committed the statement unless it failed.
func (t *singleStatementTx) Commit() error {
	t.conn.single = nil
	return t.err
}

// Rollback sends nothing either. It fails if the statement has already written a row.
func (t *singleStatementTx) Rollback() error {
	t.conn.single = nil
	if t.wrote && t.err == nil {
		return errCommitted
	}
	return nil
}

// singleRows are the rows of a single-statement transaction.
type singleRows struct {
	driver.Rows
	tx *singleStatementTx
}

func (r *singleRows) Next(to []driver.Value) error {
	err := r.Rows.Next(to)
	r.tx.wrote = r.tx.wrote || err == nil
	return err
}

// IsValid reports whether the connection may be used again.
func (c *cachedConn) IsValid() bool { return !c.lost && c.driverConn.IsValid() }
