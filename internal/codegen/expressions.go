package codegen

import (
	"fmt"
	"slices"
	"strings"

	"entgo.io/ent/dialect/entsql"

	"chairside/internal/apispec"
	"chairside/internal/codec"
)

// The methods below give the Go expressions of templates/rest.tmpl.

// LinkedPackages are the ent packages that predicates and orders mention.
func (e *entity) LinkedPackages() []string {
	var all []string
	for _, edge := range e.Edges {
		if p := edge.Type.PackageDir(); p != e.PackageDir() && !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	slices.Sort(all)
	return all
}

// Predicate is the predicate of a filter over the parameter v.
func (e *entity) Predicate(f apispec.Filter) (string, error) {
	owner := e
	if f.Edge != "" {
		var err error
		if owner, err = e.Target(f.Edge); err != nil {
			return "", err
		}
	}
	c := owner.Column(columnOf(f))
	if c == nil {
		return "", fmt.Errorf("%s has no column %q", owner.Name, columnOf(f))
	}
	v := "v"
	switch {
	case c.IsBool() && f.Kind == codec.Enum:
		v = fmt.Sprintf("v == %q", f.Values[1])
	case c.IsEnum():
		v = fmt.Sprintf("%s(v)", c.Type)
	case c.Kind == codec.Date:
		v = "civil.Of(v)"
	}
	op := f.Op
	if op == "" {
		op = "EQ"
	}
	p := fmt.Sprintf("%s.%s%s(%s)", owner.Package(), c.StructField(), op, v)
	if f.Edge != "" {
		edge, _ := e.Edge(f.Edge) // Target has found it
		p = fmt.Sprintf("%s.Has%sWith(%s)", e.Package(), edge.StructField(), p)
	}
	return p, nil
}

// span is when PostgreSQL need not see one end of a range of times while it plans
// (decision 8).
type span struct {
	Column *column
	Other  string   // the filter for the other end, which is asked for too
	Leads  []string // filters for one record, of which an index has the rows in order of these times: one is asked for
	Unless []string // ranges of other columns: none is asked for, by which rows would be picked
}

// Span gives the span of a filter that is not manual, nil where there is none.
func (e *entity) Span(f apispec.Filter) (*span, error) {
	picks, err := e.Picks()
	if err != nil {
		return nil, err
	}
	name := columnOf(f)
	s := span{Column: e.Column(name)}
	if f.Edge != "" || f.Op == "" || f.Op == "EQ" || s.Column.Kind != codec.Time {
		return nil, nil
	}
	inOrder := func(key string) bool {
		return slices.ContainsFunc(e.R.Sorts, func(s apispec.Sort) bool { return s.Key == key && sortColumn(s) == name })
	}
	for _, p := range picks {
		switch {
		case p.Handwritten:
		case p.Equal && slices.ContainsFunc(p.Leads, inOrder) && e.Column(p.Column).References() != nil:
			s.Leads = append(s.Leads, p.Param)
		case p.Equal:
		case p.Column != name:
			s.Unless = append(s.Unless, p.Param)
		case strings.HasPrefix(p.Op, "L") != strings.HasPrefix(f.Op, "L"): // LT, LTE against GT, GTE
			s.Other = p.Param
		}
	}
	if s.Other == "" || len(s.Leads) == 0 {
		return nil, nil
	}
	return &s, nil
}

// Picks are the filters by which rows are found before they are put in order:
// searches and those of the entity's own columns. Only what is about patients
// grows with the years; other lists are short.
func (e *entity) Picks() ([]sieve, error) {
	if !e.PatientData() {
		return nil, nil
	}
	var picks []sieve
	for _, f := range e.R.Filters {
		if f.Search {
			picks = append(picks, sieve{Filter: f})
			continue
		}
		if f.Edge != "" || f.Handwritten && f.Column == "" {
			continue
		}
		f.Column = columnOf(f)
		p := sieve{Filter: f, Equal: !f.Handwritten && (f.Op == "" || f.Op == "EQ")}
		if p.Equal {
			if err := e.lead(&p); err != nil {
				return nil, err
			}
			edge := e.Column(f.Column).References()
			p.Dense = edge == nil || !e.Model.of(edge.Type).PatientData()
		}
		picks = append(picks, p)
	}
	return picks, nil
}

// sieve is a filter by which rows are found before they are put in order.
type sieve struct {
	apispec.Filter
	Equal bool     // for one value of the column, not a range
	Dense bool     // the value is not one patient's: its rows are mostly met soon in any order
	Leads []string // the orders that an index has for one value

	Unless      string   // the filter with which the list shows more rows
	LeadsUnless []string // the orders that an index has, but for these
}

// lead notes in which orders an index has the rows that have one value of the
// column: all of them, or those that the list shows unless it is asked for more.
func (e *entity) lead(p *sieve) error {
	for _, s := range e.R.Sorts {
		where, ok, err := e.indexed(p.Column, sortColumn(s))
		if err != nil {
			return err
		}
		if ok && where == "" || sortColumn(s) == p.Column {
			p.Leads = append(p.Leads, s.Key)
			continue
		}
		for _, k := range e.R.Counters {
			if ok && k.By == "" && k.Day == "" && k.Unless != "" && k.Where == where {
				p.Unless, p.LeadsUnless = k.Unless, append(p.LeadsUnless, s.Key)
			}
		}
	}
	return nil
}

// Ordered are the keys of the orders that an index has for all rows of a practice.
func (e *entity) Ordered() (keys []string, err error) {
	for _, s := range e.R.Sorts {
		where, ok, err := e.indexed(sortColumn(s), "id")
		if err != nil {
			return nil, err
		}
		if ok && where == "" {
			keys = append(keys, s.Key)
		}
	}
	return keys, nil
}

// indexed reports whether an index has these columns behind the practice, and of
// which rows: all of them if there is such an index.
func (e *entity) indexed(columns ...string) (where string, ok bool, err error) {
	for _, i := range e.Type.Indexes {
		if len(i.Columns) <= len(columns) || !slices.Equal(i.Columns[1:len(columns)+1], columns) {
			continue
		}
		var how entsql.IndexAnnotation
		if err := annotation(i.Annotations, &how); err != nil {
			return "", false, err
		}
		if where, ok = how.Where, true; where == "" {
			break
		}
	}
	return where, ok, nil
}

// SortColumn is the entity's own column that a sort orders by.
func (e *entity) SortColumn(s apispec.Sort) *column { return e.Column(sortColumn(s)) }

// OrderTerm is the function that orders by the column of a sort behind an edge.
func (e *entity) OrderTerm(s apispec.Sort) (string, error) {
	owner, err := e.Target(s.Edge)
	if err != nil {
		return "", err
	}
	edge, _ := e.Edge(s.Edge) // Target has found it
	return fmt.Sprintf("func(o ...sql.OrderTermOption) %s.OrderOption { return %[1]s.By%sField(%s.%s, o...) }",
		e.Package(), edge.StructField(), owner.Package(), owner.Column(sortColumn(s)).Constant()), nil
}

// FromInput converts an input value to the column's type.
func (e *entity) FromInput(c *column, x string) string {
	switch {
	case c.IsEnum():
		return fmt.Sprintf("%s(%s)", c.Type, x)
	case c.Kind == codec.Date:
		return "civil.Of(" + x + ")"
	case c.Kind == codec.Decimal:
		return "decimal.MustParse(" + x + ")"
	case c.Kind == codec.Metadata:
		return "map[string]string(" + x + ")"
	}
	return x
}

// Differs reports in Go whether v is not what old has.
func (e *entity) Differs(c *column) string { return e.DiffersIn("old", c) }

// DiffersIn is Differs for a row of another name.
func (e *entity) DiffersIn(old string, c *column) string {
	old += "." + c.StructField()
	switch {
	case c.Kind == codec.Metadata:
		return "!maps.Equal(" + old + ", v)"
	case c.Kind == codec.Time && c.Nillable:
		return "(" + old + " == nil || !" + old + ".Equal(v))"
	case c.Kind == codec.Time:
		return "!" + old + ".Equal(v)"
	case c.Nillable:
		return "(" + old + " == nil || *" + old + " != v)"
	}
	return old + " != v"
}
