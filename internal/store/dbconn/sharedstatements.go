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
	// nameAfter is how often a connection runs a statement before it gives it a name.
	// PostgreSQL keeps the plan of a statement only after five runs.
	nameAfter = 5
	// maxShared is the maximum number of named statements of a server connection.
	maxShared = maxStatements
	// maxRefused is how many runs by name may be refused before names are given up if that is
	// more than one in 20.
	maxRefused = 1000
)

// sharedNames are the names of the statements that the connections of a pool share on the
// server connections of a pooler.
type sharedNames struct {
	mu     sync.Mutex
	byText map[string]string

	sent, refused atomic.Int64 // runs by name alone, and how many of them a server connection refused
}

// of returns the name of a statement, or "" if there are too many names already.
func (n *sharedNames) of(text string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	name, ok := n.byText[text]
	if !ok && len(n.byText) < maxShared {
		if n.byText == nil {
			n.byText = map[string]string{}
		}
		sum := sha256.Sum256([]byte(text))
		name = "chairside_" + hex.EncodeToString(sum[:16])
		n.byText[text] = name
	}
	return name
}

// useless reports whether server connections do not keep statements: the pooler resets them after
// each transaction.
func (n *sharedNames) useless() bool {
	refused := n.refused.Load()
	return refused > maxRefused && refused > n.sent.Load()/20
}

// shared are the statements of a connection to a pooler.
type shared struct {
	names          *sharedNames
	byName         map[string]*sharedStatement // by lib/pq's name
	lock, practice sharedStatement
	inTx           bool               // an ordinary transaction is open: no statement is sent by name
	named          []*sharedStatement // in the last message
	out            []byte             // the last rewritten message
}

type sharedStatement struct {
	text   string
	runs   int
	name   string // "" while it has none
	parsed bool   // the connection has parsed it by its name
}

func newShared(names *sharedNames) *shared {
	return &shared{
		names: names, byName: map[string]*sharedStatement{},
		lock: sharedStatement{text: localLock}, practice: sharedStatement{text: localPractice},
	}
}

// use appends what must precede the Bind of a statement, and returns the name to bind. parsed is true if
// that is a Parse.
func (c *shared) use(to []byte, s *sharedStatement) (messages []byte, name string, parsed bool) {
	if !c.inTx && s.name == "" {
		if s.runs++; s.runs > nameAfter {
			s.name = c.names.of(s.text)
		}
	}
	switch {
	case c.inTx, s.name == "", c.names.useless():
		return appendParse(to, "", s.text), "", true
	}
	c.named = append(c.named, s)
	if s.parsed {
		c.names.sent.Add(1)
		return to, s.name, false
	}
	s.parsed = true
	return appendParse(appendClose(to, s.name), s.name, s.text), s.name, true
}

// begin is called before the messages of a statement.
func (c *shared) begin(inTx bool) {
	c.inTx, c.named = inTx, c.named[:0]
}

// refused is called when the server connection lacked one of the statements in the last message, or
// had one from before a migration. All of them are parsed when they are sent again.
func (c *shared) refused() {
	c.names.refused.Add(1)
	for _, s := range c.named {
		s.parsed = false
	}
}

// rewrite returns the messages of one Write with the statement's shared name, or none, in place of lib/pq's;
// parsed is true if they also parse it for lib/pq, which does not expect that.
func (c *shared) rewrite(p []byte) (messages []byte, parsed bool) {
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
		c.out, name, parsed = c.use(c.out[:0], s)
		c.out = append(c.out, 'B')
		c.out = binary.BigEndian.AppendUint32(c.out, uint32(end-1-length+len(name))) //nolint:gosec // shorter than a message
		c.out = append(append(c.out, 0), name...)
		return append(c.out, p[6+length:]...), parsed
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

// appendClose appends the Close message of a statement. It is no error if there is none.
func appendClose(to []byte, name string) []byte {
	to = append(to, 'C', 0, 0, 0, byte(len(name)+6), 'S')
	return append(append(to, name...), 0)
}
