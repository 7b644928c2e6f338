package dbconn

import (
	"bytes"
	"context"
	"database/sql/driver"
	"encoding/binary"
	"strings"
	"sync/atomic"

	"chairside/internal/entx"
	"chairside/internal/entx/rowscan"
)

// Behind a pooler that may give each transaction another server connection (PgBouncer in
// transaction mode), a connection has no state outside a transaction: no prepared statements and no
// settings. So each execution parses its statement anew, without a name, in the same round
// trip:
//
//	lib/pq      Bind, Execute, Sync                                  of a statement that it has prepared
//	sent        Parse, Bind, Execute …, Parse, Bind, Execute, Sync   practice and locks, then the statement
//
// All of it is one transaction, because there is one Sync. lib/pq describes each statement once for
// a connection; from then on pipelineConn adds the Parse and hides its result.
//
// Over TLS messages cannot be added, and long statements are not worth remembering. pooledConn then
// gives each statement with arguments a transaction of its own: lib/pq sends it in two steps, and the
// pooler may send the second step to a server connection on which another client has just done
// the first step, so that the other client's statement runs.

// Pooled wraps the connector of a server behind a pooler: nothing stays prepared.
func Pooled(connector *Connector, roundTrips *atomic.Int64, names Names) driver.Connector {
	return &statementCache{Connector: connector, roundTrips: roundTrips, names: names, outdated: Outdated, pooled: true}
}

// PooledConfined is Pooled for a role that row-level security confines: every transaction also sets
// the practice.
func PooledConfined(connector *Connector, roundTrips *atomic.Int64, names Names) driver.Connector {
	return &statementCache{Connector: connector, roundTrips: roundTrips, names: names, outdated: Outdated, pooled: true, confined: true}
}

// localPractice is preparePractice for one transaction.
const localPractice = `SELECT set_config('` + PracticeSetting + `', $1, true)`

// localLock is prepareLock for one transaction. Where the default isolation level is not READ
// COMMITTED it takes no lock, and the statement runs in an ordinary transaction.
const localLock = `SELECT CASE WHEN current_setting('` + entx.Unlocked + `', true) = 'true' THEN 'true'
WHEN current_setting('transaction_isolation') <> 'read committed' THEN set_config('` + entx.Unlocked + `', 'true', true)
ELSE set_config('` + entx.Unlocked + `', (NOT pg_try_advisory_xact_lock($1::bigint))::text, true) END`

// unnamed are the texts of the statements that lib/pq has prepared on a connection.
type unnamed struct {
	texts map[string]string // by lib/pq's name
	out   []byte            // the last rewritten message
}

func newUnnamed() *unnamed { return &unnamed{texts: map[string]string{}} }

// rewrite returns the messages of one Write with the unnamed statement in place of a named one;
// parsed is true if they also parse it.
func (u *unnamed) rewrite(p []byte) (messages []byte, parsed bool) {
	if len(p) < 7 {
		return p, false
	}
	switch end := 1 + int(binary.BigEndian.Uint32(p[1:])); p[0] {
	case 'P': // then Describe and Sync
		name, rest, _ := strings.Cut(string(p[5:end]), "\x00")
		text, _, _ := strings.Cut(rest, "\x00")
		if name == "" {
			return p, false
		}
		u.texts[name] = text
		u.out = appendParse(u.out[:0], text)
		u.out = append(u.out, 'D', 0, 0, 0, 6, 'S', 0)
		describe := 1 + int(binary.BigEndian.Uint32(p[end+1:]))
		return append(u.out, p[end+describe:]...), false
	case 'B': // then Execute and Sync
		length := bytes.IndexByte(p[6:], 0) // the portal has no name
		text, ok := u.texts[string(p[6:6+length])]
		if !ok {
			return p, false
		}
		u.out = appendParse(u.out[:0], text)
		u.out = append(u.out, 'B')
		u.out = binary.BigEndian.AppendUint32(u.out, uint32(end-1-length)) //nolint:gosec // shorter than a message
		u.out = append(u.out, 0)
		return append(u.out, p[6+length:]...), true
	case 'C':
		delete(u.texts, strings.TrimRight(string(p[6:end]), "\x00"))
	}
	return p, false
}

// appendParse appends the Parse message of the unnamed statement.
func appendParse(to []byte, text string) []byte {
	to = append(to, 'P')
	to = binary.BigEndian.AppendUint32(to, uint32(len(text)+8)) //nolint:gosec // at most maxStatementText
	to = append(append(append(to, 0), text...), 0)
	return append(to, 0, 0) // the server infers all types
}

type pooledConn struct{ *conn }

// alone reports whether a statement needs a transaction of its own.
func (c *pooledConn) alone(args []driver.NamedValue) bool {
	return !c.inTx && (len(args) > 0 || c.confined != nil)
}

// PrepareContext refuses to prepare a statement on a confined connection.
func (c *pooledConn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	if c.confined != nil {
		return nil, errPrepared
	}
	return c.conn.PrepareContext(ctx, text)
}

func (c *pooledConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	c.roundTrips.Add(1)
	if !c.alone(args) {
		if err := c.confine(ctx); err != nil {
			return nil, err
		}
		return c.query(ctx, text, args)
	}
	transaction, err := c.BeginTx(ctx, driver.TxOptions{})
	if err != nil {
		return nil, err
	}
	m := c.measureText(ctx, text)
	result, err := c.driverConn.QueryContext(ctx, text, args)
	if err != nil {
		m.end(err)
		_ = transaction.Rollback() // if this fails, the driver discards the connection
		return nil, err
	}
	return rowscan.WrapRaw(ctx, &rows{Rows: result, done: func() error { m.end(nil); return transaction.Commit() }}), nil
}

func (c *pooledConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	c.roundTrips.Add(1)
	if !c.alone(args) {
		if err := c.confine(ctx); err != nil {
			return nil, err
		}
		return c.exec(ctx, text, args)
	}
	transaction, err := c.BeginTx(ctx, driver.TxOptions{})
	if err != nil {
		return nil, err
	}
	result, err := c.exec(ctx, text, args)
	if err != nil {
		_ = transaction.Rollback() // as above
		return nil, err
	}
	return result, transaction.Commit()
}
