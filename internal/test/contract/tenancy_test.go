package contract

import (
	"database/sql"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"entgo.io/ent/dialect/sql/schema"

	"chairside/ent/loggedrequest"
	"chairside/ent/migrate"
	"chairside/internal/codec"
	"chairside/internal/store/feedlog"
	"chairside/internal/test/harness"
)

// missing returns an id that no row ever had, of the same type as id.
func missing(id string) string {
	if strings.Contains(id, "-") {
		return "0198f2a4-0000-7000-8000-00000000dead"
	}
	return "987654321"
}

// TestAnotherPracticeDoesNotExist sends the other practice's ids wherever an operation
// takes an id. The response must be exactly that for an id that never existed, and the
// other practice must not change.
func TestAnotherPracticeDoesNotExist(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		own, foreign := loadWorld(t, e, "demo"), loadWorld(t, e, "second")
		token := e.Token(t, "")
		before := dump(t, e, foreign.practice)
		n := tryForeign(t, e, own, foreign, token, checkSame)
		if n < 100 {
			t.Errorf("only %d places were tried", n)
		}
		compare(t, before, dump(t, e, foreign.practice))
	})
}

// tryForeign sends foreign's ids in each place and returns the number of places. It
// passes the lists for a foreign id and for one that never existed to compareLists.
func tryForeign(t *testing.T, e *harness.Env, own, foreign *world, token string, compareLists func(t testing.TB, what string, there, nowhere *harness.Response)) (places int) {
	try := func(what string, id string, request func(id string) (operation, harness.Request)) {
		places++
		op, q := request(id)
		q.Token = token
		there := send(t, e, op, q)
		op, q = request(missing(id))
		q.Token = token
		nowhere := send(t, e, op, q)
		checkPair := checkSame
		if op.lists() {
			checkPair = compareLists
		}
		checkPair(t, fmt.Sprintf("%s with %s %s", op, what, id), there, nowhere)
	}
	for _, op := range operations() {
		if op.one() {
			for _, id := range firstAndLast(foreign.ids[op.table()]) {
				try("path", id, func(id string) (operation, harness.Request) {
					q := own.request(op, 0)
					q.Path = op.path(id)
					return op, q
				})
			}
		}
		for _, p := range op.Params {
			for _, id := range firstAndLast(foreign.ids[referencedTable(p.Name)]) {
				try("parameter "+p.Name, id, func(id string) (operation, harness.Request) {
					q := own.request(op, 0)
					address, query, _ := strings.Cut(q.Path, "?")
					values, err := url.ParseQuery(query)
					if err != nil {
						t.Fatal(err)
					}
					values.Del(p.Name + "[]")
					values.Set(p.Name, id)
					q.Path = address + "?" + values.Encode()
					return op, q
				})
			}
		}
		if op.Body == nil {
			continue
		}
		for _, f := range op.Body.Fields {
			for _, id := range firstAndLast(foreign.ids[referencedTable(f.Name)]) {
				try("member "+f.Name, id, func(id string) (operation, harness.Request) {
					q := own.request(op, 0)
					q.Body.(map[string]any)[op.Body.Key].(map[string]any)[f.Name] = id
					return op, q
				})
			}
			if f.Kind == codec.Answers && foreign.question != "" && foreign.question != own.question {
				try("member "+f.Name, foreign.question, func(id string) (operation, harness.Request) {
					q := own.request(op, 0)
					answers := []any{map[string]any{"field_id": id, "value": own.answer}}
					q.Body.(map[string]any)[op.Body.Key].(map[string]any)[f.Name] = answers
					return op, q
				})
			}
		}
	}
	return places
}

// firstAndLast returns the first and the last id.
func firstAndLast(ids []string) []string {
	if len(ids) < 2 {
		return ids
	}
	return []string{ids[0], ids[len(ids)-1]}
}

// TestListsShowNothingOfAnotherPractice reads all pages of all lists.
func TestListsShowNothingOfAnotherPractice(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		own, foreign := loadWorld(t, e, "demo"), loadWorld(t, e, "second")
		for _, op := range operations() {
			if !op.lists() || op.ID == "listAvailability" || op.ID == "listRotaPractitionerDiaries" {
				continue
			}
			got := allIDs(t, e, own, op, token)
			for _, id := range foreign.ids[op.table()] {
				if slices.Contains(got, id) {
					t.Errorf("%s shows %s of the other practice", op, id)
				}
			}
			want := slices.Clone(own.ids[op.table()])
			if op.ID == "listFees" {
				want = column(t, e, "SELECT id FROM fees WHERE practice_id = $1 AND payment_plan_id = $2", own.practice, own.ids["payment_plans"][0])
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%s gives %d rows, the practice has %d", op, len(got), len(want))
			}
		}
	})
}

// allIDs reads the ids of all pages of a list, cancelled ones included.
func allIDs(t testing.TB, e *harness.Env, w *world, op operation, token string) (ids []string) {
	t.Helper()
	q := w.request(op, 0)
	q.Token = token
	address, query, _ := strings.Cut(q.Path, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	values.Set("per_page", "100")
	if op.ID == "listAppointments" {
		values.Set("cancelled", "true")
	}
	for page := 1; ; page++ {
		values.Set("page", fmt.Sprint(page))
		q.Path = address + "?" + values.Encode()
		r := send(t, e, op, q).Status(t, http.StatusOK)
		ids = append(ids, r.Column(t, op.table(), "id")...)
		if len(r.List(t, op.table())) < 100 {
			if got := r.Text(t, "meta.total"); got != fmt.Sprint(len(ids)) {
				t.Errorf("%s: total is %s, all pages hold %d", op, got, len(ids))
			}
			return ids
		}
	}
}

// numberChanges numbers the changes of the feed. Any reader does, so numbers are no trace of a
// request.
func numberChanges(t testing.TB, e *harness.Env) {
	t.Helper()
	if err := feedlog.Sequence(t.Context(), e.DB.SQL, e.DB.Dialect); err != nil {
		t.Fatal(err)
	}
}

// dump returns every row of a practice, table and id → columns, without the last use of
// tokens. Each column is "␟name=value␟": many tests call it after every operation, so the
// rows are not encoded further.
func dump(t testing.TB, e *harness.Env, practice string) map[string]string {
	t.Helper()
	numberChanges(t, e)
	all := map[string]string{}
	for _, table := range migrate.Tables {
		key := map[string]string{"practices": "id", "applications": "owner_id"}[table.Name]
		switch {
		case key != "":
		case table.Name == loggedrequest.Table:
			continue // the request log is written after the response
		case table.HasColumn("practice_id"):
			key = "practice_id"
		default:
			continue // belongs to no practice
		}
		var row []byte
		eachRow(t, e, func(names []string, values []sql.RawBytes) {
			row = append(row[:0], between...)
			id := table.Name
			for i, name := range names {
				if slices.ContainsFunc(table.PrimaryKey, func(c *schema.Column) bool { return c.Name == name }) {
					id += " " + string(values[i])
				}
				if name != "last_used_at" && name != "last_login" {
					row = append(append(append(append(row, name...), '='), show(values[i])...), between...)
				}
			}
			all[id] = string(row)
		}, "SELECT * FROM "+table.Name+" WHERE "+key+" = $1", practice)
	}
	return all
}

// eachRow calls row with each row of a query's result. The values are valid until it returns.
func eachRow(t testing.TB, e *harness.Env, row func(names []string, values []sql.RawBytes), query string, args ...any) {
	t.Helper()
	rows, err := e.DB.SQL.QueryContext(t.Context(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	values, pointers := make([]sql.RawBytes, len(names)), make([]any, len(names))
	for i := range values {
		pointers[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(pointers...); err != nil {
			t.Fatal(err)
		}
		row(names, values)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

// between is before and after each column in the rows of dump.
const between = "\x1f"

// show formats a column's value.
func show(v sql.RawBytes) []byte {
	if v == nil {
		return []byte("<null>")
	}
	return v
}

// compare reports every row that differs.
func compare(t testing.TB, before, after map[string]string) {
	t.Helper()
	for _, key := range slices.Sorted(maps.Keys(before)) {
		if before[key] != after[key] {
			t.Errorf("%s was\n%s\nis\n%s", key, before[key], after[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(after)) {
		if _, was := before[key]; !was {
			t.Errorf("%s is new: %s", key, after[key])
		}
	}
}

// TestUserAndPracticeComeFromTheToken: /user, /practice and defaults of new records.
func TestUserAndPracticeComeFromTheToken(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		for slug, email := range map[string]string{"demo": "admin@demo.chairside.test", "second": "admin@second.chairside.test"} {
			w, token := loadWorld(t, e, slug), e.TokenOf(t, email, "", nil)
			if got := e.Get(t, "/v1/practice", token).Text(t, "practice.id"); got != w.practice {
				t.Errorf("%s: practice %s, want %s", slug, got, w.practice)
			}
			if got := e.Get(t, "/v1/user", token).Text(t, "user.email"); got != email {
				t.Errorf("%s: user %s", slug, got)
			}
			op := find(t, "createPatient")
			q := w.request(op, 0)
			q.Token = token
			delete(q.Body.(map[string]any)["patient"].(map[string]any), "site_id")
			site := send(t, e, op, q).Status(t, http.StatusCreated).Text(t, "patient.site_id")
			if !slices.Contains(w.ids["sites"], site) {
				t.Errorf("%s: a new patient is at %s", slug, site)
			}
		}
	})
}
