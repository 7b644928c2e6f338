package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/descope/virtualwebauthn"

	"chairside/ent"
	"chairside/ent/auditevent"
	"chairside/ent/passkey"
	"chairside/ent/user"
	"chairside/internal/principal"
	"chairside/internal/seed"
	"chairside/internal/server"
	"chairside/internal/signin"
	"chairside/internal/test/harness"
	"chairside/schema"
)

// device is a software authenticator with one passkey, and the browser page that it believes to
// be on.
type device struct {
	virtualwebauthn.Authenticator
	key  virtualwebauthn.Credential
	page virtualwebauthn.RelyingParty
}

// wholeKey is the length of a public key in COSE form with two coordinates of 32 bytes.
const wholeKey = 77

// newDevice returns a device on the server's pages. Browsers have no passkeys for addresses, so
// the server's name is localhost.
func newDevice(e *harness.Env) *device {
	key := virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2)
	for len(key.Key.AttestationData()) < wholeKey { // it drops leading zeros
		key = virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2)
	}
	return &device{
		virtualwebauthn.NewAuthenticator(), key,
		virtualwebauthn.RelyingParty{ID: "localhost", Origin: strings.Replace(e.URL, "127.0.0.1", "localhost", 1)},
	}
}

// register answers the challenge for a new passkey.
func (d *device) register(t *testing.T, options []byte) string {
	t.Helper()
	parsed, err := virtualwebauthn.ParseAttestationOptions(string(options))
	if err != nil {
		t.Fatalf("%v: %s", err, options)
	}
	d.Options.UserHandle = []byte(parsed.UserID)
	return virtualwebauthn.CreateAttestationResponse(d.page, d.Authenticator, d.key, *parsed)
}

// sign answers a challenge with the passkey.
func (d *device) sign(t *testing.T, options []byte) string {
	t.Helper()
	parsed, err := virtualwebauthn.ParseAssertionOptions(string(options))
	if err != nil {
		t.Fatalf("%v: %s", err, options)
	}
	d.key.Counter++
	return virtualwebauthn.CreateAssertionResponse(d.page, d.Authenticator, d.key, *parsed)
}

// addPasskey adds a passkey of the signed-in user.
func addPasskey(t *testing.T, b *harness.Browser, d *device, name string) *harness.Page {
	t.Helper()
	form := b.Get("/settings/passkeys/new").Status(t, http.StatusOK).Form(t, "/settings/passkeys")
	options := b.Post("/settings/passkeys/options", url.Values{"name": {name}}).Status(t, http.StatusOK).Raw
	return b.Submit(form, url.Values{"name": {name}, "passkey": {d.register(t, options)}})
}

// withPasskey returns a device with a passkey of a user, added in another browser.
func withPasskey(t *testing.T, e *harness.Env, email string) *device {
	t.Helper()
	d := newDevice(e)
	addPasskey(t, e.Browser(t).SignIn(email), d, "Laptop").Status(t, http.StatusSeeOther)
	return d
}

// challenge asks for the challenge of a page of the sign-in.
func challenge(t *testing.T, b *harness.Browser, step string) []byte {
	t.Helper()
	return b.Post("/sign-in/passkey", url.Values{"step": {step}}).Status(t, http.StatusOK).Raw
}

// signInWith signs in with a passkey alone.
func signInWith(t *testing.T, b *harness.Browser, d *device) *harness.Page {
	t.Helper()
	return b.Post("/sign-in", url.Values{"next": {"/settings/sessions"}, "passkey": {d.sign(t, challenge(t, b, "sign-in"))}})
}

const refusedPasskey = "The passkey was not accepted."

func TestPasskeySignsIn(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		own := e.Browser(t).SignIn(seed.DemoAdmin)
		checkPage(t, own.Get("/settings/security").Has(t, "Passkeys", "Add a passkey"))
		form := own.Get("/settings/passkeys/new").Status(t, http.StatusOK)
		checkPage(t, form)
		checkHeaders(t, form, policy)
		if name := form.Form(t, "/settings/passkeys").Values.Get("name"); name != "Firefox on Linux" {
			t.Errorf("the proposed name is %q", name)
		}
		d := newDevice(e)
		added := own.Follow(addPasskey(t, own, d, " Reception laptop ")).Has(t, "Passkey added.", "Reception laptop", "Added 1 Jul 2026, 10:15 Never")
		checkPage(t, added)

		b := e.Browser(t)
		checkPage(t, b.Get("/sign-in?next=/settings/sessions").Has(t, "Sign in with a passkey"))
		options := b.Post("/sign-in/passkey", url.Values{"step": {"sign-in"}}).Status(t, http.StatusOK)
		checkHeaders(t, options, policy)
		if cookie := options.Header.Get("Set-Cookie"); !strings.HasPrefix(cookie, "chairside_passkey=") || !strings.Contains(cookie, "Path=/; Max-Age=300; HttpOnly; SameSite=Strict") {
			t.Errorf("the cookie is %s", cookie)
		}
		if text := string(options.Raw); strings.Contains(text, "allowCredentials") || !strings.Contains(text, `"userVerification":"required"`) {
			t.Errorf("the options are %s", text)
		}
		e.Clock.Advance(time.Minute)
		in := b.Post("/sign-in", url.Values{"next": {"/settings/sessions"}, "passkey": {d.sign(t, options.Raw)}})
		if got := in.Redirect(t).String(); got != "/settings/sessions" {
			t.Errorf("the passkey redirects to %s", got)
		}
		b.Get("/settings/tokens/new").Status(t, http.StatusOK) // it is a proof
		b.Get("/settings/security").Has(t, "Reception laptop", "Added 1 Jul 2026, 10:15 just now")
		e.Settle()
		checkPage(t, b.Get("/settings/sign-ins").Has(t, "Signed in With a passkey"))

		ctx := e.As(t, seed.DemoSlug)
		for action, want := range map[string]int{"create": 1, "update": 0} { // a use is not a change
			if n, err := e.DB.Ent.AuditEvent.Query().Where(auditevent.Resource("Passkey"), auditevent.Action(action)).Count(ctx); err != nil || n != want {
				t.Errorf("%d entries %s of the passkey (%v), want %d", n, action, err, want)
			}
		}
		if log := e.Log.String(); strings.Contains(log, "Reception laptop") {
			t.Error("the log names the passkey")
		}
	})
}

func TestPasskeyReplacesTheCode(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		own := e.Browser(t).SignIn(seed.DemoAdmin)
		d := newDevice(e)
		addPasskey(t, own, d, "Laptop").Status(t, http.StatusSeeOther)
		setUpFactor(t, e, own)
		other := withPasskey(t, e, userWithRole(t, e, schema.RoleManager).Email)

		b := e.Browser(t)
		half := b.Submit(b.Get("/sign-in?next=/settings/sessions").Form(t, "/sign-in"), url.Values{"email": {seed.DemoAdmin}, "password": {seed.Password}})
		page := b.Follow(half).Status(t, http.StatusOK).Has(t, "Authentication code", "Sign in with a passkey")
		checkPage(t, page)
		checkPage(t, b.Post("/sign-in/code", url.Values{"passkey": {other.sign(t, challenge(t, b, "code"))}}).Status(t, http.StatusUnprocessableEntity).Has(t, refusedPasskey))
		given := url.Values{"next": {"/settings/sessions"}, "passkey": {d.sign(t, challenge(t, b, "code"))}}
		if got := b.Post("/sign-in/code", given).Redirect(t).String(); got != "/settings/sessions" {
			t.Errorf("the passkey redirects to %s", got)
		}
		b.Get("/settings/tokens").Status(t, http.StatusOK)
		// Alone it is both factors.
		signInWith(t, e.Browser(t), d).Status(t, http.StatusSeeOther)
	})
}

func TestPasskeyConfirms(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		e.ChangePractice(t, func(p *ent.PracticeUpdateOne) { p.SetIdleLockMinutes(30) })
		b, d := e.Browser(t).SignIn(seed.DemoAdmin), newDevice(e)
		addPasskey(t, b, d, "Laptop").Status(t, http.StatusSeeOther)
		other := withPasskey(t, e, userWithRole(t, e, schema.RoleManager).Email)
		for _, wait := range []time.Duration{10 * time.Minute, 31 * time.Minute} { // before a sensitive page, and for a locked session
			e.Clock.Advance(wait)
			page := b.Open("/settings/tokens/new").Has(t, "Confirm that it is you", "Use a passkey", "Password")
			checkPage(t, page)
			b.Post("/sign-in/confirm", url.Values{"passkey": {other.sign(t, challenge(t, b, "confirm"))}}).Status(t, http.StatusUnprocessableEntity).Has(t, refusedPasskey)
			b.Get("/settings/tokens/new").Status(t, http.StatusSeeOther)
			given := url.Values{"next": {"/settings/tokens/new"}, "passkey": {d.sign(t, challenge(t, b, "confirm"))}}
			if got := b.Post("/sign-in/confirm", given).Redirect(t).String(); got != "/settings/tokens/new" {
				t.Errorf("the proof redirects to %s", got)
			}
			b.Get("/settings/tokens/new").Status(t, http.StatusOK)
		}
		stranger := e.Browser(t)
		if got := stranger.Post("/sign-in/passkey", url.Values{"step": {"confirm"}}).Redirect(t).String(); got != "/sign-in" {
			t.Errorf("a challenge for no session redirects to %s", got)
		}
		stranger.Post("/sign-in/passkey", url.Values{"step": {"code"}}).Status(t, http.StatusSeeOther)
		stranger.Post("/sign-in/passkey", url.Values{"step": {"x"}}).Status(t, http.StatusBadRequest)
	})
}

// TestPasskeyMeetsTheRule: a passkey is the second factor that a practice requires.
func TestPasskeyMeetsTheRule(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		e.ChangePractice(t, func(p *ent.PracticeUpdateOne) { p.SetSecondFactorLevel(1) })
		b, d := e.Browser(t).SignIn(seed.DemoAdmin), newDevice(e)
		setUp := b.Open("/settings/tokens").Has(t, "Add a passkey instead")
		checkPage(t, setUp)
		page := b.Get("/settings/passkeys/new?next=/settings/tokens").Status(t, http.StatusOK).Has(t, "requires two-factor authentication", "Use an authenticator app instead")
		checkPage(t, page)
		options := b.Post("/settings/passkeys/options", url.Values{"name": {"Laptop"}}).Status(t, http.StatusOK).Raw
		done := b.Submit(page.Form(t, "/settings/passkeys"), url.Values{"passkey": {d.register(t, options)}})
		if got := done.Redirect(t).String(); got != "/settings/tokens" {
			t.Errorf("the new passkey redirects to %s", got)
		}
		b.Get("/settings/tokens").Status(t, http.StatusOK)

		// The password alone is not enough any more, to sign in or to confirm.
		again := e.Browser(t)
		code := again.Follow(again.Submit(again.Get("/sign-in").Form(t, "/sign-in"), url.Values{"email": {seed.DemoAdmin}, "password": {seed.Password}}))
		checkPage(t, code.Status(t, http.StatusOK).Has(t, "use your passkey").Lacks(t, "Authentication code"))
		again.Post("/sign-in/code", url.Values{"code": {"000000"}}).Status(t, http.StatusUnprocessableEntity)
		again.Get("/settings/tokens").Status(t, http.StatusSeeOther)
		again.Post("/sign-in/code", url.Values{"passkey": {d.sign(t, challenge(t, again, "code"))}}).Status(t, http.StatusSeeOther)
		again.Get("/settings/tokens").Status(t, http.StatusOK)
		e.Clock.Advance(10 * time.Minute)
		checkPage(t, again.Open("/settings/tokens/new").Has(t, "use your passkey", "Use a passkey"))
		again.Post("/sign-in/confirm", url.Values{"password": {seed.Password}}).Status(t, http.StatusUnprocessableEntity)
		again.Get("/settings/tokens/new").Status(t, http.StatusSeeOther)

		// Without the rule it is.
		e.ChangePractice(t, func(p *ent.PracticeUpdateOne) { p.SetSecondFactorLevel(0) })
		e.Browser(t).SignIn(seed.DemoAdmin).Get("/settings/tokens").Status(t, http.StatusOK)
	})
}

func TestPasskeysAreManaged(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b, d := e.Browser(t).SignIn(seed.DemoAdmin), newDevice(e)
		addPasskey(t, b, d, "Laptop").Status(t, http.StatusSeeOther)
		addPasskey(t, b, d, "Twice").Status(t, http.StatusUnprocessableEntity).Has(t, refusedPasskey)
		for _, bad := range []string{"", " ", strings.Repeat("x", 101), "a\nb"} {
			b.Post("/settings/passkeys/options", url.Values{"name": {bad}}).Status(t, http.StatusUnprocessableEntity)
			checkFieldErrors(t, b.Post("/settings/passkeys", url.Values{"name": {bad}}), map[string]string{"name": "Enter a name"})
		}
		page := b.Get("/settings/security")
		rename, remove := formActions(page, "/settings/passkeys/")[0], formActions(page, "/settings/passkeys/")[1]
		id := strings.Split(rename, "/")[3]
		checkFieldErrors(t, b.Submit(page.Form(t, rename), url.Values{"name": {""}}), map[string]string{"name-" + id: "Enter a name"})
		b.Follow(b.Submit(page.Form(t, rename), url.Values{"name": {"Phone"}})).Has(t, "Changes saved.", "Phone").Lacks(t, "Laptop")

		for _, email := range []string{userWithRole(t, e, schema.RoleManager).Email, seed.SecondAdmin} {
			stranger := e.Browser(t).SignIn(email)
			stranger.Get("/settings/security").Lacks(t, "Phone")
			stranger.Post(rename, url.Values{"name": {"Mine"}}).Status(t, http.StatusNotFound)
			stranger.Post(remove, nil).Status(t, http.StatusNotFound)
		}
		b.Post("/settings/passkeys"+unusedID+"/remove", nil).Status(t, http.StatusNotFound)
		b.Post("/settings/passkeys/x/rename", nil).Status(t, http.StatusNotFound)

		e.Clock.Advance(10 * time.Minute)
		if got := b.Post(remove, nil).Redirect(t).String(); got != "/sign-in/confirm?next=%2Fsettings%2Fpasskeys" {
			t.Errorf("removing without a proof redirects to %s", got)
		}
		b.Submit(b.Get("/sign-in/confirm").Form(t, "/sign-in/confirm"), url.Values{"password": {seed.Password}}).Status(t, http.StatusSeeOther)
		if got := b.Get("/settings/passkeys").Redirect(t).String(); got != "/settings/security" {
			t.Errorf("the passkeys redirect to %s", got)
		}
		signed := challenge(t, b, "sign-in")
		b.Follow(b.Post(remove, nil)).Has(t, "Passkey removed.").Lacks(t, "Phone")
		b.Post("/sign-in", url.Values{"passkey": {d.sign(t, signed)}}).Status(t, http.StatusUnprocessableEntity).Has(t, refusedPasskey)
		for range signin.MaxPasskeys {
			addPasskey(t, b, newDevice(e), "Key").Status(t, http.StatusSeeOther)
		}
		b.Get("/settings/security").Has(t, "You have 20 passkeys, the most possible.")
		b.Post("/settings/passkeys/options", url.Values{"name": {"One more"}}).Status(t, http.StatusUnprocessableEntity).Has(t, "Remove one first.")
	})
}

// TestOperatorRemovesPasskeys when a device is lost or a password reset.
func TestOperatorRemovesPasskeys(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		d := withPasskey(t, e, seed.DemoAdmin)
		b := e.Browser(t)
		signInWith(t, b, d).Status(t, http.StatusSeeOther)
		ctx := principal.AsSystem(t.Context())
		u, err := e.DB.Ent.User.Query().Where(user.Email(seed.DemoAdmin)).Only(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if held, err := signin.AccessOf(ctx, e.DB.Ent, u.ID, signin.SecondFactorEnds); err != nil || held.Passkeys != 1 {
			t.Errorf("the user has %+v (%v)", held, err)
		}
		e.Tx(t, ctx, func(tx *ent.Client) error { return signin.ResetSecondFactor(ctx, tx, u) })
		b.Get("/settings/tokens").Status(t, http.StatusSeeOther)
		signInWith(t, e.Browser(t), d).Status(t, http.StatusUnprocessableEntity)
		if n, err := e.DB.Ent.AuditEvent.Query().Where(auditevent.Resource("Passkey"), auditevent.Action("delete")).Count(ctx); err != nil || n != 1 {
			t.Errorf("%d entries about the removal (%v)", n, err)
		}
		addPasskey(t, e.Browser(t).SignIn(seed.DemoAdmin), d, "Laptop").Status(t, http.StatusSeeOther)
		e.Tx(t, ctx, func(tx *ent.Client) error { return signin.Disable(signin.Force(ctx), tx, u) })
		signInWith(t, e.Browser(t), d).Status(t, http.StatusUnprocessableEntity).Has(t, "This account is disabled.")
		e.Tx(t, ctx, func(tx *ent.Client) error { return tx.User.UpdateOne(u).SetActive(true).Exec(ctx) })
		signInWith(t, e.Browser(t), d).Status(t, http.StatusSeeOther)
	})
}

// TestPasskeysNeedAName: browsers have none for an address, or without HTTPS.
func TestPasskeysNeedAName(t *testing.T) {
	t.Parallel()
	for base, works := range map[string]bool{
		"https://chairside.example.com": true, "https://Chairside.Example.com:8443": true,
		"http://localhost:8080": true, "http://127.0.0.1:8080": true, "http://[::1]:8080": true,
		"http://chairside.example.com": false, "https://192.0.2.7": false, "https://[2001:db8::7]": false,
	} {
		t.Run(base, func(t *testing.T) {
			t.Parallel()
			e := harness.Start(t, harness.SQLite(t), func(o *server.Options) { o.BaseURL = base })
			p := e.Browser(t).Get("/sign-in").Status(t, http.StatusOK)
			checkPage(t, p)
			if shown := strings.Contains(p.Text(), "Sign in with a passkey"); shown != works {
				t.Errorf("offers passkeys: %t, want %t", shown, works)
			}
			host := http.Header{"Origin": {base}, "Sec-Fetch-Site": {"same-origin"}, "X-Forwarded-Host": {"evil.example"}}
			options := e.Browser(t).Send(http.MethodPost, "/sign-in/passkey", url.Values{"step": {"sign-in"}}, host)
			if !works {
				options.Status(t, http.StatusUnprocessableEntity)
				return
			}
			name := "chairside.example.com"
			if strings.HasPrefix(base, "http:") {
				name = "localhost"
			}
			if want := fmt.Sprintf(`"rpId":%q`, name); !strings.Contains(string(options.Status(t, http.StatusOK).Raw), want) {
				t.Errorf("the options lack %s: %s", want, options.Raw)
			}
		})
	}
}

// passkeyRowOf returns the only passkey of a user.
func passkeyRowOf(t *testing.T, e *harness.Env, email string) *ent.Passkey {
	t.Helper()
	row, err := e.DB.Ent.Passkey.Query().Where(passkey.HasUserWith(user.Email(email))).Only(principal.AsSystem(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	return row
}
