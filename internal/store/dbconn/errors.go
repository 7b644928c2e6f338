package dbconn

import (
	"context"
	"database/sql/driver"
	"errors"
	"net"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
)

// Outdated reports whether PostgreSQL refused a prepared statement because a migration has
// changed its tables, or because a pooler has dropped it. (Other errors share SQLSTATE 0A000
// with the former, so the routine is compared too.)
func Outdated(err error) bool {
	var server *pq.Error
	if !errors.As(err, &server) {
		return false
	}
	return missing(err) ||
		server.Code == pqerror.FeatureNotSupported && server.Routine == "RevalidateCachedQuery"
}

// missing reports SQLSTATE 26000: the server has no prepared statement of that name. Everything up to
// the Sync is rolled back.
func missing(err error) bool {
	var server *pq.Error
	return errors.As(err, &server) && server.Code == pqerror.InvalidSQLStatementName
}

// Unavailable reports whether err means that there was no connection, that one was lost, or
// that a lock or a response took too long.
func Unavailable(err error) bool {
	var network net.Error // also every failure of a socket to PostgreSQL
	var connecting unreachable
	return errors.As(err, &network) ||
		errors.As(err, &connecting) ||
		errors.Is(err, context.DeadlineExceeded) || // also waiting for a free connection
		errors.Is(err, driver.ErrBadConn) ||
		errors.Is(err, ErrLocked)
}
