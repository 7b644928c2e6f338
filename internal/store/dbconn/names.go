package dbconn

import (
	"math"
	"strings"
)

// Names name statements by what they do to which table: "select appointments", "insert notes". A
// name is made of the tables that are known beforehand, so no part of a statement's text can get
// into it.
type Names map[string]*[operations]string

// operation is what a statement does to a table.
type operation int

const (
	selects operation = iota
	inserts
	updates
	deletes
	operations
	nothing operation = -1
)

// Names of statements without a table.
const (
	beginTransaction = "begin"
	commitStatement  = "commit"
	rollbackName     = "rollback"
	prepareName      = "prepare"
	setPractice      = "set practice"
	lockStatement    = "lock"
	reserveIDs       = "reserve ids"
	otherStatement   = "other"
)

// NewNames returns the names of statements about tables.
func NewNames(tables []string) Names {
	n := Names{}
	for _, table := range tables {
		n[table] = &[operations]string{selects: "select " + table, inserts: "insert " + table, updates: "update " + table, deletes: "delete " + table}
	}
	return n
}

// of names a statement after its first write, or else after the table that it reads outside of
// parentheses: a booking also writes its audit entry, and a list also reads its total.
func (n Names) of(text string) string {
	name, depthOfName, next, deleting := "", 0, nothing, false
	for w := (words{rest: text}); w.next(); {
		table, known := n[w.word]
		switch {
		case known && next > selects:
			return table[next]
		case known && next == selects && (name == "" || w.depth < depthOfName):
			name, depthOfName = table[selects], w.depth
		case name == "" && strings.HasPrefix(w.word, "pg_try_advisory"):
			name, depthOfName = lockStatement, maxDepth
		case name == "" && w.word == "nextval":
			name, depthOfName = reserveIDs, maxDepth
		}
		next = nothing
		switch {
		case strings.EqualFold(w.word, "FROM") && deleting:
			next, deleting = deletes, false
		case strings.EqualFold(w.word, "FROM"), strings.EqualFold(w.word, "JOIN"):
			next = selects
		case strings.EqualFold(w.word, "INTO"):
			next = inserts
		case strings.EqualFold(w.word, "UPDATE"):
			next = updates
		case strings.EqualFold(w.word, "DELETE"):
			deleting = true
		}
	}
	if name == "" {
		return otherStatement
	}
	return name
}

// maxDepth is deeper than any statement.
const maxDepth = math.MaxInt

// words are the names and keywords of a statement, without quotes. Texts in single quotes are
// left out.
type words struct {
	word  string
	depth int // of parentheses
	rest  string
}

// next reads the next word; it reports false at the end.
func (w *words) next() bool {
	for i := 0; i < len(w.rest); i++ {
		switch c := w.rest[i]; {
		case c == '(':
			w.depth++
		case c == ')':
			w.depth--
		case c == '\'':
			end := strings.IndexByte(w.rest[i+1:], '\'')
			if end < 0 {
				return false
			}
			i += end + 1
		case inWord(c):
			end := i + 1
			for end < len(w.rest) && inWord(w.rest[end]) {
				end++
			}
			w.word, w.rest = w.rest[i:end], w.rest[end:]
			return true
		}
	}
	return false
}

func inWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
