package contract

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql/schema"
	"entgo.io/ent/schema/field"
	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/migrate"
	"chairside/internal/codec"
	"chairside/internal/test/harness"
	"chairside/internal/test/testkeys"
	"chairside/ogent"
)

func TestMain(m *testing.M) { harness.Main(m) }

// operation is an operation of the document and the server's entry for it.
type operation struct {
	codec.Operation
	Method  string
	Path    string // as in the document: "/patients/{id}"
	Success int    // status of a successful request
	doc     *openapi3.Operation
}

func (o operation) String() string { return o.Method + " " + o.Path }

// writes reports whether the operation changes data.
func (o operation) writes() bool { return o.Method != http.MethodGet }

// one reports whether the operation's path names one record.
func (o operation) one() bool { return strings.Contains(o.Path, "/{id}") }

// path returns the path of a request about the record with an id.
func (o operation) path(id string) string { return "/v1" + strings.Replace(o.Path, "{id}", id, 1) }

// lists reports whether the operation returns a page of records.
func (o operation) lists() bool {
	return slices.ContainsFunc(o.Params, func(p codec.Param) bool { return p.Name == "page" })
}

// table returns the path's table: "patients" for "/patients/{id}".
func (o operation) table() string {
	if strings.HasPrefix(o.Path, "/appointments/holds") {
		return "appointment_holds"
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(o.Path, "/"), "/")
	return name
}

// ofFeed are the operations that package events/feed tests: they wait and stream, and their
// scopes depend on the asked resources.
var ofFeed = []string{"listChanges", "getSnapshot"}

// operations returns all operations by path, DELETE last, so that requests in this order
// find their rows.
var operations = sync.OnceValue(func() (all []operation) {
	for _, path := range slices.Sorted(maps.Keys(document().Paths.Map())) {
		if path == "/batch" { // runs the other operations; batch_test.go
			continue
		}
		item := document().Paths.Value(path)
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
			doc := item.GetOperation(method)
			if doc == nil || slices.Contains(ofFeed, doc.OperationID) {
				continue
			}
			o := operation{Method: method, Path: path, doc: doc}
			id := doc.OperationID
			if method == http.MethodPut { // the server treats PUT as PATCH
				id = item.Patch.OperationID
			}
			o.Operation = ogent.Operations[id]
			o.ID = doc.OperationID
			for status := range doc.Responses.Map() {
				if status[0] == '2' {
					fmt.Sscan(status, &o.Success)
				}
			}
			all = append(all, o)
		}
	}
	return all
})

// find returns the operation with an id.
func find(t testing.TB, id string) operation {
	t.Helper()
	for _, o := range operations() {
		if o.ID == id {
			return o
		}
	}
	t.Fatalf("no operation %s", id)
	return operation{}
}

// document returns the published document. Its schemas allow no undocumented members.
var document = sync.OnceValue(func() *openapi3.T {
	doc, err := openapi3.NewLoader().LoadFromData(ogent.Document)
	if err != nil {
		panic(err)
	}
	for _, s := range doc.Components.Schemas {
		closeSchema(s.Value)
	}
	return doc
})

// closeSchema forbids undocumented members at every depth. A schema without a type may be
// null (OpenAPI 3.0.3), which the library does not support.
func closeSchema(s *openapi3.Schema) {
	if s.Type == nil {
		s.Nullable = true
	}
	if len(s.Properties) > 0 && s.AdditionalProperties.Schema == nil {
		no := false
		s.AdditionalProperties.Has = &no
	}
	for _, p := range s.Properties {
		if p.Ref == "" {
			closeSchema(p.Value)
		}
	}
	if s.Items != nil && s.Items.Ref == "" {
		closeSchema(s.Items.Value)
	}
}

func TestDocumentAndServerHaveTheSameOperations(t *testing.T) {
	var documented []string
	for _, o := range operations() {
		if o.Method == http.MethodPut {
			patch := document().Paths.Value(o.Path).Patch
			if patch == nil {
				t.Errorf("%s has no PATCH beside it", o)
			}
			continue
		}
		documented = append(documented, o.ID)
		if o.Scope == "" && o.ID != "getRateLimit" {
			t.Errorf("%s needs no scope", o)
		}
		if o.Scope != "" && !strings.Contains(o.doc.Description, "`"+o.Scope+"`") {
			t.Errorf("the description of %s does not name the scope %s", o, o.Scope)
		}
	}
	served := append(slices.Collect(maps.Keys(ogent.Operations)), "getRateLimit")
	slices.Sort(documented)
	slices.Sort(served)
	if !slices.Equal(documented, served) {
		t.Errorf("documented %v\nserved %v", documented, served)
	}
}

// world holds a practice's rows for requests.
type world struct {
	practice string
	ids      map[string][]string // by table, active rows first
	question string              // a custom field of patients
	answer   any                 // an answer to it
}

// loadWorld reads the rows of a practice from the database. Resources with no demo data, or too
// little to delete, get some rows first.
func loadWorld(t testing.TB, e *harness.Env, slug string) *world {
	t.Helper()
	w := &world{ids: map[string][]string{}}
	w.practice = column(t, e, "SELECT id FROM practices WHERE slug = $1", slug)[0]
	load := func(table *schema.Table) {
		order := "id"
		if table.HasColumn("active") {
			order = "active DESC, id"
		}
		if table.HasColumn("removed_at") {
			order = "removed_at IS NOT NULL, id"
		}
		w.ids[table.Name] = column(t, e, "SELECT id FROM "+table.Name+" WHERE practice_id = $1 ORDER BY "+order, w.practice)
	}
	var few []*schema.Table
	for _, table := range migrate.Tables {
		if !table.HasColumn("practice_id") {
			continue
		}
		load(table)
		rows := len(w.ids[table.Name])
		if slices.ContainsFunc(operations(), func(o operation) bool {
			return o.table() == table.Name && (rows == 0 || rows < 50 && o.Method == http.MethodDelete)
		}) {
			few = append(few, table)
		}
	}
	for _, table := range few { // they reference rows of the others
		w.insertRows(t, e, table)
		load(table)
	}
	w.ids["practice"], w.ids["patient_stats"] = []string{w.practice}, w.ids["patients"]
	for kind, answer := range map[string]any{"checkbox": true, "text": "words", "textarea": "words"} {
		for _, id := range column(t, e, "SELECT id FROM custom_fields WHERE practice_id = $1 AND active AND customizable_type = 'Patient' AND type = $2", w.practice, kind) {
			w.question, w.answer = id, answer
		}
	}
	return w
}

// insertRows inserts rows with valid values into the table of a resource.
func (w *world) insertRows(t testing.TB, e *harness.Env, table *schema.Table) {
	t.Helper()
	for n := range 50 {
		var names, parameters []string
		var values []any
		for _, c := range table.Columns {
			if v := w.rowValue(e, table, c, n); v != nil {
				names, values = append(names, c.Name), append(values, v)
				parameters = append(parameters, fmt.Sprintf("$%d", len(values)))
			}
		}
		execute(t, e, fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", table.Name, strings.Join(names, ", "), strings.Join(parameters, ", ")), values...)
	}
	for _, l := range ent.Limits { // sealed values are bound to the rows' ids
		if l.Table != table.Name || !l.Sealed {
			continue
		}
		for _, id := range column(t, e, fmt.Sprintf("SELECT id FROM %s WHERE %s = $1", l.Table, l.Name), l.Inside()) {
			execute(t, e, fmt.Sprintf("UPDATE %s SET %s = $1 WHERE id = $2", l.Table, l.Name), testkeys.Seal(w.practice, l.Table, l.Name, id, "Sample"), id)
		}
	}
}

// rowValue returns a valid value of a column, or nil for NULL and generated ids.
func (w *world) rowValue(e *harness.Env, table *schema.Table, c *schema.Column, n int) any {
	if c.Name == "practice_id" {
		return w.practice
	}
	if c.Name == "appointment_id" {
		return nil // must be the patient's
	}
	if table.Name == "webhooks" && (c.Name == "url" || c.Name == "events") {
		return map[string]string{"url": fmt.Sprintf("https://example.com/%d", n), "events": `["rooms.*"]`}[c.Name]
	}
	if target := target(table, c.Name); target != "" {
		return w.ids[target][n%len(w.ids[target])]
	}
	for _, l := range ent.Limits {
		if l.Table == table.Name && l.Name == c.Name && (len(l.Values) > 0 || l.Form != "" || l.Email || l.JSON != "" || l.Min != nil || l.Sealed) {
			return l.Inside()
		}
	}
	switch {
	case c.Type == field.TypeUUID:
		return uuid.NewString()
	case c.Nullable, c.Increment:
		return nil
	case c.Type == field.TypeBool:
		return true
	case c.Type == field.TypeTime && c.SchemaType[dialect.Postgres] == "date":
		return "2026-07-01"
	case c.Name == "start_time":
		return e.Clock.Now().AddDate(3, 0, n)
	case c.Name == "finish_time":
		return e.Clock.Now().AddDate(3, 0, n).Add(time.Hour)
	case c.Name == "expires_at":
		return e.Clock.Now().AddDate(1, 0, 0)
	case c.Type == field.TypeTime:
		return e.Clock.Now()
	case c.Type.Integer():
		return 1
	case c.Type == field.TypeJSON:
		return "{}"
	}
	return fmt.Sprintf("Sample %d", n)
}

// target returns the table that a foreign key of the column points at, or "".
func target(table *schema.Table, column string) string {
	for _, key := range table.ForeignKeys {
		if key.Columns[len(key.Columns)-1].Name == column {
			return key.RefTable.Name
		}
	}
	return ""
}

// column reads the first column of a query as text.
func column(t testing.TB, e *harness.Env, query string, args ...any) (values []string) {
	t.Helper()
	rows, err := e.DB.SQL.QueryContext(t.Context(), query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		var v string
		if err := rows.Scan(&v); err != nil {
			t.Fatal(err)
		}
		values = append(values, v)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return values
}

// request returns a valid request for the n-th row of the operation's table. Tests of one
// database that delete use different rows.
func (w *world) request(op operation, n int) harness.Request {
	q := harness.Request{Method: op.Method, Path: "/v1" + op.Path}
	if op.Path == "/rate_limit" {
		q.Path = op.Path
	}
	if op.one() {
		q.Path = strings.Replace(q.Path, "{id}", w.ids[op.table()][n], 1)
	}
	switch op.ID {
	case "listFees":
		q.Path += "?payment_plan_id=" + w.ids["payment_plans"][0]
	case "listRotaPractitionerDiaries":
		q.Path += "?after=2026-07-06&before=2026-07-20"
	case "listAvailability":
		q.Path += "?start_time=2026-07-06T08:00:00Z&finish_time=2026-07-10T17:00:00Z&practitioner_ids[]=" + w.ids["practitioners"][0]
	}
	if op.Body != nil {
		q.Body = w.body(op.Body)
	}
	return q
}

var heldSlots atomic.Int64 // slots in the bodies of holds so far

// body returns a valid body with every member.
func (w *world) body(b *codec.Body) map[string]any {
	members := map[string]any{}
	for _, f := range b.Fields {
		members[f.Name] = w.value(f)
	}
	if b.Key == "hold" { // a slot is held once
		start := time.Date(2028, 1, 1, 9, 0, 0, 0, time.UTC).Add(time.Duration(heldSlots.Add(1)) * time.Hour)
		members["start_time"], members["finish_time"] = start.Format(time.RFC3339), start.Add(time.Hour).Format(time.RFC3339)
	}
	return map[string]any{b.Key: members}
}

// value returns a valid value of a member.
func (w *world) value(f codec.Field) any {
	switch f.Name {
	case "appointment_cancellation_reason_id", // only of cancelled appointments
		"appointment_id", // must be the patient's
		"removed_at":     // then DELETE changes nothing
		return nil // package api tests them
	}
	if table := referencedTable(f.Name); table != "" {
		return w.ids[table][0]
	}
	switch f.Name {
	case "reason", "appointment_reason":
		return "Exam"
	case "url":
		return "https://example.com/hooks"
	case "events":
		return []string{"patients.created"}
	case "hold_id":
		return uuid.Nil // a hold is used once
	case "finish_time":
		return "2027-03-01T10:30:00.000+00:00"
	}
	switch f.Kind {
	case codec.Boolean, codec.Flag, codec.Gender:
		return true
	case codec.Integer, codec.Consent:
		return 2
	case codec.ID:
		return 7
	case codec.UUID:
		return "0198f2a4-c1d0-7b3e-9a51-3f6f0c9d2e10"
	case codec.Date:
		return "1990-04-23"
	case codec.Time:
		return "2027-03-01T10:00:00.000+00:00"
	case codec.Decimal:
		return "12.50"
	case codec.Enum:
		return f.Values[0]
	case codec.Email:
		return "ada@practice.example"
	case codec.Country:
		return "GB"
	case codec.Ethnicity:
		return "A"
	case codec.Metadata:
		return map[string]string{"crm_id": "A-17"}
	case codec.Strings:
		return f.Values[:1]
	case codec.Answers:
		return []any{map[string]any{"field_id": w.question, "value": w.answer}}
	}
	return "Ada"
}

// isFreeText reports whether a member takes any text.
func isFreeText(f codec.Field) bool {
	return f.Kind == codec.Text && !slices.Contains([]string{"reason", "appointment_reason", "url"}, f.Name)
}

// referencedTable returns the table that a parameter or member of this name points at, or
// "": foreign keys of that name agree.
func referencedTable(name string) string {
	column := strings.TrimSuffix(name, "s") // practitioner_ids
	for _, table := range migrate.Tables {
		if target := target(table, column); target != "" {
			return target
		}
	}
	return ""
}

// later is after all seeded times.
var later = time.Date(2035, 1, 1, 0, 0, 0, 0, time.UTC)

// execute runs a statement on the database.
func execute(t testing.TB, e *harness.Env, statement string, args ...any) {
	t.Helper()
	if _, err := e.Owner().ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// itoa formats an id.
func itoa(n int64) string { return strconv.FormatInt(n, 10) }
