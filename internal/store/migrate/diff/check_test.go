package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"entgo.io/ent/dialect/sql/schema"
)

func TestBaselineFromNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if out, err := diff(t, dir, nil, "baseline"); err != nil {
		t.Fatal(out, err)
	}
	if out, err := diff(t, dir, nil, "-check"); err != nil {
		t.Errorf("the schema differs from its baseline: %s %v", out, err)
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
		for _, useless := range []string{"\nDELETE FROM", "\nINSERT INTO counter", "CONCURRENTLY"} {
			if strings.Contains(string(content), useless) {
				t.Errorf("%s: the baseline contains %q", name, useless)
			}
		}
	}
}

// A file edited by hand is judged as one that diff wrote.
func TestDropWrittenByHandFailsTheCheck(t *testing.T) {
	t.Parallel()
	dir := released(t)
	const drop = `DROP TABLE "imported_records";` + "\n"
	path := filepath.Join(dir, "postgres", "20990101000000_drop.sql")
	gone := func(tables map[string]*schema.Table) { delete(tables, "imported_records") }
	for _, test := range []struct{ text, want string }{
		{drop, "[destructive]"},
		{"-- atlas:nolint destructive\n" + drop, "needs a reason"},
		{"-- atlas:nolint destructive\n-- Because: nobody imports any more\n" + drop, ""},
	} {
		for _, to := range []string{path, strings.Replace(path, "postgres", "sqlite", 1)} {
			if err := os.WriteFile(to, []byte(test.text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := diff(t, dir, gone, "-check"); err == nil || !strings.Contains(err.Error(), "diff -hash") {
			t.Errorf("without -hash: %v", err)
		}
		if _, err := diff(t, dir, gone, "-hash"); err != nil {
			t.Fatal(err)
		}
		out, err := diff(t, dir, gone, "-check")
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %s %v", test.text, out, err)
		}
	}
}
