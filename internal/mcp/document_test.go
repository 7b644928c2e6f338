package mcp

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"chairside/ogent"
)

// all returns the operations of the published document.
func all(t testing.TB) []*operation {
	t.Helper()
	return parsed(t, string(ogent.Document))
}

func parsed(t testing.TB, text string) []*operation {
	t.Helper()
	d, err := parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	operations, err := d.operations()
	if err != nil {
		t.Fatal(err)
	}
	return operations
}

// TestEveryOperationIsATool derives from the server's own table: each operation is a tool that
// needs the same scope and has an argument for each parameter and each field of the body.
func TestEveryOperationIsATool(t *testing.T) {
	tools := map[string]*operation{}
	for _, op := range all(t) {
		switch why := op.excluded(); {
		case why == "":
			tools[op.ID] = op
		case op.method == http.MethodPut && op.patch != nil:
		case slices.Contains(streams(op), "application/x-ndjson"):
		case op.ID == "batch":
		default:
			t.Errorf("%s is not a tool: %s", op.ID, why)
		}
	}
	for id, served := range ogent.Operations {
		op := tools[id]
		if op == nil {
			if !slices.ContainsFunc(all(t), func(o *operation) bool { return o.ID == id && o.excluded() != "" }) {
				t.Errorf("%s is no tool", id)
			}
			continue
		}
		if op.scope() != served.Scope {
			t.Errorf("%s: scope %q, want %q", id, op.scope(), served.Scope)
		}
		properties := op.schema["properties"].(map[string]any)
		for _, p := range served.Params {
			if properties[p.Name] == nil {
				t.Errorf("%s: no argument for the parameter %s", id, p.Name)
			}
		}
		if served.Body != nil && served.Body.Key != "" {
			record, _ := properties[served.Body.Key].(map[string]any)
			fields, _ := record["properties"].(map[string]any)
			for _, f := range served.Body.Fields {
				if fields[f.Name] == nil {
					t.Errorf("%s: no argument for the field %s", id, f.Name)
				}
			}
		}
	}
}

// streams returns the media types of an operation's success.
func streams(op *operation) (types []string) {
	for status, response := range op.Responses {
		if strings.HasPrefix(status, "2") {
			types = slices.AppendSeq(types, maps.Keys(response.Content))
		}
	}
	return types
}

func TestToolsSayWhetherTheyChangeData(t *testing.T) {
	for _, op := range all(t) {
		if op.excluded() != "" {
			continue
		}
		tool := op.tool()
		a := tool.Annotations
		if a.ReadOnlyHint != (op.method == http.MethodGet) || *a.OpenWorldHint || tool.Title == "" || tool.Description == "" {
			t.Errorf("%s: %+v", op.ID, tool)
		}
		if want := op.method == http.MethodPatch || op.method == http.MethodDelete; *a.DestructiveHint != want {
			t.Errorf("%s: destructive is %v", op.ID, *a.DestructiveHint)
		}
		if want := op.method != http.MethodPost; a.IdempotentHint != want {
			t.Errorf("%s: idempotent is %v", op.ID, a.IdempotentHint)
		}
		_, confirms := op.schema["properties"].(map[string]any)[confirmArgument]
		if confirms != op.writes() {
			t.Errorf("%s: the argument confirm is %v", op.ID, confirms)
		}
	}
}

// TestSchemasAreJSONSchema looks for what assistants refuse: keywords of OpenAPI, references, and
// names with other characters.
func TestSchemasAreJSONSchema(t *testing.T) {
	var check func(t *testing.T, schema any)
	check = func(t *testing.T, schema any) {
		s, ok := schema.(map[string]any)
		if !ok {
			return
		}
		for _, keyword := range notForArguments {
			if _, ok := s[keyword]; ok {
				t.Errorf("has the keyword %s", keyword)
			}
		}
		properties, _ := s["properties"].(map[string]any)
		for name, property := range properties {
			if !argumentName.MatchString(name) {
				t.Errorf("has a property %q", name)
			}
			check(t, property)
		}
		check(t, s["items"])
		check(t, s["additionalProperties"])
	}
	for _, op := range all(t) {
		if op.excluded() == "" {
			t.Run(op.ID, func(t *testing.T) { check(t, op.schema) })
		}
	}
}

const paths = `{"info": {"version": "1"}, "paths": {"/things/{id}": %}, "components": {"schemas": {
	"Thing": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "part": {"$ref": "#/components/schemas/Part"}}},
	"Part": {"type": "integer", "nullable": true},
	"Tree": {"type": "object", "properties": {"branches": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}}}}},
	"parameters": {"Prefer": {"name": "Prefer", "in": "header", "description": "dry-run stores nothing."}}}}`

func TestStreamsAndTwinsAreNotTools(t *testing.T) {
	operations := parsed(t, strings.Replace(paths, "%", `{
		"get": {"operationId": "stream", "responses": {"200": {"content": {"application/x-ndjson": {}}}}},
		"put": {"operationId": "put", "responses": {"200": {"content": {"application/json": {}}}}},
		"patch": {"operationId": "patch", "responses": {"204": {}}}}`, 1))
	var tools []string
	for _, op := range operations {
		if op.excluded() == "" {
			tools = append(tools, op.ID)
		}
	}
	if !slices.Equal(tools, []string{"patch"}) {
		t.Errorf("tools %v", tools)
	}
}

func TestPutWithoutPatchIsATool(t *testing.T) {
	op := parsed(t, strings.Replace(paths, "%", `{"put": {"operationId": "put", "responses": {"204": {}}}}`, 1))[0]
	if why := op.excluded(); why != "" {
		t.Error(why)
	}
}

func TestReferencesAndParametersBecomeOneSchema(t *testing.T) {
	op := parsed(t, strings.Replace(paths, "%", `{
		"parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}],
		"post": {"operationId": "add", "parameters": [
				{"name": "tags[]", "in": "query", "description": "Tags.", "schema": {"type": "array", "items": {"type": "string", "example": "a"}}},
				{"name": "Idempotency-Key", "in": "header", "schema": {"type": "string"}},
				{"$ref": "#/components/parameters/Prefer"}],
			"requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}},
			"responses": {"201": {"content": {"application/json": {}}}}}}`, 1))[0]
	got, err := json.Marshal(op.schema)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"additionalProperties":false,"properties":{` +
		`"confirm":{"description":"` + confirmText + `","type":"boolean"},` +
		`"id":{"type":"integer"},"idempotency_key":{"type":"string"},"name":{"type":"string"},"part":{"type":["integer","null"]},` +
		`"tags":{"description":"Tags.","items":{"type":"string"},"type":"array"}},"required":["id","name"],"type":"object"}`
	if string(got) != want {
		t.Errorf("schema %s\nwant   %s", got, want)
	}
	if !op.previews {
		t.Error("the operation declares Prefer: dry-run")
	}
}

func TestBodiesWithoutMembersAreOneArgument(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type": "array", "items": {"$ref": "#/components/schemas/Part"}}`: `{"items":{"type":["integer","null"]},"type":"array"}`,
		`{"type": "object", "additionalProperties": true}`:                  `{"additionalProperties":true,"type":"object"}`,
	} {
		op := parsed(t, strings.Replace(paths, "%", `{"put": {"operationId": "put", "requestBody": {"required": true, "content": {"application/json": {"schema": `+schema+`}}}}}`, 1))[0]
		if got, err := json.Marshal(op.schema["properties"].(map[string]any)["body"]); err != nil || string(got) != want {
			t.Errorf("%s %v, want %s", got, err, want)
		}
		r, err := op.requestFor(t, map[string]any{"body": []any{1, nil}, "confirm": true})
		if err != nil || string(r.body) != "[1,null]" {
			t.Errorf("%+v %v", r, err)
		}
		if _, err := op.requestFor(t, map[string]any{"confirm": true}); err == nil {
			t.Error("the body is required")
		}
	}
}

func TestSchemasThatContainThemselvesEnd(t *testing.T) {
	op := parsed(t, strings.Replace(paths, "%", `{"post": {"operationId": "x", "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Tree"}}}}}}`, 1))[0]
	got, err := json.Marshal(op.schema["properties"].(map[string]any)["branches"])
	if err != nil || string(got) != `{"items":{},"type":"array"}` {
		t.Errorf("%s %v", got, err)
	}
}

func TestDocumentsThatCannotBeTools(t *testing.T) {
	for name, item := range map[string]string{
		"unknown schema":   `{"post": {"operationId": "x", "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/None"}}}}}}`,
		"foreign schema":   `{"post": {"operationId": "x", "requestBody": {"content": {"application/json": {"schema": {"$ref": "http://other.example/Thing"}}}}}}`,
		"confirm is taken": `{"post": {"operationId": "x", "parameters": [{"name": "confirm", "in": "query", "schema": {"type": "string"}}]}}`,
		"two of one name":  `{"get": {"operationId": "x", "parameters": [{"name": "a", "in": "query"}, {"name": "a[]", "in": "query"}]}}`,
		"a strange name":   `{"get": {"operationId": "x", "parameters": [{"name": "a b", "in": "query"}]}}`,
		"no parameter":     `{"get": {"operationId": "x", "parameters": [{"$ref": "#/components/parameters/None"}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := New(Options{Document: []byte(strings.Replace(paths, "%", item, 1)), AllowWrites: true}); err == nil {
				t.Error("no error")
			}
		})
	}
	if _, err := New(Options{Document: []byte("<html>")}); err == nil {
		t.Error("no error")
	}
}
