package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"entgo.io/ent/dialect/sql/schema"

	"chairside/internal/localpg/pgtest"
	"chairside/internal/migrations"
	"chairside/internal/store"
)

// TestMain finds a PostgreSQL server.
func TestMain(m *testing.M) { pgtest.Main(m) }

// edit changes the schema's tables, as an edit of schema/ would.
type edit func(tables map[string]*schema.Table)

// diff runs the command on the migrations in dir.
func diff(t *testing.T, dir string, change edit, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	c, err := parse(append([]string{"-postgres", pgtest.New(t)}, args...), &out)
	if err != nil {
		return "", err
	}
	c.root, c.tables = dir, edited(change)
	err = c.run(t.Context())
	return out.String(), err
}

func edited(change edit) func(string) ([]*schema.Table, error) {
	return func(dialectName string) ([]*schema.Table, error) {
		tables, err := store.Desired(dialectName)
		if err != nil || change == nil {
			return tables, err
		}
		byName := map[string]*schema.Table{}
		for _, t := range tables {
			byName[t.Name] = t
		}
		change(byName)
		var left []*schema.Table
		for _, t := range tables {
			if byName[t.Name] == t {
				left = append(left, t)
				delete(byName, t.Name)
			}
		}
		for _, t := range byName {
			left = append(left, t)
		}
		return left, nil
	}
}

// released is a copy of the migrations.
func released(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := errors.Join(
		os.CopyFS(filepath.Join(dir, "postgres"), migrations.Postgres()),
		os.CopyFS(filepath.Join(dir, "sqlite"), migrations.SQLite()),
	); err != nil {
		t.Fatal(err)
	}
	return dir
}

// text is what a directory's files after the baseline say, with their names.
func text(t *testing.T, dir string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.sql"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, path := range paths[1:] {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString("== " + filepath.Base(path) + "\n" + string(content))
	}
	return all.String()
}

func column(t *schema.Table, name string) *schema.Column {
	c, _ := t.Column(name)
	return c
}

func TestBaselineFromNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if out, err := diff(t, dir, nil, "baseline"); err != nil {
		t.Fatal(out, err)
	}
	if out, err := diff(t, dir, nil, "-check"); err != nil {
		t.Errorf("the schema differs from its baseline: %s %v", out, err)
	}
	if keep := os.Getenv("CHAIRSIDE_KEEP"); keep != "" {
		os.CopyFS(keep, os.DirFS(dir))
	}
	for _, name := range []string{"postgres", "sqlite"} {
		paths, _ := filepath.Glob(filepath.Join(dir, name, "*_baseline.sql"))
		if len(paths) != 1 {
			t.Fatalf("%s: %v", name, paths)
		}
		content, err := os.ReadFile(paths[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, useless := range []string{"\nDELETE FROM", "\nINSERT INTO", "CONCURRENTLY"} {
			if strings.Contains(string(content), useless) {
				t.Errorf("%s: the baseline contains %q", name, useless)
			}
		}
	}
}

func TestRenamedColumnIsRefusedUntilNamed(t *testing.T) {
	t.Parallel()
	dir := released(t)
	rename := func(tables map[string]*schema.Table) { column(tables["patients"], "town").Name = "city" }
	_, err := diff(t, dir, rename, "rename_town")
	if err == nil || !strings.Contains(err.Error(), "--rename patients.town=city") || !strings.Contains(err.Error(), "--drop patients.town --because") {
		t.Fatalf("a renamed column: %v", err)
	}
	for _, wrong := range []string{"patients.town=county", "patients.postcode=city", "patients.city=town", "letters.town=city"} {
		if _, err := diff(t, dir, rename, "rename_town", "--rename", wrong); err == nil {
			t.Errorf("--rename %s was accepted", wrong)
		}
	}
	if _, err := diff(t, dir, rename, "rename_town", "--rename", "patients.town=city", "--drop", "patients.county", "--because", "not needed"); err == nil || !strings.Contains(err.Error(), "--drop patients.county") {
		t.Errorf("a drop of a column that stays: %v", err)
	}
	if out, err := diff(t, dir, rename, "rename_town", "--rename", "patients.town=city"); err != nil {
		t.Fatal(out, err)
	}
	for _, name := range []string{"postgres", "sqlite"} {
		got := text(t, filepath.Join(dir, name))
		if !strings.Contains(got, `ALTER TABLE "patients" RENAME COLUMN "town" TO "city"`) || strings.Contains(got, "DROP COLUMN") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

var _ = context.Background
var _ io.Writer
