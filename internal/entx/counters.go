package entx

import (
	"context"
	"errors"
	"strings"
	"time"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"
	"github.com/google/uuid"
)

// Counter is a count of rows that the schema declares (apispec.Counter explains the
// members). Triggers maintain it (package store/counters).
type Counter struct {
	Name, Table, By, Day, Where string
	// Columns are the columns that the counter depends on, other than the practice.
	Columns []string
}

// Counters reads the counters of one practice, in the transaction of the query that
// returned it.
type Counters struct {
	driver   dialect.Driver
	practice uuid.UUID
}

// NewCounters returns the counters of a practice.
func NewCounters(d dialect.Driver, practice uuid.UUID) *Counters { return &Counters{d, practice} }

// Of returns the query for the value of one counter: one row with one column.
func (c *Counters) Of(counter string, key int64) *sql.Selector {
	return sql.Dialect(c.driver.Dialect()).Select().SelectExpr(sql.ExprFunc(func(b *sql.Builder) {
		b.WriteString("CAST(COALESCE(SUM(n), 0) AS bigint) FROM " + c.counts() + " WHERE counter = ").Arg(counter)
		b.WriteString(" AND practice_id = ").Arg(c.practice).WriteString(" AND key = ").Arg(key)
	}))
}

// Read runs a query returned by Of.
func (c *Counters) Read(ctx context.Context, of *sql.Selector) (n int, err error) {
	text, args := of.Query()
	return n, c.read(ctx, text, args, &n)
}

// PageStart is where a page begins in a list sorted by a timestamp.
type PageStart struct {
	Total  int       // rows of the whole list
	Day    time.Time // start, in UTC, of the day of the page's first row
	Before int       // rows of the list before that day
}

// PageStart finds the day on which the page after offset rows begins. all is the name of the
// counter of the list's rows, days that of the counter of the same rows by day. ok is false
// if too many changes are pending to know the day.
//
// The query adds up the rows per day, beginning at the nearer end of the list, until it
// reaches the offset. Pending changes (those not compacted yet) can move the result by at
// most slack rows. So it stops slack rows early, and then adds the pending changes of the
// days before.
//
// Exactly one day contains the offset, so the query needs no ORDER BY, which would make
// SQLite add up all days. (If pending deletes make the count of a day negative, several days
// qualify, and each is a correct result.) For the same reason, the half of the UNION ALL that
// is not needed is switched off by the name of its counter, the first column of the index:
// SQLite would check any other condition for each day.
func (c *Counters) PageStart(ctx context.Context, all, days string, offset int, descending bool) (p PageStart, ok bool, err error) {
	var day, before sql.NullInt64
	if err := c.read(ctx, c.pageStartQuery(descending), []any{all, c.practice, days, offset}, &p.Total, &day, &before); err != nil {
		return p, false, err
	}
	p.Day, p.Before = time.Unix(day.Int64*24*60*60, 0).UTC(), int(before.Int64)
	return p, day.Valid || offset >= p.Total, nil
}

// pageStartQuery returns the query of PageStart. Its arguments are the counter of all rows,
// the practice, the counter by day and the offset.
//
// The CTE whole is one row:
//
//	n           rows of the list
//	compacted   rows of the list without pending changes
//	slack       the most rows by which pending changes can move the result
//	skipped     the offset
//	from_start  the counter by day if the offset is in the first half of the list, else NULL
//	from_end    the same for the second half
//
// running is the sum of the rows up to a day, counted from that end.
func (c *Counters) pageStartQuery(descending bool) string {
	forward, backward, earlier := "key", "key DESC", "<"
	if descending {
		forward, backward, earlier = backward, forward, ">"
	}
	return strings.NewReplacer(
		"TOTAL", "(SELECT COALESCE(SUM(n), 0) FROM "+c.counts()+" WHERE counter = $1 AND practice_id = $2 AND key = 0)",
		"PENDING", c.pending("SUM(n)", "$3", ""),
		"SLACK", c.pending("SUM(ABS(n))", "$3", ""),
		"EARLIER", c.pending("SUM(n)", "$3", "AND key "+earlier+" day.key"),
		"FORWARD", forward,
		"BACKWARD", backward,
	).Replace(`
		WITH whole AS (
			SELECT n, n - PENDING AS compacted, SLACK AS slack, skipped,
				CASE WHEN skipped * 2 <= n THEN $3 END AS from_start, CASE WHEN skipped * 2 > n AND skipped < n THEN $3 END AS from_end
			FROM (SELECT TOTAL AS n, CAST($4 AS bigint) AS skipped) AS total
		)
		SELECT whole.n, day.key, day.before + EARLIER
		FROM whole LEFT JOIN (
			SELECT * FROM (
				SELECT key, running - n AS before FROM (
					SELECT key, n, SUM(n) OVER (ORDER BY FORWARD ROWS UNBOUNDED PRECEDING) AS running
					FROM counters WHERE counter = (SELECT from_start FROM whole) AND practice_id = $2
				) AS days
				WHERE running > (SELECT skipped - slack FROM whole) AND running - n <= (SELECT skipped - slack FROM whole) LIMIT 1
			) AS from_start
			UNION ALL
			SELECT * FROM (
				SELECT key, (SELECT compacted FROM whole) - running FROM (
					SELECT key, n, SUM(n) OVER (ORDER BY BACKWARD ROWS UNBOUNDED PRECEDING) AS running
					FROM counters WHERE counter = (SELECT from_end FROM whole) AND practice_id = $2
				) AS days
				WHERE running >= (SELECT compacted - skipped + slack FROM whole) AND running - n < (SELECT compacted - skipped + slack FROM whole) LIMIT 1
			) AS from_end
		) AS day ON true`)
}

// counts is the SQL of the compacted counts together with the pending changes. On SQLite the
// triggers write the counts themselves, so nothing is ever pending.
func (c *Counters) counts() string {
	if c.driver.Dialect() == dialect.SQLite {
		return "counters"
	}
	return "(SELECT counter, practice_id, key, n FROM counters UNION ALL SELECT counter, practice_id, key, n FROM counter_changes) AS counts"
}

// pending is the SQL of a sum over the pending changes of a counter; condition may be empty.
func (c *Counters) pending(sum, counter, condition string) string {
	if c.driver.Dialect() == dialect.SQLite {
		return "0"
	}
	return "(SELECT COALESCE(" + sum + ", 0) FROM counter_changes WHERE counter = " + counter + " AND practice_id = $2 " + condition + ")"
}

// read reads the one row of a statement.
func (c *Counters) read(ctx context.Context, text string, args []any, into ...any) error {
	if c.driver.Dialect() == dialect.SQLite {
		text = strings.ReplaceAll(text, "$", "?") // in SQLite $1 is a named parameter
	}
	var rows sql.Rows
	if err := c.driver.Query(ctx, text, args, &rows); err != nil {
		return err
	}
	defer rows.Close()
	if !rows.Next() { // a sum always has one row, so this is an error
		return errors.Join(errors.New("ent: read a counter"), rows.Err())
	}
	if err := rows.Scan(into...); err != nil {
		return err
	}
	return rows.Close()
}
