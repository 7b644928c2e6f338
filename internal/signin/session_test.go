package signin_test

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"chairside/ent"
	"chairside/ent/session"
	"chairside/internal/principal"
	"chairside/internal/seed"
	"chairside/internal/server"
	"chairside/internal/signin"
	"chairside/internal/signin/password"
	"chairside/internal/test/harness"
)

// cookie returns the session cookie of a browser.
func cookie(t *testing.T, b *harness.Browser) string {
	t.Helper()
	for _, c := range b.Cookies() {
		if c.Name == "chairside_session" {
			return c.Value
		}
	}
	t.Fatal("no session cookie")
	return ""
}

// browserWithCookie returns another browser with a stolen or planted cookie.
func browserWithCookie(t *testing.T, e *harness.Env, value string) *harness.Browser {
	b := e.Browser(t)
	b.Header.Set("Cookie", "chairside_session="+value)
	return b
}

// TestCookieAttributes: HttpOnly, bound to the host, and ends with the browser.
func TestCookieAttributes(t *testing.T) {
	for scheme, name := range map[string]string{"http": "chairside_session", "https": "__Host-chairside_session"} {
		t.Run(scheme, func(t *testing.T) {
			e := harness.Start(t, harness.SQLite(t), func(o *server.Options) { o.BaseURL = strings.Replace(o.BaseURL, "http", scheme, 1) })
			p := submitSignIn(e.Browser(t), seed.DemoAdmin, seed.Password).Status(t, http.StatusSeeOther)
			given := (&http.Response{Header: p.Header}).Cookies()
			if len(given) != 2 { // the other one recognises the browser
				t.Fatalf("cookies %v", given)
			}
			c := given[slices.IndexFunc(given, func(c *http.Cookie) bool { return strings.HasSuffix(c.Name, "_session") })]
			if c.Name != name || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" || c.MaxAge != 0 || !c.Expires.IsZero() || c.Secure != (scheme == "https") {
				t.Errorf("cookie %s", c)
			}
			if len(c.Value) < 43 {
				t.Errorf("cookie of %d letters", len(c.Value))
			}
		})
	}
}

// TestSignInReplacesTheSession: a cookie planted before sign-in, or from before the
// code, does not become the user's session.
func TestSignInReplacesTheSession(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		planted := strings.Repeat("a", 43)
		victim := browserWithCookie(t, e, planted)
		p := submitSignIn(victim, seed.DemoAdmin, seed.Password).Status(t, http.StatusSeeOther)
		if strings.Contains(p.Header.Get("Set-Cookie"), planted) {
			t.Errorf("the planted cookie is kept: %s", p.Header.Get("Set-Cookie"))
		}
		wantSignedIn(t, browserWithCookie(t, e, planted), false, "planted")

		own := e.Browser(t).SignIn(seed.SecondAdmin) // the attacker's own session, planted
		attackers := cookie(t, own)
		submitSignIn(browserWithCookie(t, e, attackers), seed.DemoAdmin, seed.Password).Status(t, http.StatusSeeOther)
		if p := own.Get("/settings/security"); p.Code == http.StatusOK {
			p.Lacks(t, seed.DemoAdmin)
		}

		f := enrolAdministrator(t, e)
		b := enterPassword(t, e.Browser(t))
		first := cookie(t, b)
		enterCode(b, codeAt(t, f.secret, e.Clock.Now())).Redirect(t)
		if cookie(t, b) == first {
			t.Error("the cookie of half a sign-in is that of the whole")
		}
		wantSignedIn(t, browserWithCookie(t, e, first), false, "the cookie of half a sign-in")
	})
}

// TestSignOutEndsTheSessionOnTheServer, not only in the browser.
func TestSignOutEndsTheSessionOnTheServer(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		other := e.Browser(t).SignIn(seed.DemoAdmin)
		stolen := browserWithCookie(t, e, cookie(t, b))
		wantSignedIn(t, stolen, true, "stolen")
		if to := b.Post("/sign-out", url.Values{}).Redirect(t); to.Path != "/sign-in" {
			t.Errorf("sent to %s", to)
		}
		wantSignedIn(t, b, false, "after sign-out")
		wantSignedIn(t, stolen, false, "stolen, after sign-out")
		wantSignedIn(t, other, true, "another browser")
		b.Post("/sign-out", url.Values{}).Redirect(t)
		b.Get("/sign-out").Status(t, http.StatusMethodNotAllowed)
		wantSignedIn(t, other, true, "another browser, after a second sign-out")
	})
}

// TestOnlyTheHashOfTheCookieIsStored, so that reading the database gives no session.
func TestOnlyTheHashOfTheCookieIsStored(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		value := cookie(t, e.Browser(t).SignIn(seed.DemoAdmin))
		row := e.DB.Ent.Session.Query().OnlyX(principal.AsSystem(t.Context()))
		if strings.Contains(row.TokenHash, value) || strings.Contains(string(row.Data), value) {
			t.Error("the cookie is stored")
		}
		wantSignedIn(t, browserWithCookie(t, e, row.TokenHash), false, "what is stored, as a cookie")
		for _, odd := range []string{"", "x", strings.Repeat("x", 4000), "%00", "'; DROP TABLE sessions; --"} {
			wantSignedIn(t, browserWithCookie(t, e, odd), false, odd)
		}
	})
}

func TestSessionEndsAfterTwoIdleHoursOrTwelveInAll(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		begun := e.Clock.Now()
		for _, c := range []struct {
			idle time.Duration
			in   bool
		}{{time.Hour + 59*time.Minute, true}, {2 * time.Hour, false}, {2*time.Hour + time.Minute, false}, {24 * time.Hour, false}} {
			e.Clock.Set(begun)
			b := e.Browser(t).SignIn(seed.DemoAdmin)
			e.Clock.Advance(c.idle)
			wantSignedIn(t, b, c.in, "idle for "+c.idle.String())
		}
		e.Clock.Set(begun)
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		for range 7 {
			e.Clock.Advance(100 * time.Minute)
			wantSignedIn(t, b, true, e.Clock.Now().Sub(begun).String()+" after sign-in")
		}
		e.Clock.Set(begun.Add(12*time.Hour - time.Minute))
		wantSignedIn(t, b, true, "11:59 after sign-in")
		e.Clock.Set(begun.Add(12 * time.Hour))
		wantSignedIn(t, b, false, "12:00 after sign-in")
		e.Clock.Set(begun.Add(12*time.Hour + time.Minute))
		wantSignedIn(t, b, false, "12:01 after sign-in")
		e.Browser(t).SignIn(seed.DemoAdmin)
		if n := e.DB.Ent.Session.Query().Where(session.ExpiresAtLT(e.Clock.Now())).CountX(principal.AsSystem(t.Context())); n > 0 {
			t.Errorf("%d sessions that have ended are kept", n)
		}
	})
}

// TestChangePasswordEndsTheOtherSessions and keeps the current one.
func TestChangePasswordEndsTheOtherSessions(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b, other, stranger := e.Browser(t).SignIn(seed.DemoAdmin), e.Browser(t).SignIn(seed.DemoAdmin), e.Browser(t).SignIn(seed.SecondAdmin)
		token := e.Token(t, "")
		refused := url.Values{"current": {"wrong-password"}, "password": {"another-password"}, "again": {"another-password"}}
		b.Post("/settings/password", refused).Status(t, http.StatusUnprocessableEntity)
		wantSignedIn(t, other, true, "after a change that was refused")
		b.Post("/settings/password", url.Values{"current": {seed.Password}, "password": {"another-password"}, "again": {"another-password"}}).Redirect(t)
		wantSignedIn(t, b, true, "the session of the change")
		wantSignedIn(t, other, false, "another session")
		wantSignedIn(t, stranger, true, "another user's session")
		e.Get(t, "/v1/user", token).Status(t, http.StatusOK)
		submitSignIn(e.Browser(t), seed.DemoAdmin, seed.Password).Status(t, http.StatusUnprocessableEntity)
		submitSignIn(e.Browser(t), seed.DemoAdmin, "another-password").Status(t, http.StatusSeeOther)
	})
}

// TestResetPasswordEndsAllSessions from another process, as "chairside user
// reset-password" does.
func TestResetPasswordEndsAllSessions(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b, stranger := e.Browser(t).SignIn(seed.DemoAdmin), e.Browser(t).SignIn(seed.SecondAdmin)
		chosen, err := password.Unchecked(t.Context(), "another-password")
		if err != nil {
			t.Fatal(err)
		}
		changeAdministrator(t, e, func(ctx context.Context, tx *ent.Client, u *ent.User) error {
			return signin.ResetPassword(ctx, tx, u, chosen, false)
		})
		wantSignedIn(t, b, false, "after a reset")
		wantSignedIn(t, stranger, true, "another user's session")
		submitSignIn(b, seed.DemoAdmin, seed.Password).Status(t, http.StatusUnprocessableEntity)
		submitSignIn(b, seed.DemoAdmin, "another-password").Status(t, http.StatusSeeOther)
	})
}

// TestDisableEndsSessions, and enabling the user does not restore them.
func TestDisableEndsSessions(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		active := func(is bool) {
			changeAdministrator(t, e, func(ctx context.Context, tx *ent.Client, u *ent.User) error {
				return tx.User.UpdateOne(u).SetActive(is).Exec(ctx)
			})
		}
		b, seen := e.Browser(t).SignIn(seed.DemoAdmin), e.Browser(t).SignIn(seed.DemoAdmin)
		active(false) // without signin.Disable
		wantSignedIn(t, seen, false, "disabled")
		active(true)
		wantSignedIn(t, seen, false, "let in again")
		changeAdministrator(t, e, signin.Disable)
		wantSignedIn(t, b, false, "disabled")
		active(true)
		wantSignedIn(t, b, false, "let in again")
	})
}

// TestRevokedSessionEndsOnAllServers with the next request.
func TestRevokedSessionEndsOnAllServers(t *testing.T) {
	for name, database := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where := database(t)
			one, two := harness.Start(t, where), harness.Start(t, where)
			b := one.Browser(t).SignIn(seed.DemoAdmin)
			wantSignedIn(t, b.At(two), true, "elsewhere")
			other := two.Browser(t).SignIn(seed.DemoAdmin)
			b.Post("/settings/sessions/end-others", url.Values{}).Redirect(t)
			wantSignedIn(t, other, false, "ended elsewhere")
			wantSignedIn(t, b.At(two), true, "the one that has ended the others")
			b.At(two).Post("/sign-out", url.Values{}).Redirect(t)
			wantSignedIn(t, browserWithCookie(t, one, "x"), false, "nobody")
			wantSignedIn(t, b, false, "signed out elsewhere")
		})
	}
}

// TestUserCannotRevokeAnotherUsersSession by its id.
func TestUserCannotRevokeAnotherUsersSession(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		victim := e.Browser(t).SignIn(seed.DemoAdmin)
		id := e.DB.Ent.Session.Query().OnlyX(principal.AsSystem(t.Context())).ID
		for _, email := range []string{seed.SecondAdmin, colleague(t, e).Email} {
			b := e.Browser(t).SignIn(email)
			if p := b.Post("/settings/sessions/"+id.String()+"/end", url.Values{}); p.Code != http.StatusNotFound {
				t.Errorf("%s: status %d", email, p.Code)
			}
			b.Post("/settings/sessions/end-others", url.Values{}).Redirect(t)
			b.Get("/settings/sessions").Status(t, http.StatusOK).Lacks(t, id.String(), cookie(t, victim))
		}
		wantSignedIn(t, victim, true, "afterwards")
	})
}
