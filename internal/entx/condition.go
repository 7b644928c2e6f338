package entx

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"

	"chairside/internal/entx/rowscan"
)

// Subquery is a query of package ent inside another statement, confined to the rows that
// its principal may see.
type Subquery interface {
	Subquery(context.Context) (*sql.Selector, error)
}

// Condition is an EXISTS or NOT EXISTS that must hold for a row to be written.
type Condition struct {
	query Subquery
	not   bool
}

// Exists holds if the query finds a row that the principal may see.
func Exists(q Subquery) Condition { return Condition{query: q} }

// NotExists holds if the query finds no such row.
func NotExists(q Subquery) Condition { return Condition{query: q, not: true} }

// FailedConditions checks conditions in one statement and reports which do not hold.
func FailedConditions(ctx context.Context, d dialect.Driver, conditions ...Condition) ([]bool, error) {
	if len(conditions) == 0 {
		return nil, nil
	}
	statement := sql.Dialect(d.Dialect()).Select()
	failed, to := make([]bool, len(conditions)), make([]any, len(conditions))
	for i, condition := range conditions {
		condition.not = !condition.not // the statement selects whether it fails
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
		return nil, fmt.Errorf("ent: check conditions: %w", err)
	}
	defer rows.Close()
	if !rows.Next() {
		return nil, fmt.Errorf("ent: check conditions: no row: %w", rows.Err())
	}
	if err := rows.Scan(to...); err != nil {
		return nil, fmt.Errorf("ent: check conditions: %w", err)
	}
	return failed, rows.Err()
}

// text returns the condition as SQL, to be selected or joined with others by AND.
func (c Condition) text(ctx context.Context) (func(*sql.Builder), error) {
	selector, err := c.query.Subquery(ctx)
	if err != nil {
		return nil, err
	}
	return func(b *sql.Builder) {
		if c.not {
			b.WriteString("NOT ")
		}
		b.WriteString("EXISTS (").Join(selector).WriteByte(')')
	}, nil
}

// Part is one query of a UNION ALL. Columns are SQL text, each with the name of its table.
type Part struct {
	Query   Subquery
	Columns string
}

// UnionAll runs queries as one statement and returns all rows, in no order, for
// rowscan.ForEach. Each query is confined as it would be on its own. Their columns must match
// in number and type: where one query has a quoted time, day or uuid column, which is read in
// binary form (StoredTypes), the others need a quoted column of that type, or NULL.
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
		return nil, fmt.Errorf("ent: union all: %w", err)
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

// TryLockStatement returns the PostgreSQL statement that takes advisory locks in order, stops
// at the first one that another transaction holds, and reports whether it took all. keys are
// SQL text. Unlike AND, CASE guarantees the order of evaluation.
func TryLockStatement(keys []string) string {
	var text strings.Builder
	text.WriteString("SELECT CASE")
	for _, key := range keys {
		text.WriteString(" WHEN NOT pg_try_advisory_xact_lock(" + key + ") THEN false")
	}
	text.WriteString(" ELSE true END")
	return text.String()
}

// TryLock takes PostgreSQL's advisory locks for the keys in their order and reports
// whether the transaction now holds all of them. It stops at the first lock that another
// transaction holds and does not wait. On other databases it reports true.
func TryLock(ctx context.Context, d dialect.Driver, keys ...int64) (held bool, err error) {
	if d.Dialect() != dialect.Postgres || len(keys) == 0 {
		return true, nil
	}
	placeholders, args := make([]string, len(keys)), make([]any, len(keys))
	for i, key := range keys {
		placeholders[i], args[i] = "$"+strconv.Itoa(i+1), key
	}
	var rows sql.Rows
	if err := d.Query(ctx, TryLockStatement(placeholders), args, &rows); err != nil {
		return false, fmt.Errorf("ent: lock: %w", err)
	}
	defer rows.Close()
	if !rows.Next() {
		return false, fmt.Errorf("ent: lock: no row: %w", rows.Err())
	}
	if err := rows.Scan(&held); err != nil {
		return false, fmt.Errorf("ent: lock: %w", err)
	}
	return held, rows.Err()
}
