package store

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"net"

	"chairside/ent"
)

// Locks that travel ahead of a statement.
//
// PostgreSQL takes all that is sent up to a Sync as one transaction, and each
// Execute in it sees what was committed when it began ("Pipelining" and "Extended
// Query" in its chapter on the protocol). So the Bind and Execute of a lock, sent
// right before those of a statement, make of both one transaction and one round
// trip, in which the statement sees what was written by those for whose lock it
// has waited. lib/pq sends one statement at a time; what is added to it is sent,
// and the answer to it read, below lib/pq, on the line to the server.

// prepareLock makes ready what lockAhead executes. The isolation is the session's,
// as no BEGIN says it: at another, the statement would not see what it is to see.
//
// The lock does not wait, and a lock that another transaction holds is no error, which
// PostgreSQL would log. It is noted in a setting of the transaction, on which the
// statement depends (ent.IfLocked): it then writes nothing. Locks after a refused one
// are not asked for. The answer is 'true' if this lock or one before it was refused.
var prepareLock = `SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED;
PREPARE chairside_lock (bigint) AS SELECT CASE WHEN current_setting('` + ent.Unlocked + `', true) = 'true' THEN 'true'
ELSE set_config('` + ent.Unlocked + `', (NOT pg_try_advisory_xact_lock($1))::text, true) END`

// lockAhead appends the Bind and the Execute of a lock.
func lockAhead(to []byte, l Lock) []byte {
	to = append(to, 'B', 0, 0, 0, 40)
	to = append(to, "\x00chairside_lock\x00"...) // portal and statement
	to = append(to, 0, 1, 0, 1)                  // one format for all arguments: binary
	to = append(to, 0, 1, 0, 0, 0, 8)            // one argument, of 8 bytes
	to = binary.BigEndian.AppendUint64(to, uint64(l))
	to = append(to, 0, 0)                             // results as text
	return append(to, 'E', 0, 0, 0, 9, 0, 0, 0, 0, 0) // portal, any number of rows
}

// errAhead is for a message that does not begin with a Bind: the locks ahead of it
// would be gone, with a Sync in it, before its statement began. Nothing is sent.
var errAhead = fmt.Errorf("%w: locks cannot be sent ahead of this message", errNotAlone)

// line is the connection to the server as lib/pq has it.
type line struct {
	net.Conn
	socket    *socket // the same
	in        *bufio.Reader
	encrypted bool   // what passes cannot be read
	ahead     []byte // goes out before the next message
	locks     int    // whose answers lib/pq is not to see
	unlocked  bool   // one of them was refused: another transaction holds the lock
	passing   int    // bytes of a message that it is to see before them
	refused   error  // errAhead, of which lib/pq makes a broken connection
}

// precede has locks taken ahead of the next message.
func (l *line) precede(locks []Lock) {
	for _, lock := range locks {
		l.ahead = lockAhead(l.ahead, lock)
	}
	l.locks, l.unlocked = len(locks), false
}

// forget takes back what was not sent; after an error nothing more of it comes.
func (l *line) forget() { l.ahead, l.locks, l.passing = l.ahead[:0], 0, 0 }

func (l *line) Write(p []byte) (int, error) {
	switch {
	case len(p) > 0 && p[0] == tlsHandshake:
		l.encrypted = true
		fallthrough
	case len(l.ahead) == 0:
		return l.Conn.Write(p)
	case len(p) == 0 || p[0] != 'B':
		l.refused = errAhead
		return 0, errAhead
	}
	before := len(l.ahead)
	l.ahead = append(l.ahead, p...)
	sent, err := l.Conn.Write(l.ahead)
	l.ahead = l.ahead[:0]
	return max(sent-before, 0), err
}

// tlsHandshake begins the first record of TLS, and no message to PostgreSQL.
const tlsHandshake = 0x16

// Read leaves out the answers to locks: for each a BindComplete, a row and a
// CommandComplete. An error ends them all, and the statement with them: PostgreSQL
// skips it, and so lib/pq gets the error for its answer.
func (l *line) Read(p []byte) (int, error) {
	for l.locks > 0 && l.passing == 0 {
		head, err := l.in.Peek(5)
		if err != nil {
			return 0, err
		}
		length := 1 + int(binary.BigEndian.Uint32(head[1:]))
		switch head[0] {
		case 'D':
			row, err := l.in.Peek(length)
			if err != nil {
				return 0, err
			}
			l.unlocked = bytes.HasSuffix(row, []byte("true"))
			fallthrough
		case '2', 'C':
			if head[0] == 'C' {
				l.locks--
			}
			if _, err := l.in.Discard(length); err != nil {
				return 0, err
			}
		case 'E':
			l.locks = 0
		default: // a notice or another message that may come at any time
			l.passing = length
		}
	}
	if l.passing > 0 {
		p = p[:min(len(p), l.passing)]
	}
	n, err := l.in.Read(p)
	l.passing -= min(l.passing, n)
	return n, err
}
