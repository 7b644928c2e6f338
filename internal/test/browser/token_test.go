package browser

import (
	"testing"
	"time"

	"chairside/internal/seed"
)

// TestTokenIsCreatedUsedAndRevoked on the pages.
func TestTokenIsCreatedUsedAndRevoked(t *testing.T) {
	t.Parallel()
	e := start(t)
	p := open(t, e)
	p.signIn(seed.DemoAdmin).follow("Tokens").follow("New token")
	site := eval[string](p, "document.getElementById('site_id').options[1].label")
	p.fill("Name", "Recall letters").grant("patient:read").choose("Site", site).pick("Expires (optional)", "2026-07-31")
	p.submit("Create token").has("Copy the token now.", "Read patients")
	token := p.value("token")
	e.Get(t, "/v1/patients", token).Status(t, 200)
	e.Get(t, "/v1/invoices", token).Status(t, 403)

	p.follow("I’ve copied the token").lacks(token).has("Recall letters", "Only at "+site, "within the last hour")
	p.unfold("Revoke Recall letters").submit("Revoke token Recall letters").has("Token revoked.", "No tokens yet")
	e.Get(t, "/v1/patients", token).Status(t, 401)
}

// TestTokenExpiresAtTheEndOfItsLastDay in the practice's time zone, regardless of use.
func TestTokenExpiresAtTheEndOfItsLastDay(t *testing.T) {
	t.Parallel()
	e := start(t)
	p := open(t, e)
	p.signIn(seed.DemoAdmin).follow("Tokens").follow("New token")
	p.fill("Name", "Today").grant("patient:read").pick("Expires (optional)", "2026-07-01").submit("Create token")
	token := p.value("token")
	p.follow("I’ve copied the token").has("the end of 1 Jul 2026")
	e.Clock.Set(time.Date(2026, 7, 1, 22, 59, 0, 0, time.UTC)) // 23:59 in London
	e.Get(t, "/v1/patients", token).Status(t, 200)
	e.Clock.Advance(time.Minute)
	e.Get(t, "/v1/patients", token).Status(t, 401)
}
