package browser

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/oauth2"

	"chairside/internal/seed"
	"chairside/internal/test/harness"
)

// TestAnApplicationConnects all the way: registered on the pages, allowed by a
// user, used, taken back.
func TestAnApplicationConnects(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		c, p := newClient(t), open(t, e)
		p.signIn(seed.DemoAdmin)
		c.register(p)

		p.visit(c.url).at("/oauth/authorize").has("Allow Perio Charting?", "See patients", "Acts as", seed.DemoAdmin)
		p.submit("Allow").has("Connected")
		e.Get(t, "/v1/patients", c.access(t)).Status(t, 200)
		e.Get(t, "/v1/invoices", c.access(t)).Status(t, 403)

		p.visit("/settings/authorizations").has("Perio Charting", "within the last hour")
		p.unfold("Take back what Perio Charting may do").submit("Take it back from Perio Charting").has("The application may no longer act for you.", "No application may act for you")
		e.Get(t, "/v1/patients", c.access(t)).Status(t, 401)
	})
}

// TestAUserSignsInToAllow an application, and lands on the consent page.
func TestAUserSignsInToAllow(t *testing.T) {
	t.Parallel()
	e := start(t)
	c, p := newClient(t), open(t, e)
	p.signIn(seed.DemoAdmin)
	c.register(p)

	other := open(t, e)
	other.visit(c.url).at("/sign-in").giveCredentials(seed.SecondAdmin, seed.Password).at("/oauth/authorize").has(seed.SecondAdmin)
	other.submit("Sign in as somebody else").at("/sign-in").giveCredentials(seed.DemoAdmin, seed.Password).at("/oauth/authorize").has(seed.DemoAdmin)
	other.submit("Allow").has("Connected")
}

// TestAUserDenies and the application is told, with no token.
func TestAUserDenies(t *testing.T) {
	t.Parallel()
	c, p := newClient(t), open(t, start(t))
	p.signIn(seed.DemoAdmin)
	c.register(p)
	p.visit(c.url).submit("Deny").has("Not connected: access_denied")
	p.visit("/settings/authorizations").has("No application may act for you")
}

// TestASecretIsReplaced and the old one is refused.
func TestASecretIsReplaced(t *testing.T) {
	t.Parallel()
	e := start(t)
	c, p := newClient(t), open(t, e)
	p.signIn(seed.DemoAdmin)
	c.register(p)

	p.visit("/settings/applications").follow("Perio Charting").unfold("Make a new secret").submit("Replace the secret")
	fresh := p.value("client-secret")
	p.visit(c.url).submit("Allow").has("Not connected").has("invalid_client")
	c.config.ClientSecret = fresh
	p.visit(c.url).submit("Allow").has("Connected")
	e.Get(t, "/v1/patients", c.access(t)).Status(t, 200)
}

// TestADeletedApplicationActsNoMore for anybody.
func TestADeletedApplicationActsNoMore(t *testing.T) {
	t.Parallel()
	e := start(t)
	c, p := newClient(t), open(t, e)
	p.signIn(seed.DemoAdmin)
	c.register(p)
	p.visit(c.url).submit("Allow").has("Connected")
	e.Get(t, "/v1/patients", c.access(t)).Status(t, 200)

	p.visit("/settings/applications").follow("Perio Charting").unfold("Delete the application").submit("Delete Perio Charting")
	p.at("/settings/applications").has("The application is deleted.", "No applications yet")
	e.Get(t, "/v1/patients", c.access(t)).Status(t, 401)
	p.visit(c.url).status(400).at("/oauth/authorize").has("You have not been sent on")
}

// TestTheConsentPageLeadsToAProgram with a scheme of its own: the policy of the
// page lets the browser go there, which hands the address to the program.
func TestTheConsentPageLeadsToAProgram(t *testing.T) {
	t.Parallel()
	p := open(t, start(t))
	p.signIn(seed.DemoAdmin).follow("Applications").follow("Register an application")
	p.press(p.find("radio", "In the browser, on a phone or a desktop It cannot keep a secret (public client), and must use PKCE."))
	p.fill("Name", "Phone").fill("Redirect addresses", "com.example.app:/callback").tick("Patients", "See").submit("Register")
	config := oauth2.Config{
		ClientID: p.value("client-id"), RedirectURL: "com.example.app:/callback", Scopes: []string{"patient:read"},
		Endpoint: oauth2.Endpoint{AuthURL: p.value("authorization-endpoint")},
	}
	p.visit(config.AuthCodeURL("x", oauth2.S256ChallengeOption(oauth2.GenerateVerifier())))
	p.press(p.find("button", "Allow"))
	p.until("the browser goes to the program", func() bool {
		return slices.ContainsFunc(p.addresses(), func(to string) bool { return strings.HasPrefix(to, "com.example.app:/callback?code=cs_code_") })
	})
}
