package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"chairside/internal/seed"
	"chairside/internal/store"
	"chairside/internal/test/harness"
)

// TestPostgresOutage stops the database under a running server.
func TestPostgresOutage(t *testing.T) {
	t.Parallel()
	address := harness.Postgres(t)
	e := harness.Start(t, address)
	b := e.Browser(t).SignIn(seed.DemoAdmin)
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
	for _, statement := range []string{
		"ALTER DATABASE " + name + " ALLOW_CONNECTIONS false",
		"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + name + "'",
	} {
		if _, err := admin.SQL.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	unavailable := func(p *harness.Page) {
		t.Helper()
		p.Status(t, http.StatusServiceUnavailable).Has(t, "temporarily unavailable", p.Header.Get("X-Request-Id")).Lacks(t, "pq:", "sql", "connection")
		if p.Header.Get("Retry-After") == "" || p.Header.Get("Location") != "" {
			t.Errorf("headers %v", p.Header)
		}
		checkHeaders(t, p, policy)
		checkPage(t, p)
	}
	for _, route := range routes(t) {
		path := strings.ReplaceAll(route.Path, "/{id}", unusedID)
		if p := b.Get(path); p.Code != http.StatusMethodNotAllowed && p.Code != http.StatusNotFound {
			unavailable(p)
		}
	}
	unavailable(e.Browser(t).Post("/sign-in", url.Values{"email": {seed.DemoAdmin}, "password": {seed.Password}}))
	unavailable(e.Browser(t).Get("/oauth/authorize?response_type=code&scope=user&client_id=" + unusedID[1:] + "&redirect_uri=" + callback))
	// A script of a page, which asks for anything, gets the API's error.
	p := e.Browser(t).Send(http.MethodPost, "/sign-in/passkey", url.Values{"step": {"sign-in"}}, http.Header{"Accept": {"*/*"}}).Status(t, http.StatusServiceUnavailable)
	if id := p.Header.Get("X-Request-Id"); p.Header.Get("Retry-After") == "" || !strings.Contains(string(p.Raw), `"code":"unavailable"`) || strings.Count(e.Log.String(), id) != 2 {
		t.Errorf("%v: %s: the log has %d lines, want that of the failure and that of the request", p.Header, p.Raw, strings.Count(e.Log.String(), id))
	}
	e.Browser(t).Get("/sign-in").Status(t, http.StatusOK) // needs no database
	b.Get("/assets/style.css").Status(t, http.StatusOK)

	if _, err := admin.SQL.ExecContext(t.Context(), "ALTER DATABASE "+name+" ALLOW_CONNECTIONS true"); err != nil {
		t.Fatal(err)
	}
	b.Get("/settings/tokens").Status(t, http.StatusOK)
}
