package web_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"chairside/internal/seed"
	"chairside/internal/server"
	"chairside/internal/test/harness"
	"chairside/internal/web"
	"chairside/schema"
)

func TestFrontPage(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		e.WaitReady(t)
		b := e.Browser(t)
		p := b.Get("/").Status(t, http.StatusOK).Has(t, "For practice staff", "Live", "Ready").Lacks(t, seed.DemoAdmin, seed.Password, "Not ready")
		checkHeaders(t, p, policy)
		checkPage(t, p)
		if p.Header.Get("Vary") != "Accept" {
			t.Errorf("Vary is %q", p.Header.Get("Vary"))
		}
		for _, link := range p.Links() {
			if strings.HasPrefix(link, "/") && b.Get(link).Code != http.StatusOK {
				t.Errorf("the link to %s leads nowhere", link)
			}
		}
		for _, link := range []string{"/sign-in", "/docs", "/docs/guides/", "/openapi.json", "/healthz", "/readyz"} {
			if !slices.Contains(p.Links(), link) {
				t.Errorf("no link to %s", link)
			}
		}
		if head := b.Send(http.MethodHead, "/", nil, nil).Status(t, http.StatusOK); len(head.Raw) > 0 {
			t.Error("HEAD has a body")
		}
		b.Send(http.MethodPost, "/", nil, nil).Status(t, http.StatusMethodNotAllowed).Has(t, "Method not allowed")
		b.SignIn(seed.DemoAdmin).Get("/").Status(t, http.StatusOK).Has(t, "Welcome back", "Sign out")
		if to := b.Get("/home").Redirect(t).String(); to != "/settings/status" {
			t.Errorf("an administrator starts at %s", to)
		}
	})
}

// TestFrontPageOfTheDemo shows the demo's user, as whom one can sign in.
func TestFrontPageOfTheDemo(t *testing.T) {
	t.Parallel()
	e := harness.Start(t, harness.SQLite(t), func(o *server.Options) {
		o.Demo, o.DemoUser = true, &web.DemoUser{Email: seed.DemoAdmin, Password: seed.Password}
	})
	b := e.Browser(t)
	p := b.Get("/").Status(t, http.StatusOK).Has(t, "Try the demo", "Demo made-up data").Lacks(t, "Live")
	checkPage(t, p)
	if p.Value(t, "demo-email") != seed.DemoAdmin || p.Value(t, "demo-password") != seed.Password {
		t.Error("the demo’s user is not shown")
	}
	b.Get("/sign-in").Has(t, "This is a demo", seed.DemoAdmin, seed.Password)
	b.SignIn(p.Value(t, "demo-email")).Get("/settings/status").Has(t, "Demo, with made-up data")
}

func TestFavicon(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		p := e.Browser(t).Send(http.MethodGet, "/favicon.ico", nil, http.Header{"Accept": {"image/avif,image/*,*/*;q=0.8"}}).Status(t, http.StatusOK)
		if p.Header.Get("Content-Type") != "image/x-icon" || p.Header.Get("ETag") == "" || p.Header.Get("Cache-Control") != "public, max-age=86400" || !strings.HasPrefix(string(p.Raw), "\x00\x00\x01\x00") {
			t.Errorf("%v, %d bytes", p.Header, len(p.Raw))
		}
		links := e.Browser(t).Get("/").All(func(n *html.Node) bool { return n.DataAtom == atom.Link && harness.Attr(n, "rel") == "icon" })
		if len(links) != 2 || harness.Attr(links[0], "href") != "/favicon.ico" {
			t.Errorf("%d links to icons", len(links))
		}
	})
}

// TestMistypedAddresses: browsers get a page in the frame, and API clients JSON. Below /v1 everyone gets JSON.
func TestMistypedAddresses(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		signedOut, admin := e.Browser(t), e.Browser(t).SignIn(seed.DemoAdmin)
		for _, at := range []struct {
			method, path string
			status       int
			text         string
		}{
			{"GET", "/nothing", 404, "Page not found"},
			{"GET", "/settings/nothing", 404, "Page not found"},
			{"GET", "/reports/", 404, "Page not found"},
			{"GET", "/docs/nothing.js", 404, "Page not found"},
			{"GET", "/docs/operations/nothing", 404, "Page not found"},
			{"GET", "/docs/schemas/nothing", 404, "Page not found"},
			{"GET", "/docs/guides/nothing", 404, "Page not found"},
			{"GET", "/static/", 404, "Page not found"},
			{"GET", "/oauth/nothing", 404, "Page not found"},
			{"GET", "//nothing", 404, "Page not found"},
			{"GET", "/patients/x", 404, "Page not found"},
			{"PUT", "/nothing", 404, "Page not found"},
			{"PATCH", "/patients", 405, "Method not allowed"},
			{"DELETE", "/practice", 405, "Method not allowed"},
		} {
			for name, b := range map[string]*harness.Browser{"": signedOut, "Sign out": admin} {
				p := b.Send(at.method, at.path, nil, nil).Status(t, at.status).Has(t, at.text, name)
				checkHeaders(t, p, policy)
				checkPage(t, p)
				if framed := p.All(func(n *html.Node) bool { return n.DataAtom == atom.Nav }); len(framed) != 1 {
					t.Errorf("%s has no navigation", at.path)
				}
			}
			for _, accept := range []string{"", "*/*", "application/json", "application/json, text/html;q=0.5"} {
				a := e.Do(t, harness.Request{Method: at.method, Path: at.path, Header: map[string]string{"Accept": accept}})
				if a.Code != at.status || a.JSON["error"] == nil {
					t.Errorf("%s %s, Accept %q: status %d, %.100s", at.method, at.path, accept, a.Code, a.Raw)
				}
			}
		}
		for _, path := range []string{"/v1", "/v1/", "/v1/nothing", "/v1/settings", "/v1/patients/x"} {
			if a := e.Do(t, harness.Request{Method: "GET", Path: path, Header: map[string]string{"Accept": "text/html,*/*;q=0.8"}}); a.Code != 404 || a.JSON["error"] == nil {
				t.Errorf("%s: status %d, %.100s", path, a.Code, a.Raw)
			}
		}
		// What exists is not a mistake: a browser gets the API's response, too.
		for _, path := range []string{"/patients", "/rate_limit"} {
			if p := signedOut.Get(path); p.Code != http.StatusUnauthorized || !strings.HasPrefix(p.Header.Get("Content-Type"), "application/json") {
				t.Errorf("%s: status %d, %s", path, p.Code, p.Header.Get("Content-Type"))
			}
		}
	})
}

// TestErrorPagesKeepTheFrame of the signed-in visitor, with the navigation that the role has.
func TestErrorPagesKeepTheFrame(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		admin, reception := e.Browser(t).SignIn(seed.DemoAdmin), e.Browser(t).SignIn(userWithRole(t, e, schema.RoleReceptionist).Email)
		framed := func(what string, p *harness.Page, sections ...string) {
			t.Helper()
			checkPage(t, p)
			p.Has(t, "Sign out")
			for _, section := range sections {
				if !slices.Contains(p.Links(), section) {
					t.Errorf("%s: no link to %s", what, section)
				}
			}
		}
		framed("forbidden", reception.Get("/settings/users").Status(t, http.StatusForbidden), "/diary", "/home")
		framed("no such record", admin.Get("/settings/applications"+unusedID).Status(t, http.StatusNotFound), "/settings/users", "/home")
		framed("method", admin.Send(http.MethodPut, "/settings/tokens", nil, nil).Status(t, http.StatusMethodNotAllowed), "/settings/users")
		framed("another site's form", admin.Send(http.MethodPost, "/settings/tokens", nil, http.Header{"Sec-Fetch-Site": {"cross-site"}}).Status(t, http.StatusForbidden), "/settings/users")
		e.Clock.Advance(confirmAfter)
		framed("step-up", admin.Open("/settings/tokens/new").Status(t, http.StatusOK).Has(t, "Confirm that it is you"), "/settings/users")
		if p := admin.Get("/settings/nothing"); slices.Contains(p.Links(), "/settings") {
			t.Error("the error page leads to an address that redirects")
		}
	})
}
