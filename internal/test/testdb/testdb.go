// Package testdb gives each test a database of its own, copied from a template
// that is migrated, and for some seeded, once.
//
//	url := testdb.Practice.SQLite(t)
//	url := testdb.Migrated.Postgres(t) // or skips: see pgtest
//
// A test binary makes the templates that it needs, unless it runs under
// internal/test/shared: that command makes them once for all test binaries.
package testdb

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"chairside/internal/civil"
	"chairside/internal/seed"
	"chairside/internal/store"
	"chairside/internal/store/migrate"
	"chairside/internal/test/localpg"
	"chairside/internal/test/localpg/pgtest"
	"chairside/internal/test/testkeys"
)

// Day is the last day of the seeded practices' history: a Wednesday in summer time.
var Day = civil.MustParse("2026-07-01")

// The templates.
var (
	// Migrated has the tables and no rows.
	Migrated = newTemplate("migrated", nil)
	// Practice has both demo practices, with few patients.
	Practice = newTemplate("practice", &seed.Options{Patients: 60, Years: 1, RandomSeed: 1, AsOf: Day})
	// Demo has the practices of "chairside serve --demo", on Day.
	Demo = newTemplate("demo", &seed.Options{RandomSeed: 1, AsOf: Day})
	// Reported has practices large enough for every case of a report to occur.
	Reported = newTemplate("reported", &seed.Options{Patients: 700, Years: 2, RandomSeed: 7, AsOf: Day})
)

var templates = []*Template{Migrated, Practice, Demo, Reported}

// Dir is the environment variable that names the directory of shared templates.
const Dir = "CHAIRSIDE_TEST_TEMPLATES"

// TwoRoles reports whether black-box tests on PostgreSQL run with the serving and the system
// role, and without Ent's practice filter (harness.SecondWall): CHAIRSIDE_TEST_ROLES=2.
func TwoRoles() bool { return os.Getenv("CHAIRSIDE_TEST_ROLES") == "2" }

// Pooled reports whether black-box tests on PostgreSQL run through a PgBouncer in transaction mode:
// pgtest.PoolerConnections is set.
func Pooled() bool { return os.Getenv(pgtest.PoolerConnections) != "" }

// Template is a database that tests copy.
type Template struct {
	name     string
	seeded   *seed.Options // nil for no rows
	sqlite   func() (content []byte, err error)
	postgres func() (database string, err error)
}

// newTemplate returns a template that is made when it is first used.
func newTemplate(name string, seeded *seed.Options) *Template {
	t := &Template{name: name, seeded: seeded}
	t.sqlite = sync.OnceValues(t.makeSQLite)
	t.postgres = sync.OnceValues(t.makePostgres)
	return t
}

// SQLite returns the URL of a new copy.
func (x *Template) SQLite(t testing.TB) string {
	t.Helper()
	url, err := x.CopySQLite(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return url
}

// CopySQLite writes a new copy to a directory and returns its URL.
func (x *Template) CopySQLite(dir string) (url string, err error) {
	content, err := x.sqlite()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "test.db")
	return "sqlite:" + path, os.WriteFile(path, content, 0o600)
}

// Postgres returns the URL of a new copy, or skips the test if there is no server.
func (x *Template) Postgres(t testing.TB) string {
	t.Helper()
	if pgtest.Missing() != nil {
		return pgtest.New(t) // skips
	}
	database, err := x.postgres()
	if err != nil {
		t.Fatal(err)
	}
	return pgtest.Clone(t, database)
}

// makeSQLite returns the content of the template's file.
func (x *Template) makeSQLite() ([]byte, error) {
	if dir := os.Getenv(Dir); dir != "" {
		return os.ReadFile(x.file(dir))
	}
	dir, err := os.MkdirTemp("", "chairside-template-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := x.Fill(context.Background(), "sqlite:"+x.file(dir)); err != nil {
		return nil, err
	}
	return os.ReadFile(x.file(dir))
}

// makePostgres returns the name of the template's database.
func (x *Template) makePostgres() (string, error) {
	if os.Getenv(Dir) != "" {
		return x.database(), nil
	}
	name, url, err := pgtest.Create("template0")
	if err != nil {
		return "", err
	}
	return name, x.Fill(context.Background(), url)
}

func (x *Template) file(dir string) string { return filepath.Join(dir, x.name+".db") }
func (x *Template) database() string       { return "chairside_template_" + x.name }

// Share makes all templates: files in dir, databases on the server.
func Share(ctx context.Context, dir string, server *localpg.Server) error {
	for _, x := range templates {
		if err := server.CreateDatabase(ctx, x.database()); err != nil {
			return err
		}
		for _, url := range []string{"sqlite:" + x.file(dir), server.URL(x.database())} {
			if err := x.Fill(ctx, url); err != nil {
				return err
			}
		}
	}
	return nil
}

// Fill migrates and seeds an empty database, as on a server of the test's own.
func (x *Template) Fill(ctx context.Context, url string) error {
	db, err := store.Open(ctx, url)
	if err != nil {
		return fmt.Errorf("template %s: %w", x.name, err)
	}
	db.Keys = testkeys.Keys()
	defer db.Close()
	if _, err := migrate.Up(ctx, db); err != nil {
		return fmt.Errorf("template %s: %w", x.name, err)
	}
	if x.seeded == nil {
		return nil
	}
	if err := seed.Run(ctx, db, *x.seeded); err != nil {
		return fmt.Errorf("template %s: %w", x.name, err)
	}
	return nil
}
