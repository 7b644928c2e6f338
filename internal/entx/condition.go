package entx

import (
	"context"
	"fmt"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"

	"chairside/internal/entx/rowscan"
)

// Subquery is a query of package ent as part of another statement, confined to the
// rows its principal may see.
type Subquery interface {
	Subquery(context.Context) (*sql.Selector, error)
}

// Condition is something that has to hold before a row is written.
type Condition struct {
	query Subquery
	none  bool
}

// Exists holds where the query finds a row that the principal may see.
func Exists(q Subquery) Condition { return Condition{query: q} }

// NotExists holds where the query finds no such row.
func NotExists(q Subquery) Condition { return Condition{query: q, none: true} }

// FailedConditions reports, by one statement, which conditions do not hold.
func FailedConditions(ctx context.Context, d dialect.Driver, conditions ...Condition) ([]bool, error) {
	if len(conditions) == 0 {
		return nil, nil
	}
	statement := sql.Dialect(d.Dialect()).Select()
	failed, to := make([]bool, len(conditions)), make([]any, len(conditions))
	for i, condition := range conditions {
		condition.none = !condition.none // the opposite is asked
		text, err := condition.text(ctx)
		if err != nil {
			return nil, err
		}
		statement.AppendSelectExpr(sql.ExprFunc(text))
		to[i] = &failed[i]
	}
	var rows sql.Rows
	text, args := statement.Query()
	if err := d.Query(ctx, text, args, &rows); err != nil {
		return nil, fmt.Errorf("ent: ask about conditions: %w", err)
	}
	defer rows.Close()
	if !rows.Next() {
		return nil, fmt.Errorf("ent: ask about conditions: no answer: %w", rows.Err())
	}
	if err := rows.Scan(to...); err != nil {
		return nil, fmt.Errorf("ent: ask about conditions: %w", err)
	}
	return failed, rows.Err()
}

// text writes the condition, to be selected or joined with others by AND.
func (c Condition) text(ctx context.Context) (func(*sql.Builder), error) {
	selector, err := c.query.Subquery(ctx)
	if err != nil {
		return nil, err
	}
	return func(b *sql.Builder) {
		if c.none {
			b.WriteString("NOT ")
		}
		b.WriteString("EXISTS (").Join(selector).WriteByte(')')
	}, nil
}

// Part is a query that is asked together with others, and what is read of its
// rows: SQL text, each column with the name of its table.
type Part struct {
	Query   Subquery
	Columns string
}

// UnionAll runs queries as one statement and returns the rows of all, to be read by
// rowscan.ForEach: in no order, their columns alike in number and type. So where one has
// a quoted column that comes as it is stored, a time, a day or a uuid, the others
// have a quoted one, too, or NULL. Each is confined as if it were asked by itself.
func UnionAll(ctx context.Context, d dialect.Driver, stored StoredTypes, first Part, others ...Part) (*sql.Rows, error) {
	statement, err := first.selector(ctx, stored)
	if err != nil {
		return nil, err
	}
	for _, p := range others {
		selector, err := p.selector(ctx, stored)
		if err != nil {
			return nil, err
		}
		statement.UnionAll(selector)
	}
	text, args := statement.Query()
	rows := &sql.Rows{}
	if err := d.Query(rowscan.RawRows(ctx), text, args, rows); err != nil {
		return nil, fmt.Errorf("ent: read together: %w", err)
	}
	return rows, nil
}

func (p Part) selector(ctx context.Context, stored StoredTypes) (*sql.Selector, error) {
	s, err := p.Query.Subquery(ctx)
	if err != nil {
		return nil, err
	}
	return s.SelectExpr(sql.Raw(stored.columns(s.Dialect(), p.Columns))), nil
}

// TryLock reports whether the transaction has PostgreSQL's advisory locks of the
// keys, which it takes in their order, up to the first one that another transaction
// holds. It does not wait. Other databases have no such locks.
func TryLock(ctx context.Context, d dialect.Driver, keys ...int64) (held bool, err error) {
	if d.Dialect() != dialect.Postgres || len(keys) == 0 {
		return true, nil
	}
	text, args := sql.Dialect(dialect.Postgres).Select().AppendSelectExpr(sql.ExprFunc(func(b *sql.Builder) {
		b.WriteString("CASE") // evaluates one after the other, unlike AND
		for _, key := range keys {
			b.WriteString(" WHEN NOT pg_try_advisory_xact_lock(").Arg(key).WriteString(") THEN false")
		}
		b.WriteString(" ELSE true END")
	})).Query()
	var rows sql.Rows
	if err := d.Query(ctx, text, args, &rows); err != nil {
		return false, fmt.Errorf("ent: lock: %w", err)
	}
	defer rows.Close()
	if !rows.Next() {
		return false, fmt.Errorf("ent: lock: no answer: %w", rows.Err())
	}
	if err := rows.Scan(&held); err != nil {
		return false, fmt.Errorf("ent: lock: %w", err)
	}
	return held, rows.Err()
}
