package store_test

import (
	"testing"

	"chairside/internal/store"
	"chairside/internal/store/migrate"
	"chairside/internal/store/storetest"
	"chairside/internal/test/localpg/pgtest"
)

// TestMain finds a PostgreSQL server.
func TestMain(m *testing.M) { pgtest.Main(m) }

// migrated opens a database and applies all migrations.
func migrated(t testing.TB, url string) *store.DB {
	t.Helper()
	db := storetest.Open(t, url)
	if _, err := migrate.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	return db
}
