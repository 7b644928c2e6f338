// Package storetest opens databases for the tests of package store and of the packages
// below it.
package storetest

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"chairside/internal/store"
	"chairside/internal/test/localpg/pgtest"
	"chairside/internal/test/testkeys"
)

// Timeout is the longest wait of a test.
const Timeout = 30 * time.Second

// Each runs test with the URL of an empty database of each kind.
func Each(t *testing.T, test func(t *testing.T, url string)) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, SQLite(t))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, pgtest.New(t))
	})
}

// SQLite returns the URL of a new embedded database. Its file name contains every character that
// the driver's URL must escape.
func SQLite(t testing.TB) string {
	t.Helper()
	return "sqlite:" + t.TempDir() + "/a ?#%b.db"
}

// With adds query parameters to a URL.
func With(url, parameters string) string {
	if strings.Contains(url, "?") {
		return url + "&" + parameters
	}
	return url + "?" + parameters
}

// Open opens a database and closes it when the test ends.
func Open(t testing.TB, url string) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	db.Keys = testkeys.Keys()
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// Exec executes a statement.
func Exec(t testing.TB, db *store.DB, text string, args ...any) {
	t.Helper()
	if _, err := db.SQL.ExecContext(t.Context(), text, args...); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// Value returns the single value of a query.
func Value(t testing.TB, q interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}, text string, args ...any) string {
	t.Helper()
	var value string
	if err := q.QueryRowContext(t.Context(), text, args...).Scan(&value); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return value
}

// Int returns the single number of a query.
func Int(t testing.TB, db *store.DB, text string, args ...any) (n int) {
	t.Helper()
	if err := db.SQL.QueryRowContext(t.Context(), text, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return n
}

// CheckCounters reports every counter that does not equal the number of rows.
func CheckCounters(t testing.TB, db *store.DB) {
	t.Helper()
	found, err := db.Counters.Check(t.Context())
	if err != nil {
		t.Error(err)
	}
	for _, difference := range found {
		t.Error(difference)
	}
}

// Compact compacts all pending changes of counters.
func Compact(t testing.TB, db *store.DB) {
	t.Helper()
	for {
		n, err := db.Counters.Compact(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return
		}
	}
}

// Parameter is the placeholder of the first argument.
func Parameter(db *store.DB) string {
	if Postgres(db) {
		return "$1"
	}
	return "?1"
}

// Postgres reports whether db is a PostgreSQL database.
func Postgres(db *store.DB) bool { return db.Dialect == "postgres" }
