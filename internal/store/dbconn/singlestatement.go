package dbconn

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"chairside/internal/entx"
)

// ErrNotSingle means that a statement could not run as a transaction by itself, and has
// done nothing: another transaction holds a lock, the locks cannot be pipelined
// (errNotBind), the statement does not depend on them (entx.IfLocked), or it must be
// prepared again.
var ErrNotSingle = errors.New("store: the statement needs a transaction around it")

// errSecondStatement refuses a second statement in such a transaction.
var errSecondStatement = errors.New("store: the transaction is a single statement")

// errCommitted is reported for a rollback of a statement that has returned a row: the
// server has committed it.
var errCommitted = errors.New("store: the transaction was a single statement, which is committed: nothing may follow it")

// singleStatementTx is a transaction that begins and ends with its only statement.
type singleStatementTx struct {
	conn  *cachedConn
	locks []Lock
	sent  bool
	wrote bool // the statement returned a row
	// err is the statement's error up to its first row, by when it has written
	// everything: PostgreSQL completes the writing WITH of a SELECT before it sends a
	// row. Rows report an error of the commit that follows when they end.
	err error
}

// BeginTx sends nothing where TxOptions allow a single statement and the connection can
// pipeline locks. Elsewhere it begins an ordinary transaction.
func (c *cachedConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	options := txOptionsOf(ctx)
	if options.Single == nil || c.network == nil || c.network.encrypted {
		return c.conn.BeginTx(ctx, opts)
	}
	if !c.lockPrepared {
		if _, err := c.driverConn.ExecContext(ctx, prepareLock, nil); err != nil {
			return nil, err
		}
		c.lockPrepared = true
	}
	*options.Single = true
	c.single = &singleStatementTx{conn: c, locks: SortLocks(options.Locks)}
	return c.single, nil
}

// PrepareContext refuses to prepare in a singleStatementTx: the prepared statement
// would run outside of it.
func (c *cachedConn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	if c.single != nil {
		return nil, errSecondStatement
	}
	return c.conn.PrepareContext(ctx, text)
}

// admit is called before each statement; s is nil if the statement is not prepared. It
// prepends the locks to the first statement and refuses any other. A nil t admits all.
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
		t.conn.network.prepend(t.locks)
	}
	return t.err
}

// notSent records an error from before the statement was sent, so that Commit fails
// even if the caller ignores the error.
func (t *singleStatementTx) notSent(err error) error {
	if t != nil {
		t.err = err
	}
	return err
}

// lockRefused is called once the statement is answered. It returns ErrNotSingle if a
// lock was refused: the statement has then written nothing.
func (t *singleStatementTx) lockRefused() error {
	if t == nil || !t.conn.network.unlocked {
		return nil
	}
	return fmt.Errorf("%w: another transaction holds a lock", ErrNotSingle)
}

// failed classifies the error of the statement. If a prepared statement is missing, it
// may be the lock's, so the connection is not used again.
func (t *singleStatementTx) failed(err error) error {
	network := t.conn.network
	outdated := t.conn.origin.outdated(err)
	t.conn.lost = t.conn.lost || outdated || network.refused != nil
	switch {
	case network.refused != nil:
		err = network.refused
	case outdated:
		err = fmt.Errorf("%w: %w", ErrNotSingle, err)
	}
	network.reset()
	t.err = err
	return err
}

// Commit sends nothing: the server has committed the statement unless it failed.
func (t *singleStatementTx) Commit() error {
	t.conn.single = nil
	return t.err
}

// Rollback sends nothing either. It fails where there was something to take back.
func (t *singleStatementTx) Rollback() error {
	t.conn.single = nil
	if t.wrote && t.err == nil {
		return errCommitted
	}
	return nil
}

// singleRows are the rows of its statement.
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
