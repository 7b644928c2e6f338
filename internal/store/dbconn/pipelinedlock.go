package dbconn

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"net"

	"chairside/internal/entx"
)

// Pipelined locks: a statement and its locks in one round trip.
//
// PostgreSQL runs everything up to a Sync as one transaction, and each Execute in it
// sees what was committed before it began ("Pipelining" and "Extended Query" in the
// protocol chapter of its manual). So sending the Bind and Execute of a lock right
// before those of a statement makes one transaction and one round trip of both, and
// the statement sees what the previous holders of the lock committed. lib/pq sends
// one statement at a time, so the lock's messages are added, and their answers
// removed, below lib/pq: in the net.Conn that the dialer gives it.

// prepareLock prepares the statement that appendLock executes, and sets the isolation
// level of the session, since no BEGIN names it.
//
// The lock does not wait. A lock that another transaction holds is not an error, which
// PostgreSQL would log, but is noted in a setting of the transaction. The statement
// depends on that setting (entx.IfLocked) and then writes nothing. Once a lock is
// refused, later ones are not tried. The answer is 'true' if this lock or an earlier
// one was refused.
var prepareLock = `SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED;
PREPARE chairside_lock (bigint) AS SELECT CASE WHEN current_setting('` + entx.Unlocked + `', true) = 'true' THEN 'true'
ELSE set_config('` + entx.Unlocked + `', (NOT pg_try_advisory_xact_lock($1))::text, true) END`

// appendLock appends the Bind and Execute messages of a lock.
func appendLock(to []byte, l Lock) []byte {
	to = append(to, 'B', 0, 0, 0, 40)
	to = append(to, "\x00chairside_lock\x00"...) // portal and statement
	to = append(to, 0, 1, 0, 1)                  // one format for all arguments: binary
	to = append(to, 0, 1, 0, 0, 0, 8)            // one argument of 8 bytes
	to = binary.BigEndian.AppendUint64(to, uint64(l))
	to = append(to, 0, 0)                             // results as text
	return append(to, 'E', 0, 0, 0, 9, 0, 0, 0, 0, 0) // portal, no limit of rows
}

// errNotBind means that lib/pq's next message was not a Bind. A Sync in it would end
// the transaction, and release the locks, before the statement began. Nothing is sent.
var errNotBind = fmt.Errorf("%w: locks cannot be pipelined with this message", ErrNotSingle)

// pipelineConn is the network connection to the server as lib/pq sees it.
type pipelineConn struct {
	net.Conn
	socket    *socket // the same connection
	in        *bufio.Reader
	encrypted bool   // TLS: messages can be neither added nor removed
	prepended []byte // sent before the next message
	locks     int    // locks whose answers are still to be removed
	unlocked  bool   // a lock was refused: another transaction holds it
	passing   int    // bytes left of a message that lib/pq is to see first
	refused   error  // errNotBind; lib/pq reports it as a broken connection
}

// prepend sends locks before the next message.
func (c *pipelineConn) prepend(locks []Lock) {
	for _, lock := range locks {
		c.prepended = appendLock(c.prepended, lock)
	}
	c.locks, c.unlocked = len(locks), false
}

// reset forgets what was not sent. It is called after an error, which ends all answers.
func (c *pipelineConn) reset() { c.prepended, c.locks, c.passing = c.prepended[:0], 0, 0 }

func (c *pipelineConn) Write(p []byte) (int, error) {
	switch {
	case len(p) > 0 && p[0] == tlsHandshake:
		c.encrypted = true
		fallthrough
	case len(c.prepended) == 0:
		return c.Conn.Write(p)
	case len(p) == 0 || p[0] != 'B':
		c.refused = errNotBind
		return 0, errNotBind
	}
	before := len(c.prepended)
	c.prepended = append(c.prepended, p...)
	sent, err := c.Conn.Write(c.prepended)
	c.prepended = c.prepended[:0]
	return max(sent-before, 0), err
}

// tlsHandshake is the first byte of a TLS connection, and of no PostgreSQL message.
const tlsHandshake = 0x16

// Read removes the answers to locks: a BindComplete, a DataRow and a CommandComplete
// each. An ErrorResponse ends them all. PostgreSQL then skips the statement too, so
// lib/pq takes the error for the statement's own.
func (c *pipelineConn) Read(p []byte) (int, error) {
	for c.locks > 0 && c.passing == 0 {
		head, err := c.in.Peek(5)
		if err != nil {
			return 0, err
		}
		length := 1 + int(binary.BigEndian.Uint32(head[1:]))
		switch head[0] {
		case 'D':
			row, err := c.in.Peek(length)
			if err != nil {
				return 0, err
			}
			c.unlocked = bytes.HasSuffix(row, []byte("true"))
			fallthrough
		case '2', 'C':
			if head[0] == 'C' {
				c.locks--
			}
			if _, err := c.in.Discard(length); err != nil {
				return 0, err
			}
		case 'E':
			c.locks = 0
		default: // a notice, or another message that may come at any time
			c.passing = length
		}
	}
	if c.passing > 0 {
		p = p[:min(len(p), c.passing)]
	}
	n, err := c.in.Read(p)
	c.passing -= min(c.passing, n)
	return n, err
}
