package codegen

import (
	"bytes"
	"encoding/json"

	"chairside/internal/apispec"
	"chairside/internal/codec"
)

// columnExample returns the example of a column: its own or, without one, that of its kind.
func columnExample(c *column) json.RawMessage {
	switch x := c.API.Example; {
	case x == "" && c.IsEnum():
		return texts(c.EnumValues()[:1])[0]
	case x == "":
		return kindExample(c.Kind, c.Name)
	case c.Kind == codec.Text:
		return texts([]string{x})[0]
	case c.Kind == codec.Country || c.Kind == codec.Enum:
		return texts([]string{x})[0]
	default:
		return json.RawMessage(x)
	}
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
		return json.RawMessage(`"0198f2a4-c1d0-7b3e-9a51-3f6f0c9d2e10"`)
	case codec.Date, codec.Day:
		return json.RawMessage(`"2026-07-01"`)
	case codec.Time:
		return json.RawMessage(`"2026-07-01T09:30:00.000+01:00"`)
	case codec.Decimal:
		return json.RawMessage(`"12.50"`)
	case codec.Metadata:
		return json.RawMessage(`{"crm_id": "A-17"}`)
	case codec.Email:
		return json.RawMessage(`"ada@practice.example"`)
	case codec.Country:
		return json.RawMessage(`"GB"`)
	case codec.Ethnicity:
		return json.RawMessage(`"A"`)
	case codec.Avatar:
		return json.RawMessage(`"https://practice.example/static/avatar.svg"`)
	case codec.Object:
		return json.RawMessage("{}")
	case codec.Strings:
		return json.RawMessage("[]")
	}
	return texts([]string{textExamples[name]})[0]
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
		b.Write(texts([]string{x.name})[0])
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
func array(v json.RawMessage) json.RawMessage { return append(append([]byte("["), v...), ']') }

func recordExample(e *entity, single bool) json.RawMessage {
	var m orderedObject
	for _, c := range e.Shown() {
		m.add(c.Name, columnExample(c))
	}
	for _, c := range e.R.Computed {
		m.add(c.Name, computedExample(c))
	}
	for _, b := range e.R.Embeds {
		if b.SingleOnly && !single {
			continue
		}
		target, _ := e.Target(b.Edge) // the document has been built: the edge exists
		value := recordExample(target, true)
		if len(b.Columns) > 0 {
			var part orderedObject
			for _, c := range b.Columns {
				part.add(c, columnExample(target.Column(c)))
			}
			value = part.json()
		}
		if edge, _ := e.Edge(b.Edge); !edge.Unique {
			value = array(value)
		}
		m.add(b.Edge, value)
	}
	return m.json()
}

func (d *document) oneExample(e *entity) json.RawMessage {
	if !d.published {
		return nil
	}
	return wrap(e.R.Key, recordExample(e, true)).json()
}

func (d *document) listExample(e *entity) json.RawMessage {
	if !d.published {
		return nil
	}
	meta := metaExample()
	for _, t := range e.R.Totals {
		meta.add(t, kindExample(codec.Decimal, t))
	}
	m := wrap(e.R.Plural, array(recordExample(e, false)))
	m.add("meta", meta.json())
	return m.json()
}

// metaExample is the meta member of a list.
func metaExample() (meta orderedObject) {
	for _, n := range []string{"total", "page", "current_page", "per_page", "total_pages"} {
		value := "1"
		if n == "per_page" {
			value = "25"
		}
		meta.add(n, json.RawMessage(value))
	}
	return meta
}

func (d *document) operationExample(o apispec.Operation) json.RawMessage {
	if !d.published {
		return nil
	}
	var item orderedObject
	for _, c := range o.Members {
		item.add(c.Name, computedExample(c))
	}
	switch {
	case o.Counted:
		m := wrap(o.Key, array(item.json()))
		m.add("meta", metaExample().json())
		return m.json()
	case o.MaxPage == 0:
		return wrap(o.Key, item.json()).json()
	}
	m := wrap(o.Key, array(item.json()))
	m.add("meta", json.RawMessage(`{"page": 1, "current_page": 1, "per_page": 20, "more": false}`))
	return m.json()
}

func inputExample(e *entity, create bool) example {
	var m orderedObject
	for _, c := range e.writtenBy(create) {
		if !create || c.API.Required {
			m.add(c.Name, columnExample(c))
		}
	}
	return example(wrap(e.R.Key, m.json()).json())
}
