package codegen

import (
	"fmt"
	"slices"
	"strings"

	"entgo.io/ent/entc/gen"

	"chairside/internal/contract"
	"chairside/internal/wire"
)

// The methods below give the Go expressions of templates/rest.tmpl.

// EdgeOf is Edge for templates.
func (e *entity) EdgeOf(name string) (*gen.Edge, error) { return e.Edge(name) }

// TargetOf is Target for templates.
func (e *entity) TargetOf(name string) (*entity, error) { return e.Target(name) }

// EmbedFunc is the function that maps an embedded row.
func (e *entity) EmbedFunc(b contract.Embed) (string, error) {
	target, err := e.Target(b.Edge)
	if err != nil {
		return "", err
	}
	if len(b.Columns) == 0 {
		return target.Name + "Out", nil
	}
	name := e.Name + pascal(b.Edge)
	return strings.ToLower(name[:1]) + name[1:] + "Out", nil
}

// load is an edge that the response form needs.
type load struct {
	Edge       *gen.Edge
	Target     *entity
	Columns    []*column
	SingleOnly bool
}

// Loads are the edges that the response form shows, each with the columns it needs.
func (e *entity) Loads() ([]*load, error) {
	var loads []*load
	need := func(edge string, single bool, columns ...string) error {
		g, err := e.Edge(edge)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(loads, func(l *load) bool { return l.Edge.Name == edge })
		if i < 0 {
			loads = append(loads, &load{Edge: g, Target: e.Model.of(g.Type), SingleOnly: single})
			i = len(loads) - 1
		}
		l := loads[i]
		if !g.Unique && len(columns) > 0 { // ent finds the owner by this column
			columns = append(columns, l.Target.ownerColumn(g))
		}
		for _, name := range columns {
			c := l.Target.Column(name)
			if c == nil {
				return fmt.Errorf("%s has no column %q", l.Target.Name, name)
			}
			if !slices.Contains(l.Columns, c) {
				l.Columns = append(l.Columns, c)
			}
		}
		return nil
	}
	for _, c := range e.R.Computed {
		if c.Edge == "" || c.Manual {
			continue
		}
		if err := need(c.Edge, false, append([]string{"id"}, c.Columns...)...); err != nil {
			return nil, err
		}
	}
	for _, b := range e.R.Embeds {
		columns := b.Columns
		if len(columns) > 0 {
			columns = append([]string{"id"}, columns...)
		}
		if err := need(b.Edge, b.SingleOnly, columns...); err != nil {
			return nil, err
		}
	}
	for _, l := range loads { // an O2O edge is found by the far side's column
		if l.Edge.Unique && l.Edge.O2O() && !l.Edge.IsInverse() {
			l.Columns = append(l.Columns, l.Target.Column(l.Edge.Ref.Field().Name))
		}
	}
	return loads, nil
}

// ownerColumn is the column of a listed row that points back at the owner.
func (e *entity) ownerColumn(g *gen.Edge) string { return g.Ref.Field().Name }

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

// Value is a computed member's expression over the row e, or x behind an edge.
func (e *entity) Value(c contract.Computed) (string, error) {
	owner, row := e, "e"
	if c.Edge != "" {
		var err error
		if owner, err = e.Target(c.Edge); err != nil {
			return "", err
		}
		row = "x"
	}
	var args []string
	for _, name := range c.Columns {
		col := owner.Column(name)
		if col == nil {
			return "", fmt.Errorf("%s has no column %q", owner.Name, name)
		}
		args = append(args, row+"."+col.StructField())
	}
	if c.Func == "" {
		if len(args) != 1 {
			return "", fmt.Errorf("%s.%s takes one column or a function", e.Name, c.Name)
		}
		return args[0], nil
	}
	return fmt.Sprintf("schema.%s(%s)", c.Func, strings.Join(args, ", ")), nil
}

// Predicate is the predicate of a filter over the parameter v.
func (e *entity) Predicate(f contract.Filter) (string, error) {
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
	case c.IsBool() && f.Kind == wire.Enum:
		v = fmt.Sprintf("v == %q", f.Values[1])
	case c.IsEnum():
		v = fmt.Sprintf("%s(v)", c.Type)
	case c.Kind == wire.Date:
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

// OrderTerm is the order option of a sort, in the direction way.
func (e *entity) OrderTerm(s contract.Sort) (string, error) {
	owner := e
	if s.Edge != "" {
		var err error
		if owner, err = e.Target(s.Edge); err != nil {
			return "", err
		}
	}
	name := s.Column
	if name == "" {
		name = s.Key
	}
	c := owner.Column(name)
	if s.Edge == "" {
		return fmt.Sprintf("%s.By%s(way)", e.Package(), c.StructField()), nil
	}
	edge, _ := e.Edge(s.Edge) // Target has found it
	return fmt.Sprintf("%s.By%sField(%s.%s, way)", e.Package(), edge.StructField(), owner.Package(), c.Constant()), nil
}

// FromInput converts an input value to the column's type.
func (e *entity) FromInput(c *column, x string) string {
	switch {
	case c.IsEnum():
		return fmt.Sprintf("%s(%s)", c.Type, x)
	case c.Kind == wire.Date:
		return "civil.Of(" + x + ")"
	case c.Kind == wire.Decimal:
		return "decimal.MustParse(" + x + ")"
	case c.Kind == wire.Metadata:
		return "map[string]string(" + x + ")"
	}
	return x
}

// Differs tells whether v is not what old has.
func (e *entity) Differs(c *column) string {
	old := "old." + c.StructField()
	switch {
	case c.Kind == wire.Metadata:
		return "!maps.Equal(" + old + ", v)"
	case c.Kind == wire.Time && c.Nillable:
		return "!sameTime(" + old + ", v)"
	case c.Kind == wire.Time:
		return "!" + old + ".Equal(v)"
	case c.Nillable:
		return "!same(" + old + ", v)"
	}
	return old + " != v"
}
