package entx

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"
	"entgo.io/ent/dialect/sql/sqlgraph"
	"entgo.io/ent/schema/field"
)

// Record is the row of the record of changes for one mutation, still to be written.
type Record struct {
	mutation ent.Mutation
	spec     func(context.Context) (*sqlgraph.CreateSpec, error)
	written  bool
}

type recordKey struct{}

// WithRecord returns a context in which the statement that writes the row of m may
// write its record, too. spec makes the record once all columns of m are set; a value
// may be SQL that names columns of the written row.
func WithRecord(ctx context.Context, m ent.Mutation, spec func(context.Context) (*sqlgraph.CreateSpec, error)) (context.Context, *Record) {
	r := &Record{mutation: m, spec: spec}
	return context.WithValue(ctx, recordKey{}, r), r
}

// Written reports whether the record was written with the row.
func (r *Record) Written() bool { return r.written }

// ErrUnmet is returned for a row whose conditions do not all hold.
var ErrUnmet = errors.New("ent: a condition of a new row does not hold")

// Writing is the prefix of a query that reads the row it writes, under the name
// written. The record is written with it where that is still to be done:
//
//	WITH written AS (… RETURNING *),
//	noted AS (INSERT INTO changes (…) SELECT … FROM written)
func Writing(ctx context.Context, m ent.Mutation, row func(*sql.Builder)) (sql.Querier, error) {
	var noted *insert
	if r, ok := ctx.Value(recordKey{}).(*Record); ok && r.mutation == m {
		spec, err := r.spec(ctx)
		if err != nil {
			return nil, err
		}
		if noted, err = insertOf(spec); err != nil {
			return nil, err
		}
		r.written = true
	}
	return sql.ExprFunc(func(b *sql.Builder) {
		b.WriteString("WITH written AS (")
		row(b)
		b.WriteString(" RETURNING *)")
		if noted != nil {
			b.WriteString(", noted AS (")
			noted.write(b)
			b.WriteString(" FROM written)")
		}
	}), nil
}

// Unlocked is the setting of a PostgreSQL transaction in which a lock was asked for
// and not obtained: 'true'. It is set right before a conditional insertion, in the same
// round trip, and that insertion then writes nothing (IfLocked).
const Unlocked = "chairside.unlocked"

// IfLocked is the condition that no lock was refused in this transaction. It ends the
// WHERE of each conditional insertion. Locks are sent ahead only of a statement that
// contains it (package store).
const IfLocked = "current_setting('" + Unlocked + "', true) IS DISTINCT FROM 'true'"

// Insert writes a new row where the conditions hold and no lock was refused.
func Insert(ctx context.Context, spec *sqlgraph.CreateSpec, conditions []Condition) (func(*sql.Builder), error) {
	row, err := insertOf(spec)
	if err != nil {
		return nil, err
	}
	holding := make([]func(*sql.Builder), len(conditions))
	for i, c := range conditions {
		if holding[i], err = c.text(ctx); err != nil {
			return nil, err
		}
	}
	return func(b *sql.Builder) {
		row.write(b)
		word := " WHERE "
		for _, text := range holding {
			b.WriteString(word)
			text(b)
			word = " AND "
		}
		if len(holding) > 0 {
			b.WriteString(word).WriteString(IfLocked)
		}
	}, nil
}

// Table is what an update has to know of a table.
type Table struct {
	Name, ID  string
	Immutable []string // columns that an update cannot name
	JSON      []string // columns that hold JSON
	Elsewhere []string // edges whose columns are in other tables
}

// Update writes the columns of m to the row of an id, where the predicates of m allow
// it. What ent would write in another way, or leave out, is refused.
func Update[P ~func(*sql.Selector)](m ent.Mutation, table Table, id any, predicates []P) (func(*sql.Builder), error) {
	if err := RefuseEdges(m, table.Elsewhere...); err != nil {
		return nil, err
	}
	if added := m.AddedFields(); len(added) > 0 {
		return nil, fmt.Errorf("ent: %v are added to, not set", added)
	}
	u := sql.Dialect(dialect.Postgres).Update(table.Name)
	for _, name := range m.Fields() {
		if slices.Contains(table.Immutable, name) {
			return nil, fmt.Errorf("ent: %s does not change", name)
		}
		v, _ := m.Field(name)
		if slices.Contains(table.JSON, name) {
			text, err := json.Marshal(v)
			if err != nil {
				return nil, fmt.Errorf("ent: column %s: %w", name, err)
			}
			v = json.RawMessage(text)
		}
		u.Set(name, v)
	}
	for _, name := range m.ClearedFields() {
		if _, set := m.Field(name); !set { // since
			u.SetNull(name)
		}
	}
	only := sql.Dialect(dialect.Postgres).Select().From(sql.Table(table.Name)).Where(sql.EQ(table.ID, id))
	for _, p := range predicates {
		p(only)
	}
	return func(b *sql.Builder) { b.Join(u.FromSelect(only)) }, only.Err()
}

// SetSQL replaces the value of a column by SQL text of the program.
func SetSQL(spec *sqlgraph.CreateSpec, column, text string) *sqlgraph.CreateSpec {
	for _, f := range spec.Fields {
		if f.Column == column {
			f.Value = sql.Raw(text)
		}
	}
	return spec
}

// insert is a row to be written, and nothing with it.
type insert struct {
	table   string
	columns []string
	values  []any
}

func insertOf(spec *sqlgraph.CreateSpec) (*insert, error) {
	i := &insert{table: spec.Table}
	set := func(column string, value any) {
		i.columns, i.values = append(i.columns, column), append(i.values, value)
	}
	if spec.ID.Value != nil {
		set(spec.ID.Column, spec.ID.Value)
	}
	for _, f := range spec.Fields {
		value := f.Value
		if f.Type == field.TypeJSON {
			text, err := json.Marshal(value)
			if err != nil {
				return nil, fmt.Errorf("ent: column %s: %w", f.Column, err)
			}
			value = json.RawMessage(text)
		}
		set(f.Column, value)
	}
	for _, e := range spec.Edges {
		if e.Rel != sqlgraph.M2O {
			return nil, fmt.Errorf("ent: %s is written together with rows of %s", spec.Table, e.Table)
		}
		set(e.Columns[0], e.Target.Nodes[0])
	}
	return i, nil
}

// write quotes the names at once: Ident would take each apart.
func (i *insert) write(b *sql.Builder) {
	b.WriteString(`INSERT INTO "` + i.table + `" ("` + strings.Join(i.columns, `", "`) + `") SELECT `).Args(i.values...)
}
