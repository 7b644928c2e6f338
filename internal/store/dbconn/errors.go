package dbconn

import (
	"context"
	"database/sql/driver"
	"errors"
	"net"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
)

// Outdated recognises PostgreSQL's refusal to run a prepared statement after a
// migration (SQLSTATE 0A000 is shared with others, the routine is not) or after a
// pooler has dropped it.
func Outdated(err error) bool {
	var server *pq.Error
	if !errors.As(err, &server) {
		return false
	}
	return server.Code == pqerror.InvalidSQLStatementName ||
		server.Code == pqerror.FeatureNotSupported && server.Routine == "RevalidateCachedQuery"
}

// Unavailable reports whether err means that no connection could be had, that one was
// lost, or that a lock or an answer did not come in time.
func Unavailable(err error) bool {
	var network net.Error // also every failure of a socket to PostgreSQL
	var connecting unreachable
	return errors.As(err, &network) ||
		errors.As(err, &connecting) ||
		errors.Is(err, context.DeadlineExceeded) || // also waiting for a free connection
		errors.Is(err, driver.ErrBadConn) ||
		errors.Is(err, ErrLocked)
}
