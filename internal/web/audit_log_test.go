package web_test

import (
	"net/http"
	"testing"

	"chairside/internal/seed"
	"chairside/internal/test/harness"
)

// TestAuditLogNamesColumnsAsPeopleDo: the page names neither columns that follow from others, such as
// folded copies, nor hashes.
func TestAuditLogNamesColumnsAsPeopleDo(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		makeToken(t, b, "Import", nil)
		token := e.Token(t, "")
		id := e.Get(t, "/v1/patients?per_page=1", token).Column(t, "patients", "id")[0]
		e.Patch(t, "/v1/patients/"+id, token, map[string]any{"patient": map[string]any{
			"first_name": "Zo\u00eb", "mobile_phone": "07700 900123", "nhs_number": "943 476 5919",
		}}).Status(t, http.StatusOK)
		e.Settle()
		page := b.Get("/settings/audit").Has(t, "Changed patient "+id, "first name, mobile phone, NHS number", "Created access token", "name, scopes, user")
		checkPage(t, page)
		page.Lacks(t, "folded", "normalized", "hash", "search text", "updated at", "practice ID")
	})
}
