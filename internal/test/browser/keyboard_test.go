package browser

import (
	"testing"

	"github.com/chromedp/chromedp/kb"

	"chairside/internal/seed"
)

// TestKeyboardOnly signs in, creates and revokes a token with the keyboard. walk checks
// that each focus is visible.
func TestKeyboardOnly(t *testing.T) {
	t.Parallel()
	e := start(t)
	p := open(t, e)
	p.visit("/settings/tokens/new")
	p.walk("textbox", "E-mail address").keys(seed.DemoAdmin)
	p.walk("textbox", "Password").keys(seed.Password)
	p.load(func() { p.keys(kb.Enter) }).at("/settings/tokens/new").status(200)

	p.keys(kb.Tab)
	if skip := p.focused(); skip.Name.Value != "Skip to content" {
		t.Fatalf("the first Tab reaches %q", skip.Name.Value)
	}
	p.checkFocus(p.focused())
	p.keys(kb.Enter)
	p.until("the content has the focus", func() bool { return eval[string](p, "document.activeElement.id") == "main" })
	p.keys(kb.Tab)
	if first := p.focused(); first.Name.Value != "Tokens" || eval[bool](p, `!!document.activeElement.closest("nav")`) {
		t.Errorf("after the skip link, Tab reaches %q", first.Name.Value)
	}
	p.walk("textbox", "Name").keys("Recall letters")
	p.walk("checkbox", scopeBox("appointment:read")).keys(" ") // of the first family, appointments
	p.walk("button", "Create token")
	p.load(func() { p.keys(kb.Enter) }).status(200)
	e.Get(t, "/v1/appointments", p.value("token")).Status(t, 200)

	p.walk("link", "I’ve copied the token")
	p.load(func() { p.keys(kb.Enter) }).at("/settings/tokens")
	p.walk("DisclosureTriangle", "Revoke Recall letters").keys(kb.Enter)
	p.walk("button", "Revoke token Recall letters")
	p.load(func() { p.keys(" ") }).has("Token revoked.")
}

// TestErrorsTakeTheFocus, and link to their fields.
func TestErrorsTakeTheFocus(t *testing.T) {
	t.Parallel()
	p := open(t, start(t))
	p.signIn(seed.DemoAdmin).visit("/settings/tokens").follow("New token").submit("Create token").status(422)
	p.until("the summary of errors has the focus", func() bool {
		n := p.focused()
		return n.Role.Value == "alert" && n.Name.Value == "There are 2 problems"
	})
	p.walk("link", "Enter a name.").keys(kb.Enter)
	p.until("the message leads to its field", func() bool {
		n := p.focused()
		return n.Role.Value == "textbox" && n.Name.Value == "Name"
	})
}
