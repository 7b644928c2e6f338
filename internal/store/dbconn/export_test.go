package dbconn

// For tests in package dbconn_test.
const (
	MaxStatements    = maxStatements
	MaxStatementText = maxStatementText
	MaxSilence       = maxSilence
	NameAfter        = nameAfter
	MaxNamed         = maxNamed
	MaxRefused       = maxRefused
)

// Errors of single-statement transactions.
var (
	ErrSecondStatement = errSecondStatement
	ErrCommitted       = errCommitted
)

// Prepared returns how many statements a connection has prepared.
func Prepared(raw any) int { return raw.(*cachedConn).recent.Len() }

// Encrypt makes a connection behave as over TLS.
func Encrypt(raw any) { raw.(*cachedConn).network.encrypted = true }
