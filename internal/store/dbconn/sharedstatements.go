package dbconn

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"sync"
	"sync/atomic"
)

const (
	// nameAfter is how many times a connection runs a statement without a name. It keeps rare
	// statements out of the server's memory.
	nameAfter = 5
	// maxNamed is the most statements that a pool names, besides those of locks and practice.
	maxNamed = 200
	// maxRefused is how many runs by name a pooler may refuse in a row. One that keeps statements
	// refuses each once for each of its connections, with successes in between.
	maxRefused = 1000
)

// sharedNames are the names of the statements that the connections of a pool share on the
// server connections of a pooler. Other programs with the same role may share them too.
type sharedNames struct {
	schema  string // identifies the types of all columns
	mu      sync.Mutex
	byText  map[string]string // "" for a statement that must not have a name
	refused atomic.Int64      // runs by name that were refused since one last succeeded
}

// newSharedNames returns no names yet. PostgreSQL keeps the types of a named statement's arguments, even
// when a column changes its type; so other values of schema give other names and texts.
func newSharedNames(schema string) *sharedNames {
	return &sharedNames{schema: schema, byText: map[string]string{}}
}

// of returns the name of a statement, or "" if there are too many names already.
func (n *sharedNames) of(text string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	name, ok := n.byText[text]
	if !ok && len(n.byText) < maxNamed {
		name = n.newName(text)
		n.byText[text] = name
	}
	return name
}

func (n *sharedNames) newName(text string) string {
	sum := sha256.Sum256([]byte(n.parsed(text)))
	return "chairside_" + hex.EncodeToString(sum[:16])
}

// parsed returns the text of a named statement. A pooler that prepares statements itself tells them
// apart by their texts.
func (n *sharedNames) parsed(text string) string { return text + " /* schema " + n.schema + " */" }

// forbid makes a statement run without a name from now on.
func (n *sharedNames) forbid(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.byText[text] = ""
}

// useless reports whether server connections do not keep statements, as behind a pooler that resets
// them after each transaction.
func (n *sharedNames) useless() bool { return n.refused.Load() >= maxRefused }

// sharedStatements are the statements of a connection to a pooler.
type sharedStatements struct {
	names          *sharedNames
	byName         map[string]*sharedStatement // by lib/pq's name
	lock, practice sharedStatement
	out            []byte // the last rewritten message

	mayName bool               // the next message may name its statements
	sent    []*sharedStatement // by name, in the last message
	parsing []*sharedStatement // those of them that it parses
}

// sharedStatement is a statement as one connection knows it.
type sharedStatement struct {
	text  string
	runs  int    // without a name
	name  string // "" for none
	known bool   // the connection has parsed it by its name
}

func newSharedStatements(names *sharedNames) *sharedStatements {
	return &sharedStatements{
		names: names, byName: map[string]*sharedStatement{},
		lock:     sharedStatement{text: localLock, name: names.newName(localLock)},
		practice: sharedStatement{text: localPractice, name: names.newName(localPractice)},
	}
}

// begin is called before the messages of a statement. Other messages, and those in an ordinary transaction,
// which an error would abort, name nothing.
func (c *sharedStatements) begin(inTx bool) {
	c.mayName, c.sent, c.parsing = !inTx && !c.names.useless(), c.sent[:0], c.parsing[:0]
}

// bind appends Close and Parse of a statement if it needs them. It returns the name to bind, and whether
// it appended a Parse.
func (c *sharedStatements) bind(to []byte, s *sharedStatement) (messages []byte, name string, parses bool) {
	if c.mayName && s.name == "" {
		if s.runs++; s.runs == nameAfter+1 {
			s.name = c.names.of(s.text)
		}
	}
	if !c.mayName || s.name == "" {
		return appendParse(to, "", s.text), "", true
	}
	c.sent = append(c.sent, s)
	if s.known {
		return to, s.name, false
	}
	// A pooler that prepares statements itself knows only those that this connection has parsed.
	s.known = true
	c.parsing = append(c.parsing, s)
	return appendParse(appendClose(to, s.name), s.name, c.names.parsed(s.text)), s.name, true
}

// succeeded is called when the last message has a result.
func (c *sharedStatements) succeeded() {
	if len(c.sent) > len(c.parsing) && c.names.refused.Load() > 0 {
		c.names.refused.Store(0)
	}
}

// failed is called after an error: the server may have parsed nothing.
func (c *sharedStatements) failed() {
	for _, s := range c.parsing {
		s.known = false
	}
}

// missing is called when the server connection lacked one of the statements of the last message. When it is
// sent again, it parses all of them.
func (c *sharedStatements) missing() {
	c.names.refused.Add(1)
	for _, s := range c.sent {
		s.known = false
	}
}

// rewrite puts the statement's shared name, or none, in place of lib/pq's in the messages of one Write.
// parses reports whether it added a Parse, whose response must be hidden.
func (c *sharedStatements) rewrite(p []byte) (messages []byte, parses bool) {
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
		c.byName[name] = &sharedStatement{text: text}
		c.out = appendParse(c.out[:0], "", text)
		c.out = append(c.out, 'D', 0, 0, 0, 6, 'S', 0)
		describe := 1 + int(binary.BigEndian.Uint32(p[end+1:]))
		return append(c.out, p[end+describe:]...), false
	case 'B': // then Execute and Sync
		length := bytes.IndexByte(p[6:], 0) // the portal has no name
		s, ok := c.byName[string(p[6:6+length])]
		if !ok {
			return p, false
		}
		var name string
		c.out, name, parses = c.bind(c.out[:0], s)
		c.mayName = false
		c.out = append(c.out, 'B')
		c.out = binary.BigEndian.AppendUint32(c.out, uint32(end-1-length+len(name))) //nolint:gosec // shorter than a message
		c.out = append(append(c.out, 0), name...)
		return append(c.out, p[6+length:]...), parses
	case 'C':
		delete(c.byName, strings.TrimRight(string(p[6:end]), "\x00"))
	}
	return p, false
}

// appendParse appends the Parse message of a statement.
func appendParse(to []byte, name, text string) []byte {
	to = append(to, 'P')
	to = binary.BigEndian.AppendUint32(to, uint32(len(name)+len(text)+8)) //nolint:gosec // at most maxStatementText
	to = append(append(append(append(to, name...), 0), text...), 0)
	return append(to, 0, 0) // the server infers all types
}

// appendClose appends the Close message of a statement. Closing an unknown name is not an error.
func appendClose(to []byte, name string) []byte {
	to = append(to, 'C', 0, 0, 0, byte(len(name)+6), 'S')
	return append(append(to, name...), 0)
}
