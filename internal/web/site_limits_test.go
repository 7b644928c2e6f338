package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"chairside/ent/auditevent"
	"chairside/ent/site"
	"chairside/internal/seed"
	"chairside/internal/test/harness"
	"chairside/schema"
)

// TestSiteLimitIsLiftedForAnHour, by a manager with a reason, and marked in the audit log.
func TestSiteLimitIsLiftedForAnHour(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		ctx := e.As(t, seed.DemoSlug)
		at, err := e.DB.Ent.Site.Query().Where(site.Active(true)).Order(site.ByName()).First(ctx)
		if err != nil {
			t.Fatal(err)
		}
		admin := e.Browser(t).SignIn(seed.DemoAdmin)
		admin.Get("/settings/site-limits").Has(t, "No limited tokens")
		value, _ := makeToken(t, admin, "One site", url.Values{"scopes": {"practice:read", "patient", "webhook"}, "site_id": {at.ID.String()}})
		sites := func() int {
			t.Helper()
			return len(e.Get(t, "/v1/sites", value).Status(t, http.StatusOK).List(t, "sites"))
		}
		all, err := e.DB.Ent.Site.Query().Count(ctx)
		if err != nil || all < 2 || sites() != 1 {
			t.Fatalf("%d sites, the token sees %d: %v", all, sites(), err)
		}
		e.Browser(t).SignIn(userWithRole(t, e, schema.RoleDentist).Email).Get("/settings/site-limits").Status(t, http.StatusForbidden)
		b := e.Browser(t).SignIn(userWithRole(t, e, schema.RoleManager).Email)
		page := b.Get("/settings/site-limits").Status(t, http.StatusOK).Has(t, "One site", at.Name)
		checkPage(t, page)
		actions := formActions(page, "/settings/site-limits/")
		if len(actions) != 1 {
			t.Fatalf("forms %v", actions)
		}
		field := "reason-" + strings.Split(actions[0], "/")[3]
		for _, bad := range []string{"", "  ", "two\nlines", strings.Repeat("x", 201)} {
			p := b.Submit(page.Form(t, actions[0]), url.Values{"reason": {bad}})
			checkFieldErrors(t, p, map[string]string{field: "Enter a reason"})
			checkPage(t, p)
		}
		if sites() != 1 {
			t.Error("a lift without a reason counts")
		}
		b.Post("/settings/site-limits"+unusedID+"/lift", url.Values{"reason": {"x"}}).Status(t, http.StatusNotFound)
		stranger := e.Browser(t).SignIn(seed.SecondAdmin) // of another practice
		stranger.Post(actions[0], url.Values{"reason": {"x"}}).Status(t, http.StatusNotFound)
		stranger.Get("/settings/site-limits").Lacks(t, "One site")

		lift := func() {
			t.Helper()
			p := b.Follow(b.Submit(b.Get("/settings/site-limits").Form(t, actions[0]), url.Values{"reason": {"Fire at Bath, patients moved"}}))
			checkPage(t, p.Has(t, "Limit lifted for an hour.", "Fire at Bath, patients moved", "1 Jul 2026, 11:15"))
			if got := sites(); got != all {
				t.Errorf("the token sees %d sites, want %d", got, all)
			}
		}
		lift()
		patients := e.Get(t, "/v1/patients?per_page=1", value).Status(t, http.StatusOK)
		id := harness.ID(patients.At(t, "patients.0.id"))
		e.Patch(t, "/v1/patients"+id, value, map[string]any{"patient": map[string]any{"occupation": "Baker"}}).Status(t, http.StatusOK)
		// A webhook would still send every site's records after the hour.
		e.Post(t, "/v1/webhooks", value, `{"webhook": {"url": "https://example.com", "events": ["patients.*"]}}`).Error(t, http.StatusForbidden, "insufficient_scope")
		e.Settle()
		for _, action := range []string{"read", "update"} {
			events, err := e.DB.Ent.AuditEvent.Query().Where(auditevent.Action(action), auditevent.TokenIDNotNil()).All(ctx)
			if err != nil || len(events) == 0 {
				t.Fatal(action, events, err)
			}
			for _, event := range events {
				if !strings.Contains(string(event.Details.Text), `"site_limit_lifted":`) {
					t.Errorf("%s: details %s", action, event.Details.Text)
				}
			}
		}
		log := b.Get("/settings/audit").Has(t, "Reason: Fire at Bath, patients moved", "While the token’s site limit was lifted")
		checkPage(t, log)

		// A manager can end it, and the clock does.
		back := b.Get("/settings/site-limits")
		b.Follow(b.Submit(back.Form(t, strings.Replace(actions[0], "/lift", "/restore", 1)), nil)).Has(t, "Limit restored.")
		if sites() != 1 {
			t.Error("the limit is still lifted")
		}
		lift()
		e.Clock.Advance(time.Hour - time.Second)
		if sites() != all {
			t.Error("the lift ended early")
		}
		e.Clock.Advance(time.Second)
		if sites() != 1 {
			t.Error("the lift did not end")
		}
		e.Patch(t, "/v1/patients"+id, value, map[string]any{"patient": map[string]any{"occupation": "Cook"}})
		e.Settle()
		marked := 0
		events, err := e.DB.Ent.AuditEvent.Query().Where(auditevent.AtGTE(e.Clock.Now())).All(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, event := range events {
			if strings.Contains(string(event.Details.Text), "site_limit_lifted") {
				marked++
			}
		}
		if marked > 0 {
			t.Errorf("%d entries after the end are marked", marked)
		}
	})
}
