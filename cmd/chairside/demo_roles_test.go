package main

import (
	"net/http"
	"strings"
	"testing"
)

// TestDemoStartsWithTwoLogins: as the roles of "database roles", which own no table. What they cannot
// do, the server says how to do.
func TestDemoStartsWithTwoLogins(t *testing.T) {
	t.Parallel()
	l := newLogins(t, "demo")
	run, owner, address, logins := l.run, l.owner, l.address, l.urls
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
