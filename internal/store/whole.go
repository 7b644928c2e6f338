package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"chairside/internal/entx/table"
)

// Damage returns what SQLite finds wrong with the file of an embedded database: pages, indexes,
// constraints. It returns nothing for PostgreSQL, which has no such check of a whole database.
func (db *DB) Damage(ctx context.Context) (found []string, err error) {
	if db.postgres() {
		return nil, nil
	}
	return db.texts(ctx, "PRAGMA integrity_check(20)", func(text string) bool { return text != "ok" })
}

// DanglingKeys returns the foreign keys that name rows which do not exist, in words. A database
// enforces its keys, but not while a dump is loaded with triggers off, or on a damaged index.
func (db *DB) DanglingKeys(ctx context.Context) (found []string, err error) {
	if !db.postgres() {
		return db.texts(ctx, `SELECT "table" || ': ' || count(*) || ' rows name a row of ' || parent || ' that does not exist' FROM pragma_foreign_key_check GROUP BY "table", parent`, nil)
	}
	// One query for each key: rows whose columns are all set and that have no parent.
	queries, err := db.texts(ctx, `SELECT format('SELECT %L || count(*) || %L FROM %s AS c WHERE %s AND NOT EXISTS (SELECT FROM %s AS p WHERE %s) HAVING count(*) > 0',
			conrelid::regclass || ': ', ' rows name a row of ' || confrelid::regclass || ' that does not exist (' || conname || ')', conrelid::regclass,
			string_agg(format('c.%I IS NOT NULL', a.attname), ' AND '), confrelid::regclass, string_agg(format('p.%I = c.%I', f.attname, a.attname), ' AND '))
		FROM pg_constraint, unnest(conkey, confkey) AS k (child, parent)
		JOIN pg_attribute a ON true JOIN pg_attribute f ON true
		WHERE contype = 'f' AND conparentid = 0 AND connamespace = current_schema()::regnamespace
			AND a.attrelid = conrelid AND a.attnum = k.child AND f.attrelid = confrelid AND f.attnum = k.parent
		GROUP BY conrelid, confrelid, conname ORDER BY 1`, nil)
	if err != nil {
		return nil, err
	}
	for _, q := range queries {
		dangling, err := db.texts(ctx, q, nil)
		if err != nil {
			return nil, err
		}
		found = append(found, dangling...)
	}
	return found, nil
}

// texts returns the first column of a query, without the texts that keep refuses. It has no time limit:
// these queries read all rows.
func (db *DB) texts(ctx context.Context, query string, keep func(string) bool) (all []string, err error) {
	pool := db.Maintenance()
	defer pool.Close()
	rows, err := pool.QueryContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("store: check the database: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, fmt.Errorf("store: check the database: %w", err)
		}
		if keep == nil || keep(text) {
			all = append(all, text)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("store: check the database: %w", err)
	}
	return all, nil
}

// TableRows are the rows of a table.
type TableRows struct {
	Table  string
	Rows   int64
	Newest time.Time // when one was last written; zero if the table does not say
}

// unreplicated names the tables that cannot be read now: a replica does not receive the rows of unlogged tables.
const unreplicated = "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relpersistence = 'u' AND pg_is_in_recovery()"

// Rows counts the rows of every table of the schema, and finds the newest of each. On a replica it leaves out unlogged
// tables.
func (db *DB) Rows(ctx context.Context) (all []TableRows, err error) {
	var without []string
	if db.postgres() {
		if without, err = db.texts(ctx, unreplicated, nil); err != nil {
			return nil, err
		}
	}
	pool := db.Maintenance()
	defer pool.Close()
	for _, t := range db.tables {
		if slices.Contains(without, t.Name) {
			continue
		}
		newest := "NULL"
		for _, name := range []string{"created_at", "updated_at", "at"} {
			if t.HasColumn(name) {
				newest = "max(" + name + ")" // the last one that a table has
			}
		}
		r, at := TableRows{Table: t.Name}, any(nil)
		if err := pool.QueryRowContext(ctx, fmt.Sprintf("SELECT count(*), %s FROM %s", newest, table.Quote(t.Name))).Scan(&r.Rows, &at); err != nil {
			return nil, fmt.Errorf("store: count the rows of %s: %w", t.Name, err)
		}
		switch v := at.(type) {
		case time.Time:
			r.Newest = v.UTC()
		case int64: // an aggregate of SQLite has no type
			r.Newest = time.UnixMicro(v).UTC()
		}
		all = append(all, r)
	}
	return all, nil
}
