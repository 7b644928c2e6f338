package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/lib/pq"
)

// statementwise applies the statements of a file one by one, outside a transaction, each with
// retries. Atlas's executor counts applied statements in the history. If the connection is lost
// right after a statement, it is not counted, and is repeated later. So the file may contain only
// statements that can be repeated: CREATE and DROP INDEX CONCURRENTLY, VALIDATE CONSTRAINT, and
// backfills that skip rows with a value.
type statementwise struct {
	*applier
	resumed bool // the next statement may have been executed before
}

var (
	concurrently = regexp.MustCompile(`(?is)^(CREATE\s+(UNIQUE\s+)?|DROP\s+|RE)INDEX\s.*?\bCONCURRENTLY\b`)
	createsIndex = regexp.MustCompile(`(?is)^CREATE\s+(?:UNIQUE\s+)?INDEX\s+CONCURRENTLY\s+(?:IF\s+NOT\s+EXISTS\s+)?("(?:[^"]|"")+"|[a-z_][a-z0-9_$]*)\s+ON\s`)
	backfills    = regexp.MustCompile(`(?is)^(DO|UPDATE|INSERT|DELETE|WITH)\s`)
)

// QueryContext is part of Atlas's interface.
func (s *statementwise) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return s.conn.QueryContext(ctx, query, args...)
}

// ExecContext applies a statement.
func (s *statementwise) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	resumed := s.resumed
	s.resumed = false
	wait := s.lockWait
	switch {
	case concurrently.MatchString(query):
		wait = indexLockWait
	case backfills.MatchString(query):
		wait = backfillLockWait
	}
	var result sql.Result
	err := s.retry(ctx, wait, func() error {
		if _, err := s.conn.ExecContext(ctx, "SET lock_timeout = "+milliseconds(wait)); err != nil {
			return err
		}
		if found := createsIndex.FindStringSubmatch(query); found != nil {
			return s.createIndex(ctx, found[1], query, resumed)
		}
		var err error
		result, err = s.conn.ExecContext(ctx, query, args...)
		return err
	})
	return result, err
}

// createIndex builds an index concurrently. An interrupted build leaves an invalid index, which is
// dropped first. A valid index of the name counts as the result of this statement only if the
// statement may have been executed before.
func (s *statementwise) createIndex(ctx context.Context, name, query string, resumed bool) error {
	var valid bool
	err := s.conn.QueryRowContext(ctx, "SELECT indisvalid AND indisready FROM pg_index WHERE indexrelid = to_regclass($1)", name).Scan(&valid)
	switch {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil:
		return err
	case valid && resumed:
		return nil
	case !valid:
		s.report("dropping the invalid index %s that an interrupted migration left behind", name)
		if err := s.dropIndex(ctx, name); err != nil {
			return err
		}
	}
	_, err = s.conn.ExecContext(ctx, query)
	var server *pq.Error
	if errors.As(err, &server) && !lockFailure(err) {
		// An invalid UNIQUE index would still refuse rows. If it cannot be dropped now, the
		// next attempt drops it.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		if dropErr := s.dropIndex(ctx, name); dropErr != nil {
			return fmt.Errorf("%w (the invalid index %s is still there: %w)", err, name, dropErr)
		}
	}
	return err
}

func (s *statementwise) dropIndex(ctx context.Context, name string) error {
	_, err := s.conn.ExecContext(ctx, "DROP INDEX CONCURRENTLY IF EXISTS "+name)
	return err
}
