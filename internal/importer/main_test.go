package importer

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"chairside/internal/store"
	"chairside/internal/store/storetest"
	"chairside/internal/test/localpg/pgtest"
	"chairside/internal/test/testdb"
)

func TestMain(m *testing.M) {
	if os.Getenv(importDir) != "" {
		importAndExit()
	}
	pgtest.Main(m)
}

// databases return the URL of a new database with all tables, by dialect.
var databases = map[string]func(t testing.TB) string{
	"sqlite":   testdb.Migrated.SQLite,
	"postgres": testdb.Migrated.Postgres,
}

// onEachDatabase runs a test on an empty PostgreSQL and an empty SQLite database.
func onEachDatabase(t *testing.T, test func(t *testing.T, db *store.DB)) {
	t.Helper()
	t.Parallel()
	for kind, url := range databases {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			test(t, open(t, url(t)))
		})
	}
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

// queryInt returns the number that a query gives.
func queryInt(t testing.TB, db *store.DB, query string, args ...any) int {
	t.Helper()
	var n int
	if err := db.SQL.QueryRowContext(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// checkInts checks the number that each query gives.
func checkInts(t testing.TB, db *store.DB, wanted map[string]int) {
	t.Helper()
	for query, want := range wanted {
		if got := queryInt(t, db, query); got != want {
			t.Errorf("%s: %d, want %d", query, got, want)
		}
	}
}

func execSQL(t testing.TB, db *store.DB, statement string, args ...any) {
	t.Helper()
	if _, err := db.SQL.ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// readFiles returns the contents of the files in a directory by name.
func readFiles(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		files[entry.Name()] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// at returns the time of an RFC 3339 literal.
func at(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		panic(err)
	}
	return t
}

// patientsByName is the part of a mapping for a file of patients that has only their names.
const patientsByName = `  - {file: patients.csv, entity: patients, constants: {payment_plan_id: Private, ethnicity: "99", title: Mr, gender: m, address_line_1: 1 Road, postcode: X1 1XX, date_of_birth: "1990-01-02"}}
`
