package codegen

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"entgo.io/ent/dialect/sql/schema"
	"entgo.io/ent/entc/gen"

	"chairside/internal/apispec/limit"
	"chairside/internal/codec"
	"chairside/internal/entx/table"
)

// describedTable is an entry of ent.Tables. Its columns are in Described, because the template
// writes JSON columns in a different way.
type describedTable struct {
	table.Table
	Described []describedColumn
}

// describedColumn is a column; GoType is the Go type of a JSON column, or "".
type describedColumn struct {
	table.Column
	GoType string
}

// tablesOf describes all tables in an order in which rows can be inserted: each table after
// those that it references, and otherwise in alphabetical order.
func tablesOf(g *gen.Graph) (sorted []describedTable, err error) {
	tables, err := g.Tables()
	if err != nil {
		return nil, err
	}
	slices.SortFunc(tables, func(a, b *schema.Table) int { return cmp.Compare(a.Name, b.Name) })
	placed := map[string]bool{}
	for len(sorted) < len(tables) {
		next := slices.IndexFunc(tables, func(t *schema.Table) bool {
			return !placed[t.Name] && !slices.ContainsFunc(t.ForeignKeys, func(k *schema.ForeignKey) bool { return k.RefTable != t && !placed[k.RefTable.Name] })
		})
		if next < 0 {
			return nil, fmt.Errorf("tables reference each other in a cycle: only %d of %d can be put in order", len(sorted), len(tables))
		}
		t := tables[next]
		placed[t.Name] = true
		n := g.Nodes[slices.IndexFunc(g.Nodes, func(n *gen.Type) bool { return n.Table() == t.Name })]
		described, err := describe(t, n)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Name, err)
		}
		sorted = append(sorted, described)
	}
	return sorted, nil
}

func describe(t *schema.Table, n *gen.Type) (d describedTable, err error) {
	d.Table = table.Table{Name: t.Name, Type: n.Name}
	fields := append([]*gen.Field{n.ID}, n.Fields...)
	for _, stored := range t.Columns {
		f := fields[slices.IndexFunc(fields, func(f *gen.Field) bool { return f.StorageKey() == stored.Name })]
		c, err := newColumn(f)
		if err != nil {
			return d, err
		}
		column := table.Column{
			Field: c.tableField(), Stored: storedKind(f), Null: f.Optional, Initial: stored.Default,
			ReadOnly: f == n.ID || f.Sensitive() && !c.API.Write || c.API.Derived,
		}
		if expressions, ok := stored.Default.(map[string]schema.Expr); ok && len(expressions) > 0 { // the database sets it
			column.Initial = nil
		}
		if column.Stored == "" {
			return d, fmt.Errorf("%s: columns of type %s cannot be written as text", f.Name, f.Type)
		}
		for _, key := range t.ForeignKeys {
			if key.Columns[0].Name == column.Name {
				column.References = key.RefTable.Name
			}
		}
		goType := ""
		if f.IsJSON() {
			goType = f.Type.String()
		}
		d.Described = append(d.Described, describedColumn{column, goType})
		if stored.Unique && f != n.ID {
			d.Unique = append(d.Unique, table.Key{Columns: []string{column.Name}})
		}
	}
	for _, i := range t.Indexes {
		if !i.Unique {
			continue
		}
		key, err := keyOf(i)
		if err != nil {
			return d, err
		}
		d.Unique = append(d.Unique, key)
	}
	return d, nil
}

// keyOf returns the key of a unique index.
func keyOf(i *schema.Index) (key table.Key, err error) {
	for _, c := range i.Columns {
		key.Columns = append(key.Columns, c.Name)
	}
	if i.Annotation == nil || i.Annotation.Where == "" {
		return key, nil
	}
	if column, ok := strings.CutSuffix(i.Annotation.Where, " IS NOT NULL"); ok && slices.Contains(key.Columns, column) {
		return key, nil // nulls are never equal, so the condition changes nothing
	}
	column, ok := strings.CutSuffix(i.Annotation.Where, " IS NULL")
	if !ok || strings.Contains(column, " ") {
		return key, fmt.Errorf("cannot describe the unique index: its condition must be COLUMN IS NULL or COLUMN IS NOT NULL, not %s", i.Annotation.Where)
	}
	key.Unless = column
	return key, nil
}

// tableField returns how the API reads the column, or would if clients could write it.
func (c *column) tableField() codec.Field {
	f := c.bodyField()
	if !c.API.Write {
		f.Required = !c.Nullable() && !c.Default
		if c.IsString() {
			f.MaxRunes = cmp.Or(f.MaxRunes, limit.LongText)
		}
	}
	return f
}

// storedKind returns how a column is stored, or "" if its type is unknown.
func storedKind(f *gen.Field) table.Kind {
	switch t := f.Type.String(); {
	case t == "decimal.Decimal":
		return table.Amount
	case t == "civil.Date":
		return table.Date
	case f.IsTime():
		return table.Time
	case f.IsUUID():
		return table.UUID
	case f.IsBool():
		return table.Boolean
	case t == "int", t == "int64":
		return table.Integer
	case f.IsString(), f.IsEnum():
		return table.Text
	case f.IsBytes():
		return table.Bytes
	case f.IsJSON():
		return table.JSON
	}
	return ""
}
