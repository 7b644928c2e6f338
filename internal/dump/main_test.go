package dump

import (
	"os"
	"path/filepath"
	"testing"

	"chairside/internal/store"
	"chairside/internal/store/storetest"
	"chairside/internal/test/localpg/pgtest"
	"chairside/internal/test/testdb"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// kinds are the two kinds of database: the URL of a new one that has its tables.
var kinds = map[string]func(t testing.TB) string{
	"sqlite":   testdb.Migrated.SQLite,
	"postgres": testdb.Migrated.Postgres,
}

// seeded opens a database with the demo's practices.
func seeded(t testing.TB, kind string) *store.DB {
	t.Helper()
	if kind == "sqlite" {
		return open(t, testdb.Practice.SQLite(t))
	}
	return open(t, testdb.Practice.Postgres(t))
}

// open opens a database until the test ends.
func open(t testing.TB, url string) *store.DB {
	t.Helper()
	return storetest.Open(t, url)
}

// contents are the files of a directory.
func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(content)
	}
	return files
}
