package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"chairside/ent"
	"chairside/ent/practitioner"
	"chairside/internal/seed"
	"chairside/internal/test/harness"
	"chairside/schema"
)

// confirmAfter is longer than a proof of the password lasts.
const confirmAfter = 11 * time.Minute

// sectionLinks returns the links of the navigation to pages of the practice.
func sectionLinks(p *harness.Page) (links []string) {
	for _, nav := range p.All(func(n *html.Node) bool { return n.DataAtom == atom.Nav }) {
		for n := range nav.Descendants() {
			if href := harness.Attr(n, "href"); n.DataAtom == atom.A && href != "" && !strings.HasPrefix(href, "/docs") {
				links = append(links, href)
			}
		}
	}
	return links
}

// TestVisitorsStartWhereTheirRoleWorks, on a page that their role may open.
func TestVisitorsStartWhereTheirRoleWorks(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		dentist := userWithRole(t, e, schema.RoleDentist)
		own := e.DB.Ent.Practitioner.Query().Where(practitioner.UserID(dentist.ID)).OnlyIDX(e.As(t, seed.DemoSlug))
		for role, want := range map[schema.Role]string{
			schema.RoleReceptionist:  "/diary",
			schema.RoleDentist:       fmt.Sprintf("/diary?practitioner=%d", own),
			schema.RoleManager:       "/reports",
			schema.RoleAdministrator: "/settings/status",
		} {
			email := seed.DemoAdmin
			if role != schema.RoleAdministrator {
				email = userWithRole(t, e, role).Email
			}
			b := e.Browser(t).SignIn(email)
			if got := b.Get("/home").Redirect(t).String(); got != want {
				t.Errorf("a %s starts at %s, want %s", role, got, want)
			}
			b.Open("/home").Status(t, http.StatusOK)
		}
		e.Tx(t, e.As(t, seed.DemoSlug), func(tx *ent.Client) error {
			return tx.Practitioner.UpdateOneID(own).SetActive(false).Exec(e.As(t, seed.DemoSlug))
		})
		if got := e.Browser(t).SignIn(dentist.Email).Get("/home").Redirect(t).String(); got != "/diary" {
			t.Errorf("a dentist who treats no patients starts at %s", got)
		}
		if got := e.Browser(t).Get("/home").Redirect(t).String(); got != "/sign-in?next=%2Fhome" {
			t.Errorf("signed out, /home redirects to %s", got)
		}
	})
}

// TestNavigationHasWhatTheRoleMayOpen: every role opens each entry of its navigation, and none of the
// others.
func TestNavigationHasWhatTheRoleMayOpen(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		all := sectionLinks(e.Browser(t).SignIn(seed.DemoAdmin).Get("/settings/tokens"))
		if len(all) < 14 {
			t.Fatalf("an administrator has only %v", all)
		}
		counts := map[int]bool{}
		for _, name := range schema.Role("").Values() {
			role := schema.Role(name)
			if role == schema.RoleAdministrator {
				continue // has all
			}
			u, err := e.DB.Ent.User.Query().Where(roleIs(role)).First(e.As(t, seed.DemoSlug))
			if err != nil {
				continue // the demo has no such user
			}
			b := e.Browser(t).SignIn(u.Email)
			has := map[string]bool{}
			for _, link := range sectionLinks(b.Get("/settings/tokens")) {
				has[link] = true
			}
			counts[len(has)] = true
			for _, path := range all {
				if code := b.Get(path).Code; has[path] != (code == http.StatusOK) || !has[path] && code != http.StatusForbidden {
					t.Errorf("%s for a %s: status %d, in the navigation: %v", path, role, code, has[path])
				}
			}
		}
		if len(counts) < 2 {
			t.Errorf("roles have the same navigation: %v", counts)
		}
	})
}
