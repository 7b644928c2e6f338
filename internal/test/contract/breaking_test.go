package contract

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"chairside/ogent"
)

// releasedFile is the document of the last release, without prose.
const releasedFile = "testdata/openapi.released.json"

var release = flag.Bool("release", false, "make the present document the released one")

// TestReleasedOperationsDoNotBreak compares the document with that of the last
// release. With every release: go test ./internal/test/contract -run Released -release
func TestReleasedOperationsDoNotBreak(t *testing.T) {
	if *release {
		if err := os.WriteFile(releasedFile, bare(t, ogent.Document), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	released, err := os.ReadFile(releasedFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range breaks(load(t, released), load(t, ogent.Document)) {
		t.Error(problem)
	}
}

// bare removes examples and prose.
func bare(t *testing.T, document []byte) []byte {
	t.Helper()
	var v any
	if err := json.Unmarshal(document, &v); err != nil {
		t.Fatal(err)
	}
	var strip func(v any)
	strip = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, inner := range v {
				strip(inner)
			}
		case map[string]any:
			delete(v, "example")
			for key, inner := range v {
				if _, prose := inner.(string); prose && (key == "summary" || key == "description") {
					v[key] = ""
				}
				strip(inner)
			}
		}
	}
	strip(v)
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetIndent("", " ")
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func load(t *testing.T, data []byte) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(data)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// breaks lists the changes that break a client of the old document.
func breaks(old, now *openapi3.T) []string {
	var c comparison
	for path, was := range old.Paths.Map() {
		is := now.Paths.Value(path)
		for method, operation := range was.Operations() {
			where := method + " " + path
			if is == nil || is.GetOperation(method) == nil {
				c.add(where, "is gone")
				continue
			}
			c.operation(where, operation, is.GetOperation(method))
		}
	}
	slices.Sort(c.problems)
	return c.problems
}

// comparison collects problems.
type comparison struct{ problems []string }

func (c *comparison) add(where, problem string, args ...any) {
	c.problems = append(c.problems, where+": "+fmt.Sprintf(problem, args...))
}

// operation compares an operation's parameters, body and responses.
func (c *comparison) operation(where string, was, is *openapi3.Operation) {
	for _, p := range was.Parameters {
		name := where + " parameter " + p.Value.Name
		q := is.Parameters.GetByInAndName(p.Value.In, p.Value.Name)
		if q == nil {
			c.add(name, "is gone")
			continue
		}
		if q.Required && !p.Value.Required {
			c.add(name, "has become required")
		}
		c.schema(name, p.Value.Schema.Value, q.Schema.Value, sent)
	}
	for _, q := range is.Parameters {
		if q.Value.Required && was.Parameters.GetByInAndName(q.Value.In, q.Value.Name) == nil {
			c.add(where+" parameter "+q.Value.Name, "is new and required")
		}
	}
	if body := was.RequestBody; body != nil {
		if is.RequestBody == nil {
			c.add(where+" body", "is gone")
		} else {
			c.schema(where+" body", jsonSchema(body.Value.Content), jsonSchema(is.RequestBody.Value.Content), sent)
		}
	}
	for status, response := range was.Responses.Map() {
		if status[0] != '2' {
			continue
		}
		other := is.Responses.Value(status)
		if other == nil {
			c.add(where, "no longer answers %s", status)
			continue
		}
		if s := jsonSchema(response.Value.Content); s != nil {
			c.schema(where+" response", s, jsonSchema(other.Value.Content), received)
		}
	}
}

func jsonSchema(c openapi3.Content) *openapi3.Schema {
	media := c.Get("application/json")
	if media == nil {
		return nil
	}
	return media.Schema.Value
}

// direction is the direction of a value.
type direction bool

const (
	sent     direction = true  // by the client: the server must accept no less
	received direction = false // by the client: the server must return nothing else and no less
)

// schema compares the schemas of a value, members included.
func (c *comparison) schema(where string, was, is *openapi3.Schema, d direction) {
	if is == nil {
		c.add(where, "is gone")
		return
	}
	if kind(was) != kind(is) {
		c.add(where, "was %s, is %s", kind(was), kind(is))
		return
	}
	if d == received && is.Nullable && !was.Nullable {
		c.add(where, "can now be null")
	}
	if d == sent {
		c.narrower(where, was, is)
	}
	for name, p := range was.Properties {
		q := is.Properties[name]
		if q == nil {
			c.add(where+"."+name, "is gone")
			continue
		}
		c.schema(where+"."+name, p.Value, q.Value, d)
		before, after := slices.Contains(was.Required, name), slices.Contains(is.Required, name)
		if d == sent && after && !before {
			c.add(where+"."+name, "has become required")
		}
		if d == received && before && !after {
			c.add(where+"."+name, "is no longer always there")
		}
	}
	for _, name := range is.Required {
		if was.Properties[name] == nil && d == sent {
			c.add(where+"."+name, "is new and required")
		}
	}
	if was.Items != nil {
		c.schema(where+"[]", was.Items.Value, is.Items.Value, d)
	}
	if inner := was.AdditionalProperties.Schema; inner != nil {
		if is.AdditionalProperties.Schema == nil {
			c.add(where+".*", "is gone")
		} else {
			c.schema(where+".*", inner.Value, is.AdditionalProperties.Schema.Value, d)
		}
	}
}

// narrower reports values that are no longer accepted.
func (c *comparison) narrower(where string, was, is *openapi3.Schema) {
	if was.Nullable && !is.Nullable {
		c.add(where, "can no longer be null")
	}
	for _, word := range was.Enum {
		if len(is.Enum) > 0 && !slices.Contains(is.Enum, word) {
			c.add(where, "no longer takes %v", word)
		}
	}
	if len(was.Enum) == 0 && len(is.Enum) > 0 {
		c.add(where, "takes only some words")
	}
	if is.MaxLength != nil && (was.MaxLength == nil || *is.MaxLength < *was.MaxLength) {
		c.add(where, "must be shorter")
	}
	if is.Max != nil && (was.Max == nil || *is.Max < *was.Max) || is.Min != nil && (was.Min == nil || *is.Min > *was.Min) {
		c.add(where, "has a smaller range")
	}
	if is.Pattern != "" && is.Pattern != was.Pattern {
		c.add(where, "has another pattern")
	}
}

// kind returns a schema's type and format.
func kind(s *openapi3.Schema) string {
	if s.Type == nil {
		return "anything"
	}
	return strings.TrimSpace(strings.Join(s.Type.Slice(), "|") + " " + s.Format)
}

// TestBreaksAreFound changes the document in every way that breaks detects, and in ways
// that break nothing.
func TestBreaksAreFound(t *testing.T) {
	t.Parallel()
	released := load(t, ogent.Document)
	for path := range released.Paths.Map() {
		if !slices.Contains([]string{"/appointments", "/patients", "/patients/{id}", "/rooms"}, path) {
			released.Paths.Delete(path) // loading all of them for each change takes long
		}
	}
	document, err := released.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	appointments := func(d *openapi3.T) *openapi3.PathItem { return d.Paths.Value("/appointments") }
	patient := func(d *openapi3.T) *openapi3.Schema { return d.Components.Schemas["Patient"].Value }
	create := func(d *openapi3.T) *openapi3.Schema { return d.Components.Schemas["PatientCreate"].Value }
	text := openapi3.NewSchemaRef("", openapi3.NewStringSchema())
	for _, c := range []struct {
		change func(d *openapi3.T)
		want   string // "" for a compatible change
	}{
		{func(*openapi3.T) {}, ""},
		{func(d *openapi3.T) { d.Paths.Delete("/rooms") }, "GET /rooms: is gone"},
		{func(d *openapi3.T) { d.Paths.Value("/patients/{id}").Put = nil }, "PUT /patients/{id}: is gone"},
		{func(d *openapi3.T) { appointments(d).Get.Parameters = appointments(d).Get.Parameters[1:] }, "GET /appointments parameter page: is gone"},
		{func(d *openapi3.T) { appointments(d).Get.Parameters.GetByInAndName("query", "state").Required = true }, "GET /appointments parameter state: has become required"},
		{func(d *openapi3.T) {
			appointments(d).Get.Parameters.GetByInAndName("query", "state").Schema.Value.Enum = []any{"Pending"}
		}, "GET /appointments parameter state: no longer takes Confirmed"},
		{func(d *openapi3.T) {
			appointments(d).Get.Parameters.GetByInAndName("query", "on").Schema.Value = openapi3.NewInt64Schema()
		}, "GET /appointments parameter on: was string date, is integer int64"},
		{func(d *openapi3.T) {
			appointments(d).Get.AddParameter(openapi3.NewQueryParameter("new").WithRequired(true).WithSchema(openapi3.NewStringSchema()))
		}, "GET /appointments parameter new: is new and required"},
		{func(d *openapi3.T) {
			appointments(d).Get.AddParameter(openapi3.NewQueryParameter("new").WithSchema(openapi3.NewStringSchema()))
		}, ""},
		{func(d *openapi3.T) { delete(patient(d).Properties, "town") }, "GET /patients response.patients[].town: is gone"},
		{func(d *openapi3.T) { patient(d).Properties["town"].Value.Type = &openapi3.Types{"integer"} }, "GET /patients response.patients[].town: was string, is integer"},
		{func(d *openapi3.T) { patient(d).Properties["first_name"].Value.Nullable = true }, "GET /patients response.patients[].first_name: can now be null"},
		{func(d *openapi3.T) { patient(d).Required = nil }, "GET /patients response.patients[].town: is no longer always there"},
		{func(d *openapi3.T) { patient(d).Properties["new"] = text }, ""},
		{func(d *openapi3.T) { delete(create(d).Properties, "town") }, "POST /patients body.patient.town: is gone"},
		{func(d *openapi3.T) { create(d).Required = append(create(d).Required, "town") }, "POST /patients body.patient.town: has become required"},
		{func(d *openapi3.T) { create(d).Properties["town"].Value.Nullable = false }, "POST /patients body.patient.town: can no longer be null"},
		{func(d *openapi3.T) { create(d).Properties["town"].Value.WithMaxLength(10) }, "POST /patients body.patient.town: must be shorter"},
		{func(d *openapi3.T) { create(d).Properties["dentist_recall_interval"].Value.WithMax(12) }, "POST /patients body.patient.dentist_recall_interval: has a smaller range"},
		{func(d *openapi3.T) {
			create(d).Properties["new"] = text
			create(d).Required = append(create(d).Required, "new")
		}, "POST /patients body.patient.new: is new and required"},
		{func(d *openapi3.T) { create(d).Properties["new"] = text }, ""},
		{func(d *openapi3.T) { appointments(d).Post.Responses.Delete("201") }, "POST /appointments: no longer answers 201"},
		{func(d *openapi3.T) { appointments(d).GetOperation(http.MethodPost).RequestBody = nil }, "POST /appointments body: is gone"},
	} {
		changed := load(t, document)
		c.change(changed)
		got := breaks(released, changed)
		if c.want == "" && len(got) > 0 || c.want != "" && !slices.Contains(got, c.want) {
			t.Errorf("want %q, got %q", c.want, got)
		}
	}
}
