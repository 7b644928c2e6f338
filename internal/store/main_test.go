package store

import (
	"context"
	"errors"
	"fmt"
	neturl "net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"ariga.io/atlas/sql/migrate"
	"entgo.io/ent/dialect/sql/schema"
	"entgo.io/ent/schema/field"

	"chairside/internal/localpg"
)

// postgresURL gives the URL of a new, empty database, or skips the test.
var postgresURL func(t testing.TB) string

// TestMain finds a PostgreSQL server: CHAIRSIDE_TEST_POSTGRES, the URL of one
// in which databases can be created, or an installed one.
func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var counter atomic.Int64
	name := func() string { return fmt.Sprintf("store_%d_%d", os.Getpid(), counter.Add(1)) }

	if server := os.Getenv("CHAIRSIDE_TEST_POSTGRES"); server != "" {
		postgresURL = func(t testing.TB) string { return createOn(t, server, name()) }
		return m.Run()
	}
	server, err := localpg.Start(context.Background())
	if err == nil {
		defer server.Stop()
		postgresURL = func(t testing.TB) string {
			database := name()
			if err := server.CreateDatabase(t.Context(), database); err != nil {
				t.Fatal(err)
			}
			return server.URL(database)
		}
		return m.Run()
	}
	if !errors.Is(err, localpg.ErrNotInstalled) || os.Getenv("CI") == "true" {
		fmt.Fprintln(os.Stderr, "FAIL: the tests need PostgreSQL:", err)
		return 1
	}
	fmt.Fprintln(os.Stderr, "SKIPPED: all tests on PostgreSQL:", err)
	postgresURL = func(t testing.TB) string {
		t.Skip("no PostgreSQL: set CHAIRSIDE_TEST_POSTGRES or install it")
		return ""
	}
	return m.Run()
}

// createOn creates a database on the server at url and drops it after the test.
func createOn(t testing.TB, url, database string) string {
	t.Helper()
	admin, err := Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := admin.SQL.ExecContext(t.Context(), "CREATE DATABASE "+database+" TEMPLATE template0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := admin.SQL.Exec("DROP DATABASE IF EXISTS " + database + " WITH (FORCE)"); err != nil {
			t.Error(err)
		}
		admin.Close()
	})
	u, err := neturl.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + database
	return u.String()
}

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
		test(t, postgresURL(t))
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
