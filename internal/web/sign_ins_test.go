package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"chairside/ent/user"
	"chairside/internal/seed"
	"chairside/internal/test/harness"
	"chairside/schema"
)

const noticed = "A new browser signed in as you."

// TestSignInHistory shows the visitor's own sign-ins, and nothing of them reaches the log.
func TestSignInHistory(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t)
		b.Post("/sign-in", url.Values{"email": {seed.DemoAdmin}, "password": {"wrong-password"}}).Status(t, http.StatusUnprocessableEntity)
		e.Clock.Advance(time.Minute)
		b.SignIn(seed.DemoAdmin)
		e.Clock.Advance(time.Minute)
		signedInElsewhere(t, e, iPhone)
		e.Browser(t).SignIn(userWithRole(t, e, schema.RoleReceptionist).Email)
		e.Settle()
		p := b.Get("/settings/sign-ins").Status(t, http.StatusOK).Has(t, "Firefox on Linux This session", "Safari on iOS", "From 127.0.0.0/24", "Failed", "1 Jul 2026, 10:17").Lacks(t, "127.0.0.1")
		checkPage(t, p)
		if rows := strings.Count(string(p.Raw), `role="rowheader"`); rows != 3 {
			t.Errorf("%d sign-ins, want 3", rows)
		}
		if strings.Count(p.Text(), "This session") != 1 {
			t.Errorf("not one sign-in is of this session: %s", p.Text())
		}
		if log := e.Log.String(); strings.Contains(log, "Safari") || strings.Contains(log, "127.0.0.0/24") {
			t.Error("the log has browsers or networks")
		}
	})
}

// TestNewBrowserIsNoticed by the user's other browsers, until one of them dismisses it.
func TestNewBrowserIsNoticed(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		own := e.Browser(t).SignIn(seed.DemoAdmin)
		own.Get("/settings/tokens").Lacks(t, noticed) // the first browser
		own.SignIn(seed.DemoAdmin).Get("/settings/tokens").Lacks(t, noticed)
		colleague := own.SignIn(userWithRole(t, e, schema.RoleReceptionist).Email)
		colleague.Get("/settings/tokens").Lacks(t, noticed) // the first of another user
		own.SignIn(seed.DemoAdmin)

		e.Clock.Advance(time.Minute)
		stranger := signedInElsewhere(t, e, iPhone)
		stranger.Get("/settings/tokens").Lacks(t, noticed) // the thief cannot see it
		stranger.Post("/settings/sign-ins/dismiss", nil).Status(t, http.StatusSeeOther)
		forgetful := e.Browser(t) // the thief deletes the cookie of the browser
		forgetful.Header.Set("Cookie", stranger.Cookies()[0].String())
		forgetful.Get("/settings/sign-ins").Has(t, "Sign out")
		forgetful.Post("/settings/sign-ins/dismiss", nil).Status(t, http.StatusSeeOther)
		checkPage(t, own.Get("/settings/tokens").Has(t, noticed))
		p := own.Get("/settings/sign-ins").Has(t, "Safari on iOS signed in for the first time on 1 Jul 2026, 10:16.", "Was this you?")
		checkPage(t, p)
		own.SignIn(seed.DemoAdmin).Get("/settings/security").Has(t, noticed) // at the next sign-in
		own.Follow(own.Submit(p.Form(t, "/settings/sign-ins/dismiss"), nil)).Has(t, "Notice dismissed.").Lacks(t, "Was this you?")
		own.Get("/settings/tokens").Lacks(t, noticed)
		stranger.SignIn(seed.DemoAdmin)
		own.Get("/settings/tokens").Lacks(t, noticed) // it is known

		// Only a hash of the cookie is stored, and two users of one browser have different ones.
		u, err := e.DB.Ent.User.Query().Where(user.Email(seed.DemoAdmin)).Only(e.As(t, seed.DemoSlug))
		if err != nil || len(u.KnownBrowsers) != 2 {
			t.Fatal(err, u.KnownBrowsers)
		}
		other := userWithRole(t, e, schema.RoleReceptionist).KnownBrowsers
		if len(other) != 1 || other[0].Hash == u.KnownBrowsers[0].Hash || other[0].Hash == u.KnownBrowsers[1].Hash {
			t.Errorf("known browsers %v and %v", other, u.KnownBrowsers)
		}
		e.Settle()
		n, err := e.DB.Ent.AuditEvent.Query().Count(e.As(t, seed.DemoSlug))
		if err != nil {
			t.Fatal(err)
		}
		own.SignIn(seed.DemoAdmin)
		e.Settle()
		if after, err := e.DB.Ent.AuditEvent.Query().Count(e.As(t, seed.DemoSlug)); err != nil || after != n+1 {
			t.Errorf("a sign-in has %d entries in the audit log (%v), want its own", after-n, err)
		}
	})
}

// TestBrowserCookie: it lasts, is bound to the host, and a malformed one is replaced.
func TestBrowserCookie(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t)
		given := func(cookie string) *http.Cookie {
			t.Helper()
			p := b.Send(http.MethodPost, "/sign-in", url.Values{"email": {seed.DemoAdmin}, "password": {seed.Password}}, http.Header{"Origin": {e.URL}, "Cookie": {cookie}}).Status(t, http.StatusSeeOther)
			for _, c := range (&http.Response{Header: p.Header}).Cookies() {
				if c.Name == "chairside_browser" {
					return c
				}
			}
			t.Fatal("no cookie")
			return nil
		}
		c := given("")
		if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" || c.MaxAge != 400*24*3600 || len(c.Value) < 26 {
			t.Errorf("the cookie is %s", c)
		}
		if again := given("chairside_browser=" + c.Value); again.Value != c.Value {
			t.Error("a known browser got another cookie")
		}
		if other := given("chairside_browser=x"); len(other.Value) < 26 {
			t.Errorf("a planted cookie is kept: %s", other)
		}
		if p := b.Post("/sign-in", url.Values{"email": {seed.DemoAdmin}, "password": {"wrong-password"}}); p.Header.Get("Set-Cookie") != "" {
			t.Error("a failed sign-in got a cookie")
		}
	})
}
