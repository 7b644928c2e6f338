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
// PostgreSQL runs all messages up to a Sync as one transaction, and each Execute in it sees
// what was committed before that Execute began ("Pipelining" and "Extended Query" in the
// protocol chapter of its manual). So if the Bind and Execute of a lock are sent right before
// those of a statement, both take one transaction and one round trip, and the statement sees
// everything that the previous holders of the lock committed. lib/pq can only send one
// statement at a time. So the messages of the lock are added, and their results removed,
// below lib/pq: in the net.Conn that it gets from our dialer.

// prepareLock prepares the statement that appendLock executes. It also sets the isolation
// level of the session, because there is no BEGIN that could name it.
//
// Taking a lock never waits or fails, because PostgreSQL would log an error. If another
// transaction holds the lock, the statement sets a setting of the transaction (entx.Unlocked)
// and takes no further locks; the statement that follows then writes nothing (entx.IfLocked).
// The result is 'true' if this lock, or an earlier one, was not available.
var prepareLock = `SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED;
PREPARE chairside_lock (bigint) AS SELECT CASE WHEN current_setting('` + entx.Unlocked + `', true) = 'true' THEN 'true'
ELSE set_config('` + entx.Unlocked + `', (NOT pg_try_advisory_xact_lock($1))::text, true) END`

// appendLock appends the Bind and Execute messages of a lock, for a prepared statement or the
// unnamed one.
func appendLock(to []byte, statement string, l Lock) []byte {
	to = append(to, 'B', 0, 0, 0, byte(26+len(statement)))
	to = append(append(append(to, 0), statement...), 0) // portal and statement
	to = append(to, 0, 1, 0, 1)                         // one format for all arguments: binary
	to = append(to, 0, 1, 0, 0, 0, 8)                   // one argument of 8 bytes
	to = binary.BigEndian.AppendUint64(to, uint64(l))
	to = append(to, 0, 0)                             // results as text
	return append(to, 'E', 0, 0, 0, 9, 0, 0, 0, 0, 0) // portal, no limit of rows
}

// errNotBind means that lib/pq's next message is not a Bind. A Sync in that message would end
// the transaction, and release the locks, before the statement begins, so nothing is sent.
var errNotBind = fmt.Errorf("%w: locks cannot be pipelined with this message", ErrNotSingle)

// pipelineConn is the network connection to the server as lib/pq sees it.
type pipelineConn struct {
	net.Conn
	socket    *socket // the same connection
	in        *bufio.Reader
	encrypted bool              // TLS: messages can be neither added nor removed
	prepended []byte            // sent before the next message
	results   int               // statements sent first whose results are still to be removed
	shared    *sharedStatements // behind a pooler; nil if the connection has statements of its own
	parses    int               // statements that were parsed for this run, whose ParseComplete is still to be removed
	unlocked  bool              // another transaction holds one of the locks
	passing   int               // bytes left of a message that passes through to lib/pq
	refused   error             // errNotBind, which lib/pq would report as a broken connection
}

// prependPractice makes the next Write first set the practice of a confined connection.
func (c *pipelineConn) prependPractice(practice string) {
	statement := "chairside_practice"
	if c.shared != nil {
		statement = c.bind(&c.shared.practice)
	}
	c.prepended = appendPractice(c.prepended, statement, practice)
	c.results++
}

// prependLocks makes the next Write send locks first, but after a practice.
func (c *pipelineConn) prependLocks(locks []Lock) {
	statement := "chairside_lock"
	if c.shared != nil {
		statement = c.bind(&c.shared.lock)
	}
	for _, lock := range locks {
		c.prepended = appendLock(c.prepended, statement, lock)
	}
	c.results += len(locks)
}

// bind makes the next Write parse a shared statement first, if it must, and returns its name.
func (c *pipelineConn) bind(s *sharedStatement) (name string) {
	var parses bool
	if c.prepended, name, parses = c.shared.bind(c.prepended, s); parses {
		c.parses++
	}
	return name
}

// reset drops messages that were not sent and results that will not arrive. It is called after
// an error, which ends the results.
func (c *pipelineConn) reset() {
	c.prepended, c.results, c.parses, c.passing = c.prepended[:0], 0, 0, 0
}

func (c *pipelineConn) Write(p []byte) (int, error) {
	switch {
	case len(p) > 0 && p[0] == tlsHandshake:
		c.encrypted = true
		fallthrough
	case len(c.prepended) == 0 && c.shared == nil:
		return c.Conn.Write(p)
	case len(c.prepended) > 0 && (len(p) == 0 || p[0] != 'B'):
		c.refused = errNotBind
		return 0, errNotBind
	}
	message := p
	if c.shared != nil {
		var parses bool
		if message, parses = c.shared.rewrite(p); parses {
			c.parses++
		}
	}
	c.prepended = append(c.prepended, message...)
	_, err := c.Conn.Write(c.prepended)
	c.prepended = c.prepended[:0]
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// tlsHandshake is the first byte of a TLS connection, and of no PostgreSQL message.
const tlsHandshake = 0x16

// Read removes the results of what was sent first: a BindComplete, a DataRow and a
// CommandComplete for the practice and for each lock, whose value is the last one, and a
// ParseComplete for each shared statement that was parsed, after a CloseComplete if it has a name. An
// ErrorResponse ends all of them. PostgreSQL then skips the statement too, so lib/pq treats
// the error as the statement's own.
func (c *pipelineConn) Read(p []byte) (int, error) {
	for (c.results > 0 || c.parses > 0) && c.passing == 0 {
		head, err := c.in.Peek(5)
		if err != nil {
			return 0, err
		}
		length := 1 + int(binary.BigEndian.Uint32(head[1:]))
		switch head[0] {
		case '1', '3':
			if head[0] == '1' {
				c.parses--
			}
			if _, err := c.in.Discard(length); err != nil {
				return 0, err
			}
		case 'D':
			row, err := c.in.Peek(length)
			if err != nil {
				return 0, err
			}
			c.unlocked = bytes.HasSuffix(row, []byte("true"))
			fallthrough
		case '2', 'C':
			if head[0] == 'C' {
				c.results--
			}
			if _, err := c.in.Discard(length); err != nil {
				return 0, err
			}
		case 'E':
			c.results, c.parses = 0, 0
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
