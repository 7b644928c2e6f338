package codegen

import (
	"slices"
	"time"

	"github.com/ogen-go/ogen"

	"chairside/internal/apispec"
	"chairside/internal/codec"
	"chairside/internal/entx/table"
)

// documentedParam is a query parameter with its documentation.
type documentedParam struct {
	codec.Param
	Doc      string
	Default  string
	Required bool
	Shown    bool   // the example request has it
	Example  string // its value there as JSON; if empty, that of its kind
}

// shape returns parameters of the published form alone.
func (d *document) shape(params []documentedParam) (all []*ogen.Parameter) {
	if !d.published {
		return nil
	}
	for _, p := range params {
		all = append(all, d.parameter(p))
	}
	return all
}

// Params returns the query parameters of the list.
func (e *entity) Params() []documentedParam {
	ps := paging(100, 25)
	var keys []string
	for _, s := range e.R.Sorts {
		keys = append(keys, s.Key)
	}
	slices.Sort(keys)
	ps = append(ps,
		documentedParam{Param: codec.Param{Name: "sort_by", Kind: codec.Enum, Values: keys}, Doc: "Order of the list; ties are ordered by id.", Default: e.R.Order},
		documentedParam{Param: codec.Param{Name: "sort_direction", Kind: codec.Enum, Values: []string{"asc", "desc"}}, Doc: "Ascending or descending.", Default: "asc"},
		documentedParam{Param: codec.Param{Name: "cursor", Kind: codec.Cursor}, Doc: "Pages by cursor: empty for the first page, then next_cursor of the meta. Not with page."})
	for _, f := range e.R.Filters {
		ps = append(ps, e.param(f))
	}
	return ps
}

// OperationParams returns the query parameters of an operation beyond the standard ones.
func (e *entity) OperationParams(o apispec.Operation) []documentedParam {
	var ps []documentedParam
	switch {
	case o.Filtered:
		ps = e.Params()
	case o.Counted:
		ps = paging(100, 25)
	case o.MaxPage > 0:
		ps = paging(o.MaxPage, o.MaxPage)
	}
	for _, f := range o.Params {
		ps = append(ps, e.param(f))
	}
	return ps
}

// examplePage is the number of records in the example of a list.
const examplePage = 2

func paging(maximum, defaultSize int) []documentedParam {
	return []documentedParam{
		{Param: codec.Param{Name: "page", Kind: codec.Integer, Min: 1}, Doc: "Page to show, from 1.", Default: "1"},
		{Param: codec.Param{Name: "per_page", Kind: codec.Integer, Min: 1, Max: int64(maximum)}, Doc: "Records to a page; more than the maximum gives the maximum.", Default: itoa(defaultSize), Example: itoa(examplePage)},
	}
}

// param returns the parameter of a filter, with the kind and values of its column.
func (e *entity) param(f apispec.Filter) documentedParam {
	p := codec.Param{Name: f.Param, Kind: f.Kind, Values: f.Values, Array: f.Op == "IN", MaxItems: f.MaxItems}
	if p.Kind == "" {
		owner := e
		if f.Edge != "" {
			owner, _ = e.Target(f.Edge)
		}
		c := owner.Column(columnOf(f))
		if p.Kind = c.Kind; c.IsEnum() {
			p.Values = c.EnumValues()
		}
	}
	return documentedParam{Param: p, Doc: f.Doc, Required: f.Required, Shown: f.Shown, Example: f.Example}
}

// parameter returns a query parameter. The internal form has plain strings for enums and no
// bounds, because package codec has checked them.
func (d *document) parameter(p documentedParam) *ogen.Parameter {
	s := schemaOf(p.Kind)
	if d.published {
		if len(p.Values) > 0 {
			s.SetEnum(texts(p.Values))
		}
		if p.Min != 0 {
			s.SetMinimum(&p.Min)
		}
		if p.Max != 0 {
			s.SetMaximum(&p.Max)
		}
		if p.Default != "" {
			s.Default = ogen.Default(defaultOf(p))
		}
	}
	if !d.published && p.Kind == codec.Time {
		timeFormat(s, time.RFC3339Nano)
	}
	if p.Array {
		s = s.AsArray()
	}
	if d.published && p.MaxItems > 0 {
		maximum, minimum := uint64(p.MaxItems), uint64(1)
		s.SetMaxItems(&maximum).SetMinItems(&minimum)
	}
	q := ogen.NewParameter().InQuery().SetName(p.Name).SetDescription(p.Doc).SetSchema(s)
	if d.published {
		q.SetRequired(p.Required)
		q.Example = ogen.ExampleValue(d.parameterExample(p))
		switch {
		case p.MaxItems > 0 || p.Kind == codec.Enum && p.Array: // separated by commas
			q.SetExplode(false)
		case p.Array:
			q.SetName(p.Name + "[]")
		}
	}
	return q
}

// idParameter returns the parameter of a path that names a record.
func (d *document) idParameter(e *entity) *ogen.Parameter {
	p := ogen.NewParameter().InPath().SetName("id").SetRequired(true).SetDescription("Identifier of the " + table.Words(e.R.Key) + ".").
		SetSchema(schemaOf(e.Column("id").Kind))
	if d.published {
		p.Example = ogen.ExampleValue(d.idExample(e))
	}
	return p
}
