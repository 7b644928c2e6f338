package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	entsql "entgo.io/ent/dialect/sql"
	"github.com/google/uuid"
)

// TotalDifference is a kept total that is not what counting gives.
type TotalDifference struct {
	Total         string // appointments.practitioner
	Practice      uuid.UUID
	Key           int64 // of the total: a practitioner, a day since 1970, or 0
	Kept, Counted int64
}

// Table is the one whose rows are counted.
func (d TotalDifference) Table() string {
	table, _, _ := strings.Cut(d.Total, ".")
	return table
}

func (d TotalDifference) String() string {
	return fmt.Sprintf("%s of practice %s, key %d: %d are kept, %d are there", d.Total, d.Practice, d.Key, d.Kept, d.Counted)
}

// CheckTotals compares every kept total with the rows there are, in one state
// of the database, and returns the differences in order. It reads every row of
// the tables concerned.
func (db *DB) CheckTotals(ctx context.Context) ([]TotalDifference, error) {
	pool := db.maintenance()
	defer pool.Close()
	var all []string
	for _, k := range keepers(db.Dialect, db.tables) {
		all = append(all, k.counts())
	}
	return db.differences(ctx, pool, strings.Join(all, "\n UNION ALL "), "")
}

// RepairTotals counts the tables that CheckTotals finds differences in, one
// after the other, and sets their totals right. While a table is counted
// nobody writes to it. It returns what it has changed, also beside an error.
func (db *DB) RepairTotals(ctx context.Context) ([]TotalDifference, error) {
	found, err := db.CheckTotals(ctx)
	if err != nil {
		return nil, err
	}
	pool := db.maintenance()
	defer pool.Close()
	var repaired, done []TotalDifference
	for _, d := range found {
		if slices.ContainsFunc(done, func(o TotalDifference) bool { return o.Table() == d.Table() }) {
			continue
		}
		done = append(done, d)
		changed, err := db.repair(ctx, pool, d.Table())
		if err != nil {
			return repaired, fmt.Errorf("store: repair the totals of %s: %w", d.Table(), err)
		}
		repaired = append(repaired, changed...)
	}
	return repaired, nil
}

// repair sets the totals of one table right, in one transaction: on SQLite it
// holds the write lock from its beginning.
func (db *DB) repair(ctx context.Context, pool *sql.DB, table string) ([]TotalDifference, error) {
	transaction, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer transaction.Rollback()                                                     // after a commit it does nothing
	counts := "SELECT total, practice_id, key, n FROM " + keptTable + " WHERE false" // of a table whose totals nobody keeps
	for _, k := range keepers(db.Dialect, db.tables) {
		if k.table != table {
			continue
		}
		counts = k.counts()
		if db.postgres() {
			if _, err := transaction.ExecContext(ctx, "LOCK TABLE "+table+" IN SHARE ROW EXCLUSIVE MODE"); err != nil {
				return nil, err
			}
		}
	}
	list, err := db.differences(ctx, transaction, counts, " WHERE total || '.' LIKE '"+strings.ReplaceAll(table, "'", "''")+".%'")
	if err != nil {
		return nil, err
	}
	// On PostgreSQL a change like any other, whatever is folded meanwhile.
	correct := "INSERT INTO total_changes (total, practice_id, key, n) VALUES ($1, $2, $3, $4)"
	if !db.postgres() {
		correct = "INSERT INTO kept_totals (total, practice_id, key, n) VALUES (?, ?, ?, ?) ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n"
	}
	for _, d := range list {
		if _, err := transaction.ExecContext(ctx, correct, d.Total, d.Practice, d.Key, d.Counted-d.Kept); err != nil {
			return nil, err
		}
	}
	return list, transaction.Commit()
}

// differences compares what is kept, as far as where goes, with what the query
// counts gives. It is one statement, so that all of it is of one state of the
// database.
func (db *DB) differences(ctx context.Context, conn entsql.ExecQuerier, counts, where string) ([]TotalDifference, error) {
	kept := "SELECT total, practice_id, key, n FROM " + keptTable + where
	if db.postgres() {
		kept += " UNION ALL SELECT total, practice_id, key, n FROM " + changeTable + where
	}
	rows, err := conn.QueryContext(ctx, fmt.Sprintf(`
		SELECT total, practice_id, key, CAST(sum(kept) AS bigint), CAST(sum(counted) AS bigint)
		FROM (
			SELECT total, practice_id, key, n AS kept, 0 AS counted FROM (%s) AS kept
			UNION ALL SELECT total, practice_id, key, 0, n FROM (%s) AS counted
		) AS compared
		GROUP BY total, practice_id, key HAVING sum(kept) <> sum(counted) ORDER BY total, practice_id, key`, kept, counts))
	if err != nil {
		return nil, fmt.Errorf("store: check totals: %w", err)
	}
	defer rows.Close()
	var list []TotalDifference
	for rows.Next() {
		var d TotalDifference
		if err := rows.Scan(&d.Total, &d.Practice, &d.Key, &d.Kept, &d.Counted); err != nil {
			return nil, fmt.Errorf("store: check totals: %w", err)
		}
		list = append(list, d)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("store: check totals: %w", err)
	}
	return list, nil
}
