package api_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"chairside/internal/test/harness"
)

// query returns the base query of a list with further parameters.
func (w *world) query(r resource, pairs ...string) string {
	q := w.base(r)
	for i := 0; i < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return "/v1/" + r.path + "?" + q.Encode()
}

// byCursor reads a list from its first to its last page by cursor.
func (w *world) byCursor(t *testing.T, r resource, size string, pairs ...string) (rows []row) {
	t.Helper()
	for cursor, page := "", 1; ; page++ {
		res := w.Get(t, w.query(r, append(pairs, "per_page", size, "cursor", cursor)...), w.token).Status(t, 200)
		for _, r := range res.List(t, r.many) {
			rows = append(rows, r.(row))
		}
		if got := res.Text(t, "meta.page"); got != fmt.Sprint(page) {
			t.Fatalf("page %s, want %d", got, page)
		}
		next, link := res.At(t, "meta.next_cursor"), res.Header.Get("Link")
		if next == nil {
			if total := res.Text(t, "meta.total"); total != fmt.Sprint(len(rows)) || link != "" {
				t.Errorf("%s %v: total %s of %d rows, link %q", r.path, pairs, total, len(rows), link)
			}
			return rows
		}
		cursor = next.(string)
		if !strings.Contains(link, "cursor="+cursor+`>; rel="next"`) {
			t.Errorf("%s: link %q does not have the cursor %s", r.path, link, cursor)
		}
		if page > 500 {
			t.Fatal("the list does not end")
		}
	}
}

// cursorsMakeUpTheList: pages by cursor are the list, in every order.
func cursorsMakeUpTheList(t *testing.T, w *world, r resource) {
	for _, key := range r.everySort() {
		for _, direction := range []string{"asc", "desc"} {
			query := w.base(r)
			query.Set("sort_by", key)
			query.Set("sort_direction", direction)
			want := ids(w.all(t, r.path, r.many, query))
			size := fmt.Sprint(max(1, len(want)/3))
			if len(want) > 100 {
				size = "100"
			}
			if got := ids(w.byCursor(t, r, size, "sort_by", key, "sort_direction", direction)); !slices.Equal(got, want) {
				t.Errorf("%s by %s %s: %d rows %v, want %d rows %v", r.path, key, direction, len(got), head(got), len(want), head(want))
			}
		}
	}
}

// cursorsKeepFilters: pages by cursor have the rows of the filters.
func cursorsKeepFilters(t *testing.T, w *world, r resource) {
	rows := w.rows(t, r)
	for _, f := range r.everyFilter() {
		values := w.valuesFor(f, rows[len(rows)/2:len(rows)/2+1])
		if len(values) == 0 {
			continue
		}
		query := w.base(r)
		query.Set(f.param, values[0])
		want := ids(w.all(t, r.path, r.many, query))
		if got := ids(w.byCursor(t, r, fmt.Sprint(max(10, len(want)/3)), f.param, values[0])); !slices.Equal(got, want) {
			t.Errorf("%s %s=%s: %d rows, want %d", r.path, f.param, values[0], len(got), len(want))
		}
	}
}

// cursorsBelongToTheirQuery: a cursor of another list, order, filter, or of nothing is refused.
func cursorsBelongToTheirQuery(t *testing.T, w *world, r resource) {
	first := w.Get(t, w.query(r, "per_page", "1", "cursor", ""), w.token).Status(t, 200)
	next, ok := first.At(t, "meta.next_cursor").(string)
	if !ok {
		if total := first.At(t, "meta.total"); total.(float64) > 1 {
			t.Errorf("%s: no next_cursor of %v rows", r.path, total)
		}
		return
	}
	w.Get(t, w.query(r, "cursor", next, "per_page", "7"), w.token).Status(t, 200)
	for _, pairs := range [][]string{
		{"sort_by", "updated_at", "cursor", next}, {"sort_direction", "desc", "cursor", next}, {"updated_after", "2026-01-01", "cursor", next},
		{"cursor", "x"}, {"cursor", next + "A"}, {"cursor", next[1:]}, {"cursor", "WyIiLDEsIiIsIiJd"}, {"cursor", strings.Repeat("A", 9000)}, {"cursor", "bnVsbA"}, {"cursor", "%"},
	} {
		w.Get(t, w.query(r, pairs...), w.token).Error(t, 400, "invalid_parameter", "cursor")
	}
	w.Get(t, w.query(r, "cursor", next, "page", "2"), w.token).Error(t, 400, "invalid_parameter", "page")
	if other := "rooms"; r.path != other {
		w.Get(t, "/v1/"+other+"?cursor="+next, w.token).Error(t, 400, "invalid_parameter", "cursor")
	}
}

// filterBySeveralIDs: ids= has exactly these records, and those of others match nothing.
func filterBySeveralIDs(t *testing.T, w *world, r resource) {
	rows := w.rows(t, r)
	want := []string{text(rows[0]["id"])}
	if last := text(rows[len(rows)-1]["id"]); last != want[0] {
		want = append(want, last)
	}
	unknown := "999999999"
	if strings.HasPrefix(r.everyField(false)["id"], "uuid") {
		unknown = "019f3a52-7d1c-7b6e-8c55-0a1b2c3d4e5f"
	}
	list := strings.Join(append([]string{unknown}, want...), ",")
	for _, q := range []url.Values{{"ids": {list}}, {"id[]": strings.Split(list, ",")}, {"ids[]": strings.Split(list, ",")}, {"ids": {list}, "sort_by": {"created_at"}}} {
		maps.Copy(q, w.base(r))
		if got := ids(w.all(t, r.path, r.many, q)); !sameSet(got, want) {
			t.Errorf("%s?%s: %v, want %v", r.path, q.Encode(), got, want)
		}
	}
	for _, bad := range []string{"", ",", "x", want[0] + ",-1", "1;2"} {
		w.Get(t, w.query(r, "ids", bad), w.token).Error(t, 400, "invalid_parameter", "ids")
	}
	many := make([]string, 101)
	for i := range many {
		if many[i] = fmt.Sprint(i + 1); len(unknown) > 9 {
			many[i] = fmt.Sprintf("019f3a52-7d1c-7b6e-8c55-%012d", i)
		}
	}
	w.Get(t, w.query(r, "ids", strings.Join(many, ",")), w.token).Error(t, 400, "invalid_parameter", "ids")
	w.Get(t, w.query(r, "ids", strings.Join(many[1:], ",")), w.token).Status(t, 200)
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// fieldsSelectMembers: each member alone, two of them, on the list and on one record.
func fieldsSelectMembers(t *testing.T, w *world, r resource) {
	whole := w.Get(t, w.query(r, "per_page", "3"), w.token).Status(t, 200)
	rows := whole.List(t, r.many)
	one := "/v1/" + r.path + "/" + text(rows[0].(row)["id"])
	single := w.Get(t, one, w.token).Status(t, 200)
	names := slices.Sorted(maps.Keys(r.everyField(false)))
	for _, fields := range append(slices.Collect(slices.Chunk(names, 1)), names[:2], []string{"id", names[0], "id"}) {
		res := w.Get(t, w.query(r, "per_page", "3", "fields", strings.Join(fields, ",")), w.token).Status(t, 200)
		for i, got := range res.List(t, r.many) {
			if want := only(rows[i].(row), fields); !reflect.DeepEqual(got, any(want)) {
				t.Errorf("%s fields=%v: %v, want %v", r.path, fields, got, want)
			}
		}
		if !reflect.DeepEqual(res.At(t, "meta"), whole.At(t, "meta")) || res.Header.Get("ETag") == whole.Header.Get("ETag") {
			t.Errorf("%s fields=%v: another meta, or the entity tag of whole records", r.path, fields)
		}
		res = w.Get(t, one+"?fields="+strings.Join(fields, ","), w.token).Status(t, 200)
		if want := only(single.At(t, r.one).(row), fields); !reflect.DeepEqual(res.At(t, r.one), any(want)) {
			t.Errorf("%s fields=%v: %v, want %v", one, fields, res.At(t, r.one), want)
		}
	}
	for _, bad := range []string{"nonsense", "id,ID", "practice_id.x", "*"} {
		w.Get(t, w.query(r, "fields", bad), w.token).Error(t, 400, "invalid_parameter", "fields")
		w.Get(t, one+"?fields="+url.QueryEscape(bad), w.token).Error(t, 400, "invalid_parameter", "fields")
	}
	w.Get(t, w.query(r, "fields", ""), w.token).Status(t, 200)
}

// only returns some members of a row.
func only(r row, names []string) row {
	some := row{}
	for _, name := range names {
		some[name] = r[name]
	}
	return some
}

// expansions are the linked records of each resource: name, column, and path.
var expansions = map[string][][3]string{
	"accounts":               {{"patient", "patient_id", "patients"}},
	"appointments":           {{"patient", "patient_id", "patients"}, {"practitioner", "practitioner_id", "practitioners"}, {"room", "room_id", "rooms"}, {"user", "user_id", "users"}},
	"invoices":               {{"patient", "patient_id", "patients"}, {"account", "account_id", "accounts"}, {"site", "site_id", "sites"}},
	"invoice_items":          {{"sundry", "sundry_id", "sundries"}, {"treatment_plan", "treatment_plan_id", "treatment_plans"}},
	"patients":               {{"dentist", "dentist_id", "practitioners"}, {"hygienist", "hygienist_id", "practitioners"}, {"payment_plan", "payment_plan_id", "payment_plans"}, {"acquisition_source", "acquisition_source_id", "acquisition_sources"}},
	"payments":               {{"patient", "patient_id", "patients"}, {"site", "site_id", "sites"}},
	"rooms":                  {{"site", "site_id", "sites"}},
	"treatment_appointments": {{"treatment_plan", "treatment_plan_id", "treatment_plans"}},
	"treatment_plans":        {{"patient", "patient_id", "patients"}, {"practitioner", "practitioner_id", "practitioners"}},
	"treatment_plan_items":   {{"invoice", "invoice_id", "invoices"}, {"treatment", "treatment_id", "treatments"}},
	"treatments":             {{"treatment_category", "treatment_category_id", "treatment_categories"}},
}

// expandAddsRecords: a linked record is the document that its own list has.
func expandAddsRecords(t *testing.T, w *world, r resource) {
	for _, link := range expansions[r.path] {
		name, column, path := link[0], link[1], link[2]
		plain := w.Get(t, w.query(r, "per_page", "20", "sort_direction", "desc"), w.token).Status(t, 200).List(t, r.many)
		for i, got := range w.Get(t, w.query(r, "per_page", "20", "sort_direction", "desc", "expand", name), w.token).Status(t, 200).List(t, r.many) {
			got := got.(row)
			want := any(nil)
			if id := got[column]; id != nil {
				want = w.Get(t, "/v1/"+path+"?cancelled=true&ids="+text(id), w.token).Status(t, 200).List(t, path)[0]
			}
			if linked, ok := got[name]; !ok || !reflect.DeepEqual(linked, want) {
				t.Fatalf("%s expand=%s: %v, want %v", r.path, name, linked, want)
			}
			delete(got, name)
			if !reflect.DeepEqual(any(got), plain[i]) {
				t.Errorf("%s expand=%s changes other members: %v", r.path, name, got)
			}
			if i == 0 {
				one := w.Get(t, "/v1/"+r.path+"/"+text(got["id"])+"?expand="+name+"&fields=id", w.token).Status(t, 200)
				if !reflect.DeepEqual(one.At(t, r.one), any(row{"id": got["id"], name: want})) {
					t.Errorf("%s: one record expanded is %v", r.path, one.At(t, r.one))
				}
			}
		}
	}
	if len(expansions[r.path]) > 0 {
		w.Get(t, w.query(r, "expand", "nonsense"), w.token).Error(t, 400, "invalid_parameter", "expand")
	}
}

func TestExpandNeedsTheScopeOfTheLinkedRecord(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		narrow := e.Token(t, "appointment:read")
		e.Get(t, "/v1/appointments?expand=patient", narrow).Error(t, 403, "insufficient_scope")
		e.Get(t, "/v1/appointments?expand=user,patient", e.Token(t, "appointment:read patient")).Error(t, 403, "insufficient_scope")
		e.Get(t, "/v1/appointments?expand=patient", e.Token(t, "appointment:read patient:read")).Status(t, 200)
		id := e.Get(t, "/v1/appointments?per_page=1", narrow).Status(t, 200).Text(t, "appointments.0.id")
		e.Get(t, "/v1/appointments/"+id+"?expand=practitioner", narrow).Error(t, 403, "insufficient_scope")
	})
}

// TestExpandStaysInTheSite: a linked record of another site is null.
func TestExpandStaysInTheSite(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w := newWorld(t, e)
		site := w.sites["1"]
		limited := e.TokenOf(t, "admin@demo.chairside.test", "appointment patient practice", siteID(t, site))
		hidden, shown := 0, 0
		for page := 1; page < 30; page++ {
			for _, a := range e.Get(t, fmt.Sprintf("/v1/appointments?expand=patient&per_page=100&page=%d", page), limited).Status(t, 200).List(t, "appointments") {
				a := a.(row)
				switch home := w.homes[text(a["patient_id"])]; {
				case home == site && a["patient"] != nil:
					shown++
				case home != site && a["patient"] == nil:
					hidden++
				default:
					t.Fatalf("appointment %v of a patient of site %s has %v", a["id"], home, a["patient"])
				}
			}
		}
		if shown == 0 || hidden == 0 {
			t.Errorf("%d linked patients are shown and %d hidden: want some of both", shown, hidden)
		}
	})
}

// TestExpandedPatientsAreAudited: the access log names linked patients.
func TestExpandedPatientsAreAudited(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w := newWorld(t, e)
		res := e.Get(t, "/v1/appointments?cancelled=true&expand=patient&per_page=50", w.token).Status(t, 200)
		e.Settle()
		log := e.Log.String()
		line := log[strings.Index(log, res.Header.Get("X-Request-Id")):]
		for _, a := range res.List(t, "appointments") {
			if p, ok := a.(row)["patient"].(row); ok && !strings.Contains(line, text(p["id"])) {
				t.Errorf("patient %v is not in the log", p["id"])
			}
		}
	})
}

func TestCursorSurvivesChangesOfTheList(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w := newWorld(t, e)
		first := e.Get(t, "/v1/appointments?cancelled=true&per_page=5&cursor=", w.token).Status(t, 200)
		seen, next := first.Column(t, "appointments", "id"), first.Text(t, "meta.next_cursor")
		second := e.Get(t, "/v1/appointments?cancelled=true&per_page=5&page=2", w.token).Status(t, 200).Column(t, "appointments", "id")
		e.Delete(t, "/v1/appointments/"+seen[4], w.token).Status(t, 204) // the row of the cursor
		e.Delete(t, "/v1/appointments/"+seen[0], w.token).Status(t, 204)
		if got := e.Get(t, "/v1/appointments?cancelled=true&per_page=5&cursor="+next, w.token).Status(t, 200).Column(t, "appointments", "id"); !slices.Equal(got, second) {
			t.Errorf("after the deletion: %v, want %v", got, second)
		}
		other := e.TokenOf(t, "admin@second.chairside.test", "", nil)
		for _, a := range e.Get(t, "/v1/appointments?cancelled=true&per_page=5&cursor="+next, other).Status(t, 200).Column(t, "appointments", "id") {
			if slices.Contains(second, a) {
				t.Error("a cursor of another practice gives its rows")
			}
		}
	})
}

func TestListsLinkToTheirPages(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w := newWorld(t, e)
		total := len(w.homes)
		last := (total + 29) / 30
		page := func(n int, relation string) string {
			return fmt.Sprintf(`<%s/v1/patients?per_page=30&sort_by=last_name&page=%d>; rel="%s"`, e.URL, n, relation)
		}
		for n, want := range map[int][]string{
			1:        {page(1, "first"), page(2, "next"), page(last, "last")},
			2:        {page(1, "first"), page(1, "prev"), page(3, "next"), page(last, "last")},
			last:     {page(1, "first"), page(last-1, "prev"), page(last, "last")},
			last + 9: {page(1, "first"), page(last, "prev"), page(last, "last")},
		} {
			link := e.Get(t, fmt.Sprintf("/patients?sort_by=last_name&per_page=30&page=%d&access_token=%s", n, w.token), "").Status(t, 200).Header.Get("Link")
			if link != strings.Join(want, ", ") {
				t.Errorf("page %d: %s, want %s", n, link, strings.Join(want, ", "))
			}
		}
		if link := e.Get(t, "/v1/patients/1", w.token).Status(t, 200).Header.Get("Link"); link != "" {
			t.Errorf("a record has the link %s", link)
		}
	})
}

func TestAccountsByCursorAsAtADay(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w := newWorld(t, e)
		r := resources[slices.IndexFunc(resources, func(r resource) bool { return r.path == "accounts" })]
		for _, pairs := range [][]string{
			{"as_at", "2025-12-31", "sort_by", "current_balance"}, {"as_at", "2025-12-31", "sort_by", "current_balance", "sort_direction", "desc"}, {"as_at", "2025-12-31", "state", "debit"},
			{"updated_after", "2020-01-01", "sort_by", "current_balance"}, {"as_at", "2025-12-31", "updated_after", "2020-01-01", "sort_by", "current_balance"},
		} {
			query := url.Values{}
			for i := 0; i < len(pairs); i += 2 {
				query.Set(pairs[i], pairs[i+1])
			}
			if got, want := w.byCursor(t, r, "31", pairs...), w.all(t, "accounts", "accounts", query); !reflect.DeepEqual(got, want) {
				t.Errorf("%v: %v, want %v", pairs, head(ids(got)), head(ids(want)))
			}
		}
	})
}

// TestForgedCursorsAreRefused changes the value and the id in a cursor. Each is refused, or
// gives rows of the practice alone.
func TestForgedCursorsAreRefused(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w := newWorld(t, e)
		for list, keys := range map[string][]string{
			"patients": {"id", "last_name", "date_of_birth", "created_at"}, "appointments": {"start_time", "state"}, "rooms": {"id", "updated_at"},
			"practitioners": {"last_name"}, "accounts": {"current_balance"}, "appointment_reasons": {"position"},
		} {
			for _, key := range keys {
				path := "/v1/" + list + "?per_page=1&sort_by=" + key + "&cursor="
				next, ok := e.Get(t, path, w.token).Status(t, 200).At(t, "meta.next_cursor").(string)
				if !ok {
					t.Fatalf("%s has one page", list)
				}
				text, err := base64.RawURLEncoding.DecodeString(next)
				if err != nil {
					t.Fatal(err)
				}
				var parts []any
				if err := json.Unmarshal(text, &parts); err != nil {
					t.Fatal(err)
				}
				for _, hostile := range []any{
					"", "\x00", "a\x00", "'; DROP TABLE patients; --", "9223372036854775808", "-9223372036854775808", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z",
					"0001-01-01", "9999-12-31", "\ufffd", "NaN", "Infinity", 5, nil, []any{}, strings.Repeat("é", 3000), "019f3a52-7d1c-7b6e-8c55-0a1b2c3d4e5f", "{019f3a52-7d1c-7b6e-8c55-0a1b2c3d4e5f}",
				} {
					for i := 1; i < len(parts); i++ {
						forged := slices.Clone(parts)
						forged[i] = hostile
						text, err := json.Marshal(forged)
						if err != nil {
							t.Fatal(err)
						}
						res := e.Get(t, path+base64.RawURLEncoding.EncodeToString(text), w.token)
						if res.Code != 200 {
							res.Error(t, 400, "invalid_parameter", "cursor")
						}
					}
				}
			}
		}
	})
}

// TestIDsOfAnotherPracticeMatchNothing: nor do those of another site.
func TestIDsOfAnotherPracticeMatchNothing(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w := newWorld(t, e)
		other := e.TokenOf(t, "admin@second.chairside.test", "", nil)
		limited := e.TokenOf(t, "admin@demo.chairside.test", "", siteID(t, w.homes["1"]))
		for _, list := range []string{"patients", "appointments", "sites", "rooms", "invoices", "invoice_items", "treatment_appointments", "patient_stats"} {
			foreign := strings.Join(e.Get(t, "/v1/"+list+"?per_page=20", other).Status(t, 200).Column(t, list, "id"), ",")
			for _, token := range []string{w.token, limited} {
				res := e.Get(t, "/v1/"+list+"?ids="+foreign, token).Status(t, 200)
				if foreign == "" || len(res.List(t, list)) > 0 || res.Text(t, "meta.total") != "0" {
					t.Errorf("%s: ids %q of another practice give %s", list, foreign, res.Raw)
				}
			}
		}
		elsewhere := ""
		for id, home := range w.homes {
			if home != w.homes["1"] {
				elsewhere = id
			}
		}
		if res := e.Get(t, "/v1/patients?ids=1,"+elsewhere, limited).Status(t, 200); res.Text(t, "meta.total") != "1" {
			t.Errorf("ids of another site give %s", res.Raw)
		}
	})
}

// TestFieldsShowNoHiddenColumn: fields= names members, not columns.
func TestFieldsShowNoHiddenColumn(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		for path, column := range map[string]string{
			"/v1/patients": "practice_id", "/v1/patients/1": "search_text", "/v1/users": "password_hash", "/v1/practitioners": "user_id", "/v1/user": "password_hash",
			"/v1/practice": "slug.x", "/v1/patients/1/stats": "last_name",
		} {
			e.Get(t, path+"?fields=id,"+column, token).Error(t, 400, "invalid_parameter", "fields")
		}
		if got := e.Get(t, "/v1/patients/1/stats?fields=total_paid", token).Status(t, 200).At(t, "patient_stats").(row); len(got) != 1 {
			t.Errorf("fields=total_paid gives %v", got)
		}
	})
}
