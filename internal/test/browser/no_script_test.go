package browser

import (
	"testing"

	"chairside/internal/seed"
)

// TestWithoutJavaScript: everything works except passkeys and the copy buttons, which stay hidden.
func TestWithoutJavaScript(t *testing.T) {
	t.Parallel()
	e := start(t)
	c, p := newClient(t), open(t, e).withoutScript()
	p.visit("/sign-in")
	if buttons := p.query(nil, "button", "Sign in with a passkey"); len(buttons) > 0 {
		t.Error("passkeys are offered although they cannot work")
	}
	p.signIn(seed.DemoAdmin)
	p.visit("/settings/passkeys/new").has("It needs JavaScript")
	c.register(p)
	p.visit(c.url).submit("Authorise").has("Connected")
	e.Get(t, "/v1/patients", c.access(t)).Status(t, 200)

	p.visit("/settings/tokens").follow("New token").fill("Name", "Recall letters").grant("patient:read").submit("Create token")
	if buttons := p.query(nil, "button", "Copy"); len(buttons) > 0 {
		t.Error("the copy buttons are shown although they cannot work")
	}
	e.Get(t, "/v1/patients", p.value("token")).Status(t, 200)
	p.follow("I’ve copied the token").unfold("Revoke Recall letters").submit("Revoke token Recall letters").has("Token revoked.")
}
