package store

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"ariga.io/atlas/sql/migrate"
	"entgo.io/ent/dialect"

	"chairside/internal/migrations"
)

func TestMigrationsMakeTheSchema(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		db := openTest(t, url)
		if _, err := db.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := db.Verify(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// Every release a practice may still run is a prefix of the migrations.
func TestEveryPrefixOfTheMigrationsMigratesUp(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		all := openTest(t, url).files
		paths, err := fs.Glob(all, "*.sql")
		if err != nil {
			t.Fatal(err)
		}
		var db *DB
		for i := range paths {
			// Checksums of a prefix are the first ones of the whole.
			prefix := map[string]string{}
			for _, path := range paths[:i+1] {
				content, err := fs.ReadFile(all, path)
				if err != nil {
					t.Fatal(err)
				}
				prefix[path] = string(content)
			}
			db = openTest(t, url)
			db.files = migrationFiles(t, prefix)
			applied, err := db.Migrate(t.Context())
			if err != nil || len(applied) != 1 {
				t.Fatalf("up to %s: %v %v", paths[i], applied, err)
			}
		}
		db.files = all
		if err := db.Verify(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A table without a foreign key to the practice, or one that points at another
// table by its id alone, would let rows of two practices be mixed.
func TestNoKeyCrossesPractices(t *testing.T) {
	for _, dialectName := range []string{dialect.Postgres, dialect.SQLite} {
		tables, err := Desired(dialectName)
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range tables {
			if !table.HasColumn(tenantColumn) {
				continue
			}
			for _, key := range table.ForeignKeys {
				if key.RefTable.HasColumn(tenantColumn) && key.Columns[0].Name != tenantColumn {
					t.Errorf("%s: %s.%s points at %s whatever its practice", dialectName, table.Name, key.Columns[0].Name, key.RefTable.Name)
				}
			}
		}
	}
}

func TestMigrationFilesAreSound(t *testing.T) {
	for name, files := range map[string]fs.FS{"postgres": migrations.Postgres(), "sqlite": migrations.SQLite()} {
		_, list, err := open(files)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !slices.IsSortedFunc(list, func(a, b migrate.File) int { return strings.Compare(a.Version(), b.Version()) }) {
			t.Errorf("%s: the files are not in the order of their versions", name)
		}
		for _, f := range list {
			if len(f.Version()) != len("20260101000000") || f.Desc() == "" {
				t.Errorf("%s/%s is not named VERSION_NAME.sql", name, f.Name())
			}
		}
	}
	if _, _, err := open(fstest.MapFS{"1_x.sql": {Data: []byte("SELECT 1")}}); !errors.Is(err, ErrChanged) {
		t.Errorf("a directory without atlas.sum: %v", err)
	}
}
