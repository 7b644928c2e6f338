package codegen

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"

	"entgo.io/ent/entc/gen"

	"chairside/internal/apispec"
	"chairside/internal/apispec/limit"
	"chairside/internal/codec"
)

// limitsOf returns the limits of a table's columns.
func limitsOf(n *gen.Type) ([]limit.Column, error) {
	var r apispec.Resource
	if err := annotation(n.Annotations, &r); err != nil {
		return nil, err
	}
	var all []limit.Column
	for _, f := range n.Fields {
		c, err := newColumn(f)
		if err != nil {
			return nil, err
		}
		l := c.limit(n.Table(), r.Key != "")
		if !reflect.DeepEqual(l, limit.Column{Table: l.Table, Name: l.Name, Nullable: l.Nullable}) {
			l.Unchecked = r.Unchecked != ""
			all = append(all, l)
		}
	}
	return all, nil
}

// limit returns the limits of a column. In the table of a resource, every visible text has a
// maximum length.
func (c *column) limit(table string, resource bool) limit.Column {
	l := limit.Column{
		Table: table, Name: c.StorageKey(), Nullable: c.Optional,
		Values: c.API.Values, Words: c.API.Words, Min: c.API.Min, Max: c.API.Max, MaxBytes: int(c.maxBytes()), Form: c.API.Format, Email: c.Kind == codec.Email,
	}
	if c.IsSealed() {
		l.Sealed = true
		return l
	}
	if c.IsEnum() {
		l.Values = c.EnumValues()
	}
	if l.Form == "" {
		l.Form = c.Kind.Form()
	}
	if c.IsString() && resource && !c.API.Hidden && l.Form == "" && l.Values == nil {
		l.MaxRunes = c.API.MaxRunes
		if l.MaxRunes == 0 {
			l.MaxRunes = limit.LongText
		}
		l.Filled = !c.Optional && !c.Default && !l.Email
	}
	if c.IsJSON() && c.Type.RType != nil {
		l.JSON = map[reflect.Kind]string{reflect.Map: "object", reflect.Slice: "array"}[c.Type.RType.Kind]
	}
	return l
}

// sealedOf returns the encrypted columns of a table.
func sealedOf(n *gen.Type) (all []*gen.Field) {
	for _, f := range n.Fields {
		if (&column{Field: f}).IsSealed() {
			all = append(all, f)
		}
	}
	return all
}

// IsSealed reports whether the column is encrypted (package seal).
func (c *column) IsSealed() bool { return c.Type.String() == "seal.Value" }

// Sealed reports whether clients write sealed columns of the entity.
func (e *entity) Sealed() bool {
	return slices.ContainsFunc(sealedOf(e.Type), func(f *gen.Field) bool { return e.Column(f.Name).API.Write })
}

// Nullable reports whether the column may be null. The zero seal.Value is null, so its Go type is
// no pointer.
func (c *column) Nullable() bool { return c.Nillable || c.IsSealed() && c.Optional }

// maxBytes returns the maximum length of a column of bytes, or 0 for none.
func (c *column) maxBytes() int64 {
	if !c.IsBytes() {
		return 0
	}
	return c.Column().Size
}

// rulesOf returns the rules between the columns of a table's rows.
func rulesOf(n *gen.Type) ([]limit.Row, error) {
	var checks apispec.Checks
	if err := annotation(n.Annotations, &checks); err != nil {
		return nil, err
	}
	var all []limit.Row
	for _, c := range checks {
		all = append(all, limit.Row{Table: n.Table(), Name: c.Name, SQL: c.SQL})
	}
	return all, nil
}

var ruleName = regexp.MustCompile(`^[a-z][a-z_]*$`)

// checkLimits returns the declared limits that the databases cannot check.
func (e *entity) checkLimits() (problems []string) {
	complain := func(format string, a ...any) { problems = append(problems, e.Name+": "+fmt.Sprintf(format, a...)) }
	for _, c := range e.Columns {
		if c.Validators > 0 && !c.IsBytes() {
			complain("%s: the databases cannot run Ent validators: declare Min, Max, MaxRunes or Format in apispec.Field", c.Name)
		}
		if _, known := limit.Forms[c.API.Format]; c.API.Format != "" && !known {
			complain("%s: the format %q must be one of %v", c.Name, c.API.Format, slices.Sorted(maps.Keys(limit.Forms)))
		}
	}
	rules, err := rulesOf(e.Type)
	if err != nil {
		return []string{err.Error()}
	}
	for i, r := range rules {
		if !ruleName.MatchString(r.Name) {
			complain("the check %q needs a name of lower-case letters and underscores", r.Name)
		}
		if slices.ContainsFunc(rules[:i], func(o limit.Row) bool { return o.Name == r.Name }) {
			complain("the check %q is declared twice", r.Name)
		}
	}
	return problems
}
