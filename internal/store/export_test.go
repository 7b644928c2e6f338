package store

import (
	"io/fs"
	"testing"
)

// AddMigrations gives db further migrations, by the names of their files.
func (db *DB) AddMigrations(t *testing.T, files map[string]string) {
	t.Helper()
	all := map[string]string{}
	names, err := fs.Glob(db.files, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(db.files, name)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = string(text)
	}
	for name, text := range files {
		all[name] = text
	}
	db.files = migrationFiles(t, all)
}
