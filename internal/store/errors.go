package store

import (
	"context"
	"errors"
	"strings"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"chairside/ent"
	"chairside/internal/apierror"
	"chairside/internal/store/dbconn"
)

// APIError gives err, as it came from the database, the meaning it has for a
// client:
//
//   - a row that does not exist is apierror.NotFound;
//   - a database that is down, shutting down, full, overloaded, or did not
//     answer or give up a lock in time is apierror.Unavailable: the same request
//     may succeed a little later;
//   - a row that a CHECK refuses is a CheckError, which holds no value of the row;
//   - everything else, nil, faults and the cancellation by a client that went
//     away included, is returned unchanged.
//
// ctx is the context the query ran under. PostgreSQL reports a query that its
// own time limit ended exactly like one that the client gave up; only ctx
// tells them apart.
func APIError(ctx context.Context, err error) error {
	var known *apierror.Error
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case ent.IsNotFound(err):
		return apierror.NotFound().Because(err)
	case errors.Is(ctx.Err(), context.Canceled):
		return err
	case unavailable(err):
		return apierror.Unavailable(err)
	}
	if broken := brokenCheck(err); broken != nil {
		return broken
	}
	return err
}

// CheckError is a row that a CHECK constraint refused. What reaches a database
// has been checked before, so it is a fault of this program. It does not wrap
// the driver's error: PostgreSQL puts the row's values into that.
type CheckError struct{ Constraint string }

func (e *CheckError) Error() string {
	return "store: the check constraint " + e.Constraint + " refused a row"
}

// brokenCheck finds the constraint that refused a row, nil for other errors.
func brokenCheck(err error) *CheckError {
	var postgres *pq.Error
	if errors.As(err, &postgres) && postgres.Code == pqerror.CheckViolation {
		return &CheckError{postgres.Constraint}
	}
	var embedded *sqlite.Error
	if errors.As(err, &embedded) && embedded.Code() == sqlite3.SQLITE_CONSTRAINT_CHECK {
		_, name, _ := strings.Cut(embedded.Error(), "CHECK constraint failed: ")
		name, _, _ = strings.Cut(name, " ")
		return &CheckError{name}
	}
	return nil
}

func unavailable(err error) bool {
	var postgres *pq.Error
	if errors.As(err, &postgres) {
		if postgres.Severity == pqerror.SeverityFatal || postgres.Severity == pqerror.SeverityPanic { // no session: shutting down, full, or closed to us
			return true
		}
		switch postgres.Code {
		case pqerror.QueryCanceled, // statement_timeout, or the deadline of ctx
			pqerror.LockNotAvailable,
			pqerror.IdleInTransactionSessionTimeout,
			pqerror.ReadOnlySQLTransaction: // a standby, after a fail-over
			return true
		}
		switch postgres.Code.Class() {
		case pqerror.ClassConnectionException,
			pqerror.ClassTransactionRollback, // deadlock, serialization failure
			pqerror.ClassInsufficientResources,
			pqerror.ClassOperatorIntervention:
			return true
		}
		return dbconn.Outdated(err)
	}
	var embedded *sqlite.Error
	if errors.As(err, &embedded) {
		switch embedded.Code() & 0xff { // the rest says more about the same
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL:
			return true
		}
		return false
	}
	return dbconn.Unavailable(err)
}
