package dbconn

// For tests in package dbconn_test.
const (
	MaxStatements    = maxStatements
	MaxStatementText = maxStatementText
)

// Errors of a transaction of a single statement.
var (
	ErrSecondStatement = errSecondStatement
	ErrCommitted       = errCommitted
)

// Prepared returns how many statements a connection has prepared.
func Prepared(raw any) int { return raw.(*cachedConn).recent.Len() }
