package oauth_test

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"chairside/ent"
	"chairside/internal/oauth"
	"chairside/internal/seed"
	"chairside/internal/test/harness"
)

const grant = "invalid_grant"

// TestSecondUseOfACodeRevokesItsToken (RFC 6749, section 4.1.2).
func TestSecondUseOfACodeRevokesItsToken(t *testing.T) {
	for _, replay := range []struct{ name, change string }{
		{"as it was", ""},
		{"without its verifier", "code_verifier"},
		{"with another redirect address", "redirect_uri=https://evil.example/"},
	} {
		t.Run(replay.name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				code := w.code(w.admin, "")
				given := w.exchange("code="+code).Status(t, 200).Text(t, "access_token")
				untouched := w.token(w.admin)
				w.Get(t, "/v1/patients?per_page=1", given).Status(t, 200)

				change := "code=" + code
				if replay.change != "" {
					change += "&" + replay.change
				}
				wantError(t, w.exchange(change), 400, grant)
				w.Get(t, "/v1/patients?per_page=1", given).Error(t, 401, "invalid_token")
				w.Get(t, "/v1/patients?per_page=1", untouched).Status(t, 200)
				wantError(t, w.exchange("code="+code), 400, grant)
			})
		})
	}
}

// TestReplayIsDetectedDaysLater, while the code's token is in use.
func TestReplayIsDetectedDaysLater(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		code := w.code(w.admin, "")
		given := w.exchange("code="+code).Status(t, 200).Text(t, "access_token")
		for range 4 {
			w.Clock.Advance(13 * 24 * time.Hour)
			w.Get(t, "/v1/patients?per_page=1", given).Status(t, 200)
			w.admin = w.Browser(t).SignIn(seed.DemoAdmin)
			w.code(w.admin, "") // deletes old codes
		}
		wantError(t, w.exchange("code="+code), 400, grant)
		w.Get(t, "/v1/patients?per_page=1", given).Error(t, 401, "invalid_token")
	})
}

// TestAnotherClientsReplayRevokesNothing: otherwise any client could revoke tokens
// with observed codes.
func TestAnotherClientsReplayRevokesNothing(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		code := w.code(w.admin, "")
		wantError(t, w.exchange("client_id={other}&client_secret={othersecret}&code="+code), 400, grant)
		given := w.exchange("code="+code).Status(t, 200).Text(t, "access_token")
		wantError(t, w.exchange("client_id={other}&client_secret={othersecret}&code="+code), 400, grant)
		w.Get(t, "/v1/patients?per_page=1", given).Status(t, 200)
	})
}

func TestCodeExpiresAfterTenMinutes(t *testing.T) {
	for _, c := range []struct {
		name string
		age  time.Duration
		good bool
	}{
		{"at once", 0, true},
		{"9:59", 9*time.Minute + 59*time.Second, true},
		{"10:00", 10 * time.Minute, false},
		{"10:01", 10*time.Minute + time.Second, false},
		{"a day", 24 * time.Hour, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				code := w.code(w.admin, "")
				w.Clock.Advance(c.age)
				res := w.exchange("code=" + code)
				if c.good {
					res.Status(t, 200)
					return
				}
				wantError(t, res, 400, grant)
				w.Clock.Advance(-c.age)
			})
		})
	}
}

// TestDisabledUserGetsNoToken before consent, between consent and exchange, and after.
func TestDisabledUserGetsNoToken(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		form := w.authorize(w.admin, "").Form(t, oauth.AuthorizePath)
		code := w.code(w.admin, "")
		given := w.token(w.admin)

		w.setActive(seed.DemoAdmin, false)
		if got := outcome(w.admin.Submit(form, url.Values{"decision": {"allow"}})); got != "sign-in" {
			t.Errorf("consent of a disabled user: %s", got)
		}
		if got := outcome(w.authorize(w.admin, "")); got != "sign-in" {
			t.Errorf("the page for a disabled user: %s", got)
		}
		wantError(t, w.exchange("code="+code), 400, grant)
		w.Get(t, "/v1/patients?per_page=1", given).Error(t, 403, "account_disabled")
		res := w.post(oauth.IntrospectPath, "client_id={app}&client_secret={secret}&token="+given).Status(t, 200)
		if res.Text(t, "active") != "false" {
			t.Errorf("introspection: %s", res.Raw)
		}
	})
}

// TestDeletedApplicationGetsNoAccess at any step.
func TestDeletedApplicationGetsNoAccess(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		form := w.authorize(w.admin, "").Form(t, oauth.AuthorizePath)
		code, given := w.code(w.admin, ""), w.token(w.admin)
		elsewhere := w.token(w.Browser(t).SignIn(seed.SecondAdmin))
		w.change(seed.DemoAdmin, func(ctx context.Context, tx *ent.Client) error { return oauth.Delete(ctx, tx, w.id("{app}")) })

		for _, token := range []string{given, elsewhere} {
			w.Get(t, "/v1/patients?per_page=1", token).Error(t, 401, "invalid_token")
		}
		wantError(t, w.exchange("code="+code), 401, "invalid_client")
		if got := outcome(w.admin.Submit(form, url.Values{"decision": {"allow"}})); got != stays {
			t.Errorf("consent: %s", got)
		}
		if got := outcome(w.admin.Submit(form, url.Values{"decision": {"deny"}})); got != stays {
			t.Errorf("denial: %s", got)
		}
	})
}

// TestEditedApplicationIsCheckedAgain when the user decides.
func TestEditedApplicationIsCheckedAgain(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		edit := func(address, scopes string) {
			w.change(seed.DemoAdmin, func(ctx context.Context, tx *ent.Client) error {
				return oauth.Edit(ctx, tx, w.id("{app}"), oauth.Draft{Name: "Recall Robot", RedirectURIs: []string{address}, Scopes: strings.Fields(scopes)})
			})
		}
		form := w.authorize(w.admin, "").Form(t, oauth.AuthorizePath)
		edit(callback, "user:read")
		if got := outcome(w.admin.Submit(form, url.Values{"decision": {"allow"}})); got != invalidScope {
			t.Errorf("scopes narrowed: %s", got)
		}
		edit("https://new.example.com/", "patient:read")
		for _, decision := range []string{"allow", "deny"} {
			if got := outcome(w.admin.Submit(form, url.Values{"decision": {decision}})); got != stays {
				t.Errorf("redirect address removed, %s: %s", decision, got)
			}
		}
	})
}

// TestCodeOfAnEditedApplicationIsLimited to its new scopes and redirect URIs.
func TestCodeOfAnEditedApplicationIsLimited(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		edit := func(address, scopes string) {
			w.change(seed.DemoAdmin, func(ctx context.Context, tx *ent.Client) error {
				return oauth.Edit(ctx, tx, w.id("{app}"), oauth.Draft{Name: "Recall Robot", RedirectURIs: []string{address}, Scopes: strings.Fields(scopes)})
			})
		}
		asked := "scope=user:read+appointment"
		narrowed, none, moved := w.code(w.admin, asked), w.code(w.admin, asked), w.code(w.admin, asked)
		edit(callback, "user:read")
		if got := w.exchange("code="+narrowed).Status(t, 200).Text(t, "scope"); got != "user:read" {
			t.Errorf("the token has the scopes %q", got)
		}
		edit(callback, "patient:read")
		wantError(t, w.exchange("code="+none), 400, "invalid_grant")
		edit("https://new.example.com/", "appointment user:read")
		wantError(t, w.exchange("code="+moved), 400, "invalid_grant")
	})
}

// TestConsentCountsOnlyForTheUserItWasShownTo, not for one who has signed in since.
func TestConsentCountsOnlyForTheUserItWasShownTo(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		form := w.authorize(w.admin, "").Form(t, oauth.AuthorizePath)
		second := w.Browser(t).SignIn(seed.SecondAdmin)
		page := second.Submit(form, url.Values{"decision": {"allow"}})
		if got := outcome(page); got != consent {
			t.Fatalf("another user's decision: %s", got)
		}
		page.Has(t, seed.SecondAdmin)
	})
}

// TestTokenActsInTheUsersPractice, whichever practice registered the application.
func TestTokenActsInTheUsersPractice(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		second := w.token(w.Browser(t).SignIn(seed.SecondAdmin))
		demo := w.token(w.admin)
		if got := w.exchange("code="+w.code(w.Browser(t).SignIn(seed.SecondAdmin), "scope=user:read")).Text(t, "access_token"); w.Get(t, "/v1/user", got).Status(t, 200).Text(t, "user.email") != seed.SecondAdmin {
			t.Error("the token acts for another user")
		}
		theirs, ours := patients(t, w.Env, second), patients(t, w.Env, demo)
		for id := range theirs {
			if ours[id] {
				t.Errorf("patient %s is seen by both", id)
			}
			w.Get(t, "/v1/patients/"+id, demo).Error(t, 404, "not_found")
		}
		for id := range ours {
			w.Get(t, "/v1/patients/"+id, second).Error(t, 404, "not_found")
		}
		if len(theirs) == 0 || len(ours) == 0 {
			t.Errorf("%d and %d patients", len(theirs), len(ours))
		}
	})
}

func patients(t *testing.T, e *harness.Env, token string) map[string]bool {
	t.Helper()
	seen := map[string]bool{}
	for _, id := range e.Get(t, "/v1/patients?per_page=20", token).Status(t, 200).Column(t, "patients", "id") {
		seen[id] = true
	}
	return seen
}
