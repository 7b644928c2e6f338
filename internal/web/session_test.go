package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"chairside/internal/seed"
	"chairside/internal/test/harness"
)

const iPhone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1"

// signedInElsewhere signs the administrator in with another User-Agent.
func signedInElsewhere(t *testing.T, e *harness.Env, agent string) *harness.Browser {
	b := e.Browser(t)
	b.Header.Set("User-Agent", agent)
	return b.SignIn(seed.DemoAdmin)
}

func TestSessions(t *testing.T) {
	for name, database := range map[string]func(testing.TB) string{"sqlite": harness.SQLite, "postgres": harness.Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := database(t)
			e, other := harness.Start(t, address), harness.Start(t, address) // two processes
			b := e.Browser(t).SignIn(seed.DemoAdmin)
			e.Clock.Advance(5 * time.Minute)
			other.Clock.Advance(5 * time.Minute)
			phone := signedInElsewhere(t, e, iPhone)
			odd := signedInElsewhere(t, e, "<script>alert(1)</script>")
			stranger := e.Browser(t).SignIn(seed.SecondAdmin)

			p := b.Get("/settings/sessions").Has(t, "Firefox on Linux", "Safari on iOS", "1 Jul 2026, 10:20")
			checkPage(t, p)
			ends := formActions(p, "/settings/sessions/0")
			if len(ends) != 2 || p.HasForm("/settings/sessions/end") {
				t.Fatalf("sessions to end: %v", ends)
			}
			var phones string
			for _, end := range ends {
				button := p.All(func(n *html.Node) bool { return harness.Attr(n, "action") == end })[0]
				if strings.Contains(textOf(button), "Safari") {
					phones = end
				}
			}
			phone.At(other).Get("/settings/tokens").Status(t, http.StatusOK)
			back := b.Submit(p.Form(t, phones), nil)
			b.Follow(back).Has(t, "Session revoked.").Lacks(t, "Safari")
			phone.At(other).Get("/settings/tokens").Status(t, http.StatusSeeOther)
			b.Submit(p.Form(t, phones), nil).Status(t, http.StatusNotFound) // already revoked

			back = b.At(other).Submit(b.Get("/settings/sessions").Form(t, "/settings/sessions/end-others"), nil)
			b.Follow(back).Has(t, "signed out everywhere else", "not signed in anywhere else")
			odd.Get("/settings/tokens").Status(t, http.StatusSeeOther)
			stranger.Get("/settings/tokens").Status(t, http.StatusOK)

			// The current session has no button: signing out ends it.
			mine := b.Get("/settings/sessions")
			if len(formActions(mine, "/settings/sessions/0")) > 0 {
				t.Error("this browser can be ended")
			}
			b.Submit(mine.Form(t, "/sign-out"), nil)
			b.At(other).Get("/settings/tokens").Status(t, http.StatusSeeOther)
		})
	}
}

// textOf returns the text of an element.
func textOf(n *html.Node) string {
	var out strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			out.WriteString(d.Data)
		}
	}
	return out.String()
}

func TestSessionsExpire(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		idle, busy := e.Browser(t).SignIn(seed.DemoAdmin), e.Browser(t).SignIn(seed.DemoAdmin)
		for range 7 {
			e.Clock.Advance(100 * time.Minute)
			busy.Get("/settings/tokens").Status(t, http.StatusOK)
		}
		idle.Get("/settings/tokens").Status(t, http.StatusSeeOther)
		e.Clock.Advance(21 * time.Minute) // 12 hours and a minute after signing in
		busy.Get("/settings/tokens").Status(t, http.StatusSeeOther)
	})
}

func TestPasswordChange(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b, elsewhere := e.Browser(t).SignIn(seed.DemoAdmin), e.Browser(t).SignIn(seed.DemoAdmin)
		token, _ := makeToken(t, b, "Mine", nil)
		const chosen = "correct horse battery"
		form := b.Get("/settings/security").Form(t, "/settings/password")
		for _, test := range []struct {
			current, password, again string
			wrong                    map[string]string
		}{
			{"", "", "", map[string]string{"current": "Enter your current password.", "password": "Enter a new password."}},
			{seed.Password, chosen, chosen + "x", map[string]string{"again": "do not match"}},
			{"", chosen, "", map[string]string{"current": "Enter", "again": "do not match"}},
			{"wrong", chosen, chosen, map[string]string{"current": "Incorrect password."}},
			{seed.Password, "Password2026!", "Password2026!", map[string]string{"password": "The password is too common"}},
			{seed.Password, "Admin demo Chairside test", "Admin demo Chairside test", map[string]string{"password": "The password must not be your name"}},
			{seed.Password, "short", "short", map[string]string{"password": "The password must have at least 10 characters."}},
			{seed.Password, strings.Repeat("x", 5000), strings.Repeat("x", 5000), map[string]string{"password": "must not have more than"}},
		} {
			p := b.Submit(form, url.Values{"current": {test.current}, "password": {test.password}, "again": {test.again}})
			checkFieldErrors(t, p, test.wrong)
			checkPage(t, p)
			if test.password != "" {
				p.Lacks(t, `value="`+test.password)
			}
		}
		elsewhere.Get("/settings/tokens").Status(t, http.StatusOK)

		back := b.Submit(form, url.Values{"current": {seed.Password}, "password": {chosen}, "again": {chosen}})
		b.Follow(back).Status(t, http.StatusOK).Has(t, "Password changed.")
		elsewhere.Get("/settings/tokens").Status(t, http.StatusSeeOther)
		b.Get("/settings/tokens").Status(t, http.StatusOK)
		e.Get(t, "/v1/user", token).Status(t, http.StatusOK)
		sign := elsewhere.Get("/sign-in").Form(t, "/sign-in")
		elsewhere.Submit(sign, url.Values{"email": {seed.DemoAdmin}, "password": {seed.Password}}).Status(t, http.StatusUnprocessableEntity)
		elsewhere.Submit(sign, url.Values{"email": {seed.DemoAdmin}, "password": {chosen}}).Status(t, http.StatusSeeOther)
	})
}
