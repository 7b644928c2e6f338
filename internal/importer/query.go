package importer

import (
	"fmt"
	"strconv"

	"chairside/internal/entx/table"
)

// fail keeps the first error of a batch. It ignores nil.
func (b *batch) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

func (b *batch) exec(statement string, args ...any) {
	if b.err == nil {
		_, err := b.tx.ExecContext(b.ctx, statement, args...)
		b.fail(err)
	}
}

// queryRow reads the only row of a query.
func (b *batch) queryRow(query string, args []any, into ...any) {
	if b.err == nil {
		b.fail(b.tx.QueryRowContext(b.ctx, query, args...).Scan(into...))
	}
}

// query calls each with every row of a query.
func (b *batch) query(query string, args []any, each func(values []any)) {
	if b.err != nil {
		return
	}
	rows, err := b.tx.QueryContext(b.ctx, query, args...)
	if err != nil {
		b.fail(err)
		return
	}
	defer rows.Close()
	names, err := rows.Columns()
	for b.fail(err); b.err == nil && rows.Next(); {
		values, places := table.Scan(len(names))
		if b.fail(rows.Scan(places...)); b.err == nil {
			each(values)
		}
	}
	b.fail(rows.Err())
}

// queryIn restricts a query to the rows whose column has one of the values. The query must end in
// a condition. Its arguments are the ID of the practice, $1, and args, from $2.
func (b *batch) queryIn(query, column string, in []any, each func(values []any), args ...any) {
	if len(in) > 0 {
		condition, list := b.bulk.In(column, len(args)+2, in)
		b.query(query+" AND "+condition, append(append([]any{b.practice.id}, args...), list), each)
	}
}

// selectIn reads columns of the practice's rows whose column has one of the values.
func (b *batch) selectIn(e *entity, columns []string, column string, in []any, each func(r row)) {
	b.queryIn(selectFrom(e, columns)+"practice_id = $1", column, in, func(values []any) {
		if r := b.toRow(e, columns, values); b.err == nil {
			each(r)
		}
	})
}

// selectFrom returns a query that only lacks its condition.
func selectFrom(e *entity, columns []string) string {
	return "SELECT " + table.Quote(columns...) + " FROM " + table.Quote(e.Name) + " WHERE "
}

// toRow converts scanned values of columns to the form in which they are stored.
func (b *batch) toRow(e *entity, columns []string, values []any) row {
	r := make(row, len(values))
	for i, name := range columns {
		r[name] = b.stored(e, name, values[i])
	}
	b.open(e, r)
	return r
}

func (b *batch) stored(e *entity, column string, v any) any {
	v, err := e.Column(column).Stored.Stored(v)
	if err != nil {
		b.fail(fmt.Errorf("%s.%s %w", e.Name, column, err))
	}
	return v
}

// integer converts a scanned value to a whole number.
func (b *batch) integer(v any) int64 {
	n, err := table.Int(v)
	b.fail(err)
	return n
}

// asText returns an ID or another value as text, "" for nil.
func asText(v any) string {
	switch t := v.(type) {
	case string:
		return t
	case []byte:
		return string(t)
	case int64:
		return strconv.FormatInt(t, 10)
	case nil:
		return ""
	}
	return fmt.Sprint(v)
}

func idsOf(records []*record) []any {
	ids := make([]any, len(records))
	for i, r := range records {
		ids[i] = r.id
	}
	return ids
}

// keysOf returns the keys of a set.
func keysOf[K comparable](set map[K]bool) []any {
	keys := make([]any, 0, len(set))
	for key := range set {
		keys = append(keys, key)
	}
	return keys
}
