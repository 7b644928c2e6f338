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

// Of returns the query for one counter: one row with one column.
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

// Place is where a page begins in a list in the order of a timestamp.
type Place struct {
	Total  int       // rows of the whole list
	Day    time.Time // start, in UTC, of the day of the page's first row
	Before int       // rows of the list before that day
}

// Find returns the place of the page that begins after offset rows. all names the
// counter of the list's rows, days the one that counts them by day. ok is false if too
// many changes are pending to know the place.
//
// It adds up the days from the nearer end of the list, no further than needed. Pending
// changes (those not compacted yet) could move the place by at most slack rows: the
// query looks for the day with that much to spare, then adds the pending changes of
// earlier days to the rows before it.
//
// One day contains the offset, so no ORDER BY is needed to choose it; with one, SQLite
// would add up all days first. (Where pending deletes make a day's count negative,
// several days qualify and any of them will do.) For the same reason the half of the
// UNION ALL that is not needed is switched off by its counter, the first column of the
// index: SQLite checks any other condition day by day.
func (c *Counters) Find(ctx context.Context, all, days string, offset int, descending bool) (p Place, ok bool, err error) {
	forward, backward, earlier := "key", "key DESC", "<"
	if descending {
		forward, backward, earlier = backward, forward, ">"
	}
	// whole is one row: n is the number of rows; compacted, those of them in counters;
	// slack, how far pending changes may move the place; wanted, the offset. from_start
	// is days where the offset is in the first half of the list, from_end where it is in
	// the second; the other is NULL, so that its half of the UNION ALL reads nothing.
	text := strings.NewReplacer(
		"TOTAL", "(SELECT COALESCE(SUM(n), 0) FROM "+c.counts()+" WHERE counter = $1 AND practice_id = $2 AND key = 0)",
		"PENDING", c.pending("SUM(n)", "$3", ""),
		"SLACK", c.pending("SUM(ABS(n))", "$3", ""),
		"EARLIER", c.pending("SUM(n)", "$3", "AND key "+earlier+" day.key"),
		"FORWARD", forward,
		"BACKWARD", backward,
	).Replace(`
		WITH whole AS (
			SELECT n, n - PENDING AS compacted, SLACK AS slack, wanted,
				CASE WHEN wanted * 2 <= n THEN $3 END AS from_start, CASE WHEN wanted * 2 > n AND wanted < n THEN $3 END AS from_end
			FROM (SELECT TOTAL AS n, CAST($4 AS bigint) AS wanted) AS total
		)
		SELECT whole.n, day.key, day.before + EARLIER
		FROM whole LEFT JOIN (
			SELECT * FROM (
				SELECT key, passed - n AS before FROM (
					SELECT key, n, SUM(n) OVER (ORDER BY FORWARD ROWS UNBOUNDED PRECEDING) AS passed
					FROM counters WHERE counter = (SELECT from_start FROM whole) AND practice_id = $2
				) AS days
				WHERE passed > (SELECT wanted - slack FROM whole) AND passed - n <= (SELECT wanted - slack FROM whole) LIMIT 1
			) AS from_start
			UNION ALL
			SELECT * FROM (
				SELECT key, (SELECT compacted FROM whole) - passed FROM (
					SELECT key, n, SUM(n) OVER (ORDER BY BACKWARD ROWS UNBOUNDED PRECEDING) AS passed
					FROM counters WHERE counter = (SELECT from_end FROM whole) AND practice_id = $2
				) AS days
				WHERE passed >= (SELECT compacted - wanted + slack FROM whole) AND passed - n < (SELECT compacted - wanted + slack FROM whole) LIMIT 1
			) AS from_end
		) AS day ON true`)
	var day, before sql.NullInt64
	if err := c.read(ctx, text, []any{all, c.practice, days, offset}, &p.Total, &day, &before); err != nil {
		return p, false, err
	}
	p.Day, p.Before = time.Unix(day.Int64*24*60*60, 0).UTC(), int(before.Int64)
	return p, day.Valid || offset >= p.Total, nil
}

// counts is the table of compacted and pending counts. On SQLite triggers compact at
// once, and nothing is pending.
func (c *Counters) counts() string {
	if c.driver.Dialect() == dialect.SQLite {
		return "counters"
	}
	return "(SELECT counter, practice_id, key, n FROM counters UNION ALL SELECT counter, practice_id, key, n FROM counter_changes) AS counts"
}

// pending is the expression for a sum over a counter's pending changes.
func (c *Counters) pending(sum, counter, and string) string {
	if c.driver.Dialect() == dialect.SQLite {
		return "0"
	}
	return "(SELECT COALESCE(" + sum + ", 0) FROM counter_changes WHERE counter = " + counter + " AND practice_id = $2 " + and + ")"
}

// read reads the one row of a statement.
func (c *Counters) read(ctx context.Context, text string, args []any, into ...any) error {
	if c.driver.Dialect() == dialect.SQLite {
		text = strings.ReplaceAll(text, "$", "?") // $1 would be a name
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
