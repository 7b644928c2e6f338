package web_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"chairside/ent"
	"chairside/ent/predicate"
	"chairside/ent/user"
	"chairside/internal/oauth"
	"chairside/internal/seed"
	"chairside/internal/store"
	"chairside/internal/test/harness"
	"chairside/internal/web"
	"chairside/ogent"
	"chairside/schema"
)

func TestMain(m *testing.M) { harness.Main(m) }

// routes returns the routes of the pages.
func routes(t *testing.T) []web.Route {
	t.Helper()
	site, err := web.New(web.Options{DB: &store.DB{}, Document: ogent.Document, OAuth: oauth.New(oauth.Options{}), BaseURL: "http://localhost"})
	if err != nil {
		t.Fatal(err)
	}
	return site.Routes()
}

// userWithRole returns an active user of the main practice with a role, other than the
// seed's administrator.
func userWithRole(t *testing.T, e *harness.Env, role schema.Role) *ent.User {
	t.Helper()
	u, err := e.DB.Ent.User.Query().
		Where(user.RoleEQ(role), user.Active(true), user.EmailNEQ(seed.DemoAdmin)).
		Order(user.ByID()).First(e.As(t, seed.DemoSlug))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// sessionCookie returns the Set-Cookie header of the session, or "".
func sessionCookie(p *harness.Page) string {
	all := p.Header.Values("Set-Cookie")
	i := slices.IndexFunc(all, func(c string) bool { return strings.Contains(c, "chairside_session=") })
	if i < 0 {
		return ""
	}
	return all[i]
}

// unusedID is an ID that does not exist, with a slash before it.
const unusedID = "/01980f3e-0000-7000-8000-000000000000"

// application registers an application through the pages and returns its client ID and
// secret.
func application(t *testing.T, b *harness.Browser, name string, scopes ...string) (id, secret string) {
	t.Helper()
	form := b.Get("/settings/applications/new").Status(t, http.StatusOK).Form(t, "/settings/applications")
	made := b.Submit(form, url.Values{"name": {name}, "redirect_uris": {callback}, "scopes": scopes}).Status(t, http.StatusOK)
	return made.Value(t, "client-id"), made.Value(t, "client-secret")
}

const callback = "https://app.example.com/callback"

// makeToken creates a token through the pages and returns it and its id.
func makeToken(t *testing.T, b *harness.Browser, name string, more url.Values) (value, id string) {
	t.Helper()
	given := url.Values{"name": {name}, "scopes": {"user:read"}}
	for field, values := range more {
		given[field] = values
	}
	form := b.Get("/settings/tokens/new").Status(t, http.StatusOK).Form(t, "/settings/tokens")
	value = b.Submit(form, given).Status(t, http.StatusOK).Value(t, "token")
	return value, strings.Split(formActions(b.Get("/settings/tokens"), "/settings/tokens/")[0], "/")[3]
}

// formActions returns the actions of a page's forms that start with prefix, in order.
func formActions(p *harness.Page, prefix string) []string {
	var all []string
	for _, n := range p.All(func(n *html.Node) bool { return n.DataAtom == atom.Form }) {
		if action := harness.Attr(n, "action"); strings.HasPrefix(action, prefix) {
			all = append(all, action)
		}
	}
	return all
}

// checkFieldErrors fails the test unless the page is a 422 with messages for exactly
// these fields, beside each and at the top.
func checkFieldErrors(t *testing.T, p *harness.Page, fields map[string]string) {
	t.Helper()
	p.Status(t, http.StatusUnprocessableEntity)
	var marked []string
	for _, n := range p.All(func(n *html.Node) bool { return strings.HasSuffix(harness.Attr(n, "id"), "-error") }) {
		marked = append(marked, strings.TrimSuffix(harness.Attr(n, "id"), "-error"))
	}
	for _, field := range marked {
		if fields[field] == "" {
			t.Errorf("unexpected message for %s: %q", field, p.FieldError(t, field))
		}
	}
	for field, message := range fields {
		if got := p.FieldError(t, field); !strings.Contains(got, message) {
			t.Errorf("the message for %s is %q, want %q", field, got, message)
		}
		if !slices.Contains(p.Links(), "#"+field) {
			t.Errorf("the summary does not link to %s: %v", field, p.Links())
		}
	}
	summary := p.All(func(n *html.Node) bool { return harness.Attr(n, "class") == "summary" })
	if len(summary) != 1 || harness.Attr(summary[0], "role") != "alert" || harness.Attr(summary[0], "tabindex") != "-1" {
		t.Error("no summary that takes the focus")
	}
	if !strings.HasPrefix(p.Title(), "Error: ") {
		t.Errorf("the title is %q", p.Title())
	}
}

// roleIs selects the active users with a role.
func roleIs(role schema.Role) predicate.User {
	return user.And(user.RoleEQ(role), user.Active(true))
}
