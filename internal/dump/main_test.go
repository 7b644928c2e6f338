package dump

import (
	"os"
	"path/filepath"
	"testing"

	"chairside/internal/civil"
	"chairside/internal/seed"
	"chairside/internal/store"
	"chairside/internal/store/storetest"
	"chairside/internal/test/localpg/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// demo is the size of seeded practices.
var demo = seed.Options{Patients: 60, Years: 1, RandomSeed: 1, AsOf: civil.MustParse("2026-07-01")}

// kinds are the two kinds of database: the URL of a new, empty one.
var kinds = map[string]func(t testing.TB) string{"sqlite": storetest.SQLite, "postgres": pgtest.New}

// seeded gives a database with the demo's practices.
func seeded(t testing.TB, kind string) *store.DB {
	t.Helper()
	db := open(t, kinds[kind](t))
	if err := seed.Run(t.Context(), db, demo); err != nil {
		t.Fatal(err)
	}
	return db
}

// open opens a database and gives it its tables.
func open(t testing.TB, url string) *store.DB {
	t.Helper()
	db := storetest.Open(t, url)
	if _, err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return db
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
