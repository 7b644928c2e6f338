package codegen

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ogen-go/ogen"

	"chairside/internal/apispec"
	"chairside/internal/codec"
)

// recording holds the demo's responses to the document's example requests, so that the example
// of a response has no combination of values that the server would not send. A test of
// internal/test/contract sends the requests and compares; with -record it writes the file.
//
//go:embed examples/recording.json
var recording []byte

// recorded is the decoded recording.
type recorded struct {
	Records   map[string]json.RawMessage // ids of the example records, by the plural of their resource
	Responses map[string]json.RawMessage // bodies of successful responses, by operation; text for those that are not JSON
	Errors    map[string]json.RawMessage // bodies of errors that are the same for all operations, by status
	// OperationErrors are the bodies of the other errors, by operation and status.
	OperationErrors map[string]map[string]json.RawMessage
}

func readRecording() (r recorded, err error) {
	if err := json.Unmarshal(recording, &r); err != nil {
		return r, fmt.Errorf("examples/recording.json: %w", err)
	}
	return r, nil
}

// responseExample returns the recorded response of an operation; nil for a new operation, which
// has not been recorded yet.
func (d *document) responseExample(id string) ogen.ExampleValue {
	if !d.published {
		return nil
	}
	return ogen.ExampleValue(d.recorded.Responses[id])
}

// recordExample returns the example record of a resource, by member; nil if it has not been
// recorded yet.
func (d *document) recordExample(e *entity) (record map[string]json.RawMessage) {
	return element(d.recorded.Responses["get"+e.Name], e.R.Key)
}

// element returns the object that a response holds under a key, or the first one of a list.
func element(response json.RawMessage, key string) (object map[string]json.RawMessage) {
	var body map[string]json.RawMessage
	var list []map[string]json.RawMessage
	switch {
	case json.Unmarshal(response, &body) != nil:
	case json.Unmarshal(body[key], &list) == nil && len(list) > 0:
		return list[0]
	default:
		_ = json.Unmarshal(body[key], &object) // nil without a record
	}
	return object
}

// illustrate gives a property of a response the recorded value, or value without one.
func (d *document) illustrate(s *ogen.Schema, recorded, value json.RawMessage) *ogen.Schema {
	switch {
	case !d.published:
	case recorded == nil:
		s.Example = ogen.ExampleValue(value)
	default:
		s.Example = ogen.ExampleValue(recorded)
	}
	return s
}

// idExample returns the id of the example record of a resource; nil for one that has not been
// recorded yet.
func (d *document) idExample(e *entity) json.RawMessage { return d.recorded.Records[e.R.Plural] }

// referenceExample returns the id of the example record that members or parameters of a name
// refer to; nil if they refer to none.
func (d *document) referenceExample(name string) json.RawMessage {
	column := strings.TrimSuffix(name, "s") // practitioner_ids
	for _, e := range d.model.Entities {
		if c := e.Column(column); c != nil && c.References() != nil {
			return d.idExample(e.Model.of(c.References().Type))
		}
	}
	return nil
}

// columnExample returns the example of a column in a request: its own, the example record that
// it refers to, or that of its kind.
func (d *document) columnExample(c *column) json.RawMessage {
	id := d.referenceExample(c.Name)
	switch x := c.API.Example; {
	case x == "" && c.IsEnum():
		return quote(c.EnumValues()[0])
	case x == "" && id != nil:
		return id
	case x == "":
		return kindExample(c.Kind, c.Name)
	case slices.Contains([]codec.Kind{codec.Text, codec.Country, codec.Enum}, c.Kind):
		return quote(x)
	default:
		return json.RawMessage(x)
	}
}

// parameterExample returns the value of a query parameter in the example request; nil for a
// parameter that the request does not have.
func (d *document) parameterExample(p documentedParam) json.RawMessage {
	if !d.published || !p.Required && !p.Shown && p.Example == "" {
		return nil
	}
	value := json.RawMessage(p.Example)
	if p.Example == "" {
		value = d.referenceExample(p.Name)
	}
	if value == nil {
		value = kindExample(p.Kind, p.Name)
	}
	if p.Array {
		return array(value)
	}
	return value
}

// kindExample returns an example value of a kind. Names of people and places are invented.
func kindExample(k codec.Kind, name string) json.RawMessage {
	switch k {
	case codec.Boolean, codec.Flag, codec.Gender:
		return json.RawMessage("true")
	case codec.Integer, codec.Consent:
		return json.RawMessage("1")
	case codec.ID:
		return json.RawMessage("42")
	case codec.UUID:
		return quote("0198f2a4-c1d0-7b3e-9a51-3f6f0c9d2e10")
	case codec.Date, codec.Day:
		return quote(apispec.ExampleDay)
	case codec.Time:
		return json.RawMessage(apispec.ExampleAt("09:30"))
	case codec.Decimal:
		return quote("12.50")
	case codec.Metadata:
		return json.RawMessage(`{"crm_id": "A-17"}`)
	case codec.Email:
		return quote("ada@practice.example")
	case codec.Country:
		return quote("GB")
	case codec.Ethnicity:
		return quote("A")
	case codec.Avatar:
		return quote("https://practice.example/static/avatar.svg")
	case codec.Object:
		return json.RawMessage("{}")
	case codec.Strings:
		return json.RawMessage("[]")
	}
	return quote(textExamples[name])
}

// computedExample returns the example of a member that is not a column.
func computedExample(c apispec.Computed) json.RawMessage {
	switch {
	case c.Example != "":
		return json.RawMessage(c.Example)
	case c.Objects != nil:
		return listExample(c.Objects)
	}
	return kindExample(c.Kind, c.Name)
}

// listExample returns a list of one object.
func listExample(l *apispec.Objects) json.RawMessage {
	var item orderedObject
	for _, c := range l.Members {
		item.add(c.Name, computedExample(c))
	}
	return array(item.json())
}

var textExamples = map[string]string{
	"first_name": "Ada", "last_name": "Okafor", "middle_name": "Rose", "preferred_name": "Ada", "patient_name": "Ada Okafor",
	"name": "Example", "address_line_1": "1 High Street", "town": "Bath", "county": "Somerset", "status": "paid",
	"nomenclature": "Examination", "notes": "Prefers mornings.",
}

// bodyExample returns the example of the body of a create or an update.
func (d *document) bodyExample(e *entity, create bool) ogen.ExampleValue {
	if !d.published {
		return nil
	}
	named := e.R.ExampleUpdate
	if create {
		named = e.R.ExampleCreate
	}
	var m orderedObject
	for _, c := range e.writtenBy(create) {
		if create && c.API.Required || slices.Contains(named, c.Name) {
			m.add(c.Name, d.columnExample(c))
		}
	}
	return ogen.ExampleValue(wrap(e.R.Key, m.json()).json())
}

// orderedObject is a JSON object that keeps the order of its members.
type orderedObject []struct {
	name  string
	value json.RawMessage
}

func (m *orderedObject) add(name string, value json.RawMessage) {
	*m = append(*m, struct {
		name  string
		value json.RawMessage
	}{name, value})
}

func (m orderedObject) json() json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, x := range m {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(quote(x.name))
		b.WriteByte(':')
		b.Write(x.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// wrap returns an object with one member.
func wrap(key string, value json.RawMessage) orderedObject {
	var m orderedObject
	m.add(key, value)
	return m
}

// array returns a list of one value.
func array(v json.RawMessage) json.RawMessage { return slices.Concat([]byte("["), v, []byte("]")) }

// quote returns a string as JSON.
func quote(s string) json.RawMessage { return texts([]string{s})[0] }
