package contract

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"chairside/internal/store"
	"chairside/internal/test/harness"
	"chairside/internal/test/testdb"
)

// TestPostgresOutageAndRecovery under a running server.
func TestPostgresOutageAndRecovery(t *testing.T) {
	t.Parallel()
	address := harness.Postgres(t)
	e := harness.Start(t, address)
	w, token := loadWorld(t, e, "demo"), e.Token(t, "")

	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(u.Path, "/")
	u.Path = "/postgres"
	admin, err := store.Open(t.Context(), u.String())
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	run := func(statement string, args ...any) {
		t.Helper()
		if _, err := admin.SQL.ExecContext(t.Context(), statement, args...); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	const cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1"

	e.WaitReady(t)
	before := dump(t, e, w.practice)

	// Broken connections are replaced: only one request may fail.
	run(cut, name)
	if r := e.Get(t, "/v1/user", token); r.Code != http.StatusOK {
		check(t, find(t, "getCurrentUser"), harness.Request{Method: http.MethodGet, Path: "/v1/user"}, r)
		r.Error(t, http.StatusServiceUnavailable, "unavailable")
	}
	send(t, e, find(t, "getCurrentUser"), harness.Request{Method: http.MethodGet, Path: "/v1/user", Token: token}).Status(t, http.StatusOK)

	// A database that accepts no connections.
	run("ALTER DATABASE " + name + " ALLOW_CONNECTIONS false")
	run(cut, name)
	for _, op := range operations() {
		if op.ID == "getRateLimit" { // needs only the token, which may be cached
			continue
		}
		q := w.request(op, 0)
		q.Token = token
		r := e.Do(t, q)
		check(t, op, q, r)
		r.Error(t, http.StatusServiceUnavailable, "unavailable")
	}
	e.Get(t, "/readyz", "").Status(t, http.StatusServiceUnavailable)
	e.Get(t, "/healthz", "").Status(t, http.StatusOK)
	e.Get(t, "/metrics", "").Status(t, http.StatusOK)
	e.Get(t, "/v1/user", "").Error(t, http.StatusUnauthorized, "missing_token") // needs no database

	run("ALTER DATABASE " + name + " ALLOW_CONNECTIONS true")
	if testdb.Pooled() { // PgBouncer waits a second before it tries a server again
		for deadline := time.Now().Add(10 * time.Second); e.Get(t, "/readyz", "").Code != http.StatusOK && time.Now().Before(deadline); {
			time.Sleep(50 * time.Millisecond)
		}
	}
	e.Get(t, "/readyz", "").Status(t, http.StatusOK)
	compare(t, before, dump(t, e, w.practice))
	for _, op := range operations() {
		q := w.request(op, 0)
		q.Token = token
		send(t, e, op, q).Status(t, op.Success)
	}
}

// TestRowsLockedElsewhere: a write that cannot get its locks in time gets 503, while
// reads work.
func TestRowsLockedElsewhere(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		if e.DB.Confined() {
			t.Skip("the shorter timeout below is that of one pool")
		}
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		e.Get(t, "/v1/user", token).Status(t, http.StatusOK) // writes the token's last use
		before := dump(t, e, w.practice)

		lock := "BEGIN IMMEDIATE"
		e.DB.SQL.SetMaxOpenConns(2) // one holds the lock, the other has a short timeout
		holder, err := e.DB.SQL.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer holder.Close()
		hurry := "PRAGMA busy_timeout = 50"
		if e.DB.Dialect == "postgres" {
			hurry = "SET lock_timeout = '50ms'"
			lock = "BEGIN; LOCK TABLE patients, appointments, practitioners, fees, audit_events IN ROW EXCLUSIVE MODE; LOCK TABLE audit_events, appointment_holds IN SHARE ROW EXCLUSIVE MODE"
		}
		if _, err := holder.ExecContext(t.Context(), lock); err != nil {
			t.Fatal(err)
		}
		execute(t, e, hurry)

		for _, op := range operations() {
			q := w.request(op, 0)
			q.Token = token
			r := e.Do(t, q)
			check(t, op, q, r)
			if op.writes() {
				r.Error(t, http.StatusServiceUnavailable, "unavailable")
			} else {
				r.Status(t, http.StatusOK)
			}
		}
		e.Get(t, "/readyz", "").Status(t, http.StatusOK)

		if _, err := holder.ExecContext(t.Context(), "ROLLBACK"); err != nil {
			t.Fatal(err)
		}
		compare(t, before, dump(t, e, w.practice))
		for _, op := range operations() {
			q := w.request(op, 0)
			q.Token = token
			send(t, e, op, q).Status(t, op.Success)
		}
	})
}

// TestMissingTablesRevealNothing: a broken database gives a 500 without details, until it
// is repaired.
func TestMissingTablesRevealNothing(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		e.Get(t, "/v1/user", token).Status(t, http.StatusOK)
		for _, op := range operations() {
			if op.writes() || !slices.Contains([]string{"rooms", "payments", "nhs_claims", "sundries"}, op.table()) {
				continue
			}
			execute(t, e, "ALTER TABLE "+op.table()+" RENAME TO away")
			q := w.request(op, 0)
			q.Token = token
			r := e.Do(t, q)
			check(t, op, q, r)
			r.Error(t, http.StatusInternalServerError, "internal")
			if strings.Contains(strings.ToLower(string(r.Raw)), "table") || strings.Contains(string(r.Raw), op.table()) {
				t.Errorf("%s: %s", op, r.Raw)
			}
			execute(t, e, "ALTER TABLE away RENAME TO "+op.table())
			send(t, e, op, q).Status(t, http.StatusOK)
		}
	})
}
