package codegen

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"entgo.io/ent/entc/gen"

	"chairside/internal/apispec"
	"chairside/internal/codec"
)

// selection is the list of columns that a response form reads, by position: those of the
// table, then those of joined rows.
type selection struct {
	columns []string // SQL text
	at      map[string]int
}

// Text returns the columns as SQL text.
func (r *selection) Text() string { return strings.Join(r.columns, ", ") }

// Width returns the number of columns.
func (r *selection) Width() int { return len(r.columns) }

// At returns the position of a column of the table, or of a joined row ("edge.column").
func (r *selection) At(column string) (int, error) {
	if i, ok := r.at[column]; ok {
		return i, nil
	}
	return 0, fmt.Errorf("column %s is not selected", column)
}

// add adds a column. table is the name of its table in the query: for a joined row, the edge.
func (r *selection) add(table string, c *column) {
	name := c.Name
	if table != c.Owner.Table() {
		name = table + "." + name
	}
	if _, ok := r.at[name]; !ok {
		r.at[name] = len(r.columns)
		r.columns = append(r.columns, qualified(table, c))
	}
}

// qualified returns a column with its table, in quotes that both databases accept.
func qualified(table string, c *column) string {
	return fmt.Sprintf(`"%s"."%s"`, table, c.Name)
}

// Selection returns the columns that the response form reads.
func (e *entity) Selection() (*selection, error) {
	r := &selection{at: map[string]int{}}
	for _, c := range e.Shown() {
		r.add(e.Table(), c)
	}
	add := func(edge string, columns []string) error {
		owner, table := e, e.Table()
		if edge != "" {
			var err error
			if owner, err = e.Target(edge); err != nil {
				return err
			}
			table = edge
		}
		for _, name := range columns {
			c := owner.Column(name)
			if c == nil {
				return fmt.Errorf("%s has no column %q", owner.Name, name)
			}
			r.add(table, c)
		}
		return nil
	}
	for _, c := range e.R.Computed {
		if c.Handwritten {
			continue
		}
		columns := c.Columns
		if c.Edge != "" { // the id is null if the row is missing
			columns = append([]string{"id"}, columns...)
		}
		if err := add(c.Edge, columns); err != nil {
			return nil, err
		}
	}
	for _, b := range e.R.Embeds {
		edge, err := e.Edge(b.Edge)
		if err != nil {
			return nil, err
		}
		if !edge.Unique {
			continue
		}
		if len(b.Columns) == 0 || b.SingleOnly {
			return nil, fmt.Errorf("%s.%s: an embed of one row needs Columns and cannot be SingleOnly", e.Name, b.Edge)
		}
		if err := add(b.Edge, append([]string{"id"}, b.Columns...)); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Joined returns the edges whose one row is read together with each row of the entity.
func (e *entity) Joined() ([]*gen.Edge, error) { return joined(e.Type) }

func joined(n *gen.Type) (edges []*gen.Edge, err error) {
	var r apispec.Resource
	if err := annotation(n.Annotations, &r); err != nil {
		return nil, err
	}
	var names []string
	for _, c := range r.Computed {
		if !c.Handwritten {
			names = append(names, c.Edge)
		}
	}
	for _, b := range r.Embeds {
		names = append(names, b.Edge)
	}
	for _, edge := range n.Edges {
		if edge.Unique && slices.Contains(names, edge.Name) {
			edges = append(edges, edge)
		}
	}
	return edges, nil
}

// storedTypes returns the PostgreSQL types of time, day and uuid columns (entx.StoredTypes).
// A key is the name of the column; if columns of that name differ in type, table.column.
func storedTypes(nodes []*gen.Type) map[string]string {
	typeOf := map[codec.Kind]string{codec.Date: "date", codec.Time: "timestamptz", codec.UUID: "uuid"}
	byName := map[string]map[string]string{} // column → table → type
	for _, n := range nodes {
		for _, f := range append([]*gen.Field{n.ID}, n.Fields...) {
			if byName[f.StorageKey()] == nil {
				byName[f.StorageKey()] = map[string]string{}
			}
			byName[f.StorageKey()][n.Table()] = typeOf[kindOf(f)]
		}
	}
	types := map[string]string{}
	for column, tables := range byName {
		all := slices.Compact(slices.Sorted(maps.Values(tables)))
		for table, t := range tables {
			switch {
			case t == "":
			case len(all) == 1:
				types[column] = t
			default:
				types[table+"."+column] = t
			}
		}
	}
	return types
}

// requested returns a function that reports whether an entity's resource has a verb.
func requested(verb apispec.Verb) func(*gen.Type) (bool, error) {
	return func(n *gen.Type) (bool, error) {
		var r apispec.Resource
		err := annotation(n.Annotations, &r)
		return slices.Contains(r.Verbs, verb), err
	}
}

// part is a response member that lists the rows of an edge, such as the items of an invoice.
type part struct {
	apispec.Embed
	Target *entity
	Owner  *column    // column of Target with the owner's id
	Type   string     // ogen's type of an element
	Read   *selection // the columns of an element; nil if elements are whole resources
}

// Parts returns the parts in the response of a single record or, without single, of a record
// in a list.
func (e *entity) Parts(single bool) (parts []*part, err error) {
	for _, b := range e.R.Embeds {
		edge, err := e.Edge(b.Edge)
		if err != nil {
			return nil, err
		}
		if edge.Unique || b.SingleOnly && !single {
			continue
		}
		p := &part{Embed: b, Target: e.Model.of(edge.Type), Type: edge.Type.Name}
		p.Owner = p.Target.Column(edge.Ref.Field().Name)
		if len(b.Columns) > 0 {
			p.Type = e.Name + pascal(b.Edge)
			p.Read = &selection{at: map[string]int{}}
			for _, name := range append([]string{"id"}, b.Columns...) {
				c := p.Target.Column(name)
				if c == nil {
					return nil, fmt.Errorf("%s has no column %q", p.Target.Name, name)
				}
				p.Read.add(p.Target.Table(), c)
			}
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// JoinedList returns the part that is read in one statement with its owner, or nil.
func (e *entity) JoinedList() (*part, error) {
	parts, err := e.Parts(true)
	switch {
	case err != nil || len(parts) == 0:
		return nil, err
	case len(parts) > 1:
		return nil, fmt.Errorf("%s embeds two lists, %s and %s: one statement can read only one", e.Name, parts[0].Edge, parts[1].Edge)
	}
	p := parts[0]
	if others, err := p.Target.Joined(); err != nil || p.Read == nil && len(others) > 0 {
		return nil, errors.Join(err, fmt.Errorf("%s.%s: rows that have joined rows of their own cannot be embedded in %s", e.Name, p.Edge, e.Name))
	}
	return p, nil
}

// joinedList returns the edge of the part that JoinedList returns, or nil.
func joinedList(n *gen.Type) (*gen.Edge, error) {
	var r apispec.Resource
	if err := annotation(n.Annotations, &r); err != nil {
		return nil, err
	}
	for _, edge := range n.Edges {
		if !edge.Unique && slices.ContainsFunc(r.Embeds, func(b apispec.Embed) bool { return b.Edge == edge.Name }) {
			return edge, nil
		}
	}
	return nil, nil
}

// OwnerColumn returns the SQL text of the column with the owner's id.
func (p *part) OwnerColumn() string { return qualified(p.Target.Table(), p.Owner) }

// Orders returns the Go arguments of list.ByPart for each column that the part is sorted by.
func (p *part) Orders() (orders []string) {
	name := p.Target.Package()
	if p.SingleOnly {
		orders = append(orders, name+".Table, "+name+".FieldCreatedAt")
	}
	return append(orders, name+".Table, "+name+".FieldID")
}

// ReadsOne reports whether some operation returns one record.
func (e *entity) ReadsOne() bool {
	return e.Has("get") || e.Writable() || slices.ContainsFunc(e.R.Operations, func(o apispec.Operation) bool { return len(o.Members) == 0 })
}

// readAt returns the expression that reads a column at a position in its response form.
func (c *column) readAt(at int) string {
	take := func(method string) string { return fmt.Sprintf("x.%s(%d)", method, at) }
	switch c.Kind {
	case codec.ID:
		return take("Int64")
	case codec.Integer, codec.Consent:
		return take("Int")
	case codec.Boolean, codec.Flag, codec.Gender:
		return take("Bool")
	case codec.UUID:
		return take("UUID")
	case codec.Date:
		return take("Date") + ".Time()"
	case codec.Time:
		return "x.View.Time(" + take("Time") + ")"
	case codec.Decimal:
		return take("Decimal") + ".String()"
	case codec.Metadata:
		return fmt.Sprintf("list.Metadata(x, %d)", at)
	case codec.Strings:
		return fmt.Sprintf("list.Strings(x, %d)", at)
	case codec.Object:
		return fmt.Sprintf("list.Object[%s](x, %d)", c.Type, at)
	}
	return take("Text")
}

// computedOf returns the generated computed members from the columns of an edge's table, or
// of the entity itself.
func (e *entity) computedOf(edge string) (computed []apispec.Computed) {
	for _, c := range e.R.Computed {
		if c.Edge == edge && !c.Handwritten {
			computed = append(computed, c)
		}
	}
	return computed
}

// Members returns the computed members that package api reads.
func (e *entity) Members() (members []apispec.Computed) {
	for _, c := range e.R.Computed {
		if c.Handwritten && !c.CreateOnly {
			members = append(members, c)
		}
	}
	return members
}

// createOnly returns the member that only the response to a create has, or "".
func (e *entity) createOnly() string {
	for _, c := range e.R.Computed {
		if c.CreateOnly {
			return c.Name
		}
	}
	return ""
}

// IDMethod returns the name of the Scanner method that reads the id.
func (e *entity) IDMethod() string {
	if e.ID.IsUUID() {
		return "UUID"
	}
	return "Int64"
}

// argument returns the expression of a column as an argument to a function of package schema.
func (c *column) argument(at int) (string, error) {
	switch {
	case c.Nullable() || c.IsSealed() || c.Kind == codec.Date || c.Kind == codec.Time:
		return "", fmt.Errorf("%s.%s cannot be an argument: it is nullable, sealed, a date or a time", c.Owner.Name, c.Name)
	case c.IsEnum():
		return fmt.Sprintf("%s(x.Text(%d))", c.Type, at), nil
	case c.Kind == codec.Decimal:
		return fmt.Sprintf("x.Decimal(%d)", at), nil
	}
	return c.readAt(at), nil
}

// Value returns the expression of a computed member.
func (e *entity) Value(c apispec.Computed) (string, error) {
	if c.Kind == codec.Avatar {
		return "x.View.AvatarURL", nil
	}
	r, err := e.Selection()
	if err != nil {
		return "", err
	}
	owner, prefix := e, ""
	if c.Edge != "" {
		if owner, err = e.Target(c.Edge); err != nil {
			return "", err
		}
		prefix = c.Edge + "."
	}
	var args []string
	for _, name := range c.Columns {
		at, err := r.At(prefix + name)
		if err != nil {
			return "", err
		}
		if c.Func == "" && owner.Column(name).Nullable() {
			return "", fmt.Errorf("%s.%s may be null, which would read as an empty value", owner.Name, name)
		}
		if owner.Column(name).IsSealed() {
			return "", fmt.Errorf("%s.%s is sealed, so it cannot be part of a computed member", owner.Name, name)
		}
		if c.Func == "" {
			return owner.Column(name).readAt(at), nil
		}
		arg, err := owner.Column(name).argument(at)
		if err != nil {
			return "", err
		}
		args = append(args, arg)
	}
	return fmt.Sprintf("schema.%s(%s)", c.Func, strings.Join(args, ", ")), nil
}
