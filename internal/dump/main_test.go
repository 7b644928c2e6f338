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

// databases return the URL of a new database with all tables, by dialect.
var databases = map[string]func(t testing.TB) string{
	"sqlite":   testdb.Migrated.SQLite,
	"postgres": testdb.Migrated.Postgres,
}

// openDemo opens a database with the demo practices.
func openDemo(t testing.TB, kind string) *store.DB {
	t.Helper()
	if kind == "sqlite" {
		return open(t, testdb.Practice.SQLite(t))
	}
	return open(t, testdb.Practice.Postgres(t))
}

// open opens a database, which is closed when the test ends.
func open(t testing.TB, url string) *store.DB {
	t.Helper()
	return storetest.Open(t, url)
}

// readFiles returns the contents of the files in a directory by name.
func readFiles(t testing.TB, dir string) map[string]string {
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
