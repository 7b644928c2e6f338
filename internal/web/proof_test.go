package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"chairside/ent"
	"chairside/internal/seed"
	"chairside/internal/store/storetest"
	"chairside/internal/test/harness"
)

// askedFor checks that a page asks for a proof and then leads to next, and gives the proof.
func askedFor(t *testing.T, b *harness.Browser, p *harness.Page, next string) *harness.Page {
	t.Helper()
	if got, want := p.Redirect(t).String(), "/sign-in/confirm?next="+url.QueryEscape(next); got != want {
		t.Fatalf("redirects to %s, want %s", got, want)
	}
	done := b.Submit(b.Follow(p).Form(t, "/sign-in/confirm"), url.Values{"password": {seed.Password}})
	if got := done.Redirect(t).String(); got != next {
		t.Errorf("the proof leads to %s, want %s", got, next)
	}
	return b.Follow(done)
}

// TestAuthorisingNeedsProof: an old session authorises no application, but refuses one.
func TestAuthorisingNeedsProof(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		id, _ := application(t, b, "Recall Robot", "patient:read")
		query := url.Values{"client_id": {id}, "redirect_uri": {callback}, "response_type": {"code"}, "scope": {"patient:read"}}
		form := b.Get("/oauth/authorize?"+query.Encode()).Status(t, http.StatusOK).Form(t, "/oauth/authorize")
		e.Clock.Advance(10 * time.Minute)
		if to := b.Submit(form, url.Values{"decision": {"deny"}}).Redirect(t); to.Query().Get("error") != "access_denied" {
			t.Errorf("denying redirects to %s", to)
		}
		b.Get("/oauth/authorize?client_id="+id+"&redirect_uri=https://evil.example/").Status(t, http.StatusBadRequest)
		for _, decision := range []string{"allow", "", "perhaps"} {
			if to := b.Submit(form, url.Values{"decision": {decision}}).Redirect(t); to.Path != "/sign-in/confirm" {
				t.Errorf("%q redirects to %s", decision, to)
			}
		}
		if n := storetest.Int(t, e.DB, "SELECT count(*) FROM authorization_codes"); n != 0 {
			t.Errorf("%d codes", n)
		}
		shown := askedFor(t, b, b.Get("/oauth/authorize?"+query.Encode()), "/oauth/authorize?"+query.Encode())
		if to := b.Submit(shown.Form(t, "/oauth/authorize"), url.Values{"decision": {"allow"}}).Redirect(t); to.Query().Get("code") == "" {
			t.Errorf("authorising redirects to %s", to)
		}
	})
}

// TestDownloadsAndDeliveriesNeedProof: a report is a page for all, and a file after a proof.
func TestDownloadsAndDeliveriesNeedProof(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		form := b.Get("/settings/webhooks/new").Form(t, "/settings/webhooks")
		b.Submit(form, url.Values{"url": {"https://example.com/"}, "events": {"*"}}).Status(t, http.StatusOK)
		hook := "/settings/webhooks/" + storetest.Value(t, e.DB.SQL, "SELECT id FROM webhooks WHERE url = 'https://example.com/'")
		b.Get("/reports/income.csv").Status(t, http.StatusOK)
		e.Clock.Advance(10 * time.Minute)
		b.Get("/reports/income").Status(t, http.StatusOK)
		for path, next := range map[string]string{hook + "/resume": hook, hook + "/test": hook, hook + "/deliveries/1/redeliver": hook + "/deliveries/1", hook + "/deliveries/1/retry": hook + "/deliveries/1"} {
			if got, want := b.Post(path, nil).Redirect(t).String(), "/sign-in/confirm?next="+url.QueryEscape(next); got != want {
				t.Errorf("%s redirects to %s, want %s", path, got, want)
			}
		}
		b.Get(b.Post(hook+"/pause", nil).Redirect(t).String()).Has(t, "Webhook paused")
		b.Send(http.MethodHead, "/reports/income.json", nil, nil).Status(t, http.StatusSeeOther)
		file := askedFor(t, b, b.Get("/reports/income.csv?from=2026-01-01&to=2026-02-01"), "/reports/income.csv?from=2026-01-01&to=2026-02-01")
		if got := file.Header.Get("Content-Type"); !strings.HasPrefix(got, "text/csv") {
			t.Errorf("Content-Type %s", got)
		}
	})
}

// TestFormsAreKeptDuringAProof: what was entered is in the form again, once, but no secret.
func TestFormsAreKeptDuringAProof(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		app, _ := application(t, b, "Recall Robot", "patient:read")
		form := b.Get("/settings/webhooks/new").Form(t, "/settings/webhooks")
		b.Submit(form, url.Values{"url": {"https://example.com/"}, "events": {"*"}}).Status(t, http.StatusOK)
		hook := storetest.Value(t, e.DB.SQL, "SELECT id FROM webhooks WHERE url = 'https://example.com/'")
		site := storetest.Value(t, e.DB.SQL, "SELECT min(s.name) FROM sites AS s JOIN practices AS p ON p.id = s.practice_id WHERE p.slug = 'demo' AND s.active")
		site = storetest.Value(t, e.DB.SQL, "SELECT id FROM sites WHERE name = '"+site+"'")
		_, token := makeToken(t, b, "One site", url.Values{"scopes": {"patient:read"}, "site_id": {site}})
		lift := "/settings/site-limits/" + token + "/lift"
		for _, c := range []struct {
			action, page, id, want string
			values                 url.Values
		}{
			{"/settings/tokens", "/settings/tokens/new", "name", "Letters & more", url.Values{"name": {"Letters & more"}, "scopes": {"patient:read"}, "password": {"hunter2"}}},
			{"/settings/applications", "/settings/applications/new", "name", "Robot", url.Values{"name": {"Robot"}, "redirect_uris": {callback}, "kind": {"public"}}},
			{"/settings/applications/" + app, "/settings/applications/" + app, "name", "Renamed", url.Values{"name": {"Renamed"}}},
			{"/settings/webhooks", "/settings/webhooks/new", "url", "https://example.com/new", url.Values{"url": {"https://example.com/new"}, "events": {"rooms.*"}}},
			{"/settings/webhooks/" + hook, "/settings/webhooks/" + hook, "url", "https://example.com/edited", url.Values{"url": {"https://example.com/edited"}}},
			{"/settings/practice", "/settings/practice", "idle_minutes", "17", url.Values{"idle_minutes": {"17"}, "second_factor": {"0"}}},
			{lift, "/settings/site-limits", "reason-" + token, "Fire", url.Values{"reason": {"Fire"}}},
		} {
			e.Clock.Advance(10 * time.Minute)
			asked := b.Post(c.action, c.values)
			if !storetest.Postgres(e.DB) && storetest.Int(t, e.DB, "SELECT count(*) FROM sessions WHERE CAST(data AS text) LIKE '%hunter2%'") > 0 {
				t.Error("the session has a secret")
			}
			shown := askedFor(t, b, asked, c.page).Status(t, http.StatusOK)
			if got := shown.Value(t, c.id); got != c.want {
				t.Errorf("%s: %s is %q, want %q", c.page, c.id, got, c.want)
			}
			shown.Lacks(t, "hunter2")
			checkPage(t, shown)
			if got := b.Get(c.page).Value(t, c.id); got == c.want {
				t.Errorf("%s has the values again", c.page)
			}
		}

		// The script of a new passkey sends its form elsewhere first.
		e.Clock.Advance(10 * time.Minute)
		b.Post("/settings/passkeys/options", url.Values{"name": {"Desk"}}).Status(t, http.StatusSeeOther)
		if got := askedFor(t, b, b.Get("/settings/passkeys/new"), "/settings/passkeys/new").Value(t, "name"); got != "Desk" {
			t.Errorf("the new passkey is named %q", got)
		}

		// A locked session keeps a form and does nothing else, even soon after a proof.
		e.ChangePractice(t, func(p *ent.PracticeUpdateOne) { p.SetIdleLockMinutes(5) })
		e.Clock.Advance(6 * time.Minute)
		locked := b.Post("/settings/tokens", url.Values{"name": {"While locked"}, "scopes": {"patient:read"}})
		if n := storetest.Int(t, e.DB, "SELECT count(*) FROM access_tokens WHERE name = 'While locked'"); n != 0 {
			t.Errorf("a locked session made %d tokens", n)
		}
		if got := askedFor(t, b, locked, "/settings/tokens/new").Value(t, "name"); got != "While locked" {
			t.Errorf("after the lock, the token is named %q", got)
		}
		e.ChangePractice(t, func(p *ent.PracticeUpdateOne) { p.SetIdleLockMinutes(0) })

		// Another page does not take them, and a page with a mistake in them refuses them as usual.
		e.Clock.Advance(10 * time.Minute)
		p := b.Post("/settings/tokens", url.Values{"name": {"Later"}})
		b.Get("/settings/practice").Status(t, http.StatusOK)
		shown := askedFor(t, b, p, "/settings/tokens/new")
		b.Submit(shown.Form(t, "/settings/tokens"), nil).Status(t, http.StatusUnprocessableEntity).Has(t, "Choose at least one permission.")
	})
}
