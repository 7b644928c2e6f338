package main

import (
	"database/sql"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"chairside/internal/test/localpg/pgtest"
)

// logins are a migrated database and the two roles of "database roles".
type logins struct {
	t       *testing.T
	address string // of the tables' owner
	owner   *sql.DB
	roles   []string
	urls    []string // by role: serving, system
}

func newLogins(t *testing.T, name string) *logins {
	t.Helper()
	l := &logins{t: t, address: pgtest.New(t), roles: []string{"chairside_" + name + "_serving", "chairside_" + name + "_system"}}
	l.run("migrate", "up", "--database-url", l.address)
	l.run("database", "roles", "--database-url", l.address, "--serving-role", l.roles[0], "--system-role", l.roles[1])
	var err error
	if l.owner, err = sql.Open("postgres", l.address); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.owner.Close() })
	for _, role := range l.roles {
		if _, err := l.owner.ExecContext(t.Context(), "ALTER ROLE "+role+" PASSWORD 'of a test'"); err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(l.address)
		if err != nil {
			t.Fatal(err)
		}
		u.User = url.UserPassword(role, "of a test")
		l.urls = append(l.urls, u.String())
	}
	return l
}

// run runs the program and returns what it prints.
func (l *logins) run(args ...string) string {
	l.t.Helper()
	out, err := exec.CommandContext(l.t.Context(), "chairside", args...).CombinedOutput()
	if err != nil {
		l.t.Logf("chairside %s: %v", args[0], err)
	}
	return string(out)
}

// TestCommandsNameTheRoleTheyNeed: with the URL of the role that serves, commands say in plain words
// which one to use.
func TestCommandsNameTheRoleTheyNeed(t *testing.T) {
	t.Parallel()
	l := newLogins(t, "denied")
	dir := t.TempDir()
	for _, command := range [][]string{
		{"token", "create", "--user", "jo@example.com", "--name", "x", "--scopes", "user"},
		{"token", "list"},
		{"token", "revoke", "--user", "jo@example.com"},
		{"user", "list"},
		{"user", "disable", "jo@example.com"},
		{"app", "list"},
		{"webhook", "list"},
		{"practice", "list"},
		{"audit", "list"},
		{"audit", "verify"},
		{"counters", "check"},
		{"export", dir + "/export"},
		{"report", "income"},
		{"subject", "erase", "--yes", "1"},
		{"seed"},
		{"migrate", "up"},
		{"migrate", "status"},
		{"database", "roles"},
	} {
		out := l.run(slices.Concat(command, []string{"--database-url", l.urls[0]})...)
		for _, want := range []string{"role chairside_denied_serving may not do this", `the role that owns the tables, which runs "chairside migrate up"`} {
			if !strings.Contains(out, want) {
				t.Errorf("%s: no %q in %s", strings.Join(command, " "), want, out)
			}
		}
		if strings.Contains(out, "pq:") || strings.Contains(out, "of a test") || strings.Contains(out, "store:") {
			t.Errorf("%s: %s", strings.Join(command, " "), out)
		}
	}
}
