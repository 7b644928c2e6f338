package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"chairside/ent"
)

var (
	// errNotAlone is for a statement that could not be a transaction alone, and
	// has done nothing: another transaction holds a lock, the lock cannot be sent
	// ahead of it (errAhead), it does not depend on the lock (ent.IfLocked), or it has
	// to be prepared anew.
	errNotAlone = errors.New("store: the statement needs a transaction around it")
	// errNotOne is for a second statement in such a transaction.
	errNotOne = errors.New("store: the transaction is one statement")
)

// alone is a transaction of one statement, which begins and ends with it.
type alone struct {
	conn  *conn
	locks []Lock
	sent  bool
	// err is of the statement up to its first row. It has written all by then:
	// PostgreSQL runs a SELECT with a writing WITH to its end before it sends a row.
	// What fails at the commit that follows is told by the rows, when they end.
	err error
}

// BeginTx begins nothing yet where the transaction may be one statement, and
// locks can be sent ahead of it.
func (c *conn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	held := heldOf(ctx)
	if held.oneStatement == nil || c.line == nil || c.line.encrypted {
		return c.tracked.BeginTx(ctx, opts)
	}
	if !c.locksReady {
		if _, err := c.driverConn.ExecContext(ctx, prepareLock, nil); err != nil {
			return nil, err
		}
		c.locksReady = true
	}
	*held.oneStatement = true
	c.alone = &alone{conn: c, locks: inOrder(held.locks)}
	return c.alone, nil
}

// PrepareContext is not for transactions of one statement, which it would get past.
func (c *conn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	if c.alone != nil {
		return nil, errNotOne
	}
	return c.tracked.PrepareContext(ctx, text)
}

// admit is called before each statement; s is nil where it is not prepared. It has
// the locks sent ahead of the first one and refuses any other. A nil a admits all.
func (a *alone) admit(s *stmt) error {
	switch {
	case a == nil:
		return nil
	case a.sent:
		a.err = errNotOne
	case s == nil, len(a.locks) > 0 && !strings.Contains(s.text, ent.IfLocked):
		a.err = errNotAlone
	default:
		a.sent = true
		a.conn.line.precede(a.locks)
	}
	return a.err
}

// unsent notes, of a transaction of one statement, an error before it was sent:
// nothing is written, whatever the caller makes of the error.
func (a *alone) unsent(err error) error {
	if a != nil {
		a.err = err
	}
	return err
}

// refused is errNotAlone where a lock was refused, once the statement is answered: it
// has written nothing.
func (a *alone) refused() error {
	if a == nil || !a.conn.line.unlocked {
		return nil
	}
	return fmt.Errorf("%w: another transaction holds a lock", errNotAlone)
}

// failed gives the error of the statement its meaning. After one that speaks of
// what is prepared, the lock's own statement may be what is missing: that
// connection is not used again.
func (a *alone) failed(err error) error {
	l := a.conn.line
	outdated := a.conn.origin.outdated(err)
	a.conn.lost = a.conn.lost || outdated || l.refused != nil
	switch {
	case l.refused != nil:
		err = l.refused
	case outdated:
		err = fmt.Errorf("%w: %w", errNotAlone, err)
	}
	l.forget()
	a.err = err
	return err
}

// Commit has nothing to do: what the statement has written is committed, unless
// it failed.
func (a *alone) Commit() error {
	a.conn.alone = nil
	return a.err
}

// Rollback has nothing to do either.
func (a *alone) Rollback() error {
	a.conn.alone = nil
	return nil
}

// IsValid reports whether the connection may be used again.
func (c *conn) IsValid() bool { return !c.lost && c.driverConn.IsValid() }
