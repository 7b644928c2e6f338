package main

import (
	"database/sql"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"testing"

	"chairside/internal/test/localpg/pgtest"
)

// TestDemoStartsWithTwoLogins: as the roles of "database roles", which own no table. What they cannot
// do, the server says how to do.
func TestDemoStartsWithTwoLogins(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t)
	roles := []string{"chairside_demo_serving", "chairside_demo_system"}
	run := func(args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), "chairside", args...).CombinedOutput()
		if err != nil {
			t.Logf("chairside %s: %v", args[0], err)
		}
		return string(out)
	}
	run("migrate", "up", "--database-url", address)
	run("database", "roles", "--database-url", address, "--serving-role", roles[0], "--system-role", roles[1])
	owner, err := sql.Open("postgres", address)
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close()
	var logins []string
	for _, role := range roles {
		if _, err := owner.ExecContext(t.Context(), "ALTER ROLE "+role+" PASSWORD 'of a test'"); err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		u.User = url.UserPassword(role, "of a test")
		logins = append(logins, u.String())
	}
	flags := []string{"--database-url", logins[0], "--system-database-url", logins[1]}
	if out := run(append([]string{"serve", "--demo", "--addr=127.0.0.1:0"}, flags...)...); !strings.Contains(out, `run "chairside seed" as the tables' owner first`) {
		t.Errorf("without a demo practice: %s", out)
	}
	run("seed", "--database-url", address, "--patients=20", "--years=1")
	demoAddress, token, stop := demo(t, t.TempDir(), flags...)
	if status, body := get(t, demoAddress+"/v1/patients?per_page=1", token); status != http.StatusOK {
		t.Errorf("%d: %s", status, body)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if _, err := owner.ExecContext(t.Context(), "DELETE FROM atlas_schema_revisions"); err != nil {
		t.Fatal(err)
	}
	if out := run(append([]string{"serve", "--demo", "--addr=127.0.0.1:0"}, flags...)...); strings.Contains(out, "permission denied") || !strings.Contains(out, "migrat") {
		t.Errorf("with other migrations: %s", out)
	}
}
