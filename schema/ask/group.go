package ask

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"chairside/ent"
	"chairside/internal/entx/table"
	"chairside/internal/principal"
)

// Query is a query of the generated client, such as *ent.AppointmentQuery.
type Query[S Selection] interface {
	Modify(modifiers ...func(*sql.Selector)) S
}

// Selection is the result of a query's Modify method, such as *ent.AppointmentSelect.
type Selection interface {
	Scan(ctx context.Context, rows any) error
}

// Column is a column of the rows of Group. By, Day, Week, Month and Quarter group the rows;
// Count, Sum, Share and Rate add up each group.
type Column struct {
	key   func(*grouping) (key, error)
	value func(*grouping) (sql.Querier, error)
}

// key is an expression to group rows by, and what Group selects of each group.
type key struct{ by, selected string }

// Group adds up the rows of a query. The fields of Row take the columns in their order, like the
// variables of database/sql's Scan. A column without a value leaves its field zero. Rows are in
// the order of their groups, those without a value last.
//
//	type rate struct {
//		Source  string
//		Month   ask.Date
//		NoShows ask.Ratio
//	}
//	rates, err := ask.Group[rate](ctx, client.Appointment.Query().Where(appointment.PatientIDNotNil()),
//		ask.By(appointment.FieldPatientID, patient.FieldAcquisitionSourceID, acquisitionsource.FieldName),
//		ask.Month(appointment.FieldStartTime),
//		ask.Share(appointment.StateEQ(schema.DidNotAttend)))
//
// By and the functions for days take a path: the columns to follow to other tables, and the
// column to read there. Each step leads to one row at most, so a path neither drops rows nor
// counts any twice. For edges to several rows, use Ent's predicates: HasInvoicesWith.
func Group[Row any, S Selection](ctx context.Context, query Query[S], columns ...Column) ([]Row, error) {
	names, err := fieldsOf(reflect.TypeFor[Row](), len(columns))
	if err != nil {
		return nil, err
	}
	caller, err := principal.From(ctx)
	if err != nil {
		return nil, err
	}
	running := true // the query keeps its modifiers, and may be used again
	defer func() { running = false }()
	selection := query.Modify(func(s *sql.Selector) {
		if running {
			if err = group(s, caller, names, columns); err != nil {
				s.Limit(0)
			}
		}
	})
	var rows []Row
	if scan := selection.Scan(ctx, &rows); err != nil {
		return nil, err
	} else if scan != nil {
		return nil, scan
	}
	return sorted(rows, columns), nil
}

// fieldsOf returns the names by which Ent's Scan finds the fields of a row.
func fieldsOf(row reflect.Type, columns int) (names []string, err error) {
	if row.Kind() != reflect.Struct || row.NumField() != columns {
		return nil, fmt.Errorf("ask: %s must be a struct with a field for each of the %d columns", row, columns)
	}
	for i := range columns {
		f := row.Field(i)
		if !f.IsExported() || f.Anonymous || f.Tag.Get("sql")+f.Tag.Get("json") != "" {
			return nil, fmt.Errorf("ask: field %s of %s must be exported, not embedded, and without a tag", f.Name, row)
		}
		names = append(names, strings.ToLower(f.Name))
	}
	return names, nil
}

// grouping is a statement that Group completes.
type grouping struct {
	*sql.Selector
	practice uuid.UUID // the caller's
	zone     *time.Location
	joined   map[string]*sql.SelectTable // by the path that leads to them
}

// group makes s return the columns.
func group(s *sql.Selector, caller *principal.Principal, names []string, columns []Column) error {
	g := &grouping{s, caller.PracticeID, caller.Zone, map[string]*sql.SelectTable{}}
	s.Select()
	for i, c := range columns {
		if c.key == nil {
			value, err := c.value(g)
			if err != nil {
				return err
			}
			s.AppendSelectExprAs(value, names[i])
			continue
		}
		k, err := c.key(g)
		if err != nil {
			return err
		}
		s.AppendSelectExprAs(sql.Raw(k.selected), names[i]).GroupBy(k.by)
	}
	return nil
}

// column returns the column at the end of a path as SQL, and joins the tables on the way.
func (g *grouping) column(path []string) (string, *table.Column, error) {
	from, at := tableOf(g.TableName()), g.C
	for i, name := range path {
		c := from.Column(name)
		switch {
		case c == nil:
			return "", nil, fmt.Errorf("ask: %s has no column %s", from.Name, name)
		case c.IsSealed():
			return "", nil, fmt.Errorf("ask: %s.%s is sealed: its values differ in each row", from.Name, name)
		case i == len(path)-1:
			return at(name), c, nil
		case c.References == "":
			return "", nil, fmt.Errorf("ask: %s.%s refers to no other table", from.Name, name)
		}
		from = tableOf(c.References)
		at = g.join(strings.Join(path[:i+1], " "), from, at(name)).C
	}
	return "", nil, fmt.Errorf("ask: name a column of %s", from.Name)
}

// join returns the table to which a path leads. The condition on the practice repeats what the
// foreign keys ensure: a row refers to rows of its own practice. Compared with a value, it is
// faster than a second column to join on.
func (g *grouping) join(path string, to *table.Table, reference string) *sql.SelectTable {
	if joined := g.joined[path]; joined != nil {
		return joined
	}
	joined := sql.Dialect(g.Dialect()).Table(to.Name).As(fmt.Sprintf("joined%d", len(g.joined)+1))
	g.joined[path] = joined
	g.LeftJoin(joined).On(joined.C("id"), reference)
	if to.Has("practice_id") {
		g.OnP(sql.EQ(joined.C("practice_id"), g.practice))
	}
	return joined
}

// tableOf returns a table of the schema.
func tableOf(name string) *table.Table {
	i := slices.IndexFunc(ent.Tables, func(t *table.Table) bool { return t.Name == name })
	return ent.Tables[i]
}

// where returns Ent's predicates as one condition, nil for none.
func (g *grouping) where(predicates []func(*sql.Selector)) (*sql.Predicate, error) {
	inner := g.Clone().SetP(nil)
	for _, p := range predicates {
		p(inner)
	}
	return inner.P(), inner.Err()
}
