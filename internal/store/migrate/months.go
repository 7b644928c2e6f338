package migrate

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"entgo.io/ent/dialect"

	"chairside/internal/clock"
	"chairside/internal/entx/table"
	"chairside/internal/store"
)

const (
	// monthsAhead is how many months after the present one AddMonths adds.
	monthsAhead = 24
	// fewMonths is how many of them must be left: Month.Missing reports a problem below it.
	fewMonths = 3
	// restSuffix ends the name of the default partition.
	restSuffix = "_default"
	// monthSuffix ends the name of the partition of a month, as a layout of time.
	monthSuffix = "_2006_01"
)

// Month is a month of UTC, whose rows of the audit log are in a partition of their own.
type Month struct{ Start time.Time }

// MonthOf returns the month of a time.
func MonthOf(t time.Time) Month {
	t = t.UTC()
	return Month{time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)}
}

// Add returns the month n months later.
func (m Month) Add(n int) Month { return Month{m.Start.AddDate(0, n, 0)} }

// End returns the first instant after the month.
func (m Month) End() time.Time { return m.Add(1).Start }

// Partition returns the name of the partition of a table.
func (m Month) Partition(name string) string { return name + m.Start.Format(monthSuffix) }

// String returns the month: 2026-11.
func (m Month) String() string { return m.Start.Format("2006-01") }

// querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Months returns the months that have partitions in every partitioned table, in order. On SQLite
// there are none.
func Months(ctx context.Context, db *store.DB) ([]Month, error) {
	if db.Dialect != dialect.Postgres {
		return nil, nil
	}
	var common []Month
	for i, p := range partitioned {
		own, err := monthsOf(ctx, db.SQL, p.table)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			common = own
		}
		common = slices.DeleteFunc(common, func(m Month) bool { return !slices.Contains(own, m) })
	}
	return common, nil
}

// monthsOf returns the months of one table, in order.
func monthsOf(ctx context.Context, q querier, name string) (months []Month, err error) {
	rows, err := q.QueryContext(ctx, `SELECT p.relname FROM pg_inherits i JOIN pg_class p ON p.oid = i.inhrelid
		WHERE i.inhparent = to_regclass($1) ORDER BY p.relname`, name)
	if err != nil {
		return nil, fmt.Errorf("read the partitions of %s: %w", name, err)
	}
	defer rows.Close()
	for rows.Next() {
		var partition string
		if err := rows.Scan(&partition); err != nil {
			return nil, err
		}
		if start, err := time.Parse(monthSuffix, strings.TrimPrefix(partition, name)); err == nil {
			months = append(months, Month{start})
		}
	}
	return months, rows.Err()
}

// MissingMonths describes the lack of partitions for the months to come, or returns "". Until they are
// added, rows of such months go to the default partition, from which they are deleted one by one.
func MissingMonths(ctx context.Context, db *store.DB) (problem string, err error) {
	if db.Dialect != dialect.Postgres {
		return "", nil
	}
	months, err := Months(ctx, db)
	if err != nil {
		return "", err
	}
	for n := range fewMonths + 1 {
		if m := MonthOf(clock.Now(ctx)).Add(n); !slices.Contains(months, m) {
			return fmt.Sprintf(`the audit log has no partition for %s: run "chairside migrate up"`, m), nil
		}
	}
	return "", nil
}

// AddMonths adds the partitions of the present month and of two years after it that are missing, and
// returns their number. Rows of these months that are in the default partition move. Up does not
// call it: a database without months works, and tests create many.
func AddMonths(ctx context.Context, db *store.DB) (added int, err error) {
	if db.Dialect != dialect.Postgres {
		return 0, nil
	}
	pool := db.Maintenance()
	defer pool.Close()
	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback() // after a commit it does nothing
	if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock(hashtext('chairside add months'))"); err != nil {
		return 0, err
	}
	for _, p := range partitioned {
		have, err := monthsOf(ctx, tx, p.table)
		if err != nil {
			return 0, err
		}
		var missing []Month
		for n := range monthsAhead + 1 {
			if m := MonthOf(clock.Now(ctx)).Add(n); !slices.Contains(have, m) {
				missing = append(missing, m)
			}
		}
		if len(missing) == 0 {
			continue
		}
		if err := LockExclusively(ctx, tx, p.table+restSuffix); err != nil {
			return 0, err
		}
		for _, m := range missing {
			if err := addMonth(ctx, tx, p.table, p.column, m); err != nil {
				return 0, fmt.Errorf("add the partition %s: %w", m.Partition(p.table), err)
			}
			added++
		}
	}
	return added, tx.Commit()
}

// addMonth creates a partition, moves its rows from the default partition, and attaches it.
func addMonth(ctx context.Context, tx *sql.Tx, name, column string, m Month) error {
	whole, rest, partition := table.Quote(name), table.Quote(name+restSuffix), table.Quote(m.Partition(name))
	from, to := m.Start.Format(time.RFC3339), m.End().Format(time.RFC3339)
	for _, statement := range []string{
		fmt.Sprintf("CREATE TABLE %s (LIKE %s INCLUDING DEFAULTS INCLUDING CONSTRAINTS)", partition, whole),
		fmt.Sprintf("WITH moved AS (DELETE FROM %s WHERE %s >= '%s' AND %[2]s < '%[4]s' RETURNING *) INSERT INTO %[5]s SELECT * FROM moved", rest, table.Quote(column), from, to, partition),
		fmt.Sprintf("ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM ('%s') TO ('%s')", whole, partition, from, to),
	} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// DropMonth drops the partitions of a month with all their rows. The caller has locked the whole
// tables (LockExclusively).
func DropMonth(ctx context.Context, tx *sql.Tx, m Month) error {
	for _, p := range partitioned {
		if _, err := tx.ExecContext(ctx, "DROP TABLE "+table.Quote(m.Partition(p.table))); err != nil {
			return fmt.Errorf("drop the partition %s: %w", m.Partition(p.table), err)
		}
	}
	return nil
}

// LockExclusively locks tables with their partitions until the transaction ends. Requests queue
// behind a waiting lock, so it waits briefly, lets them pass and tries again, for two minutes. It waits
// less than the server takes to find a deadlock, so no request fails because of one.
func LockExclusively(ctx context.Context, tx *sql.Tx, names ...string) error {
	statement := "LOCK TABLE " + table.Quote(names...) + " IN ACCESS EXCLUSIVE MODE"
	wait := longestLockWait - lockWaitMargin
	if _, err := tx.ExecContext(ctx, "SET LOCAL lock_timeout = "+milliseconds(wait)); err != nil {
		return err
	}
	for spent, pause := time.Duration(0), firstPause; ; pause = min(2*pause, longestPause) {
		if _, err := tx.ExecContext(ctx, "SAVEPOINT before_lock"); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, statement)
		if !lockFailure(err) {
			return err
		}
		if _, err := tx.ExecContext(ctx, "ROLLBACK TO SAVEPOINT before_lock"); err != nil {
			return err
		}
		random := pause/2 + rand.N(pause)
		if spent += wait + random; spent > retryFor {
			return fmt.Errorf("%w: %w: %s", err, ErrLocked, strings.Join(names, ", "))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(random):
		}
	}
}
