package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
)

var (
	// errBusy is for locks that were not to be had at once: nothing has been done.
	errBusy = errors.New("store: another transaction has a lock")
	// errNotOne is for what DB.TxOfOne is not for: a second statement, or one
	// that is never prepared (statements.prepared).
	errNotOne = errors.New("store: the transaction is one prepared statement")
)

// alone is a transaction of one statement, which begins and ends with it.
type alone struct {
	conn  *conn
	locks []Lock
	sent  bool
}

// BeginTx begins nothing yet where the transaction is to be one statement, and
// locks can be sent ahead of it.
func (c *conn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	held := heldOf(ctx)
	if !held.alone || c.line == nil || c.line.encrypted {
		return c.tracked.BeginTx(ctx, opts)
	}
	if !c.locksReady {
		if _, err := c.driverConn.ExecContext(ctx, prepareLock, nil); err != nil {
			return nil, err
		}
		c.locksReady = true
	}
	c.alone = &alone{conn: c, locks: held.locks}
	return c.alone, nil
}

// begin is called before a statement is executed, which is s where it is prepared.
func (a *alone) begin(s *stmt) error {
	switch {
	case a == nil:
		return nil
	case a.sent || s == nil:
		return errNotOne
	}
	a.sent = true
	a.conn.line.send(a.locks)
	return nil
}

// failed gives the error of the statement its meaning.
func (a *alone) failed(err error) error {
	if a != nil && pq.As(err, pqerror.LockNotAvailable) != nil {
		return fmt.Errorf("%w: %w", errBusy, err)
	}
	return err
}

func (a *alone) Commit() error {
	a.conn.alone = nil
	return nil
}

func (a *alone) Rollback() error { return a.Commit() }
