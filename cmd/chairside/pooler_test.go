package main

import (
	"strings"
	"testing"

	"chairside/internal/test/localpg/pgtest"
	"chairside/internal/test/testdb"
)

// TestServeLogsThePooler that it has found, and none in front of a direct connection.
func TestServeLogsThePooler(t *testing.T) {
	t.Parallel()
	direct := testdb.Migrated.Postgres(t)
	for address, want := range map[string]bool{direct: false, pgtest.Pooled(t, direct): true} {
		log := startLogged(t, address).text(t)
		if got := strings.Contains(log, "a pooler is in front of PostgreSQL"); got != want {
			t.Errorf("a pooler is logged: %v, want %v:\n%s", got, want, log)
		}
	}
}
