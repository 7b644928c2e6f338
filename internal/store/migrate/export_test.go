package migrate

import (
	"io/fs"
	"testing"

	"chairside/internal/store"
)

// With is the migrations of db and further ones, by the names of their files.
func With(t *testing.T, db *store.DB, files map[string]string) *migrator {
	t.Helper()
	m, all := of(db), map[string]string{}
	names, err := fs.Glob(m.files, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(m.files, name)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = string(text)
	}
	for name, text := range files {
		all[name] = text
	}
	m.files = migrationFiles(t, all)
	return m
}
