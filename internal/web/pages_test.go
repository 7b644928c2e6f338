package web_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"chairside/internal/seed"
	"chairside/internal/test/harness"
	"chairside/schema"
)

const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// checkHeaders fails the test unless the response has the headers of every page.
func checkHeaders(t *testing.T, p *harness.Page, policy string) {
	t.Helper()
	for name, want := range map[string]string{
		"Content-Security-Policy": policy,
		"X-Frame-Options":         "DENY",
		"Referrer-Policy":         "no-referrer",
		"X-Content-Type-Options":  "nosniff",
		"Cache-Control":           "no-store",
	} {
		if got := p.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for name := range p.Header {
		if strings.HasPrefix(name, "Access-Control-") {
			t.Errorf("%s is sent to other origins", name)
		}
	}
	if p.Header.Get("X-Request-Id") == "" {
		t.Error("no request ID")
	}
}

// checkPage fails the test unless a page has one heading, unique ids, a label for each
// field, and nothing that the policy forbids.
func checkPage(t *testing.T, p *harness.Page) {
	t.Helper()
	if got := p.Header.Get("Content-Type"); got != "text/html; charset=utf-8" {
		t.Errorf("Content-Type %q", got)
	}
	count := func(a atom.Atom) int { return len(p.All(func(n *html.Node) bool { return n.DataAtom == a })) }
	if count(atom.H1) != 1 || count(atom.Main) != 1 || !strings.HasSuffix(p.Title(), " – Chairside") {
		t.Errorf("%d headings, %d main parts, title %q", count(atom.H1), count(atom.Main), p.Title())
	}
	ids := map[string]bool{}
	for _, n := range p.All(func(n *html.Node) bool { return harness.Attr(n, "id") != "" }) {
		id := harness.Attr(n, "id")
		if ids[id] {
			t.Errorf("the id %s appears twice", id)
		}
		ids[id] = true
	}
	labels := map[string]bool{}
	for _, n := range p.All(func(n *html.Node) bool { return n.DataAtom == atom.Label }) {
		labels[harness.Attr(n, "for")] = true
	}
	for _, n := range p.All(func(*html.Node) bool { return true }) {
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" {
				t.Errorf("<%s %s> is inline code", n.Data, a.Key)
			}
			for id := range strings.FieldsSeq(a.Val) {
				if strings.HasPrefix(a.Key, "aria-describedby") || a.Key == "aria-labelledby" {
					if !ids[id] {
						t.Errorf("%s refers to the missing id %s", a.Key, id)
					}
				}
			}
		}
		switch n.DataAtom {
		case atom.Style, atom.Base:
			t.Errorf("the page has a <%s>", n.Data)
		case atom.Script:
			if n.FirstChild != nil || !strings.HasPrefix(harness.Attr(n, "src"), "/assets/") {
				t.Error("the page has an inline script")
			}
		case atom.Form:
			if action := harness.Attr(n, "action"); !strings.HasPrefix(action, "/") {
				t.Errorf("a form is sent to %q", action)
			}
		case atom.Input, atom.Select, atom.Textarea:
			within := n.Parent.DataAtom == atom.Label
			if kind := harness.Attr(n, "type"); kind != "hidden" && harness.Attr(n, "name") != "" && !within && !labels[harness.Attr(n, "id")] {
				t.Errorf("the field %s has no label", harness.Attr(n, "name"))
			}
		}
	}
}

// pages returns the pages that users with the role can open.
func pages(role schema.Role) []string {
	all := []string{
		"/settings/tokens", "/settings/tokens/new", "/settings/authorizations", "/settings/sessions", "/settings/security",
		"/settings/second-factor", "/settings/requests",
	}
	if role.PermissionLevel() >= 3 {
		all = append(all, "/settings/applications", "/settings/applications/new", "/settings/patient-data", "/settings/patient-data?patient=1",
			"/settings/records", "/settings/records/patients", "/settings/records/patients/1")
	}
	if role == schema.RoleAdministrator {
		all = append(all, "/settings/webhooks", "/settings/webhooks/new", "/settings/users", "/settings/users/new")
	}
	return all
}

func TestPagesSignedOut(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t)
		for _, path := range append(pages(schema.RoleAdministrator), "/settings", "/settings/applications"+unusedID, "/settings/tokens?x=1&y=%2F") {
			p := b.Get(path)
			checkHeaders(t, p, policy)
			if got, want := p.Redirect(t).String(), "/sign-in?next="+url.QueryEscape(path); got != want {
				t.Errorf("%s redirects to %s, want %s", path, got, want)
			}
		}
		for path, next := range map[string]string{
			"/settings/tokens":                                "/settings/tokens",
			"/settings/tokens" + unusedID + "/revoke":         "/settings/tokens",
			"/settings/applications":                          "/settings/applications",
			"/settings/applications" + unusedID:               "/settings/applications",
			"/settings/applications" + unusedID + "/secret":   "/settings/applications",
			"/settings/applications" + unusedID + "/delete":   "/settings/applications",
			"/settings/webhooks":                              "/settings/webhooks",
			"/settings/webhooks" + unusedID + "/test":         "/settings/webhooks",
			"/settings/authorizations" + unusedID + "/revoke": "/settings/authorizations",
			"/settings/sessions" + unusedID + "/end":          "/settings/sessions",
			"/settings/sessions/end-others":                   "/settings/sessions",
			"/settings/password":                              "/settings/security",
			"/settings/second-factor":                         "/settings/security",
			"/settings/second-factor/off":                     "/settings/security",
			"/settings/second-factor/recovery-codes":          "/settings/security",
		} {
			if got := b.Post(path, url.Values{"name": {"x"}}).Redirect(t).String(); got != "/sign-in?next="+url.QueryEscape(next) {
				t.Errorf("a form for %s redirects to %s", path, got)
			}
		}
		if len(b.Cookies()) > 0 {
			t.Error("a visitor who has not signed in has a cookie")
		}
		p := b.Get("/sign-in")
		checkHeaders(t, p, policy)
		checkPage(t, p.Status(t, http.StatusOK))
		if got := b.Get("/sign-in/code?next=/settings/tokens").Redirect(t).String(); got != "/sign-in?next=%2Fsettings%2Ftokens" {
			t.Errorf("a code without a password redirects to %s", got)
		}
	})
}

func TestPagesSignedIn(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		admin := e.Browser(t).SignIn(seed.DemoAdmin)
		id, _ := application(t, admin, "Recall Robot", "patient:read")
		for _, role := range []schema.Role{schema.RoleReceptionist, schema.RoleDentist, schema.RoleManager, schema.RoleAdministrator} {
			b := admin
			if role != schema.RoleAdministrator {
				b = e.Browser(t).SignIn(userWithRole(t, e, role).Email)
			}
			if got := b.Get("/settings").Redirect(t).String(); got != "/settings/tokens" {
				t.Errorf("/settings redirects to %s", got)
			}
			for _, path := range pages(role) {
				p := b.Get(path).Status(t, http.StatusOK)
				checkHeaders(t, p, policy)
				checkPage(t, p)
				head := b.Send(http.MethodHead, path, nil, nil).Status(t, http.StatusOK)
				if len(head.Raw) > 0 || head.Header.Get("Content-Type") != p.Header.Get("Content-Type") {
					t.Errorf("HEAD %s: %d bytes, %v", path, len(head.Raw), head.Header)
				}
			}
			for _, path := range []string{"/settings/webhooks", "/settings/webhooks/new", "/settings/webhooks" + unusedID} {
				want := http.StatusForbidden
				switch {
				case role == schema.RoleAdministrator && strings.HasSuffix(path, unusedID):
					want = http.StatusNotFound
				case role == schema.RoleAdministrator:
					want = http.StatusOK
				}
				if p := b.Get(path); p.Code != want || want == http.StatusForbidden && !strings.Contains(p.Text(), "Only administrators do") {
					t.Errorf("%s for a %s: %d", path, role, p.Code)
				}
			}
			registers := role.PermissionLevel() >= 3
			p := b.Get("/settings/tokens").Has(t, "Demo", "Sign out")
			if slices.Contains(p.Links(), "/settings/applications") != registers {
				t.Errorf("the navigation of a %s: %v", role, p.Links())
			}
			for _, path := range []string{"/settings/applications", "/settings/applications/new", "/settings/applications/" + id} {
				if p := b.Get(path); registers != (p.Code == http.StatusOK) || !registers && p.Code != http.StatusForbidden {
					t.Errorf("%s for a %s: %d", path, role, p.Code)
				}
			}
			if registers {
				continue
			}
			for _, path := range []string{"/settings/applications", "/settings/applications/" + id, "/settings/applications/" + id + "/secret", "/settings/applications/" + id + "/delete"} {
				p := b.Post(path, url.Values{"name": {"Mine"}, "redirect_uris": {callback}, "scopes": {"patient"}, "kind": {"public"}})
				p.Status(t, http.StatusForbidden).Has(t, "Only managers and administrators do")
				checkHeaders(t, p, policy)
				checkPage(t, p)
			}
		}
		admin.Get("/settings/applications").Has(t, "Recall Robot").Lacks(t, "Mine")
	})
}

func TestUnknownPathsAndMethods(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		for _, path := range []string{"/settings/", "/settings/nothing", "/settings/tokens/", "/settings/tokens" + unusedID, "/assets/nothing.css", "/assets/"} {
			p := b.Get(path).Status(t, http.StatusNotFound).Has(t, "Page not found", requestIDShown(b, path))
			checkHeaders(t, p, policy)
			checkPage(t, p)
		}
		for path, allow := range map[string]string{
			"/sign-in": "GET, HEAD, POST", "/sign-out": "POST", "/settings": "GET, HEAD", "/settings/tokens": "GET, HEAD, POST",
			"/settings/sessions/end-others": "POST", "/oauth/authorize": "GET, HEAD, POST", "/assets/style.css": "GET, HEAD",
		} {
			for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions, "PURGE"} {
				if slices.Contains(strings.Split(allow, ", "), method) {
					continue
				}
				p := b.Send(method, path, nil, nil).Status(t, http.StatusMethodNotAllowed)
				if got := p.Header.Get("Allow"); got != allow {
					t.Errorf("%s %s: Allow %q, want %q", method, path, got, allow)
				}
				checkHeaders(t, p, policy)
				checkPage(t, p)
			}
		}
	})
}

// requestIDShown returns "", or the request ID if the error page at path does not show it.
func requestIDShown(b *harness.Browser, path string) string {
	p := b.Send(http.MethodGet, path, nil, http.Header{"X-Request-Id": {"quote-me-1"}})
	if !strings.Contains(p.Text(), "quote-me-1") {
		return "quote-me-1"
	}
	return ""
}

func TestPagesRequireUserAgent(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t)
		for _, route := range routes(t) {
			p := b.Send(http.MethodGet, strings.ReplaceAll(route.Path, "/{id}", unusedID), nil, http.Header{"User-Agent": nil})
			p.Status(t, http.StatusForbidden).Has(t, "User-Agent")
			checkHeaders(t, p, policy)
		}
	})
}

func TestIDsOfOthersAreNotFound(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		admin, second := e.Browser(t).SignIn(seed.DemoAdmin), e.Browser(t).SignIn(seed.SecondAdmin)
		colleague := e.Browser(t).SignIn(userWithRole(t, e, schema.RoleManager).Email)
		app, _ := application(t, admin, "Recall Robot", "patient:read")
		_, token := makeToken(t, admin, "Mine", nil)
		session := strings.Split(formActions(e.Browser(t).SignIn(seed.DemoAdmin).Get("/settings/sessions"), "/settings/sessions/0")[0], "/")[3]

		refused := func(b *harness.Browser, id string, paths ...string) {
			t.Helper()
			for _, path := range paths {
				b.Post(strings.ReplaceAll(path, "ID", id), url.Values{"name": {"x"}, "redirect_uris": {callback}, "scopes": {"patient"}}).
					Status(t, http.StatusNotFound).Lacks(t, "Recall Robot", "Mine")
			}
		}
		ofApplication := []string{"/settings/applications/ID", "/settings/applications/ID/secret", "/settings/applications/ID/delete"}
		all := append(slices.Clone(ofApplication), "/settings/tokens/ID/revoke", "/settings/sessions/ID/end", "/settings/authorizations/ID/revoke")
		refused(second, app, ofApplication...)
		second.Get("/settings/applications/"+app).Status(t, http.StatusNotFound)
		for _, b := range []*harness.Browser{second, colleague} {
			refused(b, token, "/settings/tokens/ID/revoke")
			refused(b, session, "/settings/sessions/ID/end")
			refused(b, app, "/settings/authorizations/ID/revoke") // they have not authorised it
		}
		for _, id := range []string{unusedID[1:], "1", "new%00", strings.ToUpper(app), "{" + app + "}", "urn:uuid:" + app, strings.ReplaceAll(app, "-", ""), app + "x", "%2e%2e"} {
			refused(admin, id, all...)
			admin.Get("/settings/applications/"+id).Status(t, http.StatusNotFound)
		}
		admin.Get("/settings/applications/"+app).Status(t, http.StatusOK)
		admin.Get("/settings/tokens").Has(t, "Mine")
		colleague.Get("/settings/applications/"+app).Status(t, http.StatusOK) // of the same practice
	})
}
