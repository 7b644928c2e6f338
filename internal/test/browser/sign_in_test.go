package browser

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"chairside/internal/seed"
	"chairside/internal/test/harness"
)

// TestSignInReturnsToTheRequestedPage, and signing out ends the session.
func TestSignInReturnsToTheRequestedPage(t *testing.T) {
	t.Parallel()
	p := open(t, start(t))
	p.visit("/settings/security").at("/sign-in").giveCredentials(seed.DemoAdmin, seed.Password).at("/settings/security").status(200)
	p.submit("Sign out").at("/sign-in").has("You are signed out.")
	p.visit("/settings/security").at("/sign-in")
}

// TestTwoFactorSignIn sets up two-factor authentication and signs in with a code and with
// a recovery code.
func TestTwoFactorSignIn(t *testing.T) {
	t.Parallel()
	e := start(t)
	p := open(t, e)
	p.signIn(seed.DemoAdmin).follow("Security").follow("Set up two-factor authentication")
	key := p.value("setup-key")
	p.fill("Authentication code", code(t, e, key)).submit("Turn on").has("Save your recovery codes.")
	spare := strings.Fields(p.value("recovery-codes"))
	p.follow("I’ve saved my recovery codes").at("/settings/security").has("You have 10 recovery codes left.").submit("Sign out")

	e.Clock.Advance(time.Minute) // a code works once
	p.giveCredentials(seed.DemoAdmin, seed.Password).at("/sign-in/code")
	p.visit("/settings/tokens").at("/sign-in") // the password alone opens nothing
	p.giveCredentials(seed.DemoAdmin, seed.Password).at("/sign-in/code")
	p.fill("Authentication code", code(t, e, key)).submit("Sign in").at("/settings/tokens").status(200).submit("Sign out")

	p.giveCredentials(seed.DemoAdmin, seed.Password).fill("Authentication code", spare[3]).submit("Sign in").at("/settings/status")
	p.follow("Security").has("You have 9 recovery codes left.").submit("Sign out")
	p.giveCredentials(seed.DemoAdmin, seed.Password).fill("Authentication code", spare[3]).submit("Sign in").status(422).has("Incorrect code, or the code was already used.")
	p.visit("/settings/tokens").at("/sign-in")
}

func TestBackButtonShowsNothingAfterSignOut(t *testing.T) {
	t.Parallel()
	e := start(t)
	makeToken(t, e.Browser(t).SignIn(seed.DemoAdmin), "Recall letters", map[string][]string{"scopes": {"patient:read"}})
	p := open(t, e)
	p.signIn(seed.DemoAdmin).at("/settings/status").visit("/settings/tokens").has("Recall letters").submit("Sign out")
	for range 2 {
		p.load(func() { eval[any](p, "setTimeout(() => history.back())") }) // after this call has returned
		p.at("/sign-in").lacks("Recall letters", seed.DemoAdmin)
	}
}

// TestSessionIsRevoked from another browser.
func TestSessionIsRevoked(t *testing.T) {
	t.Parallel()
	e := start(t)
	here, there := open(t, e), open(t, e)
	here.signIn(seed.DemoAdmin)
	there.signIn(seed.DemoAdmin).visit("/settings/tokens").status(200)
	here.follow("Sessions").has("This browser").submit("Revoke session of Headless Chrome on Linux").has("Session revoked.", "You are not signed in anywhere else.")
	there.visit("/settings/tokens").at("/sign-in")
	here.visit("/settings/tokens").at("/settings/tokens")
}

// TestChangePasswordSignsOtherBrowsersOut, and replaces the old password.
func TestChangePasswordSignsOtherBrowsersOut(t *testing.T) {
	t.Parallel()
	e := start(t)
	here, there := open(t, e), open(t, e)
	there.signIn(seed.DemoAdmin)
	here.signIn(seed.DemoAdmin).follow("Security")
	here.fill("Current password", seed.Password).fill("New password", newPassword).fill("Confirm new password", newPassword)
	here.submit("Change password").at("/settings/security").has("Password changed.")
	there.visit("/settings/security").at("/sign-in").giveCredentials(seed.DemoAdmin, seed.Password).status(422)
	there.giveCredentials(seed.DemoAdmin, newPassword).at("/settings/security")
}

// TestPasskeySignIn adds a passkey with Chromium's own authenticator, signs in with it, and
// confirms the session with it.
func TestPasskeySignIn(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.URL = byName(e.URL)
	p := open(t, e)
	p.run(webauthn.Enable(), chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := webauthn.AddVirtualAuthenticator(&webauthn.VirtualAuthenticatorOptions{
			Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
			HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
		}).Do(ctx)
		return err
	}))
	p.signIn(seed.DemoAdmin).visit("/settings/security").follow("Add a passkey")
	p.fill("Name", "").press(p.find("button", "Add passkey"))
	p.until("the name is refused", func() bool { return strings.Contains(p.text(), "Enter a name.") })
	p.fill("Name", "Reception laptop").submit("Add passkey").at("/settings/security").has("Passkey added.", "Reception laptop")
	p.follow("Add a passkey").press(p.find("button", "Add passkey"))
	p.until("a second one is refused", func() bool { return strings.Contains(p.text(), "already has a passkey") })

	p.submit("Sign out").visit("/settings/sessions").at("/sign-in").submit("Sign in with a passkey").at("/settings/sessions").status(200)
	e.Clock.Advance(11 * time.Minute)
	p.visit("/settings/tokens/new").at("/sign-in/confirm").submit("Use a passkey").at("/settings/tokens/new").status(200)

	// A page that was left open for too long asks for the proof first.
	p.visit("/settings/passkeys/new")
	e.Clock.Advance(11 * time.Minute)
	p.submit("Add passkey").at("/sign-in/confirm").submit("Use a passkey").at("/settings/passkeys/new")
	p.visit("/settings/security").unfold("Remove Reception laptop").submit("Remove passkey Reception laptop").has("Passkey removed.")
	p.submit("Sign out").submit("Sign in with a passkey").status(422).has("The passkey was not accepted.")
}

// byName returns a URL of this machine with its name: browsers have no passkeys for addresses.
func byName(address string) string { return strings.Replace(address, "127.0.0.1", "localhost", 1) }

// start runs a server on SQLite.
func start(t testing.TB) *harness.Env {
	t.Helper()
	return harness.Start(t, harness.SQLite(t))
}
