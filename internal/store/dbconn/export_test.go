package dbconn

// For tests in package dbconn_test.
const (
	MaxStatements    = maxStatements
	MaxStatementText = maxStatementText
	MaxSeenOnce      = maxSeenOnce
)

// Errors of a transaction of a single statement.
var (
	ErrSecondStatement = errSecondStatement
	ErrCommitted       = errCommitted
)

// Prepared returns how many statements a connection has prepared, and how many it has
// seen once.
func Prepared(raw any) (prepared, seenOnce int) {
	c := raw.(*cachedConn)
	return c.recent.Len(), len(c.seenOnce)
}
