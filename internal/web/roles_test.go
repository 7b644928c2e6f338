package web_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"chairside/ent"
	"chairside/internal/report"
	"chairside/internal/scope"
	"chairside/internal/seed"
	"chairside/internal/test/harness"
	"chairside/schema"
)

// offered returns the scopes that a page offers.
func offered(p *harness.Page) (all []string) {
	for _, n := range p.All(func(n *html.Node) bool { return harness.Attr(n, "name") == "scopes" }) {
		all = append(all, harness.Attr(n, "value"))
	}
	return all
}

// TestNewTokenIsConfinedToRole: the page offers the role's scopes that open an operation, as all of
// them, as those to read and one by one, and refuses others, by name.
func TestNewTokenIsConfinedToRole(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		for _, name := range schema.Role("").Values() {
			role := schema.Role(name)
			email := seed.DemoAdmin
			if role != schema.RoleAdministrator {
				email = userWithRole(t, e, role).Email
			}
			b, held := e.Browser(t).SignIn(email), role.PermissionLevel().MayHold()
			page := b.Get("/settings/tokens/new").Status(t, http.StatusOK)
			checkPage(t, page)
			boxes, form := offered(page), page.Form(t, "/settings/tokens")
			for _, given := range []url.Values{{"access": {"all"}}, {"access": {"chosen"}, "scopes": boxes}, {"access": {"all"}, "scopes": {"user:read"}}} {
				given.Set("name", "All")
				made := b.Submit(form, given).Status(t, http.StatusOK)
				if got := e.Get(t, "/rate_limit", made.Value(t, "token")).Header.Get("X-OAuth-Scopes"); !held.AllowsAll(strings.Fields(got)) || !scope.Set(strings.Fields(got)).AllowsAll(held) {
					t.Errorf("a %s gets %q, may hold %q", name, got, held)
				}
			}
			made := b.Submit(form, url.Values{"name": {"All"}, "access": {"read"}, "scopes": {"patient:update"}}).Status(t, http.StatusOK)
			got := strings.Fields(e.Get(t, "/rate_limit", made.Value(t, "token")).Header.Get("X-OAuth-Scopes"))
			for _, family := range scope.Families {
				if slices.Contains(got, family+":read") != held.Allows(family+":read") || slices.ContainsFunc(got, func(s string) bool { return !strings.HasSuffix(s, ":read") }) {
					t.Errorf("a %s who asks to read gets %q", name, got)
				}
			}
			for _, s := range scope.All() {
				if slices.Contains(boxes, s) && !held.Allows(s) {
					t.Errorf("a %s is offered %s", name, s)
				}
				if held.Allows(s) {
					continue
				}
				p := b.Submit(form, url.Values{"name": {"More"}, "scopes": {"appointment:read", s}})
				message := "Your role, " + name + ", does not allow " + strings.Join((scope.Set{s}).Beyond(held), ", ") + ". You can choose appointment:read"
				checkFieldErrors(t, p, map[string]string{"scopes": message})
				checkPage(t, p)
			}
			b.Get("/settings/tokens").Has(t, "All").Lacks(t, "More")
		}
	})
}

// TestTokensShowEffectiveScopes: after a change of role the list shows what tokens still
// allow.
func TestTokensShowEffectiveScopes(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		u := userWithRole(t, e, schema.RoleManager)
		b := e.Browser(t).SignIn(u.Email)
		makeToken(t, b, "Import", url.Values{"scopes": {"patient", "financials:read"}})
		makeToken(t, b, "Money", url.Values{"scopes": {"financials"}})
		b.Get("/settings/tokens").Has(t, "Read, create, update and delete patients; read accounts, invoices and payments.").Lacks(t, "Not allowed by your role")
		ctx := e.As(t, seed.DemoSlug)
		e.Tx(t, ctx, func(tx *ent.Client) error {
			return tx.User.UpdateOneID(u.ID).SetRole(schema.RoleReceptionist).Exec(ctx)
		})
		p := b.Get("/settings/tokens").Has(t, "Read, create and update patients.", "Not allowed by your role: financials:read patient:delete", "No access.", "Not allowed by your role: financials")
		checkPage(t, p)
	})
}

// TestReportsPerPermissionLevel: a role sees the reports on data that it may read
// through the API; reception sees none on money.
func TestReportsPerPermissionLevel(t *testing.T) {
	t.Parallel()
	var all, withoutMoney []string
	for _, r := range report.All {
		all = append(all, r.Name)
		if !r.Reads.Allows("financials:read") {
			withoutMoney = append(withoutMoney, r.Name)
		}
	}
	for _, name := range []string{"day-sheet", "diary", "recalls"} {
		if !slices.Contains(withoutMoney, name) {
			t.Errorf("%s is not for reception", name)
		}
	}
	for _, name := range []string{"aged-debt", "banking", "claims", "income", "lost-appointments", "pay-basis"} {
		if !slices.Contains(all, name) || slices.Contains(withoutMoney, name) {
			t.Errorf("%s is not on money", name)
		}
	}
	want := map[scope.Level][]string{scope.Reception: withoutMoney, scope.Practitioner: withoutMoney, scope.Manager: all, scope.Administrator: all}
	for level := scope.Level(0); level <= scope.Administrator; level++ {
		var open []string
		for _, r := range report.All {
			if r.OpenTo(level) {
				open = append(open, r.Name)
			}
			if !level.MayHold().Allows("financials:read") && r.OpenTo(level) && r.Reads.Allows("financials:read") {
				t.Errorf("level %d sees money in %s", level, r.Name)
			}
		}
		if !slices.Equal(open, want[level]) {
			t.Errorf("level %d may see %v, want %v", level, open, want[level])
		}
	}
	if (&report.Report{}).OpenTo(scope.Administrator) {
		t.Error("a report without scopes is open")
	}
}
