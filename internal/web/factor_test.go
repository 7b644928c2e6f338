package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"chairside/internal/seed"
	"chairside/internal/test/harness"
)

func TestSecondFactorSetUpAndUse(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		b.Get("/settings/security").Has(t, "Two-factor authentication Off")
		setup := b.Get("/settings/second-factor").Status(t, http.StatusOK)
		checkPage(t, setup)
		picture := setup.All(func(n *html.Node) bool { return n.DataAtom == atom.Img && harness.Attr(n, "class") == "qr" })
		if len(picture) != 1 || !strings.HasPrefix(harness.Attr(picture[0], "src"), "data:image/png;base64,") || harness.Attr(picture[0], "alt") == "" {
			t.Error("no QR code")
		}
		secret := setup.Value(t, "setup-key")
		code := func() string {
			t.Helper()
			code, err := totp.GenerateCode(secret, e.Clock.Now())
			if err != nil {
				t.Fatal(err)
			}
			return code
		}
		for _, bad := range []string{"", "000000", "12345", "abcdef"} {
			p := b.Submit(setup.Form(t, "/settings/second-factor"), url.Values{"code": {bad}})
			checkFieldErrors(t, p, map[string]string{"code": "Incorrect code."})
			if p.Value(t, "setup-key") != secret {
				t.Error("the key has changed")
			}
		}
		on := b.Submit(setup.Form(t, "/settings/second-factor"), url.Values{"code": {code()}}).Status(t, http.StatusOK)
		checkPage(t, on)
		checkHeaders(t, on, policy)
		recovery := strings.Fields(on.Value(t, "recovery-codes"))
		if len(recovery) != 10 {
			t.Fatalf("recovery codes: %v", recovery)
		}
		b.Get("/settings/security").Has(t, "Two-factor authentication On", "10 recovery codes left").Lacks(t, recovery[0], secret)

		// Without the password the factor is not replaced and its secret not shown.
		if got := b.Get("/settings/second-factor").Redirect(t).String(); got != "/settings/security" {
			t.Errorf("setting it up again redirects to %s", got)
		}
		b.Post("/settings/second-factor", url.Values{"code": {code()}}).Status(t, http.StatusSeeOther)

		enter := func(code string) *harness.Page {
			t.Helper()
			form := b.Get("/sign-in?next=/settings/sessions").Form(t, "/sign-in")
			half := b.Submit(form, url.Values{"email": {seed.DemoAdmin}, "password": {seed.Password}})
			if got := half.Redirect(t).String(); got != "/sign-in/code?next=%2Fsettings%2Fsessions" {
				t.Fatalf("the password redirects to %s", got)
			}
			b.Get("/settings/tokens").Status(t, http.StatusSeeOther) // the sign-in is incomplete
			p := b.Follow(half).Status(t, http.StatusOK)
			checkPage(t, p)
			checkHeaders(t, p, policy)
			return b.Submit(p.Form(t, "/sign-in/code"), url.Values{"code": {code}})
		}
		refused := map[string]string{"code": "Incorrect code, or the code was already used."}
		checkFieldErrors(t, enter(code()), refused) // the setup code is used
		e.Clock.Advance(time.Minute)
		next := code()
		if got := enter(next[:3] + " " + next[3:]).Redirect(t).String(); got != "/settings/sessions" {
			t.Errorf("the code redirects to %s", got)
		}
		checkFieldErrors(t, enter(next), refused)
		enter(strings.ToLower(recovery[0])).Status(t, http.StatusSeeOther)
		checkFieldErrors(t, enter(recovery[0]), refused)
		enter(strings.ReplaceAll(recovery[1], "-", " ")).Status(t, http.StatusSeeOther)
		page := b.Get("/settings/security").Has(t, "8 recovery codes left")

		// New recovery codes and turning off need the password.
		for action, field := range map[string]string{"/settings/second-factor/off": "off-password", "/settings/second-factor/recovery-codes": "codes-password"} {
			for _, bad := range []string{"", "wrong"} {
				p := b.Submit(page.Form(t, action), url.Values{"password": {bad}})
				checkFieldErrors(t, p, map[string]string{field: "Incorrect password."})
				checkPage(t, p)
			}
		}
		// And an unused code.
		for action, field := range map[string]string{"/settings/second-factor/off": "off-code", "/settings/second-factor/recovery-codes": "codes-code"} {
			for _, bad := range []string{"", next, recovery[0]} {
				p := b.Submit(page.Form(t, action), url.Values{"password": {seed.Password}, "code": {bad}})
				checkFieldErrors(t, p, map[string]string{field: "Incorrect code, or the code was already used."})
				checkPage(t, p)
			}
			e.Clock.Advance(15 * time.Minute)
		}
		renewed := b.Submit(page.Form(t, "/settings/second-factor/recovery-codes"), url.Values{"password": {seed.Password}, "code": {code()}}).Status(t, http.StatusOK)
		fresh := strings.Fields(renewed.Value(t, "recovery-codes"))
		checkFieldErrors(t, enter(recovery[2]), refused)
		enter(fresh[0]).Status(t, http.StatusSeeOther)

		back := b.Submit(b.Get("/settings/security").Form(t, "/settings/second-factor/off"), url.Values{"password": {seed.Password}, "code": {fresh[1]}})
		b.Follow(back).Has(t, "Two-factor authentication is off.", "Two-factor authentication Off")
		e.Browser(t).SignIn(seed.DemoAdmin).Get("/settings/tokens").Status(t, http.StatusOK)
		if got := b.Post("/settings/second-factor/recovery-codes", url.Values{"password": {seed.Password}, "code": {code()}}).Redirect(t).String(); got != "/settings/security" {
			t.Errorf("recovery codes without a factor redirect to %s", got)
		}
	})
}

func TestSecondFactorGuessesAreThrottled(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		setup := b.Get("/settings/second-factor")
		code, err := totp.GenerateCode(setup.Value(t, "setup-key"), e.Clock.Now())
		if err != nil {
			t.Fatal(err)
		}
		b.Submit(setup.Form(t, "/settings/second-factor"), url.Values{"code": {code}}).Status(t, http.StatusOK)

		thief := e.Browser(t)
		half := thief.Submit(thief.Get("/sign-in").Form(t, "/sign-in"), url.Values{"email": {seed.DemoAdmin}, "password": {seed.Password}})
		form := thief.Follow(half).Form(t, "/sign-in/code")
		var p *harness.Page
		for range 6 {
			p = thief.Submit(form, url.Values{"code": {"123456"}})
		}
		if p.Status(t, http.StatusTooManyRequests); p.Header.Get("Retry-After") == "" || p.FieldError(t, "code") == "" {
			t.Errorf("%v %s", p.Header, p.Text())
		}

		// The password is valid for ten minutes.
		e.Clock.Advance(10*time.Minute + time.Second)
		late := thief.Submit(form, url.Values{"code": {"123456"}, "next": {"/settings/tokens"}})
		if got := late.Redirect(t).String(); got != "/sign-in?done=too-late&next=%2Fsettings%2Ftokens" {
			t.Errorf("a late code redirects to %s", got)
		}
		thief.Follow(late).Has(t, "Sign-in timed out.")
	})
}
