package dbconn

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"chairside/internal/principal"
)

// PracticeSetting is the PostgreSQL setting that holds the practice of a statement. The policies
// of row-level security compare it with each row (package rowsecurity).
const PracticeSetting = "chairside.practice"

// errPrepared refuses a statement that is prepared for later on a confined connection, because
// it would run with the practice of whichever statement came before it.
var errPrepared = errors.New("store: a confined connection prepares no statements for its users")

// preparePractice prepares the statement that appendPractice executes.
const preparePractice = `PREPARE chairside_practice (text) AS SELECT set_config('` + PracticeSetting + `', $1, false)`

// appendPractice appends the Bind and Execute messages that set the practice, for a prepared
// statement or the unnamed one.
func appendPractice(to []byte, statement, practice string) []byte {
	to = append(to, 'B', 0, 0, 0, byte(16+len(statement)+len(practice)))
	to = append(append(append(to, 0), statement...), 0) // portal and statement
	to = append(to, 0, 0, 0, 1)                         // all arguments as text; one argument
	to = append(to, 0, 0, 0, byte(len(practice)))
	to = append(to, practice...)
	to = append(to, 0, 0)                             // results as text
	return append(to, 'E', 0, 0, 0, 9, 0, 0, 0, 0, 0) // portal, no limit of rows
}

// confinement is the practice to which a connection is confined. Each statement first sets the
// practice of its principal, if the connection does not have it already.
//
// A rollback undoes a setting, and so does an error outside a transaction, because PostgreSQL
// runs the setting and the statement as one transaction. The connection then counts as having no
// known practice, and the next statement sets its own.
type confinement struct {
	// local settings end with their transaction: a pooler may give the next transaction
	// another server connection.
	local    bool
	known    bool
	practice uuid.UUID // uuid.Nil for none: no row is visible
}

// forget makes the next statement set the practice again. It does nothing if c is nil.
func (c *confinement) forget() {
	if c != nil {
		c.known = false
	}
}

// change returns the practice to set for a statement of ctx; ok is false if the connection has
// it. Without a principal a statement keeps the practice of its transaction, and sees no rows
// outside one.
func (c *confinement) change(ctx context.Context, inTx bool) (practice uuid.UUID, ok bool) {
	if c == nil {
		return uuid.Nil, false
	}
	if c.local && !inTx {
		c.known = false
	}
	p, err := principal.From(ctx)
	switch {
	case err == nil:
		practice = p.PracticeID
	case inTx && c.known:
		return uuid.Nil, false
	}
	return practice, !c.known || c.practice != practice
}

// set records that the connection has a practice.
func (c *confinement) set(practice uuid.UUID) { c.known, c.practice = true, practice }

// statement returns the SQL that sets a practice. No row has uuid.Nil.
func (c *confinement) statement(practice uuid.UUID) string {
	set := "SET "
	if c.local {
		set = "SET LOCAL "
	}
	return set + PracticeSetting + " = '" + practice.String() + "'"
}

// confine sets the practice of ctx in a round trip of its own.
func (c *conn) confine(ctx context.Context) error {
	practice, ok := c.confined.change(ctx, c.inTx)
	if !ok {
		return nil
	}
	c.confined.forget()
	c.roundTrips.Add(1)
	m := measure(ctx, setPractice)
	_, err := c.driverConn.ExecContext(ctx, c.confined.statement(practice), nil)
	m.end(err)
	if err != nil {
		return err
	}
	c.confined.set(practice)
	return nil
}

// precede sends, ahead of the next statement, its practice and the locks of its single-statement
// transaction. Both travel in the statement's own round trip if the statement is prepared and
// the connection can pipeline.
func (c *cachedConn) precede(ctx context.Context, s *stmt) error {
	var locks []Lock
	if c.single != nil {
		locks = c.single.locks
	}
	if s == nil && c.origin.pooled != nil {
		return nil // pooledConn sets it
	}
	practice, ok := c.confined.change(ctx, c.inTx || c.single != nil && c.origin.pooled == nil)
	if ok && (s == nil || c.network.encrypted) {
		return c.confine(ctx)
	}
	if ok && !c.practicePrepared && c.origin.pooled == nil {
		if _, err := c.driverConn.ExecContext(ctx, preparePractice, nil); err != nil {
			return err
		}
		c.practicePrepared = true
	}
	if ok {
		c.network.prependPractice(practice.String())
		c.confined.set(practice)
	}
	if len(locks) > 0 {
		c.network.prependLocks(locks)
	}
	return nil
}
