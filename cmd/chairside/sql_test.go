package main

import (
	"os/exec"
	"strings"
	"testing"

	"chairside/internal/test/testdb"
)

// TestSQLNamesTheMissingProgram runs the command where neither psql nor sqlite3 can be found.
func TestSQLNamesTheMissingProgram(t *testing.T) {
	t.Parallel()
	for program, args := range map[string][]string{
		"sqlite3": {"sql", "--practice", "demo", "--database-url", testdb.Practice.SQLite(t)},
		"psql":    {"sql", "anna", "--database-url", "postgres://owner:secret@127.0.0.1/chairside"},
	} {
		command := exec.CommandContext(t.Context(), "chairside", args...)
		command.Env = []string{"PATH=" + t.TempDir()}
		out, err := command.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "the program "+program+" is not installed") || strings.Contains(string(out), "secret") {
			t.Errorf("%v: %s", err, out)
		}
	}
}
