package counters

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	entsql "entgo.io/ent/dialect/sql"
	"github.com/google/uuid"
)

// Difference is a counter that does not equal the number of rows.
type Difference struct {
	Counter         string // appointments.practitioner
	Practice        uuid.UUID
	Key             int64 // a practitioner, a day since 1970, or 0
	Stored, Counted int64
}

// Table is the table whose rows are counted.
func (d Difference) Table() string {
	table, _, _ := strings.Cut(d.Counter, ".")
	return table
}

func (d Difference) String() string {
	return fmt.Sprintf("%s of practice %s, key %d: the counter says %d, there are %d rows", d.Counter, d.Practice, d.Key, d.Stored, d.Counted)
}

// Check compares every counter with the rows, in one snapshot of the database, and returns the
// differences, sorted. It reads every row of the counted tables.
func (c *Counters) Check(ctx context.Context) ([]Difference, error) {
	pool := c.maintenance()
	defer pool.Close()
	var all []string
	for _, t := range triggersOf(c.dialect, c.tables) {
		all = append(all, t.countQuery())
	}
	return c.differences(ctx, pool, strings.Join(all, "\n UNION ALL "), "")
}

// Repair counts the rows of each table in which Check finds a difference, and corrects its
// counters. It locks a table against writes while it counts. Repair returns what it corrected,
// even if it fails later.
func (c *Counters) Repair(ctx context.Context) ([]Difference, error) {
	found, err := c.Check(ctx)
	if err != nil {
		return nil, err
	}
	pool := c.maintenance()
	defer pool.Close()
	var repaired, done []Difference
	for _, d := range found {
		if slices.ContainsFunc(done, func(o Difference) bool { return o.Table() == d.Table() }) {
			continue
		}
		done = append(done, d)
		changed, err := c.repair(ctx, pool, d.Table())
		if err != nil {
			return repaired, fmt.Errorf("store: repair the counters of %s: %w", d.Table(), err)
		}
		repaired = append(repaired, changed...)
	}
	return repaired, nil
}

// repair corrects the counters of one table in one transaction, which on SQLite holds the
// write lock from its beginning.
func (c *Counters) repair(ctx context.Context, pool *sql.DB, table string) ([]Difference, error) {
	transaction, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer transaction.Rollback()                                                   // after a commit it does nothing
	counts := "SELECT counter, practice_id, key, n FROM " + Table + " WHERE false" // for a table that no longer has counters
	for _, t := range triggersOf(c.dialect, c.tables) {
		if t.table != table {
			continue
		}
		counts = t.countQuery()
		if c.postgres() {
			if _, err := transaction.ExecContext(ctx, "LOCK TABLE "+table+" IN SHARE ROW EXCLUSIVE MODE"); err != nil {
				return nil, err
			}
		}
	}
	list, err := c.differences(ctx, transaction, counts, " WHERE counter || '.' LIKE '"+strings.ReplaceAll(table, "'", "''")+".%'")
	if err != nil {
		return nil, err
	}
	// On PostgreSQL a correction is a change like any other, so compaction can continue.
	correct := "INSERT INTO counter_changes (counter, practice_id, key, n) VALUES ($1, $2, $3, $4)"
	if !c.postgres() {
		correct = "INSERT INTO counters (counter, practice_id, key, n) VALUES (?, ?, ?, ?) ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n"
	}
	for _, d := range list {
		if _, err := transaction.ExecContext(ctx, correct, d.Counter, d.Practice, d.Key, d.Counted-d.Stored); err != nil {
			return nil, err
		}
	}
	return list, transaction.Commit()
}

// differences compares the counters that match where with the result of counts. It is one
// statement, so it sees one snapshot of the database.
func (c *Counters) differences(ctx context.Context, conn entsql.ExecQuerier, counts, where string) ([]Difference, error) {
	stored := "SELECT counter, practice_id, key, n FROM " + Table + where
	if c.postgres() {
		stored += " UNION ALL SELECT counter, practice_id, key, n FROM " + ChangesTable + where
	}
	rows, err := conn.QueryContext(ctx, fmt.Sprintf(`
		SELECT counter, practice_id, key, CAST(sum(stored) AS bigint), CAST(sum(counted) AS bigint)
		FROM (
			SELECT counter, practice_id, key, n AS stored, 0 AS counted FROM (%s) AS stored
			UNION ALL SELECT counter, practice_id, key, 0, n FROM (%s) AS counted
		) AS compared
		GROUP BY counter, practice_id, key HAVING sum(stored) <> sum(counted) ORDER BY counter, practice_id, key`, stored, counts))
	if err != nil {
		return nil, fmt.Errorf("store: check counters: %w", err)
	}
	defer rows.Close()
	var list []Difference
	for rows.Next() {
		var d Difference
		if err := rows.Scan(&d.Counter, &d.Practice, &d.Key, &d.Stored, &d.Counted); err != nil {
			return nil, fmt.Errorf("store: check counters: %w", err)
		}
		list = append(list, d)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("store: check counters: %w", err)
	}
	return list, nil
}
