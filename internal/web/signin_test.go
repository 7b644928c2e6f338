package web_test

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"chairside/ent"
	"chairside/internal/seed"
	"chairside/internal/signin"
	"chairside/internal/test/harness"
	"chairside/schema"
)

func TestSignIn(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t)
		form := b.Get("/sign-in?next=/settings/sessions").Form(t, "/sign-in")
		p := b.Submit(form, url.Values{"email": {" ADMIN@demo.chairside.test "}, "password": {seed.Password}})
		if got := p.Redirect(t).String(); got != "/settings/sessions" {
			t.Errorf("redirects to %s", got)
		}
		cookie := sessionCookie(p)
		if !strings.HasPrefix(cookie, "chairside_session=") || !strings.HasSuffix(cookie, "; Path=/; HttpOnly; SameSite=Lax") {
			t.Errorf("the cookie is %s", cookie)
		}
		checkHeaders(t, p, policy)
		b.Get("/settings/sessions").Status(t, http.StatusOK).Has(t, "Firefox on Linux", "This browser", "127.0.0.1", "1 Jul 2026, 10:15", "not signed in anywhere else")

		// A signed-in visitor can sign in as another user.
		again := b.Get("/sign-in?next=/settings/tokens").Status(t, http.StatusOK).Has(t, "You are signed in as")
		checkPage(t, again)
		if !slices.Contains(again.Links(), "/settings/tokens") {
			t.Errorf("the way on is not among %v", again.Links())
		}
		before := b.Cookies()[0].Value
		b.SignIn(seed.SecondAdmin)
		if b.Cookies()[0].Value == before {
			t.Error("the session of one user became that of another")
		}
		b.Get("/settings/tokens").Has(t, seed.SecondAdmin)

		out := b.Submit(b.Get("/settings/tokens").Form(t, "/sign-out"), nil)
		b.Follow(out).Status(t, http.StatusOK).Has(t, "You are signed out")
		b.Get("/settings/tokens").Status(t, http.StatusSeeOther)
		b.Post("/sign-out", url.Values{}).Status(t, http.StatusSeeOther) // again
		if len(b.Cookies()) > 0 {
			t.Error("the cookie is still there")
		}
	})
}

func TestSignInErrors(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t)
		disabled := userWithRole(t, e, schema.RoleReceptionist)
		e.Tx(t, e.As(t, seed.DemoSlug), func(tx *ent.Client) error { return signin.Disable(e.As(t, seed.DemoSlug), tx, disabled) })
		form := b.Get("/sign-in?next=/settings/sessions").Form(t, "/sign-in")
		for _, test := range []struct {
			email, password string
			wrong           map[string]string
		}{
			{"", "", map[string]string{"email": "Enter your e-mail address.", "password": "Enter your password."}},
			{seed.DemoAdmin, "", map[string]string{"password": "Enter your password."}},
			{seed.DemoAdmin, "not-<it>", map[string]string{"password": "Incorrect e-mail address or password."}},
			{"nobody@example.org", seed.Password, map[string]string{"password": "Incorrect e-mail address or password."}},
			{"no address", seed.Password, map[string]string{"password": "Incorrect e-mail address or password."}},
			{disabled.Email, seed.Password, map[string]string{"email": "This account is disabled."}},
			{disabled.Email, "not-<it>", map[string]string{"password": "Incorrect e-mail address or password."}},
		} {
			p := b.Submit(form, url.Values{"email": {test.email}, "password": {test.password}})
			checkFieldErrors(t, p, test.wrong)
			checkHeaders(t, p, policy)
			checkPage(t, p)
			back := p.Form(t, "/sign-in")
			if back.Values.Get("email") != test.email || back.Values.Get("next") != "/settings/sessions" {
				t.Errorf("the form comes back with %v", back.Values)
			}
			if back.Values.Get("password") != "" {
				t.Error("the password is sent back")
			}
			p.Lacks(t, "not-<it>")
			if p.Header.Get("Set-Cookie") != "" {
				t.Error("a wrong password gives a cookie")
			}
		}
	})
}

func TestPasswordGuessesAreThrottled(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t)
		form := b.Get("/sign-in").Form(t, "/sign-in")
		guess := url.Values{"email": {seed.DemoAdmin}, "password": {"wrong"}}
		var p *harness.Page
		for range 11 {
			p = b.Submit(form, guess)
		}
		p.Status(t, http.StatusTooManyRequests)
		wait, err := strconv.Atoi(p.Header.Get("Retry-After"))
		if err != nil || wait < 60 || wait > 15*60 || !strings.Contains(p.FieldError(t, "password"), "Try again in 15 minutes.") {
			t.Errorf("Retry-After %q, beside the password %q", p.Header.Get("Retry-After"), p.FieldError(t, "password"))
		}
		checkPage(t, p)
		guess.Set("password", seed.Password) // the correct one is not checked either
		b.Submit(form, guess).Status(t, http.StatusTooManyRequests)
		e.Clock.Advance(time.Duration(wait) * time.Second)
		b.Submit(form, guess).Status(t, http.StatusSeeOther)

		// Guesses at the password in an open session are throttled, too.
		form = b.Get("/settings/security").Form(t, "/settings/password")
		for range 11 {
			p = b.Submit(form, url.Values{"current": {"wrong"}, "password": {"a new password"}, "again": {"a new password"}})
		}
		if p.Status(t, http.StatusTooManyRequests); p.Header.Get("Retry-After") == "" || p.FieldError(t, "current") == "" {
			t.Errorf("%v %s", p.Header, p.Text())
		}
	})
}

func TestDisabledUserIsSignedOut(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		u := userWithRole(t, e, schema.RoleManager)
		b := e.Browser(t).SignIn(u.Email)
		ctx := e.As(t, seed.DemoSlug)
		e.Tx(t, ctx, func(tx *ent.Client) error { return tx.User.UpdateOne(u).SetActive(false).Exec(ctx) })
		b.Get("/settings/tokens").Status(t, http.StatusSeeOther)
		b.Post("/settings/tokens", url.Values{"name": {"x"}, "scopes": {"patient"}}).Status(t, http.StatusSeeOther)
	})
}
