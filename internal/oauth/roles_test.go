package oauth_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"chairside/ent"
	"chairside/ent/user"
	"chairside/internal/oauth"
	"chairside/internal/seed"
	"chairside/internal/test/harness"
	"chairside/schema"
)

// employee returns an active user with a role, and the user's signed-in browser.
func (w *world) employee(role schema.Role) (*ent.User, *harness.Browser) {
	w.t.Helper()
	u, err := w.DB.Ent.User.Query().
		Where(user.RoleEQ(role), user.Active(true), user.EmailNEQ(seed.DemoAdmin)).
		Order(user.ByID()).First(w.As(w.t, seed.DemoSlug))
	if err != nil {
		w.t.Fatal(err)
	}
	return u, w.Browser(w.t).SignIn(u.Email)
}

func (w *world) setRole(u *ent.User, role schema.Role) {
	w.t.Helper()
	w.change(seed.DemoAdmin, func(ctx context.Context, tx *ent.Client) error {
		return tx.User.UpdateOneID(u.ID).SetRole(role).Exec(ctx)
	})
}

// widen sets the scopes that {app} is registered for.
func (w *world) widen(scopes ...string) {
	w.t.Helper()
	w.change(seed.DemoAdmin, func(ctx context.Context, tx *ent.Client) error {
		return oauth.Edit(ctx, tx, w.id("{app}"), oauth.Draft{Name: "Recall Robot", RedirectURIs: []string{callback}, Scopes: scopes})
	})
}

func (w *world) introspect(value string) *harness.Response {
	w.t.Helper()
	return w.post(oauth.IntrospectPath, "client_id={app}&client_secret={secret}&token="+value).Status(w.t, http.StatusOK)
}

// TestConsentLeavesOutScopesBeyondTheRole and lists them. The token, its header and
// introspection have the granted scopes.
func TestConsentLeavesOutScopesBeyondTheRole(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.widen("patient", "financials", "user")
		_, b := w.employee(schema.RoleReceptionist)
		const asked = "scope=patient+financials:read+user"
		page := w.authorize(b, asked).Status(t, http.StatusOK).
			Has(t, "Read, create and update patients", "because your role, receptionist, does not allow them", "Delete patients", "Read accounts, invoices and payments", "Create, update and delete users")
		form := page.Form(t, oauth.AuthorizePath)
		const granted = "patient:create patient:read patient:update user:read"
		if got := form.Values.Get("granted"); got != granted {
			t.Errorf("the page grants %q", got)
		}
		code := b.Submit(form, url.Values{"decision": {"allow"}}).Redirect(t).Query().Get("code")
		answer := w.exchange("code="+code).Status(t, http.StatusOK)
		if got := answer.Text(t, "scope"); got != granted {
			t.Errorf("the exchange grants %q", got)
		}
		value := answer.Text(t, "access_token")
		if got := w.Get(t, "/v1/user", value).Status(t, http.StatusOK).Header.Get("X-OAuth-Scopes"); got != granted {
			t.Errorf("X-OAuth-Scopes: %q", got)
		}
		w.Get(t, "/v1/invoices", value).Error(t, http.StatusForbidden, "insufficient_scope")
		if got := w.introspect(value).Text(t, "scope"); got != granted {
			t.Errorf("introspection: %q", got)
		}
		w.authorize(w.admin, asked).Lacks(t, "left out")
	})
}

// TestConsentWithoutAllowedScopesIsARefusal: the role allows none of the requested ones.
func TestConsentWithoutAllowedScopesIsARefusal(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.widen("financials")
		_, b := w.employee(schema.RoleDentist)
		page := w.authorize(b, "scope=financials").Status(t, http.StatusOK).Has(t, "Your role, dentist, allows none of the permissions that it asks for", "Go back")
		form := page.Form(t, oauth.AuthorizePath)
		for _, decision := range []string{"allow", "deny"} { // the page has no such button, but a form can send it
			if got := outcome(b.Submit(form, url.Values{"decision": {decision}})); got != "access_denied" {
				t.Errorf("%s: %s", decision, got)
			}
		}
		if strings.Contains(string(page.Raw), `value="allow"`) {
			t.Error("the page offers to allow nothing")
		}
		if n, err := w.DB.Ent.AuthorizationCode.Query().Count(w.As(t, seed.DemoSlug)); err != nil || n != 0 {
			t.Errorf("%d codes, %v", n, err)
		}
	})
}

// TestConsentCoversOnlyTheScopesShown: a manipulated form, or a role that changed after
// the page was shown, shows the page again.
func TestConsentCoversOnlyTheScopesShown(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.widen("patient", "financials", "user")
		u, b := w.employee(schema.RoleReceptionist)
		form := w.authorize(b, "scope=patient+financials").Form(t, oauth.AuthorizePath)
		for name, sent := range map[string]url.Values{
			"granted":       {"granted": {"patient financials"}},
			"granted twice": {"granted": {form.Values.Get("granted"), "financials"}},
			"empty":         {"granted": {""}},
			"scope":         {"scope": {"patient:read financials"}},
			"user":          {"user": {"1"}},
		} {
			sent.Set("decision", "allow")
			if got := outcome(b.Submit(form, sent)); got != consent {
				t.Errorf("%s: %s", name, got)
			}
		}
		w.setRole(u, schema.RoleManager)
		if got := outcome(b.Submit(form, url.Values{"decision": {"allow"}})); got != consent {
			t.Errorf("promoted meanwhile: %s", got)
		}
		// Without the field a form grants only what the role allows.
		w.setRole(u, schema.RoleReceptionist)
		code := b.Submit(form, url.Values{"decision": {"allow"}, "granted": nil}).Redirect(t).Query().Get("code")
		if got := w.exchange("code="+code).Status(t, http.StatusOK).Text(t, "scope"); got != "patient:create patient:read patient:update" {
			t.Errorf("granted %q", got)
		}
	})
}

// TestRoleIsCheckedAgainAtTheExchange, after the user was demoted or promoted.
func TestRoleIsCheckedAgainAtTheExchange(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.widen("patient", "financials", "user")
		u, b := w.employee(schema.RoleManager)
		some, none, more := w.code(b, "scope=patient+financials"), w.code(b, "scope=financials"), w.code(b, "scope=user")
		w.setRole(u, schema.RoleReceptionist)
		if got := w.exchange("code="+some).Status(t, http.StatusOK).Text(t, "scope"); got != "patient:create patient:read patient:update" {
			t.Errorf("demoted: %q", got)
		}
		wantError(t, w.exchange("code="+none), http.StatusBadRequest, "invalid_grant")
		w.setRole(u, schema.RoleAdministrator)
		if got := w.exchange("code="+more).Status(t, http.StatusOK).Text(t, "scope"); got != "user:read" {
			t.Errorf("promoted: %q", got)
		}
	})
}

// TestRolesAndApplicationsLimitExistingTokens in the header, in introspection and on
// the page of authorised applications.
func TestRolesAndApplicationsLimitExistingTokens(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.widen("patient", "financials", "user:read")
		u, b := w.employee(schema.RoleManager)
		answer := w.exchange("code="+w.code(b, "scope=patient+financials+user:read")).Status(t, http.StatusOK)
		value := answer.Text(t, "access_token")
		check := func(want, words string) {
			t.Helper()
			if got := w.Get(t, "/rate_limit", value).Status(t, http.StatusOK).Header.Get("X-OAuth-Scopes"); got != want {
				t.Errorf("X-OAuth-Scopes: %q, want %q", got, want)
			}
			seen := w.introspect(value)
			if got := strings.Contains(string(seen.Raw), `"scope":`); got != (want != "") || got && seen.Text(t, "scope") != want || seen.At(t, "active") != true {
				t.Errorf("introspection: %s, want %q", seen.Raw, want)
			}
			b.Get("/settings/authorizations").Status(t, http.StatusOK).Has(t, words)
		}
		check("financials patient user:read", "Read, create, update and delete patients")
		w.setRole(u, schema.RoleReceptionist)
		check("patient:create patient:read patient:update user:read", "Read, create and update patients; read users.")
		w.widen("patient:read", "financials")
		check("patient:read", "Read patients.")
		w.widen("financials")
		check("", "No access: your role or the application’s settings no longer allow it.")
		w.widen("patient", "financials", "user")
		w.setRole(u, schema.RoleAdministrator)
		check("financials patient user:read", "Read, create, update and delete patients")
	})
}
