package web_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"chairside/internal/seed"
	"chairside/internal/store/storetest"
	"chairside/internal/test/harness"
	"chairside/schema"
)

// linksTo returns the page's links that begin with a prefix.
func linksTo(p *harness.Page, prefix string) (all []string) {
	for _, link := range p.Links() {
		if strings.HasPrefix(link, prefix) && !slices.Contains(all, link) {
			all = append(all, link)
		}
	}
	return all
}

// TestEveryResourceCanBeBrowsed opens the list and the first record of each resource, and all lists
// that a record leads to. The commands on the pages return the same records to a token.
func TestEveryResourceCanBeBrowsed(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b, token := e.Browser(t).SignIn(seed.DemoAdmin), e.Token(t, "")
		index := b.Get("/settings/records").Status(t, http.StatusOK)
		checkPage(t, index)
		lists, opened, followed := linksTo(index, "/settings/records/"), 0, 0
		for _, list := range lists {
			p := b.Get(list).Status(t, http.StatusOK)
			checkPage(t, p)
			checkHeaders(t, p, policy)
			found := linksTo(p, list+"/")
			if len(found) == 0 {
				continue
			}
			opened++
			record := b.Get(found[0]).Status(t, http.StatusOK)
			checkPage(t, record)
			_, address, _ := strings.Cut(record.Value(t, "curl"), e.URL)
			e.Get(t, strings.TrimSuffix(address, "'"), token).Status(t, http.StatusOK)
			for _, link := range linksTo(record, "/settings/records/") {
				checkPage(t, b.Get(link).Status(t, http.StatusOK))
				followed++
			}
		}
		if len(lists) < 25 || opened < 18 || followed < 60 {
			t.Errorf("%d lists, %d records, %d links", len(lists), opened, followed)
		}
	})
}

// TestRecordListFilters: the filters and orders are those of the API, and so are its messages.
func TestRecordListFilters(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b, token := e.Browser(t).SignIn(seed.DemoAdmin), e.Token(t, "")
		patients := e.Get(t, "/v1/appointments", token).Column(t, "appointments", "patient_id")
		patient := patients[slices.IndexFunc(patients, func(id string) bool { return id != "" })]
		for _, query := range []string{"patient_id=" + patient, "state=Confirmed&sort_by=state&sort_direction=desc", "cancelled=true&page=2", "on=2026-07-01"} {
			p := b.Get("/settings/records/appointments?"+query).Status(t, http.StatusOK)
			checkPage(t, p)
			var shown []string
			for _, link := range linksTo(p, "/settings/records/appointments/") {
				shown = append(shown, link[strings.LastIndexByte(link, '/')+1:])
			}
			if want := e.Get(t, "/v1/appointments?"+query, token).Column(t, "appointments", "id"); !slices.Equal(shown, want) {
				t.Errorf("%s: %v, want %v", query, shown, want)
			}
		}
		first := b.Get("/settings/records/patients").Has(t, "Next page").Lacks(t, "Previous page")
		if next := linksTo(first, "/settings/records/patients?"); len(next) != 1 || !strings.Contains(b.Get(next[0]).Text(), "Previous page") {
			t.Errorf("the next page is %v", next)
		}
		for path, field := range map[string]string{
			"appointments?after=soon": "after", "appointments?state=Late": "state", "appointments?patient_id=Smith": "patient_id",
			"patients?sort_by=shoe_size": "sort_by",
		} {
			p := b.Get("/settings/records/" + path)
			checkFieldErrors(t, p, map[string]string{field: field})
			checkPage(t, p)
		}
		checkPage(t, b.Get("/settings/records/fees").Status(t, http.StatusOK).Has(t, "It needs payment_plan_id or treatment_id."))
		b.Get("/settings/records/appointments?access_token=x&fields=id&unknown=1").Status(t, http.StatusOK)
		beyond := b.Get("/settings/records/appointments?page=99999").Has(t, "No records on this page", "and ends earlier.")
		checkPage(t, beyond)
		if last := linksTo(beyond, "/settings/records/appointments?"); len(last) != 1 || len(linksTo(b.Get(last[0]).Lacks(t, "Next page"), "/settings/records/appointments/")) == 0 {
			t.Errorf("the last page is %v", last)
		}
		b.Get("/settings/records/appointments?page=x").Status(t, http.StatusUnprocessableEntity)
	})
}

// TestRecordsAreConfined: the pages show what the role may read in the practice, and nothing else.
func TestRecordsAreConfined(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		admin, second := e.Browser(t).SignIn(seed.DemoAdmin), e.Browser(t).SignIn(seed.SecondAdmin)
		manager := e.Browser(t).SignIn(userWithRole(t, e, schema.RoleManager).Email)
		foreign := 0
		for _, list := range linksTo(second.Get("/settings/records"), "/settings/records/") {
			own := linksTo(admin.Get(list), list+"/")
			for _, record := range linksTo(second.Get(list), list+"/") {
				if slices.Contains(own, record) {
					t.Errorf("two practices list %s", record)
				}
				foreign++
				admin.Get(record).Status(t, http.StatusNotFound)
				break
			}
		}
		if foreign < 10 {
			t.Errorf("only %d records of another practice were tried", foreign)
		}
		for _, path := range []string{"nothing", "patients/0", "patients/x", "patients/1%2F..", "patients/%2e%2e", "appointments/availability", "PATIENTS", "audit_events/0"} {
			admin.Get("/settings/records/"+path).Status(t, http.StatusNotFound)
		}
		manager.Get("/settings/records").Has(t, "Invoices").Lacks(t, "/settings/records/webhooks")
		manager.Get("/settings/records/webhooks").Status(t, http.StatusForbidden).Has(t, "Only administrators do")
		manager.Get("/settings/records/users").Status(t, http.StatusOK)
		for _, role := range []schema.Role{schema.RoleReceptionist, schema.RoleDentist} {
			b := e.Browser(t).SignIn(userWithRole(t, e, role).Email)
			for _, path := range []string{"", "/patients", "/patients/1", "/invoices"} {
				b.Get("/settings/records"+path).Status(t, http.StatusForbidden).Has(t, "Only managers and administrators do")
			}
		}
		for _, path := range []string{"/settings/records/patients", "/settings/records/patients/1"} {
			admin.Post(path, url.Values{"first_name": {"x"}}).Status(t, http.StatusMethodNotAllowed)
			e.Browser(t).Get(path).Status(t, http.StatusSeeOther)
		}
	})
}

// TestBrowsingIsAudited: the audit log has the operation, the patient and the session.
func TestBrowsingIsAudited(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		b.Get("/settings/records/patients/3").Status(t, http.StatusOK)
		b.Get("/settings/records/notes?patient_id=4").Status(t, http.StatusOK)
		b.Get("/settings/records/patients/0").Status(t, http.StatusNotFound)
		e.Settle()
		const seen = "SELECT count(*) FROM audit_events AS e JOIN audit_reads AS r ON r.event_id = e.id WHERE e.action = 'read' AND e.operation = 'getPatient' AND r.patient_id = 3 AND e.session_id IS NOT NULL AND e.token_id IS NULL AND e.user_id IS NOT NULL"
		if n := storetest.Int(t, e.DB, seen); n != 1 {
			t.Errorf("%d entries for the read", n)
		}
		if n := storetest.Int(t, e.DB, "SELECT count(*) FROM logged_requests"); n != 0 {
			t.Errorf("the request log has %d requests of pages", n)
		}
	})
}
