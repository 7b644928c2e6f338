package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// apiDocument is what the reference shows of the OpenAPI document.
type apiDocument struct {
	BaseURL string `json:"-"` // the public URL of this server
	Servers []struct{ URL string }
	Tags    []struct{ Name, Description string }
	Paths   ordered[struct {
		Servers                       []struct{ URL string }
		Get, Post, Put, Patch, Delete *apiOperation
	}]
	Components struct {
		Schemas    ordered[*apiSchema]
		Responses  map[string]*apiResponse
		Parameters map[string]*apiParameter
	}

	operations []*apiOperation
}

// apiOperation is an operation. Its address has its ID.
type apiOperation struct {
	ID                   string `json:"operationId"`
	Tags                 []string
	Summary, Description string
	Parameters           []*apiParameter
	RequestBody          *struct{ Content ordered[apiContent] }
	Responses            ordered[*apiResponse]
	Security             []map[string][]string

	Method, Path, server string
	Label                string        // the summary, with the method if another operation has the same
	Lists, Creates       *apiOperation // for a path with an id: where to get one; nil if there is no such operation
	Body                 *apiSchema    // the record in the body, or the body
	BodyKey              string        // the name of that record in the body
}

type apiParameter struct {
	Ref                   string `json:"$ref"`
	Name, In, Description string
	Required              bool
	Schema                *apiSchema
	Example               json.RawMessage
}

type apiResponse struct {
	Ref         string `json:"$ref"`
	Description string
	Content     ordered[apiContent]
}

type apiContent struct {
	Schema  *apiSchema
	Example json.RawMessage
}

type apiSchema struct {
	Ref                       string `json:"$ref"`
	Type, Format, Description string
	Nullable                  bool
	Enum                      []json.RawMessage
	Default, Example          json.RawMessage
	Minimum, Maximum          json.RawMessage
	MaxLength, MaxItems       json.RawMessage
	Items                     *apiSchema
	AllOf                     []*apiSchema
	Properties                ordered[*apiSchema]
	Required                  []string
}

// ordered is a JSON object in the order of the document, which is the order for readers.
type ordered[T any] []struct {
	Name  string
	Value T
}

func (o *ordered[T]) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		member := struct {
			Name  string
			Value T
		}{Name: fmt.Sprint(name)}
		if err := d.Decode(&member.Value); err != nil {
			return err
		}
		*o = append(*o, member)
	}
	return nil
}

// parseDocument reads an OpenAPI document and resolves its parameters and responses.
func parseDocument(text []byte) (*apiDocument, error) {
	d := &apiDocument{}
	if err := json.Unmarshal(text, d); err != nil {
		return nil, fmt.Errorf("OpenAPI document: %w", err)
	}
	for _, path := range d.Paths {
		item, server := path.Value, d.Servers[0].URL
		if len(item.Servers) > 0 {
			server = item.Servers[0].URL
		}
		for _, m := range []struct {
			name string
			o    *apiOperation
		}{{"GET", item.Get}, {"POST", item.Post}, {"PUT", item.Put}, {"PATCH", item.Patch}, {"DELETE", item.Delete}} {
			if m.o == nil {
				continue
			}
			m.o.Method, m.o.Path, m.o.server = m.name, path.Name, strings.TrimSuffix(server, "/")
			for i, p := range m.o.Parameters {
				if p.Ref != "" {
					m.o.Parameters[i] = d.Components.Parameters[lastPart(p.Ref)]
				}
			}
			for i, r := range m.o.Responses {
				if r.Value.Ref != "" {
					m.o.Responses[i].Value = d.Components.Responses[lastPart(r.Value.Ref)]
				}
			}
			if m.o.RequestBody != nil {
				m.o.BodyKey, m.o.Body = d.inner(m.o.RequestBody.Content[0].Value.Schema)
			}
			d.operations = append(d.operations, m.o)
		}
	}
	for _, o := range d.operations {
		o.Lists, o.Creates = d.sourcesOf(o)
	}
	same := map[string]int{}
	for _, o := range d.operations {
		same[o.Summary]++
	}
	for _, o := range d.operations {
		if o.Label = o.Summary; same[o.Summary] > 1 {
			o.Label += " (" + o.Method + ")"
		}
	}
	return d, nil
}

// sourcesOf returns the operations that list and create the records of a path with an id. They are
// at the path before it.
func (d *apiDocument) sourcesOf(o *apiOperation) (lists, creates *apiOperation) {
	before, _, hasID := strings.Cut(o.Path, "/{id}")
	if !hasID {
		return nil, nil
	}
	for _, other := range d.operations {
		switch {
		case other.Path != before:
		case other.Method == http.MethodGet:
			lists = other
		case other.Method == http.MethodPost:
			creates = other
		}
	}
	return lists, creates
}

// inner returns the name and the schema of the only member of a body, which is a record. For a body
// with several members it returns their schema.
func (d *apiDocument) inner(body *apiSchema) (key string, record *apiSchema) {
	record = d.resolve(body)
	if len(record.Properties) == 1 && record.Properties[0].Value.Ref != "" {
		key, record = record.Properties[0].Name, d.resolve(record.Properties[0].Value)
	}
	return key, record
}

// resolve returns the schema that another one refers to.
func (d *apiDocument) resolve(s *apiSchema) *apiSchema {
	for _, c := range d.Components.Schemas {
		if s.Ref != "" && c.Name == lastPart(s.Ref) {
			return c.Value
		}
	}
	return s
}

// lastPart returns the name in a reference to a component.
func lastPart(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// Link returns the schema that a value refers to, itself or as its items; "" for none.
func (s *apiSchema) Link() string {
	switch {
	case s == nil:
		return ""
	case s.Ref != "":
		return lastPart(s.Ref)
	case len(s.AllOf) > 0:
		return s.AllOf[0].Link()
	}
	return s.Items.Link()
}

// Kind describes the type of a value in words.
func (s *apiSchema) Kind() string {
	kind := s.Type
	switch {
	case s.Type == "array" && s.Items.Link() != "":
		kind = "array of"
	case s.Type == "array":
		kind = "array of " + s.Items.Kind()
	case s.Link() != "":
		kind = ""
	case s.Format != "":
		kind += " (" + s.Format + ")"
	}
	return kind
}

// Limits lists what the schema allows.
func (s *apiSchema) Limits() string {
	var all []string
	for _, limit := range []struct {
		name  string
		value json.RawMessage
	}{{"default", s.Default}, {"minimum", s.Minimum}, {"maximum", s.Maximum}, {"maximum length", s.MaxLength}, {"at most", s.MaxItems}} {
		if limit.value != nil {
			all = append(all, limit.name+" "+string(limit.value))
		}
	}
	if s.Nullable {
		all = append(all, "may be null")
	}
	return strings.Join(all, ", ")
}

// Values are the values of an enumeration, of the value or of its items.
func (s *apiSchema) Values() []string {
	if len(s.Enum) == 0 && s.Items != nil {
		return s.Items.Values()
	}
	all := make([]string, len(s.Enum))
	for i, v := range s.Enum {
		all[i] = string(v)
	}
	return all
}

// Requires reports whether a member is always present.
func (s *apiSchema) Requires(name string) bool { return slices.Contains(s.Required, name) }

// pretty indents JSON.
func pretty(text json.RawMessage) string {
	var out bytes.Buffer
	if json.Indent(&out, text, "", "  ") != nil {
		return string(text) // a response that is not one JSON value
	}
	return out.String()
}
