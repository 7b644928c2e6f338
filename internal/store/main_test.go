package store

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"ariga.io/atlas/sql/migrate"
	"entgo.io/ent/dialect/sql/schema"
	"entgo.io/ent/schema/field"

	"chairside/internal/test/localpg/pgtest"
)

// TestMain finds a PostgreSQL server.
func TestMain(m *testing.M) { pgtest.Main(m) }

// with adds query parameters to a URL.
func with(url, parameters string) string {
	if strings.Contains(url, "?") {
		return url + "&" + parameters
	}
	return url + "?" + parameters
}

// onBoth runs test with the URL of an empty database of each kind.
func onBoth(t *testing.T, test func(t *testing.T, url string)) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, "sqlite:"+t.TempDir()+"/a ?#%b.db")
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, pgtest.New(t))
	})
}

func openTest(t testing.TB, url string) *DB {
	t.Helper()
	db, err := Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func exec(t *testing.T, db *DB, text string, args ...any) {
	t.Helper()
	if _, err := db.SQL.ExecContext(t.Context(), text, args...); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// migrationFiles makes a directory of migrations with its checksums.
func migrationFiles(t *testing.T, files map[string]string) fstest.MapFS {
	t.Helper()
	tree, dir := fstest.MapFS{}, &migrate.MemDir{}
	for name, content := range files {
		tree[name] = &fstest.MapFile{Data: []byte(content)}
		if err := dir.WriteFile(name, []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	sum, err := dir.Checksum()
	if err != nil {
		t.Fatal(err)
	}
	text, err := sum.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	tree["atlas.sum"] = &fstest.MapFile{Data: text}
	return tree
}

// notes is a table of one text column, in Ent's form.
func notes() []*schema.Table {
	id := &schema.Column{Name: "id", Type: field.TypeInt64}
	body := &schema.Column{Name: "body", Type: field.TypeString, Nullable: true}
	return []*schema.Table{{Name: "notes", Columns: []*schema.Column{id, body}, PrimaryKey: []*schema.Column{id}}}
}

const testTimeout = 30 * time.Second

// one gives the single value of a query.
func one(t *testing.T, q interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}, text string, args ...any) string {
	t.Helper()
	var value string
	if err := q.QueryRowContext(t.Context(), text, args...).Scan(&value); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return value
}

// parameter is the first one's placeholder.
func parameter(db *DB) string {
	if db.postgres() {
		return "$1"
	}
	return "?1"
}
