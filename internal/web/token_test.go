package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"chairside/ent"
	"chairside/ent/site"
	"chairside/internal/seed"
	"chairside/internal/test/harness"
)

func TestTokens(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		b.Get("/settings/tokens").Has(t, "No tokens yet", "New token")
		form := b.Get("/settings/tokens/new").Form(t, "/settings/tokens")
		made := b.Submit(form, url.Values{"name": {" Recall & <letters> "}, "scopes": {"patient:read", "patient:update", "user"}}).Status(t, http.StatusOK)
		checkPage(t, made)
		checkHeaders(t, made, policy)
		made.Has(t, "Permissions of Recall & <letters>", "Read and update patients", "Read, create, update and delete users", "Copy the token now")
		token := made.Value(t, "token")
		if !strings.Contains(made.Value(t, "try"), "curl -H 'Authorization: Bearer "+token+"'") || !strings.HasPrefix(token, "cs_pat_") {
			t.Errorf("the command is %s", made.Value(t, "try"))
		}
		if got := e.Get(t, "/v1/user", token).Status(t, http.StatusOK).Header.Get("X-OAuth-Scopes"); got != "patient:read patient:update user" {
			t.Errorf("the token has the scopes %s", got)
		}
		list := b.Get("/settings/tokens").Has(t, "Recall & <letters>", "Read and update patients; read, create, update and delete users.", "within the last hour", "15 Jul 2026, 11:15", "extended by use")
		list.Lacks(t, token, token[7:])
		checkPage(t, list)

		e.Clock.Advance(3 * time.Hour)
		b.SignIn(seed.DemoAdmin).Get("/settings/tokens").Has(t, "3 hours ago")
		revoke := formActions(list, "/settings/tokens/")[0]
		back := b.Submit(list.Form(t, revoke), nil)
		b.Follow(back).Has(t, "Token revoked.", "No tokens yet").Lacks(t, "Recall")
		e.Get(t, "/v1/user", token).Error(t, http.StatusUnauthorized, "invalid_token")
		b.Submit(list.Form(t, revoke), nil).Status(t, http.StatusSeeOther) // revoking twice is not an error

		makeToken(t, b, "Idle", nil)
		e.Clock.Advance(15 * 24 * time.Hour)
		b.SignIn(seed.DemoAdmin).Get("/settings/tokens").Has(t, "Idle", "Expired", "Never")
		if strings.Contains(e.Log.String(), token) {
			t.Error("the token is in the log")
		}
	})
}

func TestTokenErrors(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		foreign, err := e.DB.Ent.Site.Query().FirstID(e.As(t, seed.SecondSlug))
		if err != nil {
			t.Fatal(err)
		}
		form := b.Get("/settings/tokens/new").Form(t, "/settings/tokens")
		for _, test := range []struct {
			field, value, message string
		}{
			{"name", "", "Enter a name"},
			{"name", "  ", "Enter a name"},
			{"name", strings.Repeat("ö", 101), "up to 100 characters on one line"},
			{"name", "a\nb", "on one line"},
			{"scopes", "", "Choose at least one"},
			{"scopes", "nothing", "Choose at least one"},
			{"site_id", "x", "Choose a site from the list"},
			{"site_id", unusedID[1:], "Choose a site from the list"},
			{"site_id", foreign.String(), "Choose a site from the list"},
			{"expires_on", "2026-02-30", "Enter a date, for example 2026-10-01."},
			{"expires_on", "tomorrow", "Enter a date"},
			{"expires_on", "9999-12-31", "Enter a date"},
			{"expires_on", "2026-06-30", "Choose today or a later day."},
		} {
			given := url.Values{"name": {"Mine <b>"}, "scopes": {"patient:read"}, "expires_on": {"2026-09-01"}}
			given.Set(test.field, test.value)
			p := b.Submit(form, given)
			checkFieldErrors(t, p, map[string]string{test.field: test.message})
			checkPage(t, p)
			back := p.Form(t, "/settings/tokens").Values
			for field := range given {
				if field != test.field && back.Get(field) != given.Get(field) {
					t.Errorf("with a wrong %s, %s comes back as %q", test.field, field, back.Get(field))
				}
			}
		}
		checkFieldErrors(t, b.Submit(form, url.Values{"expires_on": {"x"}}), map[string]string{"name": "Enter", "scopes": "Choose", "expires_on": "Enter"})
		b.Get("/settings/tokens").Has(t, "No tokens yet")
	})
}

func TestTokenLimits(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		ctx := e.As(t, seed.DemoSlug)
		at, err := e.DB.Ent.Site.Query().Where(site.Active(true)).Order(site.ByName()).First(ctx)
		if err != nil {
			t.Fatal(err)
		}
		limited, _ := makeToken(t, b, "One site", url.Values{"scopes": {"practice:read"}, "site_id": {at.ID.String()}})
		b.Get("/settings/tokens").Has(t, "Only at "+at.Name)
		if got := e.Get(t, "/v1/sites", limited).Column(t, "sites", "id"); len(got) != 1 || got[0] != at.ID.String() {
			t.Errorf("the token sees %v", got)
		}

		// The last day ends at midnight in London, an hour before midnight UTC.
		today, _ := makeToken(t, b, "Today", url.Values{"expires_on": {"2026-07-01"}})
		b.Get("/settings/tokens").Has(t, "the end of 1 Jul 2026")
		e.Clock.Set(time.Date(2026, 7, 1, 22, 59, 59, 0, time.UTC))
		e.Get(t, "/v1/user", today).Status(t, http.StatusOK)
		e.Clock.Set(time.Date(2026, 7, 1, 23, 0, 0, 0, time.UTC))
		e.Get(t, "/v1/user", today).Error(t, http.StatusUnauthorized, "expired_token")

		// An inactive site is not offered.
		e.Tx(t, ctx, func(tx *ent.Client) error { return tx.Site.UpdateOne(at).SetActive(false).Exec(ctx) })
		p := b.SignIn(seed.DemoAdmin).Get("/settings/tokens/new").Lacks(t, at.ID.String())
		checkFieldErrors(t, b.Submit(p.Form(t, "/settings/tokens"), url.Values{"name": {"x"}, "scopes": {"patient"}, "site_id": {at.ID.String()}}), map[string]string{"site_id": "Choose a site"})
	})
}
