package api_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"chairside/ent/site"
	"chairside/internal/test/harness"
	"chairside/ogent"
)

// beyond is more rows than package list sorts for one page.
const beyond = 200_100

// TestListsInAnotherOrder asks for what has changed since a time, where that is
// little and where it is much, and for the appointments of a practitioner, a state
// or a day, before and behind many others, in an order that no index has for them.
func TestListsInAnotherOrder(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token, few, many := e.Token(t, "appointment"), hire(t, e), hire(t, e)
		since := map[string]string{}
		note := func(name string) {
			e.Clock.Advance(1e9)
			since[name] = url.Values{"updated_after": {shown(e.Clock.Now())}}.Encode()
		}
		client, somebody := e.Client(t, token), ofPatient(number(first(t, e, e.Token(t, ""), "patients", "")))
		first := id(book(t, client, few, "09:00", "09:10"))
		note("many")
		usual := id(book(t, client, many, "12:00", "12:10", somebody))
		copyAppointment(t, e, usual, beyond)
		number, err := strconv.Atoi(usual)
		if err != nil {
			t.Fatal(err)
		}
		e.Clock.Advance(1e9)
		arrived := book(t, client, few, "15:00", "15:10")
		last := id(arrived)
		reschedule(t, client, arrived.ID, state("Arrived"))
		note("three")
		late := id(book(t, client, many, "15:00", "15:10"))
		e.Clock.Advance(1e9)
		early := id(book(t, client, many, "09:00", "09:10"))
		e.Clock.Advance(1e9)
		middle := id(book(t, client, many, "14:00", "14:10"))
		note("none")
		const (
			three  = 3 // of many, after the copies
			all    = 1 + beyond + three
			picked = 200_000
		)

		ctx := e.As(t, "demo")
		sites, err := e.DB.Ent.Site.Query().Order(site.ByID()).IDs(ctx)
		if err != nil || len(sites) < 2 {
			t.Fatalf("sites are %v, %v", sites, err)
		}
		here, there := e.TokenOf(t, "admin@demo.chairside.test", "", &sites[0]), e.TokenOf(t, "admin@demo.chairside.test", "", &sites[1])
		ofFew, ofMany := "practitioner_id="+text(few), "practitioner_id="+text(many)
		for _, c := range []struct {
			name, query, token string
			total              int
			ids                []string // the first ones
		}{
			{"in order", since["three"], token, three, []string{early, middle, late}},
			{"backwards", since["three"] + "&sort_direction=desc", token, three, []string{late, middle, early}},
			{"by another column", since["three"] + "&sort_by=id", token, three, []string{late, early, middle}},
			{"a page", since["three"] + "&per_page=1&page=2", token, three, []string{middle}},
			{"past the end", since["three"] + "&per_page=2&page=3", token, three, nil},
			{"two ranges", since["three"] + "&after=" + monday + "T14:00:00", token, 2, []string{middle, late}},
			{"nothing", since["none"], token, 0, nil},
			{"of the practitioner's site", since["three"], here, three, []string{early, middle, late}},
			{"of another site", since["three"], there, 0, nil},
			{"of another practice", since["three"], elsewhere(t, e), 0, nil},
			{"past the end, by id", since["three"] + "&sort_by=id&per_page=2&page=3", token, three, nil},
			{"many", since["many"] + "&" + ofMany, token, all, []string{early, usual}},
			{"many backwards", since["many"] + "&" + ofMany + "&sort_direction=desc", token, all, []string{late, middle}},
			{"many, of another site", since["many"], there, 0, nil},
			{"many, of another practice", since["many"], elsewhere(t, e), 0, nil},

			{"near", ofFew + "&sort_by=created_at&per_page=1", token, 2, []string{first}},
			{"near, backwards", ofFew + "&sort_by=created_at&sort_direction=desc&per_page=1", token, 2, []string{last}},
			{"far", ofFew + "&sort_by=created_at&per_page=1&page=2", token, 2, []string{last}},
			{"near and far", ofFew + "&sort_by=finish_time", token, 2, []string{first, last}},
			{"by state", ofFew + "&sort_by=state", token, 2, []string{last, first}},
			{"past the end of few", ofFew + "&sort_by=created_at&page=3", token, 2, nil},
			{"deep", ofFew + "&sort_by=created_at&per_page=100&page=6", token, 2, nil},
			{"of few, at their site", ofFew + "&sort_by=created_at", here, 2, []string{first, last}},
			{"of few, at another site", ofFew + "&sort_by=created_at", there, 0, nil},
			{"of few, of another practice", ofFew + "&sort_by=created_at", elsewhere(t, e), 0, nil},
			{"two values", ofFew + "&state=Arrived&sort_by=created_at", token, 1, []string{last}},
			{"a state that is left out", "state=Cancelled&sort_by=created_at", token, 0, nil},
			{"a day", "on=" + monday + "&" + ofFew + "&sort_by=created_at", token, 2, []string{first, last}},
			{"a day without any", "on=2031-01-01&sort_by=created_at", token, 0, nil},
			{"a range of the order", ofFew + "&after=" + monday + "T12:00:00&sort_by=start_time", token, 1, []string{last}},
			{"of many", ofMany + "&sort_by=created_at", token, all, []string{usual}},
			{"of many, the last that is picked", ofMany + "&sort_by=created_at&sort_direction=desc&per_page=100&page=2001", token, all, []string{fmt.Sprint(number + three + beyond - picked)}},
			{"of many, behind all that is picked", ofMany + "&sort_by=created_at&sort_direction=desc&per_page=100&page=2002", token, all, []string{fmt.Sprint(number + three)}},
			{"past the end of many", ofMany + "&sort_by=created_at&per_page=100&page=2003", token, all, nil},
		} {
			res := e.Get(t, "/v1/appointments?"+c.query, c.token).Status(t, 200)
			got := res.Column(t, "appointments", "id")
			if got = got[:min(len(got), max(len(c.ids), 1))]; !slices.Equal(got, c.ids) || res.Text(t, "meta.total") != fmt.Sprint(c.total) {
				t.Errorf("%s: %v of %s, want %v of %d", c.name, got, res.Text(t, "meta.total"), c.ids, c.total)
			}
			onlyShown(t, e, res)
		}
	})
}

// onlyShown checks that exactly the appointments of a list are audited, and only their
// patients, even if a query was tried and dropped.
func onlyShown(t *testing.T, e *harness.Env, list *harness.Response) {
	t.Helper()
	shown, read := list.Column(t, "appointments", "id"), audited(t, e, list)
	if got := slices.Sorted(slices.Values(read["appointments"])); !slices.Equal(got, slices.Sorted(slices.Values(shown))) {
		t.Errorf("%v are audited, %v returned", got, shown)
	}
	patients := list.Column(t, "appointments", "patient_id")
	for _, id := range read["patients"] {
		if !slices.Contains(patients, id) {
			t.Errorf("patient %s is audited, %v returned", id, patients)
		}
	}
}

// audited returns the ids that are logged as read by a request, by resource.
func audited(t *testing.T, e *harness.Env, r *harness.Response) map[string][]string {
	t.Helper()
	var line struct{ Records map[string][]string }
	e.Settle()
	for l := range strings.Lines(e.Log.String()) {
		if strings.Contains(l, r.Header.Get("X-Request-Id")) && strings.Contains(l, "patient data read") {
			if err := json.Unmarshal([]byte(l), &line); err != nil {
				t.Fatal(err)
			}
		}
	}
	return line.Records
}

// TestPagesByID: they start at an id that a sub-query finds, with the same filters and limits.
func TestPagesByID(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		sites, err := e.DB.Ent.Site.Query().Order(site.ByID()).IDs(e.As(t, "demo"))
		if err != nil || len(sites) < 2 {
			t.Fatalf("sites are %v, %v", sites, err)
		}
		const size = 2
		for _, token := range []string{e.Token(t, ""), e.TokenOf(t, "admin@demo.chairside.test", "", &sites[0])} {
			for _, list := range []string{"patients?", "patients?active=true", "patients?site_id=" + sites[0].String(), "practitioners?site_id=" + sites[0].String(), "appointments?practitioner_id=1", "invoices?paid=true"} {
				for _, direction := range []string{"asc", "desc"} {
					path, name := "/v1/"+list+"&sort_by=id&sort_direction="+direction, list[:strings.Index(list, "?")]
					whole := e.Get(t, path+"&per_page=100", token).Status(t, 200)
					all := whole.Column(t, name, "id")
					for page := 2; page <= 4; page++ {
						res := e.Get(t, fmt.Sprintf("%s&per_page=%d&page=%d", path, size, page), token).Status(t, 200)
						want := all[min((page-1)*size, len(all)):min(page*size, len(all))]
						if got := res.Column(t, name, "id"); !slices.Equal(got, want) || res.Text(t, "meta.total") != whole.Text(t, "meta.total") {
							t.Errorf("%s, page %d: %v of %s, want %v of %s", path, page, got, res.Text(t, "meta.total"), want, whole.Text(t, "meta.total"))
						}
					}
				}
			}
		}
	})
}

// id is an appointment's id as text.
func id(a ogent.Appointment) string { return text(a.ID) }

// copyAppointment inserts n copies of an appointment.
func copyAppointment(t *testing.T, e *harness.Env, id string, n int) {
	t.Helper()
	const columns = "created_at, updated_at, start_time, finish_time, duration, reason, state, metadata, booked_via_api, pending_at, confirmed_at, arrived_at, in_surgery_at, completed_at, cancelled_at, did_not_attend_at, practice_id, practitioner_id, patient_id"
	const most = 20_000 // in one statement, which may take 30 s
	for ; n > 0; n -= most {
		statement := fmt.Sprintf("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO appointments (%s) SELECT %s FROM appointments, n WHERE id = %s", min(n, most), columns, columns, id)
		if _, err := e.DB.SQL.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}
