package contract

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"chairside/ent"
	"chairside/ent/migrate"
	"chairside/ent/user"
	"chairside/internal/apispec"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/internal/seed"
	"chairside/internal/test/harness"
	"chairside/internal/test/testdb"
	"chairside/internal/token"
)

// recordingFile has the responses that the generator puts into the document as examples.
const recordingFile = "../../codegen/examples/recording.json"

var record = flag.Bool("record", false, "record the examples of the document")

// recording is the content of the file.
type recording struct {
	Records         map[string]json.RawMessage
	Responses       map[string]json.RawMessage
	Errors          map[string]json.RawMessage
	OperationErrors map[string]map[string]json.RawMessage
}

// onlyByClients are the resources without a record in the demo: the examples about one record are
// about the one that the example of the create makes.
var onlyByClients = []string{"appointment_holds"}

// TestExamplesAreResponsesOfTheDemo sends the example request of each operation to a demo, with
// nothing but what the document says, validates the response, and compares it with the example. It does
// the same with requests that the demo refuses.
// After a change of the demo or of a resource:
//
//	go test ./internal/test/contract -run TestExamplesAreResponsesOfTheDemo/sqlite -record
//	go generate ./...
func TestExamplesAreResponsesOfTheDemo(t *testing.T) {
	harness.EachOf(t, testdb.Demo, func(t *testing.T, e *harness.Env) {
		d := &demonstration{Env: e, t: t, token: exampleToken(t, e), records: map[string]json.RawMessage{}, responses: map[string]*harness.Response{}, errors: map[string]map[string]*harness.Response{}}
		d.play(t)
		failures := d.provoke(t)
		if *record {
			d.write(t, failures)
			return
		}
		for _, op := range exampled() {
			media := success(op).Content["application/json"]
			if media == nil {
				continue // no content, or lines
			}
			if difference := differs("", media.Example, d.decoded(t, d.responses[op.ID].Raw)); difference != "" {
				t.Errorf("%s: %s (see -record)", op, difference)
			}
		}
		for _, op := range exampled() {
			for status, r := range d.errors[op.ID] {
				example := op.doc.Responses.Value(status).Value.Content["application/json"].Example
				if difference := differs("", example, d.decoded(t, r.Raw)); difference != "" {
					t.Errorf("%s: %s: %s (see -record)", op, status, difference)
				}
			}
		}
		for status, r := range failures {
			example := document().Components.Responses[strings.ReplaceAll(http.StatusText(status), " ", "")].Value.Content["application/json"].Example
			if difference := differs("", example, d.decoded(t, r.Raw)); difference != "" {
				t.Errorf("%d: %s (see -record)", status, difference)
			}
		}
	})
}

// exampleToken returns a token with all scopes. The audit log shows its name.
func exampleToken(t *testing.T, e *harness.Env) (value string) {
	ctx := clock.With(principal.AsSystem(t.Context()), e.Clock.Now())
	e.Tx(t, ctx, func(tx *ent.Client) error {
		admin, err := tx.User.Query().Where(user.Email(seed.DemoAdmin)).Only(ctx)
		if err != nil {
			return err
		}
		value, _, err = token.Create(ctx, tx, admin, token.Grant{Name: "Recall letters", Scopes: admin.Role.PermissionLevel().MayHold()})
		return err
	})
	return value
}

// exampled returns all operations in an order in which the examples work: reads, creates, reads of
// the created records, updates, deletes.
func exampled() []operation {
	all := slices.Clone(operations())
	for path, method := range map[string]string{"/batch": http.MethodPost, "/changes": http.MethodGet, "/snapshot": http.MethodGet} {
		o := operation{Method: method, Path: path, Success: http.StatusOK, doc: document().Paths.Value(path).GetOperation(method)}
		o.ID = o.doc.OperationID
		all = append(all, o)
	}
	step := func(o operation) int {
		made := o.one() && slices.Contains(onlyByClients, o.table())
		return map[string]int{http.MethodGet: 1, http.MethodPost: 2, http.MethodPut: 4, http.MethodPatch: 5, http.MethodDelete: 6}[o.Method] + 2*bit(made && !o.writes())
	}
	slices.SortStableFunc(all, func(a, b operation) int { return cmp.Or(cmp.Compare(step(a), step(b)), cmp.Compare(a.Path, b.Path)) })
	return all
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// success returns the successful response of an operation in the document.
func success(op operation) *openapi3.Response {
	return op.doc.Responses.Value(strconv.Itoa(op.Success)).Value
}

// demonstration sends the example requests to one demo.
type demonstration struct {
	*harness.Env
	t         *testing.T
	token     string
	records   map[string]json.RawMessage // ids by table: those to record, or those that clients made
	responses map[string]*harness.Response
	errors    map[string]map[string]*harness.Response // those that depend on the operation, by operation and status
}

// choose chooses the example record of a table when it is first needed: the first in use.
func (d *demonstration) choose(name string) {
	order := ""
	for _, table := range migrate.Tables {
		if table.Name != name {
			continue
		}
		order = "id"
		for _, use := range [][2]string{{"active", "active DESC, id"}, {"archived", "archived, id"}, {"deleted", "deleted, id"}, {"removed_at", "removed_at IS NOT NULL, id"}} {
			if table.HasColumn(use[0]) {
				order = use[1]
			}
		}
	}
	if order == "" || d.records[name] != nil {
		return
	}
	ids := column(d.t, d.Env, "SELECT id FROM "+name+" WHERE practice_id = (SELECT id FROM practices WHERE slug = 'demo') ORDER BY "+order+" LIMIT 1")
	if len(ids) > 0 {
		d.records[name] = idJSON(ids[0])
	}
}

// idJSON returns an id as in a response.
func idJSON(id string) json.RawMessage {
	if _, err := strconv.ParseInt(id, 10, 64); err == nil {
		return json.RawMessage(id)
	}
	return json.RawMessage(strconv.Quote(id))
}

// fit returns the value of an example, or the id of the record that is used in its place.
func (d *demonstration) fit(table string, example any) any {
	if *record {
		d.choose(table)
	}
	if id, ok := d.records[table]; ok {
		var v any
		if json.Unmarshal(id, &v) == nil {
			return v
		}
	}
	return example
}

// request returns the example request of an operation.
func (d *demonstration) request(op operation) harness.Request {
	q := harness.Request{Method: op.Method, Path: "/v1" + op.Path, Token: d.token}
	if op.Path == "/rate_limit" {
		q.Path = op.Path
	}
	query := url.Values{}
	for _, p := range op.doc.Parameters {
		example := p.Value.Example
		switch p.Value.In {
		case openapi3.ParameterInPath:
			q.Path = strings.Replace(q.Path, "{id}", plain(d.fit(op.table(), example)), 1)
		case openapi3.ParameterInQuery:
			values, isList := example.([]any)
			if !isList && example != nil {
				values = []any{example}
			}
			for _, v := range values {
				query.Add(p.Value.Name, plain(d.fit(referencedTable(strings.TrimSuffix(p.Value.Name, "[]")), v)))
			}
		}
	}
	if len(query) > 0 {
		q.Path += "?" + query.Encode()
	}
	if op.doc.RequestBody == nil {
		return q
	}
	body := duplicate(op.doc.RequestBody.Value.Content["application/json"].Example).(map[string]any)
	if op.Body != nil {
		for name, v := range body[op.Body.Key].(map[string]any) {
			body[op.Body.Key].(map[string]any)[name] = d.fit(referencedTable(name), v)
		}
	} else if *record { // a batch
		item := body["requests"].([]any)[0].(map[string]any)
		item["path"] = "/v1/patients/" + plain(d.fit("patients", nil))
	}
	q.Body = body
	return q
}

// plain returns a value of a parameter as text.
func plain(v any) string {
	if n, ok := v.(float64); ok {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

// duplicate copies a JSON value.
func duplicate(v any) (c any) {
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	if err != nil {
		panic(err) // it came from JSON
	}
	return c
}

// play sends the requests. The example of the changes is what comes behind a cursor.
func (d *demonstration) play(t *testing.T) {
	cursor := d.Get(t, "/v1/changes", d.token).Status(t, http.StatusOK).Text(t, "meta.cursor")
	for _, op := range exampled() {
		q := d.request(op)
		if op.Method == http.MethodDelete && d.responses["listChanges"].Code == http.StatusOK && cursor != "" {
			d.responses["listChanges"] = d.Get(t, "/v1/changes?limit=1&include=record&wait=5&cursor="+url.QueryEscape(cursor), d.token)
			cursor = ""
			d.refuse(t) // while the example records exist
		}
		r := d.Do(t, q)
		d.responses[op.ID] = r
		if r.Code != op.Success {
			t.Errorf("%s: the example request gets %d, want %d: %s %v: %s", op, r.Code, op.Success, q.Path, q.Body, r.Raw)
			continue
		}
		if success(op).Content["application/json"] != nil {
			checkDocumented(t, op, q, r)
			for _, problem := range contradictions(op.ID, d.decoded(t, r.Raw)) {
				t.Errorf("the response: %s", problem)
			}
		}
		if op.Method == http.MethodPost && slices.Contains(onlyByClients, op.table()) {
			d.records[op.table()] = idJSON(r.Text(t, op.Body.Key+".id"))
		}
		if op.Method == http.MethodPost && documents(op, http.StatusConflict, "double_booking") {
			d.Do(t, q).Error(t, http.StatusConflict, "double_booking") // as the page of the operation says
		}
	}
}

// published is the address of the server in the examples.
const published = "https://chairside.example"

// decoded returns a response as JSON, as if the server had the address of the examples.
func (d *demonstration) decoded(t testing.TB, raw []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(bytes.ReplaceAll(raw, []byte(d.URL), []byte(published)), &v); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return v
}

// write writes the recording.
func (d *demonstration) write(t *testing.T, failures map[int]*harness.Response) {
	out := recording{Records: d.records, Responses: map[string]json.RawMessage{}, Errors: map[string]json.RawMessage{}, OperationErrors: map[string]map[string]json.RawMessage{}}
	for _, op := range exampled() {
		raw := bytes.ReplaceAll(d.responses[op.ID].Raw, []byte(d.URL), []byte(published))
		switch {
		case json.Valid(raw):
			out.Responses[op.ID] = raw
		case len(raw) > 0: // lines
			out.Responses[op.ID] = json.RawMessage(strconv.Quote(string(raw)))
		}
		for status, r := range d.errors[op.ID] {
			if out.OperationErrors[op.ID] == nil {
				out.OperationErrors[op.ID] = map[string]json.RawMessage{}
			}
			out.OperationErrors[op.ID][status] = bytes.ReplaceAll(r.Raw, []byte(d.URL), []byte(published))
		}
	}
	for status, r := range failures {
		out.Errors[strconv.Itoa(status)] = bytes.ReplaceAll(r.Raw, []byte(d.URL), []byte(published))
	}
	maps.DeleteFunc(out.Records, func(table string, _ json.RawMessage) bool {
		return !slices.ContainsFunc(exampled(), func(op operation) bool { return op.table() == table })
	})
	text, err := json.MarshalIndent(out, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(recordingFile, append(text, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
}

// volatile are the forms of values that differ each time: ids of new records, secrets, cursors, ids
// of requests and entity tags, which depend on the server's address. So do the members of a change
// that come from the database: when it was committed, and its number.
var volatile = regexp.MustCompile(`^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|whsec_\S+|[A-Za-z0-9_-]{20,}|"[A-Za-z0-9_-]+")$`)

// differs returns the first difference between an example and a response, or "".
func differs(at string, example, response any) string {
	if strings.HasSuffix(at, ".changed_at") || strings.HasSuffix(at, ".version") {
		return ""
	}
	switch x := example.(type) {
	case map[string]any:
		y, ok := response.(map[string]any)
		if names := slices.Sorted(maps.Keys(x)); !ok || !slices.Equal(names, slices.Sorted(maps.Keys(y))) {
			return fmt.Sprintf("%s: the example has the members %v, the response is %v", at, names, response)
		}
		for _, name := range slices.Sorted(maps.Keys(x)) {
			if difference := differs(at+"."+name, x[name], y[name]); difference != "" {
				return difference
			}
		}
		return ""
	case []any:
		y, ok := response.([]any)
		if !ok || len(x) != len(y) {
			return fmt.Sprintf("%s: the example has %d elements, the response is %v", at, len(x), response)
		}
		for i := range x {
			if difference := differs(fmt.Sprintf("%s[%d]", at, i), x[i], y[i]); difference != "" {
				return difference
			}
		}
		return ""
	case string:
		if y, ok := response.(string); ok && volatile.MatchString(x) && volatile.MatchString(y) {
			return ""
		}
	}
	if example != response {
		return fmt.Sprintf("%s: the example is %v, the response %v", at, example, response)
	}
	return ""
}

// TestExamplesContradictNothing checks the rules between the members of each example.
func TestExamplesContradictNothing(t *testing.T) {
	t.Parallel()
	examples := 0
	check := func(where string, content openapi3.Content) {
		if media := content["application/json"]; media != nil {
			examples++
			for _, problem := range contradictions(where, media.Example) {
				t.Error(problem)
			}
		}
	}
	for _, op := range exampled() {
		for status, response := range op.doc.Responses.Map() {
			check(op.ID+" "+status, response.Value.Content)
		}
		if op.doc.RequestBody != nil {
			check(op.ID, op.doc.RequestBody.Value.Content)
		}
	}
	if examples < 800 {
		t.Errorf("checked only %d examples", examples)
	}
}

// contradictions returns what is wrong with a JSON value as a response or request of the API.
func contradictions(at string, v any) (problems []string) {
	wrong := func(format string, args ...any) { problems = append(problems, at+": "+fmt.Sprintf(format, args...)) }
	switch v := v.(type) {
	case nil:
		if !strings.Contains(at, ".") {
			wrong("there is no example")
		}
	case []any:
		for i, item := range v {
			problems = append(problems, contradictions(fmt.Sprintf("%s.%d", at, i), item)...)
		}
	case map[string]any:
		for _, order := range [][2]string{{"start_time", "finish_time"}, {"start_time", "end_time"}, {"from_date", "to_date"}, {"start_date", "end_date"}, {"created_at", "updated_at"}} {
			before, hasBefore := v[order[0]].(string)
			after, hasAfter := v[order[1]].(string)
			strict := strings.HasSuffix(order[0], "_time")
			if hasBefore && hasAfter && (isAfter(before, after) || strict && before == after) {
				wrong("%s is %s, %s is %s", order[0], before, order[1], after)
			}
		}
		for member, state := range map[string]string{"cancelled_at": "Cancelled", "completed_at": "Completed", "did_not_attend_at": "Did not attend"} {
			value, has := v[member]
			if is, ok := v["state"].(string); has && ok && (is == state) != (value != nil) && (is == state || state == "Cancelled") {
				wrong("state %s with %s %v", is, member, value)
			}
		}
		if done, ok := v["completed"].(bool); ok && done != (v["completed_at"] != nil) {
			wrong("completed is %v, completed_at %v", done, v["completed_at"])
		}
		if total, ok := v["total"].(float64); ok && v["per_page"] != nil {
			size, pages := v["per_page"].(float64), v["total_pages"].(float64)
			if pages != float64((int(total)+int(size)-1)/int(size)) {
				wrong("%v records are on %v pages of %v", total, pages, size)
			}
		}
		if code, ok := v["code"].(string); ok && v["documentation_url"] != nil {
			for member, of := range map[string][]string{"params": {"validation_failed", "invalid_parameter"}, "conflicts": {"double_booking"}, "alternatives": {"double_booking"}} {
				value, has := v[member]
				if slices.Contains(of, code) != has || has && len(fmt.Sprint(value)) <= len("map[]") {
					wrong("%s with %s %v", code, member, value)
				}
			}
		}
		for name, member := range v {
			problems = append(problems, contradictions(at+"."+name, member)...)
		}
	}
	return problems
}

// isAfter reports whether a time or a day is after another one.
func isAfter(a, b string) bool {
	x, errX := time.Parse(time.RFC3339, a)
	y, errY := time.Parse(time.RFC3339, b)
	if errX != nil || errY != nil {
		return a > b // days
	}
	return x.After(y)
}

// TestExampleDayIsAhead: no demo books as far ahead as the day of the examples.
func TestExampleDayIsAhead(t *testing.T) {
	t.Parallel()
	day, err := time.Parse(time.DateOnly, apispec.ExampleDay)
	if err != nil {
		t.Fatal(err)
	}
	if day.Weekday() != time.Wednesday || time.Until(day) < 365*24*time.Hour {
		t.Errorf("%s is no Wednesday, or near: choose a later apispec.ExampleDay, record the examples and generate", apispec.ExampleDay)
	}
}
