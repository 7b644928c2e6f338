package web_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"chairside/ent"
	"chairside/internal/seed"
	"chairside/internal/test/harness"
)

// setUpFactor turns on two-factor authentication and returns the setup key.
func setUpFactor(t *testing.T, e *harness.Env, b *harness.Browser) (key string) {
	t.Helper()
	page := b.Get("/settings/second-factor").Status(t, http.StatusOK)
	key = page.Value(t, "setup-key")
	b.Submit(page.Form(t, "/settings/second-factor"), url.Values{"code": {authenticator(t, e, key)}}).Status(t, http.StatusOK)
	e.Clock.Advance(time.Minute) // a code works once
	return key
}

// authenticator returns the code that an authenticator shows.
func authenticator(t *testing.T, e *harness.Env, key string) string {
	t.Helper()
	code, err := totp.GenerateCode(key, e.Clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// TestSensitivePagesAskForThePassword once the sign-in is ten minutes old.
func TestSensitivePagesAskForThePassword(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		app, _ := application(t, b, "Recall Robot", "patient:read")
		form := b.Get("/settings/tokens/new").Form(t, "/settings/tokens")
		e.Clock.Advance(10*time.Minute - time.Second)
		b.Get("/settings/tokens/new").Status(t, http.StatusOK)
		e.Clock.Advance(time.Second)

		for path, next := range map[string]string{
			"/settings/tokens/new":           "/settings/tokens/new",
			"/settings/applications/new":     "/settings/applications/new",
			"/settings/users/new":            "/settings/users/new",
			"/settings/webhooks/new?x=1":     "/settings/webhooks/new?x=1",
			"/settings/patient-data":         "/settings/patient-data",
			"/settings/patient-data/1.json":  "/settings/patient-data/1.json",
			"/settings/second-factor?next=/": "/settings/second-factor?next=/",
		} {
			if got, want := b.Get(path).Redirect(t).String(), "/sign-in/confirm?next="+url.QueryEscape(next); got != want {
				t.Errorf("%s redirects to %s, want %s", path, got, want)
			}
		}
		for path, next := range map[string]string{
			"/settings/tokens":                           "/settings/tokens/new",
			"/settings/applications":                     "/settings/applications/new",
			"/settings/applications/" + app:              "/settings/applications/" + app,
			"/settings/applications/" + app + "/secret":  "/settings/applications/" + app,
			"/settings/webhooks":                         "/settings/webhooks/new",
			"/settings/users":                            "/settings/users/new",
			"/settings/webhooks/" + app + "/secret":      "/settings/webhooks/" + app,
			"/settings/second-factor":                    "/settings/second-factor",
			"/settings/practice":                         "/settings/practice",
			"/settings/site-limits" + unusedID + "/lift": "/settings/site-limits",
		} {
			p := b.Post(path, url.Values{"name": {"Planted"}, "scopes": {"patient"}, "redirect_uris": {callback}, "kind": {"public"}})
			if got, want := p.Redirect(t).String(), "/sign-in/confirm?next="+url.QueryEscape(next); got != want {
				t.Errorf("a form for %s redirects to %s, want %s", path, got, want)
			}
		}
		for _, path := range []string{"/settings/tokens", "/settings/applications/" + app, "/settings/webhooks", "/settings/practice", "/reports"} {
			b.Get(path).Status(t, http.StatusOK).Lacks(t, "Planted")
		}

		ask := b.Follow(b.Submit(form, url.Values{"name": {"Import"}})).Status(t, http.StatusOK).Has(t, "Confirm that it is you", "You are signed in as")
		checkPage(t, ask)
		checkHeaders(t, ask, policy)
		for _, bad := range []string{"", "wrong"} {
			p := b.Submit(ask.Form(t, "/sign-in/confirm"), url.Values{"password": {bad}})
			checkFieldErrors(t, p, map[string]string{"password": "Incorrect password."})
			checkPage(t, p)
		}
		b.Get("/settings/tokens/new").Status(t, http.StatusSeeOther)
		if got := b.Submit(ask.Form(t, "/sign-in/confirm"), url.Values{"password": {seed.Password}}).Redirect(t).String(); got != "/settings/tokens/new" {
			t.Errorf("the proof redirects to %s", got)
		}
		makeToken(t, b, "Import", nil)
		b.Send(http.MethodPost, "/sign-in/confirm", url.Values{"password": {seed.Password}}, http.Header{"Origin": {"https://evil.example"}}).Status(t, http.StatusForbidden)

		// Another browser of the user has its own proof.
		other := e.Browser(t)
		if got := other.Post("/sign-in/confirm", url.Values{"password": {seed.Password}, "next": {"//evil.example"}}).Redirect(t).String(); got != "/sign-in?next=%2Fhome" {
			t.Errorf("a proof without a session redirects to %s", got)
		}
	})
}

// TestSensitivePagesAskForTheSecondFactor: the password is not enough for a user who has one.
func TestSensitivePagesAskForTheSecondFactor(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		key := setUpFactor(t, e, b)
		e.Clock.Advance(10 * time.Minute)
		ask := b.Open("/settings/tokens/new").Has(t, "Authentication code")
		checkPage(t, ask)
		form := ask.Form(t, "/sign-in/confirm")
		for _, bad := range []url.Values{{"code": {""}}, {"code": {"000000"}}, {"password": {seed.Password}}} {
			checkFieldErrors(t, b.Submit(form, bad), map[string]string{"code": "Incorrect code"})
		}
		code := authenticator(t, e, key)
		b.Follow(b.Submit(form, url.Values{"code": {code}})).Status(t, http.StatusOK).Form(t, "/settings/tokens")
		e.Clock.Advance(10 * time.Minute)
		for range 4 {
			b.Submit(form, url.Values{"code": {code}}).Status(t, http.StatusUnprocessableEntity) // used
		}
		b.Submit(form, url.Values{"code": {code}}).Status(t, http.StatusUnprocessableEntity)
		if p := b.Submit(form, url.Values{"code": {authenticator(t, e, key)}}).Status(t, http.StatusTooManyRequests); p.Header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
	})
}

// TestIdleSessionLocks: it shows nothing until it is confirmed, on every process.
func TestIdleSessionLocks(t *testing.T) {
	for name, database := range map[string]func(testing.TB) string{"sqlite": harness.SQLite, "postgres": harness.Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := database(t)
			e, other := harness.Start(t, address), harness.Start(t, address) // two processes
			e.ChangePractice(t, func(p *ent.PracticeUpdateOne) { p.SetIdleLockMinutes(30) })
			pass := func(d time.Duration) { e.Clock.Advance(d); other.Clock.Advance(d) }
			b := e.Browser(t).SignIn(seed.DemoAdmin)
			for range 3 {
				pass(29 * time.Minute)
				b.Get("/settings/tokens").Status(t, http.StatusOK)
			}
			pass(30 * time.Minute)
			for _, at := range []*harness.Browser{b, b.At(other), b} { // asking does not unlock it
				for _, path := range []string{"/settings/tokens", "/settings/security", "/reports/day-sheet?x=1"} {
					if got, want := at.Get(path).Redirect(t).String(), "/sign-in/confirm?next="+url.QueryEscape(path); got != want {
						t.Errorf("%s redirects to %s, want %s", path, got, want)
					}
				}
			}
			if got := b.Post("/settings/sessions/end-others", nil).Redirect(t).Path; got != "/sign-in/confirm" {
				t.Errorf("a form redirects to %s", got)
			}
			if got := b.Get("/oauth/authorize?client_id=x").Code; got == http.StatusOK {
				t.Error("the consent page is open")
			}
			b.Get("/docs/guides/").Status(t, http.StatusOK).Lacks(t, seed.DemoAdmin)
			ask := b.Open("/reports/day-sheet?x=1").Has(t, "not used for 30 minutes")
			checkPage(t, ask)
			checkFieldErrors(t, b.Submit(ask.Form(t, "/sign-in/confirm"), url.Values{"password": {"wrong"}}), map[string]string{"password": "Incorrect password."})
			b.Get("/settings/tokens").Status(t, http.StatusSeeOther)
			back := b.At(other).Submit(ask.Form(t, "/sign-in/confirm"), url.Values{"password": {seed.Password}})
			if got := back.Redirect(t).String(); got != "/reports/day-sheet?x=1" {
				t.Errorf("the proof redirects to %s", got)
			}
			b.Get("/settings/tokens").Status(t, http.StatusOK)

			// A locked session can be left, and ends by itself.
			pass(30 * time.Minute)
			leave := b.Open("/settings/tokens").Form(t, "/sign-out")
			if got := b.Submit(leave, nil).Redirect(t).String(); got != "/sign-in?next=%2Fsettings%2Ftokens" {
				t.Errorf("signing out redirects to %s", got)
			}
			b.SignIn(seed.DemoAdmin)
			pass(2 * time.Hour)
			if got := b.Get("/settings/tokens").Redirect(t).Path; got != "/sign-in" {
				t.Errorf("a session of yesterday redirects to %s", got)
			}

			// The practice chooses the time; 0 is never.
			b.SignIn(seed.DemoAdmin)
			e.ChangePractice(t, func(p *ent.PracticeUpdateOne) { p.SetIdleLockMinutes(5) })
			pass(5 * time.Minute)
			b.Get("/settings/tokens").Status(t, http.StatusSeeOther)
			e.ChangePractice(t, func(p *ent.PracticeUpdateOne) { p.SetIdleLockMinutes(0) })
			pass(110 * time.Minute)
			b.Get("/settings/tokens").Status(t, http.StatusOK)
		})
	}
}
