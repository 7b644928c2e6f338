package mcp

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// sample returns an operation's valid arguments.
func sample(op *operation) map[string]any {
	args := map[string]any{}
	for _, in := range op.inputs {
		switch {
		case in.in == "path", in.in == "query" && in.required:
			args[in.name] = 7
		case in.in == "member", in.in == wholeBody:
			args[in.name] = map[string]any{"name": "x"}
		}
	}
	return args
}

func (o *operation) requestFor(t testing.TB, args map[string]any) (*request, error) {
	t.Helper()
	text, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := o.parseArguments(text)
	if err != nil {
		return nil, err
	}
	r, _, err := o.request(parsed)
	return r, err
}

// TestOnlyTrueConfirms tries every write with everything that confirm might be: without the
// literal true there is either no request or a dry run.
func TestOnlyTrueConfirms(t *testing.T) {
	writes := 0
	for _, op := range all(t) {
		if op.excluded() != "" {
			continue
		}
		for _, confirm := range []any{nil, false, true, "true", "yes", 1, 1.0, []any{true}, map[string]any{"confirm": true}, ""} {
			args := sample(op)
			args["idempotency_key"] = "k"
			if !strings.Contains(op.argumentNames(), "idempotency_key") {
				delete(args, "idempotency_key")
			}
			if op.writes() {
				args[confirmArgument] = confirm
			}
			r, err := op.requestFor(t, args)
			switch {
			case confirm != nil && confirm != false && confirm != true && op.writes():
				if err == nil {
					t.Errorf("%s: confirm %v gives a request", op.ID, confirm)
				}
			case err != nil:
				t.Errorf("%s: confirm %v: %v", op.ID, confirm, err)
			case (r.header.Get("Prefer") == "dry-run") != (op.writes() && confirm != true):
				t.Errorf("%s: confirm %v: Prefer %q", op.ID, confirm, r.header.Get("Prefer"))
			case r.header.Get("Prefer") != "" && r.header.Get("Idempotency-Key") != "":
				t.Errorf("%s: a preview has the write's Idempotency-Key", op.ID)
			}
		}
		if op.writes() {
			writes++
		}
	}
	if writes < 5 {
		t.Errorf("only %d operations write", writes)
	}
}

func operationNamed(t testing.TB, id string) *operation {
	t.Helper()
	for _, op := range all(t) {
		if op.ID == id {
			return op
		}
	}
	t.Fatalf("no operation %s", id)
	return nil
}

func TestArgumentsGoWhereTheDocumentSays(t *testing.T) {
	r, err := operationNamed(t, "listAvailability").requestFor(t, map[string]any{
		"practitioner_ids": []any{1, "2"}, "start_time": "2026-07-01T09:00:00+01:00", "finish_time": "a&b=c", "page": nil,
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.query.Encode(); got != "finish_time=a%26b%3Dc&practitioner_ids%5B%5D=1&practitioner_ids%5B%5D=2&start_time=2026-07-01T09%3A00%3A00%2B01%3A00" {
		t.Error(got)
	}
	r, err = operationNamed(t, "updatePatient").requestFor(t, map[string]any{
		"id": json.Number("9223372036854775807"), "patient": map[string]any{"middle_name": nil}, "if_match": `"tag"`, "confirm": true,
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.method != http.MethodPatch || r.path != "/patients/9223372036854775807" || string(r.body) != `{"patient":{"middle_name":null}}` ||
		r.header.Get("If-Match") != `"tag"` || r.header.Get("Content-Type") != "application/json" {
		t.Errorf("%+v %s", r, r.body)
	}
}

func TestHostileArgumentsGiveNoRequest(t *testing.T) {
	for _, c := range []struct{ tool, arguments string }{
		{"getPatient", `{"id": "../users/1"}`},
		{"getPatient", `{"id": ".."}`},
		{"getPatient", `{"id": ""}`},
		{"getPatient", `{"id": "1?per_page=2"}`},
		{"getPatient", `{"id": "1#x"}`},
		{"getPatient", `{"id": "1%2F..%2Fusers"}`},
		{"getPatient", `{"id": "1 OR 1=1"}`},
		{"getPatient", `{"id": "1\u0000"}`},
		{"getPatient", `{"id": "1\r\nX-Evil: 1"}`},
		{"getPatient", `{"id": ` + strings.Repeat("9", 65) + `}`},
		{"getPatient", `{"id": {"$ne": 1}}`},
		{"getPatient", `{"id": [1]}`},
		{"getPatient", `{"id": null}`},
		{"getPatient", `{}`},
		{"getPatient", ``},
		{"getPatient", `null`},
		{"getPatient", `[]`},
		{"getPatient", `"1"`},
		{"getPatient", `{"id": 1, "access_token": "x"}`},
		{"getPatient", `{"id": 1, "Authorization": "Bearer x"}`},
		{"getPatient", `{"id": 1, "confirm": true}`},
		{"getPatient", `{"ID": 1}`},
		{"listPatients", `{"query": {"a": 1}}`},
		{"listPatients", `{"per_page": [[1]]}`},
		{"listPatients", `{"` + strings.Repeat("x", 1<<16) + `": 1}`},
		{"updatePatient", `{"id": 1, "patient": {}, "Prefer": "x"}`},
		{"updatePatient", `{"id": 1, "patient": {}, "prefer": "x"}`},
		{"updatePatient", `{"id": 1, "patient": {}, "if_match": "a\r\nPrefer: none"}`},
		{"updatePatient", `{"id": 1, "patient": {}, "if_match": "` + strings.Repeat("a", 300) + `"}`},
		{"updatePatient", `{"id": 1}`},
	} {
		op := operationNamed(t, c.tool)
		args, err := op.parseArguments(json.RawMessage(c.arguments))
		if err == nil {
			_, _, err = op.request(args)
		}
		if err == nil {
			t.Errorf("%s %.80s gives a request", c.tool, c.arguments)
		} else if len(err.Error()) > 1000 {
			t.Errorf("%s %.80s: an error of %d bytes", c.tool, c.arguments, len(err.Error()))
		}
	}
}

// FuzzRequest looks for arguments that leave the operation's path or confirm a write by
// accident.
func FuzzRequest(f *testing.F) {
	for _, seed := range []string{`{"id": 1}`, `{"id": "x", "patient": {"title": "Dr"}, "confirm": true}`, `{"id": "a/b"}`, `{"confirm": "true"}`} {
		f.Add([]byte(seed))
	}
	op := operationNamed(f, "updatePatient")
	f.Fuzz(func(t *testing.T, text []byte) {
		args, err := op.parseArguments(text)
		if err != nil {
			return
		}
		r, confirmed, err := op.request(args)
		if err != nil {
			return
		}
		if id, ok := strings.CutPrefix(r.path, "/patients/"); !ok || !pathValue.MatchString(id) {
			t.Errorf("path %q", r.path)
		}
		if confirmed == (r.header.Get("Prefer") == "dry-run") || confirmed && !strings.Contains(string(text), "true") {
			t.Errorf("confirmed is %v, Prefer %q", confirmed, r.header.Get("Prefer"))
		}
		if !json.Valid(r.body) {
			t.Errorf("body %q", r.body)
		}
	})
}
