package contract

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"

	"chairside/ent"
	"chairside/internal/principal"
	"chairside/internal/seed"
	"chairside/internal/store"
	"chairside/internal/store/feedlog"
	"chairside/internal/store/storetest"
	"chairside/internal/test/harness"
)

// Keys of requests.
const (
	usedKey    = "order-17" // of a request that has succeeded
	runningKey = "order-18" // of a request that is still running
)

// refuse provokes the errors that depend on the operation. Its requests come from the parameters and
// schemas of the document, so that a new operation needs nothing here.
func (d *demonstration) refuse(t *testing.T) {
	d.Do(t, withKey(d.request(find(t, "updatePatient")), usedKey)).Status(t, http.StatusOK)
	booking := find(t, "createAppointment")
	_, slot := recordOf(booking, d.request(booking))
	narrow, other := d.TokenOf(t, seed.DemoAdmin, "appointment:read", nil), d.TokenOf(t, seed.DemoAdmin, "patient:read", nil)
	for _, op := range exampled() {
		d.provokeIn(t, op, http.StatusBadRequest, d.malformed(t, op))

		forbidden := d.request(op)
		switch op.Scope {
		case "":
			forbidden.Header = map[string]string{"User-Agent": ""}
		case "appointment:read":
			forbidden.Token = other
		default:
			forbidden.Token = narrow
		}
		d.provokeIn(t, op, http.StatusForbidden, forbidden)

		if !op.writes() {
			continue
		}
		d.provokeIn(t, op, http.StatusUnprocessableEntity, d.invalid(op))
		conflicting := d.request(op)
		if documents(op, http.StatusConflict, "double_booking") {
			schema, members := recordOf(op, conflicting)
			for name, v := range slot {
				if schema.Properties[name] != nil {
					members[name] = v
				}
			}
			d.provokeIn(t, op, http.StatusConflict, conflicting)
			continue
		}
		d.whileRunning(t, func() { d.provokeIn(t, op, http.StatusConflict, withKey(conflicting, runningKey)) })
	}
}

// provokeIn keeps the response to a request that an operation refuses.
func (d *demonstration) provokeIn(t *testing.T, op operation, status int, q harness.Request) {
	t.Helper()
	r := d.Do(t, q)
	if r.Code != status {
		t.Errorf("%s: a request for an example of %d gets %d: %s %v: %s", op, status, r.Code, q.Path, q.Body, r.Raw)
		return
	}
	if d.errors[op.ID] == nil {
		d.errors[op.ID] = map[string]*harness.Response{}
	}
	d.errors[op.ID][strconv.Itoa(status)] = r
	for _, problem := range contradictions(op.ID+" "+strconv.Itoa(status), d.decoded(t, r.Raw)) {
		t.Errorf("the response: %s", problem)
	}
}

// whileRunning sends requests while another one has runningKey.
func (d *demonstration) whileRunning(t *testing.T, send func()) {
	t.Helper()
	id := uuid.MustParse(column(t, d.Env, "SELECT id FROM access_tokens WHERE name = 'Recall letters' ORDER BY created_at DESC")[0])
	err := d.DB.TxOnce(principal.AsSystem(t.Context()), store.LockOf("idempotency", id, " ", runningKey), func(*ent.Client) error {
		send()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// recordOf returns the record in the body of a request with its schema; the body itself if it has several
// members.
func recordOf(op operation, q harness.Request) (schema *openapi3.Schema, members map[string]any) {
	schema, members = op.doc.RequestBody.Value.Content["application/json"].Schema.Value, q.Body.(map[string]any)
	if op.Body != nil {
		schema, members = schema.Properties[op.Body.Key].Value, members[op.Body.Key].(map[string]any)
	}
	return schema, members
}

// freeText reports whether a value may be any string.
func freeText(s *openapi3.Schema) bool {
	return s.Type.Is("string") && s.Format == "" && len(s.Enum) == 0
}

// uses returns the number of operations with a query parameter of a name.
func uses(name string) (n int) {
	for _, op := range exampled() {
		n += bit(op.doc.Parameters.GetByInAndName(openapi3.ParameterInQuery, name) != nil)
	}
	return n
}

// malformed returns a request that gets 400: its body is not JSON, its Idempotency-Key is malformed, or a
// query parameter is invalid: preferably one that is not free text, and that few operations have.
func (d *demonstration) malformed(t *testing.T, op operation) harness.Request {
	q := d.request(op)
	switch {
	case op.doc.RequestBody != nil:
		q.Body = `{"unfinished": `
		return q
	case op.writes():
		return withKey(q, "two words")
	}
	var invalid *openapi3.Parameter
	for _, p := range op.doc.Parameters {
		if p.Value.In != openapi3.ParameterInQuery || freeText(p.Value.Schema.Value) && invalid != nil {
			continue
		}
		if invalid == nil || freeText(invalid.Schema.Value) || uses(p.Value.Name) < uses(invalid.Name) {
			invalid = p.Value
		}
	}
	address, err := url.Parse(q.Path)
	if err != nil {
		t.Fatal(err)
	}
	query, name := address.Query(), "unknown"
	if invalid != nil {
		name = invalid.Name
	} else {
		q.Header = map[string]string{"Prefer": "handling=strict"}
	}
	query.Set(name, "unknown")
	q.Path = address.Path + "?" + query.Encode()
	return q
}

// invalid returns a request that gets 422: its body lacks one of several required members and has a value
// of another type, or its Idempotency-Key belongs to another request.
func (d *demonstration) invalid(op operation) harness.Request {
	q := d.request(op)
	if op.doc.RequestBody == nil {
		return withKey(q, usedKey)
	}
	schema, members := recordOf(op, q)
	names := slices.Concat(schema.Required, slices.Sorted(maps.Keys(members)))
	if len(schema.Required) > 1 {
		delete(members, names[0])
		names = names[1:]
	}
	members[names[0]] = "unknown"
	if freeText(schema.Properties[names[0]].Value) {
		members[names[0]] = map[string]any{}
	}
	return q
}

// documents reports whether an operation describes a status with a code of the API's errors.
func documents(op operation, status int, code string) bool {
	r := op.doc.Responses.Value(strconv.Itoa(status))
	return r != nil && r.Value.Description != nil && strings.Contains(*r.Value.Description, "`"+code+"`")
}

// provoke returns the errors that are the same for all operations, by status.
func (d *demonstration) provoke(t *testing.T) map[int]*harness.Response {
	admit, patient := d.request(find(t, "createPatient")), d.request(find(t, "updatePatient"))
	with := func(q harness.Request, header, value string) harness.Request {
		q.Header = map[string]string{header: value}
		return q
	}
	get := func(path string) harness.Request {
		return harness.Request{Method: http.MethodGet, Path: path, Token: d.token}
	}
	all := map[int]*harness.Response{}
	send := func(status int, q harness.Request) { all[status] = d.Do(t, q).Status(t, status) }

	send(401, harness.Request{Method: http.MethodGet, Path: "/v1/patients"})
	send(404, get("/v1/patients/999999999"))
	send(412, with(patient, "If-Match", `"other"`))
	large := admit
	large.Body = `{"x": "` + strings.Repeat("x", 1<<20) + `"}`
	send(413, large)
	send(415, with(admit, "Content-Type", "text/plain"))

	cursor := d.Get(t, "/v1/changes", d.token).Text(t, "meta.cursor")
	storetest.Exec(t, d.DB, feedlog.RenewEpoch(d.DB.Dialect))
	send(410, get("/v1/changes?cursor="+url.QueryEscape(cursor)))
	execute(t, d.Env, "ALTER TABLE sundries RENAME TO away")
	send(500, get("/v1/sundries"))
	execute(t, d.Env, "ALTER TABLE away RENAME TO sundries")

	limited := startWithLimit(t, 1)
	limited.Get(t, "/v1/patients", "")
	all[429] = limited.Get(t, "/v1/patients", "").Status(t, http.StatusTooManyRequests)
	if err := limited.DB.Close(); err != nil {
		t.Fatal(err)
	}
	all[503] = limited.Get(t, "/readyz", "").Status(t, http.StatusServiceUnavailable)
	for status, r := range all {
		r.Raw = bytes.ReplaceAll(r.Raw, []byte(limited.URL), []byte(d.URL))
		for _, problem := range contradictions(strconv.Itoa(status), d.decoded(t, r.Raw)) {
			t.Errorf("the response: %s", problem)
		}
	}
	return all
}

// TestErrorExamplesFitTheirOperation: the code is one that the operation documents, the scope is the one
// that it needs, and params are its own parameters and members.
func TestErrorExamplesFitTheirOperation(t *testing.T) {
	t.Parallel()
	examples := 0
	for _, op := range exampled() {
		var names []string
		for _, p := range op.doc.Parameters {
			names = append(names, strings.TrimSuffix(p.Value.Name, "[]"))
		}
		if op.doc.RequestBody != nil {
			whole := op.doc.RequestBody.Value.Content["application/json"].Schema.Value
			for name, member := range whole.Properties {
				names = append(append(names, name), slices.Collect(maps.Keys(member.Value.Properties))...)
			}
		}
		for status, response := range op.doc.Responses.Map() {
			code, err := strconv.Atoi(status)
			if err != nil || code < 400 {
				continue
			}
			examples++
			text, err := json.Marshal(response.Value.Content["application/json"].Example)
			var body struct {
				Error struct {
					Code, Message string
					Params        map[string][]string
				}
			}
			if err != nil || json.Unmarshal(text, &body) != nil {
				t.Errorf("%s: the example of %s is %s, %v", op, status, text, err)
				continue
			}
			if !documents(op, code, body.Error.Code) {
				t.Errorf("%s: the example of %s has the code %q, which the description lacks: %s", op, status, body.Error.Code, *response.Value.Description)
			}
			if body.Error.Code == "insufficient_scope" && !strings.Contains(body.Error.Message, op.Scope) {
				t.Errorf("%s needs the scope %s, the example of %s says: %s", op, op.Scope, status, body.Error.Message)
			}
			for name, messages := range body.Error.Params {
				if !slices.Contains(names, name) && !slices.Equal(messages, []string{"is not a known parameter"}) {
					t.Errorf("%s: the example of %s names %s, which is neither a parameter nor a member of the body", op, status, name)
				}
			}
		}
	}
	if examples < 700 {
		t.Errorf("checked only %d examples", examples)
	}
}
