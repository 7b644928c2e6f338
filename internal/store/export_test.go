package store

import (
	"io/fs"
	"slices"
	"testing"

	"chairside/ent"
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

// WithoutTotal gives the statements after which a database keeps what it would if
// the schema did not declare the total.
func (db *DB) WithoutTotal(total string) (statements []string) {
	for _, k := range keepers(db.Dialect, db.tables) {
		if !slices.ContainsFunc(k.totals, func(t ent.Kept) bool { return t.Total == total }) {
			continue
		}
		k.totals = slices.DeleteFunc(k.totals, func(t ent.Kept) bool { return t.Total == total })
		for _, event := range []string{"INSERT", "DELETE", "UPDATE", "TRUNCATE"} {
			statements = append(statements, "DROP TRIGGER "+k.name(event)+" ON "+k.table)
		}
		statements = append(statements, k.triggers()...)
	}
	return append(statements, "DELETE FROM "+changeTable+" WHERE total = '"+total+"'", "DELETE FROM "+keptTable+" WHERE total = '"+total+"'")
}
