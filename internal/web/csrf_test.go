package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"chairside/internal/seed"
	"chairside/internal/server"
	"chairside/internal/test/harness"
)

func TestCrossSiteFormsAreRefused(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		app, _ := application(t, b, "Recall Robot", "patient:read")
		_, token := makeToken(t, b, "Mine", nil)
		_, host, _ := strings.Cut(e.URL, "//")
		values := url.Values{
			"name": {"Planted"}, "scopes": {"patient"}, "redirect_uris": {callback}, "kind": {"public"}, "decision": {"allow"},
			"email": {seed.SecondAdmin}, "password": {seed.Password}, "current": {seed.Password}, "again": {seed.Password},
			"client_id": {app}, "redirect_uri": {callback}, "response_type": {"code"}, "scope": {"patient:read"},
		}
		for _, route := range routes(t) {
			path := strings.ReplaceAll(strings.Replace(route.Path, "tokens/{id}", "tokens/"+token, 1), "{id}", app)
			path = strings.TrimSuffix(path, "{$}")
			if strings.HasSuffix(path, "/") || strings.HasPrefix(path, "/reports") {
				continue
			}
			for _, header := range []http.Header{
				{"Sec-Fetch-Site": {"cross-site"}, "Origin": {"https://evil.example"}},
				{"Sec-Fetch-Site": {"same-site"}, "Origin": {"http://evil." + host}},
				{"Sec-Fetch-Site": {"cross-site"}, "Origin": {"null"}},
				{"Origin": {"https://evil.example"}},
				{"Origin": {"null"}},
				{"Origin": {"http://" + host + ".evil.example"}},
				{"Origin": {"http://evil.example/" + host}},
			} {
				p := b.Send(http.MethodPost, path, values, header)
				if p.Code == http.StatusMethodNotAllowed {
					continue // has no form
				}
				p.Status(t, http.StatusForbidden).Has(t, "came from another site")
				checkHeaders(t, p, policy)
			}
		}
		b.Get("/settings/tokens").Status(t, http.StatusOK).Has(t, "Mine").Lacks(t, "Planted")
		b.Get("/settings/applications").Has(t, "Recall Robot").Lacks(t, "Planted")
	})
}

// TestFormsThroughProxy: a proxy that changes the Host header does not break the check of
// the origin.
func TestFormsThroughProxy(t *testing.T) {
	t.Parallel()
	e := harness.Start(t, harness.SQLite(t), func(o *server.Options) { o.BaseURL = "https://chairside.example.com" })
	b := e.Browser(t)
	values := url.Values{"email": {seed.DemoAdmin}, "password": {seed.Password}}
	p := b.Send(http.MethodPost, "/sign-in", values, http.Header{"Origin": {"https://chairside.example.com"}}).Status(t, http.StatusSeeOther)
	const name = "__Host-chairside_session="
	if cookie := sessionCookie(p); !strings.HasPrefix(cookie, name) || !strings.Contains(cookie, "; Path=/; HttpOnly; Secure; SameSite=Lax") || strings.Contains(cookie, "Domain") {
		t.Errorf("the cookie is %s", cookie)
	}
	b.Send(http.MethodPost, "/sign-in", values, http.Header{"Origin": {"https://chairside.example.com.evil.example"}}).Status(t, http.StatusForbidden)
}

func TestMalformedFormsAreRefused(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		b.Post("/settings/tokens", url.Values{"name": {strings.Repeat("x", 64<<10)}}).Status(t, http.StatusRequestEntityTooLarge).Has(t, "64 KiB")
		for _, text := range []string{"a\x00b", "a\xffb"} {
			b.Post("/settings/tokens", url.Values{"name": {text}, "scopes": {"patient"}}).Status(t, http.StatusBadRequest)
			b.Post("/sign-in", url.Values{"email": {text}, "password": {"x"}}).Status(t, http.StatusBadRequest)
		}
		b.Get("/settings/tokens").Has(t, "No tokens yet")
		// Query parameters are not part of the form.
		b.Post("/settings/tokens?name=x&scopes=patient", url.Values{}).Status(t, http.StatusUnprocessableEntity)
	})
}
