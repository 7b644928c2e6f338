package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"entgo.io/ent/dialect"
)

// Pooled reports whether a pooler is between this program and PostgreSQL (PgBouncer), so that
// connections share the server's.
func (db *DB) Pooled() bool { return db.pooled || db.front != nil && db.front.pooled }

// columnTypes returns a hash of the types of all columns on PostgreSQL.
var columnTypes = sync.OnceValue(func() string {
	sum := sha256.New()
	for _, t := range Tables(dialect.Postgres) {
		for _, c := range t.Columns {
			fmt.Fprintln(sum, t.Name, c.Name, c.Type, c.SchemaType[dialect.Postgres])
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
})

// MissingLimits returns the time limits that connections do not have, although they ask for them: a
// pooler has dropped them (ignore_startup_parameters). A limit of 0 in the URL is missing too.
func (db *DB) MissingLimits(ctx context.Context) ([]string, error) {
	missing := map[string]bool{}
	for _, pool := range []*sql.DB{db.SQL, db.serving} {
		if err := missingLimits(ctx, pool, missing); err != nil {
			return nil, err
		}
	}
	return slices.Sorted(maps.Keys(missing)), nil
}

func missingLimits(ctx context.Context, pool *sql.DB, missing map[string]bool) (err error) {
	rows, err := pool.QueryContext(ctx, "SELECT name FROM pg_settings WHERE name LIKE '%\\_timeout' AND setting = '0'")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return err
		}
		if _, ours := session[name]; ours {
			missing[name] = true
		}
	}
	return rows.Err()
}

// Limit returns the value that connections ask for.
func Limit(name string) string { return session[name] }
