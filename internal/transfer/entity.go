package transfer

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"entgo.io/ent/dialect"
	entschema "entgo.io/ent/dialect/sql/schema"
	"entgo.io/ent/schema/field"

	"chairside/ent"
	"chairside/ent/migrate"
	"chairside/internal/apispec/limit"
	"chairside/internal/civil"
	"chairside/internal/decimal"
)

// entity is one table, as the generated code describes it. Nothing about an
// entity is written down here: a new file in package schema is exported and
// imported without a change to this package.
type entity struct {
	name    string // ent's name, as in the record of changes: Patient
	table   string
	columns []column // the id first
	named   map[string]*column
	unique  []uniqueKey
}

// column is one column of a table.
type column struct {
	name     string
	kind     kind
	goType   reflect.Type // of ent's field, without its pointer
	nullable bool
	secret   bool // never leaves the server in an answer
	defaults any  // nil where a value has to be given
	enums    []string
	refers   string        // the table it points at, "" for none
	limit    *limit.Column // nil for none
}

// column is the column of a name, nil for none.
func (e *entity) column(name string) *column { return e.named[name] }

func (e *entity) has(column string) bool { return e.column(column) != nil }

// numbered reports whether the ids are integers that the database gives out.
func (e *entity) numbered() bool { return e.columns[0].kind == integer }

func (e *entity) columnNames() []string {
	names := make([]string, len(e.columns))
	for i, c := range e.columns {
		names[i] = c.name
	}
	return names
}

// entities are all tables, each after those its rows point at; among those that
// could come next the first of the alphabet does.
var entities = sync.OnceValues(func() ([]*entity, error) {
	types := rowTypes()
	var all []*entity
	for _, t := range migrate.Tables {
		e, err := describe(t, types)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b *entity) int { return cmp.Compare(a.table, b.table) })
	return inOrder(all)
})

// inOrder sorts by dependency.
func inOrder(all []*entity) ([]*entity, error) {
	var sorted []*entity
	placed := map[string]bool{}
	for len(sorted) < len(all) {
		next := slices.IndexFunc(all, func(e *entity) bool {
			return !placed[e.table] && !slices.ContainsFunc(e.columns, func(c column) bool {
				return c.refers != "" && c.refers != e.table && !placed[c.refers]
			})
		})
		if next < 0 {
			return nil, fmt.Errorf("transfer: tables point at each other in a circle: %d of %d can be put in order", len(sorted), len(all))
		}
		placed[all[next].table] = true
		sorted = append(sorted, all[next])
	}
	return sorted, nil
}

// byTable finds an entity.
func byTable(table string) (*entity, error) {
	all, err := entities()
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		if e.table == table {
			return e, nil
		}
	}
	return nil, fmt.Errorf("transfer: there is no table %s", table)
}

// rowTypes are the structs of ent's rows: what the clients of ent.Client get.
func rowTypes() []reflect.Type {
	var list []reflect.Type
	client := reflect.TypeFor[ent.Client]()
	for i := range client.NumField() {
		if get, ok := client.Field(i).Type.MethodByName("Get"); ok && client.Field(i).IsExported() {
			list = append(list, get.Type.Out(0).Elem())
		}
	}
	return list
}

// describe puts together what the table and the row's struct tell. Table and
// struct are matched by their columns, because neither names the other.
func describe(t *entschema.Table, types []reflect.Type) (*entity, error) {
	e := &entity{table: t.Name}
	var row map[string]reflect.StructField
	for _, candidate := range types {
		if fields := columnFields(candidate); matches(t, fields) {
			if row != nil {
				return nil, fmt.Errorf("transfer: the table %s could be %s or %s", t.Name, e.name, candidate.Name())
			}
			row, e.name = fields, candidate.Name()
		}
	}
	if row == nil {
		return nil, fmt.Errorf("transfer: no generated type has the columns of the table %s", t.Name)
	}
	for _, c := range t.Columns {
		described, err := describeColumn(c, row[plain(c.Name)])
		if err != nil {
			return nil, fmt.Errorf("transfer: %s.%s: %w", t.Name, c.Name, err)
		}
		if i := slices.IndexFunc(ent.Limits, func(l limit.Column) bool { return l.Table == t.Name && l.Name == c.Name }); i >= 0 {
			described.limit = &ent.Limits[i]
		}
		if c.Unique && c != t.PrimaryKey[0] {
			e.unique = append(e.unique, uniqueKey{columns: []string{c.Name}})
		}
		e.columns = append(e.columns, described)
	}
	e.named = map[string]*column{}
	for i := range e.columns {
		e.named[e.columns[i].name] = &e.columns[i]
	}
	for _, key := range t.ForeignKeys {
		e.column(key.Columns[0].Name).refers = key.RefTable.Name
	}
	for _, i := range t.Indexes {
		if !i.Unique {
			continue
		}
		key, err := uniqueKeyOf(i)
		if err != nil {
			return nil, fmt.Errorf("transfer: %s: %w", t.Name, err)
		}
		e.unique = append(e.unique, key)
	}
	return e, nil
}

// columnFields are the fields of a row's struct that are columns, by plain name.
func columnFields(row reflect.Type) map[string]reflect.StructField {
	fields := map[string]reflect.StructField{}
	for i := range row.NumField() {
		if f := row.Field(i); f.IsExported() && f.Name != "Edges" && !f.Anonymous {
			fields[plain(f.Name)] = f
		}
	}
	return fields
}

func matches(t *entschema.Table, fields map[string]reflect.StructField) bool {
	if len(t.Columns) != len(fields) {
		return false
	}
	for _, c := range t.Columns {
		if _, ok := fields[plain(c.Name)]; !ok {
			return false
		}
	}
	return true
}

// plain is a name without what separates its words: nhs_number, NhsNumber.
func plain(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

func describeColumn(c *entschema.Column, f reflect.StructField) (column, error) {
	described := column{
		name: c.Name, goType: f.Type, nullable: c.Nullable, defaults: c.Default, enums: c.Enums,
		secret: f.Tag.Get("json") == "-",
	}
	if described.goType.Kind() == reflect.Pointer {
		described.goType = described.goType.Elem()
	}
	switch {
	case described.goType == reflect.TypeFor[decimal.Decimal]():
		described.kind = amount
	case described.goType == reflect.TypeFor[civil.Date]() && c.SchemaType[dialect.Postgres] == "date":
		described.kind = date
	case c.Type == field.TypeTime:
		described.kind = moment
	case c.Type == field.TypeUUID:
		described.kind = unique
	case c.Type == field.TypeBool:
		described.kind = boolean
	case c.Type == field.TypeInt, c.Type == field.TypeInt64:
		described.kind = integer
	case c.Type == field.TypeString, c.Type == field.TypeEnum:
		described.kind = text
	case c.Type == field.TypeBytes:
		described.kind = binary
	case c.Type == field.TypeJSON:
		described.kind = document
	default:
		return column{}, fmt.Errorf("a column of the type %s cannot be transferred yet", c.Type)
	}
	return described, nil
}
