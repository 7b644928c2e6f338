package oauth_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"chairside/internal/oauth"
	"chairside/internal/store"
	"chairside/internal/test/harness"
)

// TestDatabaseOutageIsA5xx at every endpoint: never a successful revocation, nor an
// invalid token or code.
func TestDatabaseOutageIsA5xx(t *testing.T) {
	t.Parallel()
	address := harness.Postgres(t)
	w := build(t, harness.Start(t, address))
	token, code := w.token(w.admin), w.code(w.admin, "")
	shown := w.authorize(w.admin, "").Form(t, oauth.AuthorizePath)

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
	connections := func(allowed string) {
		for _, statement := range []string{
			"ALTER DATABASE " + name + " ALLOW_CONNECTIONS " + allowed,
			"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + name + "'",
		} {
			if _, err := admin.SQL.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
	}

	connections("false")
	for path, form := range map[string]string{
		oauth.RevokePath:     goodRevocation + token,
		oauth.IntrospectPath: goodRevocation + token,
		oauth.TokenPath:      alter(goodExchange, "code="+code),
	} {
		unavailable(t, w.post(path, form))
	}
	unavailable(t, w.post(oauth.RevokePath, "client_id={public}&token="+token))
	for _, p := range []*harness.Page{
		w.authorize(w.admin, ""), w.authorize(w.Browser(t), ""), w.admin.Submit(shown, url.Values{"decision": {"allow"}}), w.admin.Get("/settings/authorizations"),
		w.Browser(t).Post("/sign-in", url.Values{"email": {"x@example.com"}, "password": {"x"}}),
	} {
		p.Status(t, http.StatusServiceUnavailable)
		if p.Header.Get("Location") != "" || p.Header.Get("Retry-After") == "" {
			t.Errorf("Location %q, Retry-After %q", p.Header.Get("Location"), p.Header.Get("Retry-After"))
		}
		p.Lacks(t, "pq:", "connection", name)
	}

	connections("true")
	w.Get(t, "/v1/patients?per_page=1", token) // a broken connection may be tried once more
	w.Get(t, "/v1/patients?per_page=1", token).Status(t, 200)
	w.post(oauth.RevokePath, goodRevocation+token).Status(t, 200)
	w.Get(t, "/v1/patients?per_page=1", token).Error(t, 401, "invalid_token")
	w.exchange("code="+code).Status(t, 200)
}

// TestRevocationThatCannotWriteFails while reads still work.
func TestRevocationThatCannotWriteFails(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		token := w.token(w.admin)
		w.Get(t, "/v1/patients?per_page=1", token).Status(t, 200)
		w.DB.SQL.SetMaxOpenConns(2) // one holds the lock, the other has a short timeout
		holder, err := w.DB.SQL.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer holder.Close()
		lock, hurry := "BEGIN IMMEDIATE", "PRAGMA busy_timeout = 50"
		if w.DB.Dialect == "postgres" {
			lock, hurry = "BEGIN; LOCK TABLE access_tokens IN SHARE ROW EXCLUSIVE MODE", "SET lock_timeout = '50ms'"
		}
		if _, err := holder.ExecContext(t.Context(), lock); err != nil {
			t.Fatal(err)
		}
		if _, err := w.DB.SQL.ExecContext(t.Context(), hurry); err != nil {
			t.Fatal(err)
		}
		unavailable(t, w.post(oauth.RevokePath, goodRevocation+token))
		w.post(oauth.IntrospectPath, goodRevocation+token).Status(t, 200)
		if _, err := holder.ExecContext(t.Context(), "ROLLBACK"); err != nil {
			t.Fatal(err)
		}
		w.post(oauth.RevokePath, goodRevocation+token).Status(t, 200)
		w.Get(t, "/v1/patients?per_page=1", token).Error(t, 401, "invalid_token")
	})
}

func unavailable(t *testing.T, r *harness.Response) {
	t.Helper()
	wantError(t, r, http.StatusServiceUnavailable, "temporarily_unavailable")
	if r.Header.Get("Retry-After") == "" || strings.Contains(string(r.Raw), "pq:") || strings.Contains(string(r.Raw), "SQL") {
		t.Errorf("Retry-After %q, %s", r.Header.Get("Retry-After"), r.Raw)
	}
}
