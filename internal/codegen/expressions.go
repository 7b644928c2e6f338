package codegen

import (
	"fmt"
	"slices"
	"strings"

	"entgo.io/ent/dialect/entsql"

	"chairside/internal/apispec"
	"chairside/internal/codec"
)

// The methods below return Go expressions for templates/rest.tmpl.

// Imports returns the packages that the file of the entity may need; formatting removes unused
// ones. If one were missing, formatting would have to search the module for it, which is slow.
func (e *entity) Imports() []string {
	all := []string{
		"context", "fmt", "maps", "slices", "time",
		"entgo.io/ent/dialect/sql", "github.com/go-faster/jx", "github.com/google/uuid",
		module + "/ent", module + "/ent/predicate", module + "/ent/" + e.PackageDir(), module + "/schema",
	}
	for _, p := range []string{"civil", "clock", "codec", "decimal", "entx", "list", "seal", "store", "write"} {
		all = append(all, module+"/internal/"+p)
	}
	for _, edge := range e.Edges {
		if p := module + "/ent/" + edge.Type.PackageDir(); !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	for _, c := range e.Referrers() {
		if p := module + "/ent/" + c.Owner.PackageDir(); !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	slices.Sort(all)
	return all
}

// GeneratedFilters returns the filters of the list that are not hand-written.
func (e *entity) GeneratedFilters() (filters []apispec.Filter) {
	for _, f := range e.R.Filters {
		if !f.Handwritten {
			filters = append(filters, f)
		}
	}
	return filters
}

// Predicate returns the predicate of a filter for the parameter's value v.
func (e *entity) Predicate(f apispec.Filter) (string, error) {
	if f.Where != "" {
		return fmt.Sprintf("entx.Holds[predicate.%s](v, func(s *sql.Selector) string { return %s })", e.Name, e.condition(f.Where)), nil
	}
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
	if f.Op == "IN" {
		return fmt.Sprintf("entx.InArray[predicate.%s](%s.%s, v)", e.Name, e.Package(), c.Constant()), nil
	}
	v := e.FromInput(c, "v")
	if c.IsBool() && f.Kind == codec.Enum {
		v = fmt.Sprintf("v == %q", f.Values[1])
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

// span describes requests in which PostgreSQL's planner must not see one end of a range of
// times (decision 8).
type span struct {
	Column *column
	Other  string   // filter for the other end of the range; it must be sent
	Leads  []string // filters for one record whose rows an index has in order of the times; one must be sent
	Unless []string // filters for ranges of other columns; none may be sent
}

// Span returns the span of a filter, or nil if it has none.
func (e *entity) Span(f apispec.Filter) (*span, error) {
	filters, err := e.ListFilters()
	if err != nil {
		return nil, err
	}
	name := columnOf(f)
	s := span{Column: e.Column(name)}
	if f.Edge != "" || f.Where != "" || f.Op == "" || f.Op == "EQ" || f.Op == "IN" || s.Column.Kind != codec.Time {
		return nil, nil
	}
	inOrder := func(key string) bool {
		return slices.ContainsFunc(e.R.Sorts, func(s apispec.Sort) bool { return s.Key == key && sortColumn(s) == name })
	}
	for _, p := range filters {
		switch {
		case p.Handwritten:
		case p.Equal && slices.ContainsFunc(p.Leads, inOrder) && e.Column(p.Column).References() != nil:
			s.Leads = append(s.Leads, p.Param)
		case p.Equal:
		case p.Column != name:
			s.Unless = append(s.Unless, p.Param)
		case strings.HasPrefix(p.Op, "L") != strings.HasPrefix(f.Op, "L"): // LT or LTE with GT or GTE
			s.Other = p.Param
		}
	}
	if s.Other == "" || len(s.Leads) == 0 {
		return nil, nil
	}
	return &s, nil
}

// ListFilters returns the filters by which package list may find rows before it sorts them:
// searches and filters by the entity's own columns. Only lists of patient data are long
// enough to need them.
func (e *entity) ListFilters() ([]listFilter, error) {
	if !e.PatientData() {
		return nil, nil
	}
	var filters []listFilter
	for _, f := range e.R.Filters {
		if f.Search || f.Op == "IN" { // matches few rows
			f.Column = ""
			filters = append(filters, listFilter{Filter: f})
			continue
		}
		if f.Edge != "" || f.Where != "" || f.Handwritten && f.Column == "" {
			continue
		}
		f.Column = columnOf(f)
		p := listFilter{Filter: f, Equal: !f.Handwritten && (f.Op == "" || f.Op == "EQ")}
		if p.Equal {
			if err := e.findLeads(&p); err != nil {
				return nil, err
			}
			edge := e.Column(f.Column).References()
			p.Dense = edge == nil || !e.Model.of(edge.Type).PatientData()
		}
		filters = append(filters, p)
	}
	return filters, nil
}

// listFilter is a list.Filter (which explains the members).
type listFilter struct {
	apispec.Filter
	Equal bool
	Dense bool
	Leads []string // sort keys

	Unless      string   // filter that lifts the condition of the partial indexes
	LeadsUnless []string // sort keys of orders that a partial index has
}

// findLeads sets Leads, the orders in which an index has all rows of one value, and LeadsUnless,
// those in which a partial index has the rows that the list shows without Unless.
func (e *entity) findLeads(p *listFilter) error {
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

// Ordered returns the sort keys whose order an index has for all rows of a practice.
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

// indexed reports whether an index has these columns after the practice, and the condition
// of its rows: "" if an index has all rows.
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

// IDKind returns the name of the id's kind in package codec.
func (e *entity) IDKind() string {
	if e.ID.IsUUID() {
		return "UUID"
	}
	return "ID"
}

// IsCompleted reports whether a list's rows have more than the columns of their statement.
func (e *entity) IsCompleted() (bool, error) {
	parts, err := e.Parts(false)
	return len(parts) > 0 || len(e.Members()) > 0, err
}

// SortKind returns the kind of the column that a sort orders by.
func (e *entity) SortKind(s apispec.Sort) (codec.Kind, error) {
	owner := e
	if s.Edge != "" {
		var err error
		if owner, err = e.Target(s.Edge); err != nil {
			return "", err
		}
	}
	return owner.Column(sortColumn(s)).Kind, nil
}

// SortSQL returns the column that a sort orders by as SQL text: for one of an edge's table, a
// sub-query.
func (e *entity) SortSQL(s apispec.Sort) (string, error) {
	if s.Edge == "" {
		return qualified(e.Table(), e.Column(sortColumn(s))), nil
	}
	owner, err := e.Target(s.Edge)
	if err != nil {
		return "", err
	}
	edge, _ := e.Edge(s.Edge) // Target has found it
	return fmt.Sprintf(`(SELECT %s FROM "%s" WHERE %s = %s)`, qualified(owner.Table(), owner.Column(sortColumn(s))), owner.Table(),
		qualified(owner.Table(), owner.Column("id")), qualified(e.Table(), e.Column(edge.Field().Name))), nil
}

// SortColumn returns the column of the entity that a sort orders by.
func (e *entity) SortColumn(s apispec.Sort) *column { return e.Column(sortColumn(s)) }

// OrderTerm returns the function that orders by a column of an edge's table.
func (e *entity) OrderTerm(s apispec.Sort) (string, error) {
	owner, err := e.Target(s.Edge)
	if err != nil {
		return "", err
	}
	edge, _ := e.Edge(s.Edge) // Target has found it
	return fmt.Sprintf("func(o ...sql.OrderTermOption) %s.OrderOption { return %[1]s.By%sField(%s.%s, o...) }",
		e.Package(), edge.StructField(), owner.Package(), owner.Column(sortColumn(s)).Constant()), nil
}

// FromInput returns the conversion of an input value to the column's type.
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
	case c.IsSealed():
		return "seal.Plain(" + x + ")"
	}
	return x
}

// IsSet returns the Go condition that a nullable column of a row is not null.
func (e *entity) IsSet(row string, c *column) string {
	row += "." + c.StructField()
	if c.IsSealed() {
		return "!" + row + ".IsNull()"
	}
	return row + " != nil"
}

// Differs returns the Go condition that v, made from the input x, differs from the column of a
// row, whose sealed columns are open.
func (e *entity) Differs(old string, c *column) string {
	old += "." + c.StructField()
	switch {
	case c.IsSealed():
		return "!" + old + ".Holds(x)"
	case c.Kind == codec.Metadata:
		return "!maps.Equal(" + old + ", v)"
	case c.Kind == codec.Strings:
		return "!slices.Equal(" + old + ", v)"
	case c.Kind == codec.Time && c.Nillable:
		return "(" + old + " == nil || !" + old + ".Equal(v))"
	case c.Kind == codec.Time:
		return "!" + old + ".Equal(v)"
	case c.Nillable:
		return "(" + old + " == nil || *" + old + " != v)"
	}
	return old + " != v"
}
