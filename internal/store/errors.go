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

// APIError translates an error of the database into one of the API:
//
//   - a row that does not exist is apierror.NotFound;
//   - a database that is down, shutting down, full or overloaded, or that did not
//     answer or grant a lock in time, is apierror.Unavailable: the same request
//     may succeed a little later;
//   - a row that a CHECK constraint refuses is a CheckError, which holds no value
//     of the row;
//   - everything else is returned unchanged: nil, an apierror.Error, and the
//     cancellation by a client that has disconnected.
//
// ctx is the context of the query. PostgreSQL reports a statement timeout and a cancellation
// by the client as the same error; ctx distinguishes them.
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

// Denied returns the database's reason if it refused a statement because the role lacks a privilege
// (SQLSTATE 42501), and "" for other errors. It names tables and no values.
func Denied(err error) string {
	if refused := pq.As(err, pqerror.InsufficientPrivilege); refused != nil {
		return refused.Message
	}
	return ""
}

// ErrReplica means that a PostgreSQL server is in recovery and takes no writes: it follows another one, or it was restored
// and has not been promoted yet.
var ErrReplica = errors.New("the database is a read-only replica, or its recovery has not ended")

// RefusedOnReplica reports whether err may be the refusal of a write by a replica. Both codes have other causes too:
// IsReplica decides. lib/pq begins transactions with SET TRANSACTION READ WRITE, which is a feature not supported there.
func RefusedOnReplica(err error) bool {
	return pq.As(err, pqerror.ReadOnlySQLTransaction, pqerror.FeatureNotSupported) != nil && !dbconn.Outdated(err)
}

// CheckError is a row that a CHECK constraint refused. Rows are checked before
// they are written, so this is a bug. It does not wrap the driver's error,
// because PostgreSQL puts the row's values into its text.
type CheckError struct{ Constraint string }

func (e *CheckError) Error() string {
	return "store: the check constraint " + e.Constraint + " refused a row"
}

// brokenCheck returns the CHECK constraint that refused a row, or nil for other errors.
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

// unavailable reports whether err is that of a database which is down, overloaded or locked.
func unavailable(err error) bool {
	var postgres *pq.Error
	if errors.As(err, &postgres) {
		if postgres.Severity == pqerror.SeverityFatal || postgres.Severity == pqerror.SeverityPanic { // no session: the server is shutting down, full, or refuses us
			return true
		}
		switch postgres.Code {
		case pqerror.QueryCanceled, // statement_timeout, or the deadline of ctx
			pqerror.LockNotAvailable,
			pqerror.ForeignKeyViolation, // the row was deleted after the reference was checked
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
		switch embedded.Code() & 0xff { // the low byte; the rest only refines it
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL:
			return true
		}
		return false
	}
	return dbconn.Unavailable(err)
}
