package web

import (
	"net/http"
	"slices"
	"strings"

	"chairside/internal/codec"
	"chairside/internal/entx/table"
	"chairside/internal/scope"
)

// recordKind is a resource of the record browser: one whose records the API lists and reads one by
// one. All of it comes from the OpenAPI document and the table of operations.
type recordKind struct {
	Name    string // the plural, as in the API's paths
	Title   string
	Doc     string
	Filters []*apiParameter // of the list
	Sorts   []string
	Columns []string // of the list, after the id

	list, get *apiOperation
	one       string         // member of a response that holds one record
	forward   []codec.Link   // records that a record points at
	reverse   []reverseLink  // lists of records that point at a record
	schema    *apiSchema     // of a record
	refersTo  map[string]int // index in forward of the columns with ids
}

// reverseLink is a list that a filter limits to the records that point at one record.
type reverseLink struct {
	kind  *recordKind
	param string
}

// maxColumns is the most columns of a list beside the id.
const maxColumns = 5

// shapeParams are the parameters of lists that are no filters.
var shapeParams = []string{"page", "per_page", "cursor", sortField, directionField, "ids", codec.FieldsParam, codec.ExpandParam}

// recordKinds returns the resources of the record browser.
func (s *Site) recordKinds() []*recordKind {
	var all []*recordKind
	for _, o := range s.document.operations {
		if o.Method != http.MethodGet || strings.Contains(o.Path, "{") || o.scope() == "" {
			continue
		}
		i := slices.IndexFunc(s.document.operations, func(one *apiOperation) bool {
			return one.Method == http.MethodGet && one.Path == o.Path+"/{id}"
		})
		if i < 0 {
			continue
		}
		get := s.document.operations[i]
		k := &recordKind{Name: strings.TrimPrefix(o.Path, "/"), list: o, get: get, one: s.Operations[get.ID].Key, forward: s.Operations[get.ID].Links, refersTo: map[string]int{}}
		k.Title = table.Title(k.Name)
		for n, link := range k.forward {
			k.refersTo[link.Column] = n
		}
		k.Doc = o.Summary + "."
		for _, tag := range s.document.Tags {
			if tag.Name == k.Name { // not another list of the resource
				k.Doc = tag.Description
			}
		}
		for _, p := range o.Parameters {
			switch {
			case p.Name == sortField:
				k.Sorts = p.Schema.Words()
			case p.In == "query" && !slices.Contains(shapeParams, p.Name):
				k.Filters = append(k.Filters, p)
			}
		}
		k.schema = s.document.recordOf(o)
		k.Columns = k.columns()
		all = append(all, k)
	}
	for _, k := range all {
		for _, other := range all {
			if other.accepts(k.one + "_id") {
				k.reverse = append(k.reverse, reverseLink{other, k.one + "_id"})
			}
		}
	}
	return all
}

// recordOf returns the schema of the records in the response of a list.
func (d *apiDocument) recordOf(list *apiOperation) *apiSchema {
	find := func(name string) *apiSchema {
		for _, c := range d.Components.Schemas {
			if c.Name == name {
				return c.Value
			}
		}
		return &apiSchema{}
	}
	for _, r := range list.Responses {
		if r.Name != "200" || len(r.Value.Content) == 0 {
			continue
		}
		for _, member := range find(r.Value.Content[0].Value.Schema.Link()).Properties {
			if member.Value.Type == "array" {
				return find(member.Value.Link())
			}
		}
	}
	return &apiSchema{}
}

// columns returns the columns of the list in the schema's order: those that it can be ordered by say
// most, then the first ones of the schema.
func (k *recordKind) columns() (all []string) {
	chosen := map[string]bool{}
	add := func(name string) {
		if name != "id" && !strings.HasSuffix(name, "_at") && len(chosen) < maxColumns && k.isPlain(name) {
			chosen[name] = true
		}
	}
	for _, name := range k.Sorts {
		add(name)
	}
	for _, p := range k.schema.Properties {
		add(p.Name)
	}
	for _, p := range k.schema.Properties {
		if chosen[p.Name] {
			all = append(all, p.Name)
		}
	}
	return all
}

// isPlain reports whether a member is one short value.
func (k *recordKind) isPlain(name string) bool {
	for _, p := range k.schema.Properties {
		if p.Name == name {
			return p.Value.Type != "array" && p.Value.Type != "object" && p.Value.Link() == "" && !strings.HasSuffix(name, "_url")
		}
	}
	return false
}

// accepts reports whether a filter alone limits the list.
func (k *recordKind) accepts(filter string) bool {
	known := false
	for _, p := range k.Filters {
		known = known || p.Name == filter
		if p.Required && p.Name != filter {
			return false
		}
	}
	return known
}

// openTo reports whether a list is open to the scopes.
func (k *recordKind) openTo(scopes scope.Effective) bool { return scopes.Allows(k.list.scope()) }

// ListID is the id of the operation that lists the records.
func (k *recordKind) ListID() string { return k.list.ID }

// GetID is the id of the operation that reads one record.
func (k *recordKind) GetID() string { return k.get.ID }

// Options are the values of a parameter that has few; nil for others.
func (p *apiParameter) Options() []string {
	if p.Schema.Type == "boolean" {
		return []string{"true", "false"}
	}
	return p.Schema.Words()
}

// Words are Values without the quotes of JSON.
func (s *apiSchema) Words() (all []string) {
	for _, quoted := range s.Values() {
		all = append(all, strings.Trim(quoted, `"`))
	}
	return all
}
