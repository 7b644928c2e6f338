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

// AuditEntry is the audit log entry of one mutation.
type AuditEntry struct {
	mutation ent.Mutation
	spec     func(context.Context) (*sqlgraph.CreateSpec, error)
	written  bool
}

type auditEntryKey struct{}

// WithAuditEntry returns a context in which the statement that writes the row of m may also
// write its audit log entry (WritePrefix). spec is called once all columns of m are set; a
// value of its result may be SQL text that names columns of the written row (SetSQL).
func WithAuditEntry(ctx context.Context, m ent.Mutation, spec func(context.Context) (*sqlgraph.CreateSpec, error)) (context.Context, *AuditEntry) {
	e := &AuditEntry{mutation: m, spec: spec}
	return context.WithValue(ctx, auditEntryKey{}, e), e
}

// Written reports whether the entry was written by the statement that wrote the row.
func (e *AuditEntry) Written() bool { return e.written }

// ErrConditionFailed means that a row was not written because a condition does not hold.
var ErrConditionFailed = errors.New("ent: a condition of the new row does not hold")

// WritePrefix returns the WITH clause of a query that writes a row with the statement row and
// then reads it from written. If the context has an audit log entry for m, the query writes
// that as well:
//
//	WITH written AS (… RETURNING *),
//	audited AS (INSERT INTO audit_events (…) SELECT … FROM written)
func WritePrefix(ctx context.Context, m ent.Mutation, row func(*sql.Builder)) (sql.Querier, error) {
	var entry *insert
	if e, ok := ctx.Value(auditEntryKey{}).(*AuditEntry); ok && e.mutation == m {
		spec, err := e.spec(ctx)
		if err != nil {
			return nil, err
		}
		if entry, err = insertOf(spec); err != nil {
			return nil, err
		}
		e.written = true
	}
	return sql.ExprFunc(func(b *sql.Builder) {
		b.WriteString("WITH written AS (")
		row(b)
		b.WriteString(" RETURNING *)")
		if entry != nil {
			b.WriteString(", audited AS (")
			entry.write(b)
			b.WriteString(" FROM written)")
		}
	}), nil
}

// Unlocked is the PostgreSQL setting that is 'true' in a transaction that could not get one of
// its locks. It is set in the same round trip as the conditional INSERT that follows, which
// then writes nothing (IfLocked).
const Unlocked = "chairside.unlocked"

// IfLocked is the SQL condition that the transaction got all of its locks. It ends the WHERE
// of each conditional INSERT; package store pipelines locks only before a statement that
// contains it.
const IfLocked = "current_setting('" + Unlocked + "', true) IS DISTINCT FROM 'true'"

// Insert returns an INSERT that writes its row only if the conditions hold and, with
// conditions, if the transaction got all of its locks.
func Insert(ctx context.Context, spec *sqlgraph.CreateSpec, conditions []Condition) (func(*sql.Builder), error) {
	row, err := insertOf(spec)
	if err != nil {
		return nil, err
	}
	texts := make([]func(*sql.Builder), len(conditions))
	for i, c := range conditions {
		if texts[i], err = c.text(ctx); err != nil {
			return nil, err
		}
	}
	return func(b *sql.Builder) {
		row.write(b)
		word := " WHERE "
		for _, text := range texts {
			b.WriteString(word)
			text(b)
			word = " AND "
		}
		if len(texts) > 0 {
			b.WriteString(word).WriteString(IfLocked)
		}
	}, nil
}

// Table describes a table to Update.
type Table struct {
	Name, ID  string
	Immutable []string // columns that an update cannot name
	JSON      []string // columns that hold JSON
	Elsewhere []string // edges whose columns are in other tables
}

// Update returns the UPDATE of one row, selected by its id and the predicates of m. It refuses
// what Ent would write in other statements or by other rules: added numbers and edges.
func Update[P ~func(*sql.Selector)](m ent.Mutation, table Table, id any, predicates []P) (func(*sql.Builder), error) {
	if err := RefuseEdges(m, table.Elsewhere...); err != nil {
		return nil, err
	}
	if added := m.AddedFields(); len(added) > 0 {
		return nil, fmt.Errorf("ent: cannot add to the columns %v: set them", added)
	}
	u := sql.Dialect(dialect.Postgres).Update(table.Name)
	for _, name := range m.Fields() {
		if slices.Contains(table.Immutable, name) {
			return nil, fmt.Errorf("ent: the column %s is immutable", name)
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
		if _, setAgain := m.Field(name); !setAgain {
			u.SetNull(name)
		}
	}
	only := sql.Dialect(dialect.Postgres).Select().From(sql.Table(table.Name)).Where(sql.EQ(table.ID, id))
	for _, p := range predicates {
		p(only)
	}
	return func(b *sql.Builder) { b.Join(u.FromSelect(only)) }, only.Err()
}

// SetSQL replaces the value of a column with SQL text, which must not come from a client.
func SetSQL(spec *sqlgraph.CreateSpec, column, text string) *sqlgraph.CreateSpec {
	for _, f := range spec.Fields {
		if f.Column == column {
			f.Value = sql.Raw(text)
		}
	}
	return spec
}

// insert is an INSERT of one row. It cannot write rows of other tables.
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
			return nil, fmt.Errorf("ent: %s cannot be inserted together with rows of %s", spec.Table, e.Table)
		}
		set(e.Columns[0], e.Target.Nodes[0])
	}
	return i, nil
}

// write writes INSERT INTO … SELECT … without a FROM clause, so that a condition can follow.
// It quotes the names itself, because Builder.Ident would parse each one.
func (i *insert) write(b *sql.Builder) {
	b.WriteString(`INSERT INTO "` + i.table + `" ("` + strings.Join(i.columns, `", "`) + `") SELECT `).Args(i.values...)
}
