package codegen

import (
	"slices"

	"entgo.io/ent/entc/gen"

	"chairside/internal/apispec"
	"chairside/internal/codec"
)

// members returns the names of the members of a record in responses.
func (e *entity) members(single bool) (names []string) {
	for _, c := range e.Shown() {
		names = append(names, c.Name)
	}
	for _, c := range e.R.Computed {
		names = append(names, c.Name)
	}
	for _, b := range e.R.Embeds {
		if single || !b.SingleOnly {
			names = append(names, b.Edge)
		}
	}
	return names
}

// expandable returns the edges whose record expand= may add: those whose id a response shows,
// to a resource of the change feed, whose documents can be read by id.
func (e *entity) expandable() (edges []*gen.Edge) {
	for _, c := range e.Shown() {
		edge := c.References()
		if edge == nil || slices.Contains(e.members(true), edge.Name) {
			continue
		}
		if e.Model.of(edge.Type).InFeed() {
			edges = append(edges, edge)
		}
	}
	return edges
}

// links returns the expandable records, for the server.
func (e *entity) links() (links []codec.Link) {
	for _, edge := range e.expandable() {
		target := e.Model.of(edge.Type)
		links = append(links, codec.Link{Name: edge.Name, Column: edge.Field().Name, Plural: target.R.Plural, Scope: target.R.Scope + ":read"})
	}
	return links
}

// shapeParams returns the parameters that change the shape of the records of a response. Only
// the published document has them, because the types of the generated client are whole records.
func (e *entity) shapeParams(members []string, expand bool) []documentedParam {
	params := []documentedParam{{
		Param: codec.Param{Name: codec.FieldsParam, Kind: codec.Enum, Array: true, Values: members},
		Doc:   "Only these members of each record, separated by commas.",
	}}
	var names []string
	for _, edge := range e.expandable() {
		names = append(names, edge.Name)
	}
	if expand && len(names) > 0 {
		params = append(params, documentedParam{
			Param: codec.Param{Name: codec.ExpandParam, Kind: codec.Enum, Array: true, Values: names},
			Doc:   "Adds these linked records to each record, separated by commas. Needs the scopes to read them.",
		})
	}
	return params
}

// operationShape is shapeParams for an operation beyond the standard ones.
func (e *entity) operationShape(o apispec.Operation) []documentedParam {
	if len(o.Members) == 0 {
		return e.shapeParams(e.members(true), false)
	}
	var names []string
	for _, c := range o.Members {
		names = append(names, c.Name)
	}
	return e.shapeParams(names, false)
}
