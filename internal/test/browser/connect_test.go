package browser

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/oauth2"

	"chairside/internal/seed"
	"chairside/internal/test/harness"
)

// TestApplicationConnects registers, authorises, uses and revokes an application.
func TestApplicationConnects(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		c, p := newClient(t), open(t, e)
		p.signIn(seed.DemoAdmin)
		c.register(p)

		p.visit(c.url).at("/oauth/authorize").has("Authorise Perio Charting", "Read patients", "Signed in as", seed.DemoAdmin)
		p.submit("Authorise").has("Connected")
		e.Get(t, "/v1/patients", c.access(t)).Status(t, 200)
		e.Get(t, "/v1/invoices", c.access(t)).Status(t, 403)

		p.visit("/settings/authorizations").has("Perio Charting", "within the last hour")
		p.unfold("Revoke Perio Charting").submit("Revoke access of Perio Charting").has("Access revoked.", "No authorised applications")
		e.Get(t, "/v1/patients", c.access(t)).Status(t, 401)
	})
}

func TestSignInReturnsToTheConsentPage(t *testing.T) {
	t.Parallel()
	e := start(t)
	c, p := newClient(t), open(t, e)
	p.signIn(seed.DemoAdmin)
	c.register(p)

	other := open(t, e)
	other.visit(c.url).at("/sign-in").giveCredentials(seed.SecondAdmin, seed.Password).at("/oauth/authorize").has(seed.SecondAdmin)
	other.submit("Sign in as another user").at("/sign-in").giveCredentials(seed.DemoAdmin, seed.Password).at("/oauth/authorize").has(seed.DemoAdmin)
	other.submit("Authorise").has("Connected")
}

// TestDenyingReturnsAnError to the application, and no token.
func TestDenyingReturnsAnError(t *testing.T) {
	t.Parallel()
	c, p := newClient(t), open(t, start(t))
	p.signIn(seed.DemoAdmin)
	c.register(p)
	p.visit(c.url).submit("Cancel").has("Not connected: access_denied")
	p.visit("/settings/authorizations").has("No authorised applications")
}

// TestReplacedSecretIsRefused, and the new one works.
func TestReplacedSecretIsRefused(t *testing.T) {
	t.Parallel()
	e := start(t)
	c, p := newClient(t), open(t, e)
	p.signIn(seed.DemoAdmin)
	c.register(p)

	p.visit("/settings/applications").follow("Perio Charting").unfold("Generate a new client secret").submit("Replace client secret")
	fresh := p.value("client-secret")
	p.visit(c.url).submit("Authorise").has("Not connected").has("invalid_client")
	c.config.ClientSecret = fresh
	p.visit(c.url).submit("Authorise").has("Connected")
	e.Get(t, "/v1/patients", c.access(t)).Status(t, 200)
}

func TestDeletedApplicationLosesAccess(t *testing.T) {
	t.Parallel()
	e := start(t)
	c, p := newClient(t), open(t, e)
	p.signIn(seed.DemoAdmin)
	c.register(p)
	p.visit(c.url).submit("Authorise").has("Connected")
	e.Get(t, "/v1/patients", c.access(t)).Status(t, 200)

	p.visit("/settings/applications").follow("Perio Charting").unfold("Delete application").submit("Delete Perio Charting")
	p.at("/settings/applications").has("Application deleted.", "No applications yet")
	e.Get(t, "/v1/patients", c.access(t)).Status(t, 401)
	p.visit(c.url).status(400).at("/oauth/authorize").has("You were not redirected")
}

// TestConsentRedirectsToACustomScheme: the page's policy allows the redirect.
func TestConsentRedirectsToACustomScheme(t *testing.T) {
	t.Parallel()
	p := open(t, start(t))
	p.signIn(seed.DemoAdmin).follow("Applications").follow("Register an application")
	p.press(p.find("radio", "In a browser, or on a phone or desktop Public client: it cannot keep a secret and must use PKCE."))
	p.fill("Name", "Phone").fill("Redirect URIs", "com.example.app:/callback").grant("patient:read").submit("Register")
	config := oauth2.Config{
		ClientID: p.value("client-id"), RedirectURL: "com.example.app:/callback", Scopes: []string{"patient:read"},
		Endpoint: oauth2.Endpoint{AuthURL: p.value("authorization-endpoint")},
	}
	p.visit(config.AuthCodeURL("x", oauth2.S256ChallengeOption(oauth2.GenerateVerifier())))
	p.press(p.find("button", "Authorise"))
	p.until("the browser goes to the program", func() bool {
		return slices.ContainsFunc(p.addresses(), func(to string) bool { return strings.HasPrefix(to, "com.example.app:/callback?code=cs_code_") })
	})
}
