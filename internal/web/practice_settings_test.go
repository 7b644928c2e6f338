package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"chairside/ent"
	"chairside/internal/seed"
	"chairside/internal/test/harness"
	"chairside/schema"
)

func TestPracticeSettings(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		e.Browser(t).SignIn(userWithRole(t, e, schema.RoleReceptionist).Email).Get("/settings/practice").Status(t, http.StatusForbidden)
		b := e.Browser(t).SignIn(userWithRole(t, e, schema.RoleManager).Email)
		e.ChangePractice(t, func(p *ent.PracticeUpdateOne) { p.SetIdleLockMinutes(30) })
		page := b.Get("/settings/practice").Status(t, http.StatusOK)
		checkPage(t, page)
		form := page.Form(t, "/settings/practice")
		if form.Values.Get("second_factor") != "0" || form.Values.Get("idle_minutes") != "30" {
			t.Errorf("the defaults are %v", form.Values)
		}
		for _, bad := range []string{"", "x", "4", "121", "-1", "5.5"} {
			p := b.Submit(form, url.Values{"idle_minutes": {bad}})
			checkFieldErrors(t, p, map[string]string{"idle_minutes": "from 5 to 120"})
			checkPage(t, p)
		}
		for _, bad := range []string{"", "x", "5", "-1"} {
			checkFieldErrors(t, b.Submit(form, url.Values{"second_factor": {bad}}), map[string]string{"second_factor": "Choose"})
		}
		b.Follow(b.Submit(form, url.Values{"second_factor": {"4"}, "idle_minutes": {" 45 "}})).Has(t, "Changes saved.")
		if kept := b.Get("/settings/practice").Form(t, "/settings/practice").Values; kept.Get("second_factor") != "4" || kept.Get("idle_minutes") != "45" {
			t.Errorf("saved %v", kept)
		}
		e.Settle()
		for _, unknown := range []string{"nonsense", "%00", "%ff"} {
			checkFieldErrors(t, b.Get("/settings/audit?action="+unknown), map[string]string{"action": "Choose an event."})
		}
		b.Get("/settings/audit?action=update").Has(t, "Changed practice", "idle lock minutes")
	})
}

// TestRequiredSecondFactorLeadsToSetUp: a user without one can do nothing else, and is never
// refused.
func TestRequiredSecondFactorLeadsToSetUp(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		admin := e.Browser(t).SignIn(seed.DemoAdmin)
		app, _ := application(t, admin, "Recall Robot", "patient:read")
		value, _ := makeToken(t, admin, "Import", nil)
		consent := "/oauth/authorize?" + url.Values{"response_type": {"code"}, "client_id": {app}, "redirect_uri": {callback}, "scope": {"patient:read"}}.Encode()
		shown := admin.Get(consent).Status(t, http.StatusOK).Form(t, "/oauth/authorize")
		dentist := e.Browser(t).SignIn(userWithRole(t, e, schema.RoleDentist).Email)

		// Managers and administrators, from the next request of every session.
		admin.Submit(admin.Get("/settings/practice").Form(t, "/settings/practice"), url.Values{"second_factor": {"3"}}).Status(t, http.StatusSeeOther)
		dentist.Get("/settings/tokens").Status(t, http.StatusOK)
		for _, b := range []*harness.Browser{admin, e.Browser(t).SignIn(seed.DemoAdmin)} {
			for _, path := range append(pages(schema.RoleAdministrator), "/settings", "/reports", "/reports/income?x=1", "/settings/practice", "/settings/sign-ins", "/docs/guides/") {
				if path == "/settings/second-factor" {
					continue
				}
				if got, want := b.Get(path).Redirect(t).String(), "/settings/second-factor?next="+url.QueryEscape(path); got != want {
					t.Errorf("%s redirects to %s, want %s", path, got, want)
				}
			}
			for _, path := range []string{"/settings/tokens", "/settings/practice", "/settings/password", "/settings/sessions/end-others"} {
				if got := b.Post(path, url.Values{"name": {"Planted"}, "scopes": {"patient"}}).Redirect(t).Path; got != "/settings/second-factor" {
					t.Errorf("a form for %s redirects to %s", path, got)
				}
			}
			for _, p := range []*harness.Page{b.Get(consent), b.Submit(shown, url.Values{"decision": {"allow"}})} {
				to := p.Redirect(t)
				if next := to.Query().Get("next"); to.Path != "/settings/second-factor" || !strings.HasPrefix(next, "/oauth/authorize?") || !strings.Contains(next, app) {
					t.Errorf("consent redirects to %s", to)
				}
			}
		}
		e.Get(t, "/v1/user", value).Status(t, http.StatusOK) // programs go on

		setup := admin.Open(consent).Status(t, http.StatusOK).Has(t, "requires two-factor authentication")
		checkPage(t, setup)
		form := setup.Form(t, "/settings/second-factor")
		checkFieldErrors(t, admin.Submit(form, url.Values{"code": {"000000"}}), map[string]string{"code": "Incorrect code."})
		on := admin.Submit(form, url.Values{"code": {authenticator(t, e, setup.Value(t, "setup-key"))}}).Status(t, http.StatusOK)
		onward := ""
		for _, link := range on.Links() {
			if strings.HasPrefix(link, "/oauth/authorize?") {
				onward = link
			}
		}
		admin.Get(onward).Status(t, http.StatusOK).Form(t, "/oauth/authorize")
		admin.Get("/settings/security").Status(t, http.StatusOK).Has(t, "requires two-factor authentication: you set it up again")
		admin.Get("/settings/tokens").Has(t, "Import").Lacks(t, "Planted")

		// A user who is promoted needs it too, at once.
		ctx, promoted := e.As(t, seed.DemoSlug), userWithRole(t, e, schema.RoleDentist)
		e.Tx(t, ctx, func(tx *ent.Client) error {
			return tx.User.UpdateOneID(promoted.ID).SetRole(schema.RoleManager).Exec(ctx)
		})
		if got := dentist.Get("/settings/tokens").Redirect(t).Path; got != "/settings/second-factor" {
			t.Errorf("a new manager is sent to %s", got)
		}
		out := dentist.Open("/settings/tokens").Form(t, "/sign-out")
		dentist.Submit(out, nil).Status(t, http.StatusSeeOther)
	})
}
