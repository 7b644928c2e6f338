package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"chairside/ent"
	"chairside/internal/seed"
	"chairside/internal/server"
	"chairside/internal/test/harness"
	"chairside/schema"
)

// rowsOf returns the number of rows of all tables of a page.
func rowsOf(p *harness.Page) int {
	return len(p.All(func(n *html.Node) bool { return n.DataAtom == atom.Tr && n.Parent.DataAtom == atom.Tbody }))
}

// TestRequestsAreLogged: the page shows routes, codes and request ids, errors first, without queries,
// bodies and ids of records.
func TestRequestsAreLogged(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		checkPage(t, b.Get("/settings/requests").Status(t, http.StatusOK).Has(t, "No requests", "Webhook deliveries"))
		value, id := makeToken(t, b, "Recall letters", url.Values{"scopes": {"patient"}})
		other, _ := makeToken(t, b, "Diary screen", url.Values{"scopes": {"appointment"}})
		e.Get(t, "/v1/patients?query=Qanary", value).Status(t, http.StatusOK)
		e.Patch(t, "/v1/patients/7", value, map[string]any{"patient": map[string]any{"first_name": "Qanary"}}).Status(t, http.StatusOK)
		missing := e.Get(t, "/v1/patients/987654", value).Status(t, http.StatusNotFound).Header.Get("X-Request-Id")
		e.Get(t, "/v1/invoices", other).Status(t, http.StatusForbidden)
		e.Get(t, "/v1/nothing", value).Status(t, http.StatusNotFound)
		e.Get(t, "/v1/patients", "cs_pat_unknown").Status(t, http.StatusUnauthorized)
		e.Settle()

		p := b.Get("/settings/requests").Status(t, http.StatusOK)
		checkPage(t, p)
		checkHeaders(t, p, policy)
		p.Has(t, "Latest errors", "GET /patients/{id}", "PATCH /patients/{id}", "GET /patients", "not_found", "insufficient_scope", missing, "Recall letters", "Diary screen", "10:15:00")
		p.Lacks(t, "987654", "Qanary", value, "/nothing", "cs_pat_")
		if errors, all := strings.Index(p.Text(), "Latest errors"), strings.Index(p.Text(), "Requests Requests, most recently completed first"); errors < 0 || all < errors || rowsOf(p) != 2+4 {
			t.Errorf("errors at %d, requests at %d, %d rows", errors, all, rowsOf(p))
		}
		if p := b.Get("/settings/requests?request="+missing).Has(t, missing); rowsOf(p) != 1 {
			t.Errorf("%d requests have the id", rowsOf(p))
		}
		if p := b.Get("/settings/requests?only=errors").Has(t, "not_found"); rowsOf(p) != 2 {
			t.Errorf("%d errors", rowsOf(p))
		}
		p = b.Get("/settings/requests?token="+id).Has(t, "Rate limit of Recall letters", "In the last minute 3 requests", "Limit None").Lacks(t, "/invoices")
		checkPage(t, p)
		b.Get("/settings/requests?token="+id+"&only=errors&request="+missing).Has(t, missing)
		if p := b.Get("/settings/requests?request=" + strings.ToLower(missing)); rowsOf(p) != 1 {
			t.Errorf("%d requests have the id in lower case", rowsOf(p))
		}
		b.Get("/settings/requests?request=nothing").Has(t, "No requests found")
		for query, field := range map[string]string{"token=x": "token", "token=" + unusedID[1:]: "token", "application=x": "application", "only=x": "only"} {
			p := b.Get("/settings/requests?" + query)
			checkFieldErrors(t, p, map[string]string{field: "Choose"})
			checkPage(t, p)
		}
		b.Get("/settings/tokens").Has(t, "Requests of Recall letters")
	})
}

// TestRequestsShowTheLimit of the chosen token and of the practice.
func TestRequestsShowTheLimit(t *testing.T) {
	t.Parallel()
	e := harness.Start(t, harness.SQLite(t), harness.Patient, func(o *server.Options) { o.RateLimit, o.PracticeRateLimit = 3600, 36000 })
	b := e.Browser(t).SignIn(seed.DemoAdmin)
	value, id := makeToken(t, b, "Recall letters", nil)
	page := "/settings/requests?token=" + id
	b.Get(page).Has(t, "In the last minute 0 requests", "Limit 3,600 requests an hour", "Left now 3,600", "All of it available Now", "Left to the practice 36,000 of 36,000")
	for range 2 {
		e.Get(t, "/v1/user", value).Status(t, http.StatusOK)
	}
	e.Settle()
	b.Get(page).Has(t, "In the last minute 2 requests", "Left now 3,598", "All of it available 10:15:02", "of 36,000")
	e.Clock.Advance(time.Hour)
	b.SignIn(seed.DemoAdmin).Get(page).Has(t, "In the last minute 0 requests", "Left now 3,600", "GET /user")
}

// TestRequestsShowTheLimitsOfAnApplication: of each of its tokens that was used in the last hour.
func TestRequestsShowTheLimitsOfAnApplication(t *testing.T) {
	t.Parallel()
	e := harness.Start(t, harness.SQLite(t), harness.Patient, func(o *server.Options) { o.RateLimit = 3600 })
	b := e.Browser(t).SignIn(seed.DemoAdmin)
	made := b.Submit(b.Get("/settings/applications/new").Form(t, "/settings/applications"), url.Values{
		"name": {"Recall Robot"}, "redirect_uris": {callback}, "scopes": {"user:read"},
	}).Status(t, http.StatusOK)
	page := "/settings/requests?application=" + made.Value(t, "client-id")
	b.Get(page).Lacks(t, "Rate limit of")
	for range 2 {
		code := allow(t, b, e.URL, made.Value(t, "link"))
		granted := run(t, strings.Replace(made.Value(t, "exchange"), "code=CODE", "code="+code, 1))
		for range 3 {
			e.Get(t, "/v1/user", granted["access_token"].(string)).Status(t, http.StatusOK)
		}
	}
	e.Settle()
	p := b.Get(page).Has(t, "Rate limit of Recall Robot", "In the last minute 3 requests", "Left now 3,597")
	checkPage(t, p)
	if n := strings.Count(p.Text(), "Rate limit of Recall Robot"); n != 2 {
		t.Errorf("limits of %d tokens", n)
	}
	e.Clock.Advance(2 * time.Hour)
	b.SignIn(seed.DemoAdmin).Get(page).Has(t, "GET /user").Lacks(t, "Rate limit of")
}

// TestLikeRequestsAreCounted: beyond the first ones in a second they only count.
func TestLikeRequestsAreCounted(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		value, id := makeToken(t, b, "Busy", url.Values{"scopes": {"patient:read"}})
		for range 9 {
			e.Get(t, "/v1/patients?per_page=1", value).Status(t, http.StatusOK)
			e.Get(t, "/v1/patients/0", value).Status(t, http.StatusNotFound)
		}
		e.Settle()
		p := b.Get("/settings/requests?token="+id).Has(t, "and 4 more like it in the same second", "In the last minute 18 requests")
		if n := rowsOf(p); n != 9+5+9 {
			t.Errorf("%d rows", n)
		}
	})
}

// TestRequestsOfOthers: users below managers see the requests of their own tokens, nobody those of
// another practice.
func TestRequestsOfOthers(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		admin, second := e.Browser(t).SignIn(seed.DemoAdmin), e.Browser(t).SignIn(seed.SecondAdmin)
		reception, manager := userWithRole(t, e, schema.RoleReceptionist), userWithRole(t, e, schema.RoleManager)
		desk, boss := e.Browser(t).SignIn(reception.Email), e.Browser(t).SignIn(manager.Email)
		value, id := makeToken(t, admin, "Of the administrator", url.Values{"scopes": {"patient:read"}})
		own, ownID := makeToken(t, desk, "Of the desk", url.Values{"scopes": {"appointment:read"}})
		app, _ := application(t, admin, "Recall Robot", "patient:read")
		missing := e.Get(t, "/v1/patients/0", value).Status(t, http.StatusNotFound).Header.Get("X-Request-Id")
		e.Get(t, "/v1/appointments", own).Status(t, http.StatusOK)
		e.Settle()

		desk.Get("/settings/requests").Has(t, "GET /appointments").Lacks(t, "/patients", "Of the administrator", missing, "Recall Robot")
		desk.Get("/settings/requests?request="+missing).Has(t, "No requests found")
		checkFieldErrors(t, desk.Get("/settings/requests?token="+id), map[string]string{"token": "Choose"})
		checkFieldErrors(t, desk.Get("/settings/requests?application="+app), map[string]string{"application": "Choose"})
		desk.Get("/settings/requests?token="+ownID).Has(t, "Rate limit of Of the desk")
		boss.Get("/settings/requests").Has(t, "GET /appointments", "GET /patients/{id}", "Of the desk, "+schema.FullName(reception.FirstName, reception.LastName))

		second.Get("/settings/requests").Has(t, "No requests").Lacks(t, "/patients", "Of the administrator", "Recall Robot")
		second.Get("/settings/requests?request="+missing).Has(t, "No requests found")
		checkFieldErrors(t, second.Get("/settings/requests?token="+id), map[string]string{"token": "Choose"})
		checkFieldErrors(t, second.Get("/settings/requests?application="+app), map[string]string{"application": "Choose"})

		// Of a user who is no manager any more, only the own ones.
		ctx := e.As(t, seed.DemoSlug)
		e.Tx(t, ctx, func(tx *ent.Client) error {
			return tx.User.UpdateOneID(manager.ID).SetRole(schema.RoleReceptionist).Exec(ctx)
		})
		boss.Get("/settings/requests").Has(t, "No requests")
	})
}
