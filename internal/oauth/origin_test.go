package oauth_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"chairside/internal/oauth"
	"chairside/internal/seed"
	"chairside/internal/test/harness"
)

// TestCORSAllowsTheTokenEndpointAndNoPages: pages depend on the session cookie.
func TestCORSAllowsTheTokenEndpointAndNoPages(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		from := map[string]string{"Origin": "https://evil.example", "Content-Type": "application/x-www-form-urlencoded"}
		for _, form := range []string{goodExchange, "x=1"} {
			res := w.Do(t, harness.Request{Method: http.MethodPost, Path: oauth.TokenPath, Body: w.fill(form), Header: from})
			if got := res.Header.Get("Access-Control-Allow-Origin"); got != "*" || res.Header.Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("token endpoint, status %d: allows %q", res.Code, got)
			}
		}
		res := w.Do(t, harness.Request{Method: http.MethodOptions, Path: oauth.TokenPath, Header: map[string]string{
			"Origin": "https://app.example.com", "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type", "User-Agent": "",
		}}).Status(t, 204)
		if res.Header.Get("Access-Control-Allow-Origin") != "*" || !strings.Contains(res.Header.Get("Access-Control-Allow-Methods"), "POST") || !strings.Contains(res.Header.Get("Access-Control-Allow-Headers"), "Content-Type") {
			t.Errorf("preflight %v", res.Header)
		}
		for _, path := range append([]string{"/sign-in", "/sign-in/code", "/sign-out", oauth.AuthorizePath, oauth.AuthorizePath + "?" + w.fill(goodRequest)}, settings...) {
			for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodOptions, http.MethodDelete} {
				p := w.admin.Send(method, path, nil, http.Header{"Origin": {"https://evil.example"}})
				for name := range p.Header {
					if strings.HasPrefix(name, "Access-Control-") {
						t.Errorf("%s %s: %s: %s", method, path, name, p.Header.Get(name))
					}
				}
			}
		}
	})
}

var settings = []string{
	"/settings/applications", "/settings/applications/new", "/settings/tokens", "/settings/tokens/new",
	"/settings/authorizations", "/settings/sessions", "/settings/security", "/settings/second-factor",
}

// TestPagesRefuseFramingCachingAndReferrers on every response.
func TestPagesRefuseFramingCachingAndReferrers(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		pages := map[string]*harness.Page{
			"consent":           w.authorize(w.admin, ""),
			"refused request":   w.authorize(w.admin, "client_id=x"),
			"sign-in":           w.Browser(t).Get("/sign-in"),
			"to sign-in":        w.authorize(w.Browser(t), ""),
			"wrong password":    w.Browser(t).Post("/sign-in", url.Values{"email": {seed.DemoAdmin}, "password": {"x"}}),
			"error sent back":   w.authorize(w.admin, "scope=x"),
			"cross-site post":   w.admin.Send("POST", "/sign-out", url.Values{}, http.Header{"Sec-Fetch-Site": {"cross-site"}}),
			"unknown page":      w.admin.Get("/settings/nothing"),
			"wrong method":      w.admin.Send("DELETE", "/settings/tokens", nil, nil),
			"code sent back":    w.admin.Submit(w.authorize(w.admin, "").Form(t, oauth.AuthorizePath), url.Values{"decision": {"allow"}}),
			"settings, unknown": w.Browser(t).Get("/settings/tokens"),
		}
		for _, path := range settings {
			pages[path] = w.admin.Get(path).Status(t, 200)
		}
		for name, p := range pages {
			policy := p.Header.Get("Content-Security-Policy")
			for _, part := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"} {
				if !strings.Contains(policy, part) {
					t.Errorf("%s: no %s in the policy %q", name, part, policy)
				}
			}
			if strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") {
				t.Errorf("%s: policy %q", name, policy)
			}
			for header, want := range map[string]string{"X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff"} {
				if got := p.Header.Get(header); got != want {
					t.Errorf("%s: %s %q", name, header, got)
				}
			}
			if !strings.Contains(strings.Join(p.Header.Values("Cache-Control"), ", "), "no-store") {
				t.Errorf("%s: Cache-Control %q", name, p.Header.Values("Cache-Control"))
			}
		}
	})
}

// TestCrossSiteFormsAreRefused for every form and every header that reveals them.
func TestCrossSiteFormsAreRefused(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		decide := w.authorize(w.admin, "").Form(t, oauth.AuthorizePath).Values
		decide.Set("decision", "allow")
		forms := map[string]url.Values{
			oauth.AuthorizePath:       decide,
			"/sign-in":                {"email": {seed.SecondAdmin}, "password": {seed.Password}},
			"/sign-in/code":           {"code": {"123456"}},
			"/sign-out":               {},
			"/settings/applications":  {"name": {"Evil"}, "redirect_uris": {"https://evil.example/"}, "scopes": {"patient"}, "kind": {"confidential"}},
			"/settings/tokens":        {"name": {"Evil"}, "scopes": {"patient"}},
			"/settings/password":      {"current": {seed.Password}, "password": {"evil-password"}, "again": {"evil-password"}},
			"/settings/second-factor": {"code": {"123456"}},

			"/settings/applications/" + w.names["{app}"]:                   {"name": {"Evil"}, "redirect_uris": {"https://evil.example/"}, "scopes": {"patient"}},
			"/settings/applications/" + w.names["{app}"] + "/secret":       {},
			"/settings/applications/" + w.names["{app}"] + "/delete":       {},
			"/settings/tokens/00000000-0000-0000-0000-000000000000/revoke": {},
			"/settings/authorizations/" + w.names["{app}"] + "/revoke":     {},
			"/settings/sessions/00000000-0000-0000-0000-000000000000/end":  {},
			"/settings/sessions/end-others":                                {},
			"/settings/second-factor/off":                                  {"password": {seed.Password}},
			"/settings/second-factor/recovery-codes":                       {"password": {seed.Password}},
		}
		for path, form := range forms {
			for name, header := range map[string]http.Header{
				"by Sec-Fetch-Site cross-site":    {"Sec-Fetch-Site": {"cross-site"}},
				"by Sec-Fetch-Site same-site":     {"Sec-Fetch-Site": {"same-site"}},
				"by both":                         {"Sec-Fetch-Site": {"cross-site"}, "Origin": {"https://evil.example"}},
				"by Origin of another host":       {"Origin": {"https://evil.example"}},
				"by Origin of another port":       {"Origin": {"http://127.0.0.1:1"}},
				"by Origin null":                  {"Origin": {"null"}},
				"by Origin that begins like ours": {"Origin": {w.URL + ".evil.example"}},
			} {
				if p := w.admin.Send(http.MethodPost, path, form, header); p.Code != http.StatusForbidden || p.Header.Get("Location") != "" || len(p.Header.Values("Set-Cookie")) > 0 {
					t.Errorf("%s, %s: status %d, Location %q, %d cookies", path, name, p.Code, p.Header.Get("Location"), len(p.Header.Values("Set-Cookie")))
				}
			}
		}
		if got := outcome(w.authorize(w.admin, "")); got != consent {
			t.Errorf("afterwards: %s", got)
		}
		w.admin.Get("/settings/applications").Status(t, 200).Has(t, "Recall Robot").Lacks(t, "Evil")
	})
}
