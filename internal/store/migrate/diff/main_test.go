package main

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/dialect/sql/schema"

	"chairside/ent"
	"chairside/internal/store/migrate"
	"chairside/internal/test/localpg/pgtest"
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
		tables, err := migrate.Desired(dialectName)
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
		os.CopyFS(filepath.Join(dir, "postgres"), migrate.Files(dialect.Postgres)),
		os.CopyFS(filepath.Join(dir, "sqlite"), migrate.Files(dialect.SQLite)),
	); err != nil {
		t.Fatal(err)
	}
	return dir
}

// releasedBefore is released with other names in its files: the schema of an
// older release, from which the names have changed to those of today.
func releasedBefore(t *testing.T, names ...string) string {
	t.Helper()
	dir := released(t)
	paths, err := filepath.Glob(filepath.Join(dir, "*", "*.sql"))
	if err != nil {
		t.Fatal(err)
	}
	renamed := false
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		older := strings.NewReplacer(names...).Replace(string(content))
		renamed = renamed || older != string(content)
		if err := os.WriteFile(path, []byte(older), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if !renamed {
		t.Fatalf("no migration has any of the names %q", names)
	}
	if _, err := diff(t, dir, nil, "-hash"); err != nil {
		t.Fatal(err)
	}
	return dir
}

// text is what a directory's files after the released ones say, with their names.
func text(t *testing.T, dir string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.sql"))
	if err != nil {
		t.Fatal(err)
	}
	dialectName := dialect.SQLite
	if filepath.Base(dir) == "postgres" {
		dialectName = dialect.Postgres
	}
	released, err := fs.Glob(migrate.Files(dialectName), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, path := range paths[min(len(released), len(paths)):] {
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

// withCheck adds a check to a table, whose annotation other tables may share.
func withCheck(t *schema.Table, name, expression string) {
	annotation := entsql.Annotation{}
	if t.Annotation != nil {
		annotation = *t.Annotation
	}
	annotation.Checks = maps.Clone(annotation.Checks)
	if annotation.Checks == nil {
		annotation.Checks = map[string]string{}
	}
	annotation.Checks[name] = expression
	t.Annotation = &annotation
}

// renameColumn renames a column, and its check as the generator would.
func renameColumn(t *schema.Table, old, fresh string) {
	c := column(t, old)
	c.Name = fresh
	checks := maps.Clone(t.Annotation.Checks)
	for _, l := range ent.Limits {
		if l.Table == t.Name && l.Name == old {
			delete(checks, l.Constraint())
			l.Name = fresh
			checks[l.Constraint()] = l.Condition(c.Collation != "") // only PostgreSQL has collations
		}
	}
	t.Annotation.Checks = checks
}

// dropColumn takes a column away, with its check.
func dropColumn(t *schema.Table, name string) {
	t.Columns = slices.DeleteFunc(slices.Clone(t.Columns), func(c *schema.Column) bool { return c.Name == name })
	delete(t.Annotation.Checks, t.Name+"_"+name+"_check")
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{}, {"a", "b"}, {"-check", "a"}, {"-check", "-hash"}, {"UPPER"}, {"a", "--drop", "t.c"}, {"a", "--because", "no drop"},
		{"a", "--drop", "t.c", "--because", "short"}, {"a", "--rename", "t.c"}, {"a", "--rename", "c=d"}, {"a", "--rename", "t.c=d e"},
	} {
		var usage *usageError
		if _, err := parse(args, nil); !errors.As(err, &usage) {
			t.Errorf("%q: %v", args, err)
		}
	}
}
