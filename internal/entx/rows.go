package entx

import (
	"cmp"
	"context"
	"strings"
	"sync"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"

	"chairside/internal/entx/rowscan"
)

// Names reports whether columns are read from what is joined under a name. The
// generator refuses edges that have the name of a table, and the database refuses a column
// of what is not joined.
func Names(columns, joined string) bool { return strings.Contains(columns, `"`+joined+`".`) }

// LeftJoin joins, under a name, the rows behind an edge, where the
// predicates that confine their table let the caller see them.
func LeftJoin[P ~func(*sql.Selector)](s *sql.Selector, table, name, from, to string, confined []P) {
	t := sql.Dialect(s.Dialect()).Table(table).As(name)
	seen := sql.Dialect(s.Dialect()).Select().From(t)
	for _, p := range confined {
		p(seen)
	}
	s.LeftJoin(t).On(s.C(from), t.C(to))
	switch p := seen.P(); {
	case p == nil:
	case s.Dialect() == dialect.SQLite:
		// A bare comparison would have it read the whole table, into a Bloom filter, for every page.
		s.OnP(sql.P(func(b *sql.Builder) { b.Wrap(func(b *sql.Builder) { b.Join(p) }).WriteString(" IS TRUE") }))
	default:
		s.OnP(p)
	}
}

// StoredTypes are PostgreSQL's types of times, days and uuids, which are asked for as
// they are stored (decision 9), by the names of their columns, some with the table's.
type StoredTypes map[string]string

var rewritten sync.Map // results of StoredTypes.columns, by its argument: text of the program

// columns rewrites columns to those the database is asked for. Those in expressions
// stay as they are.
func (t StoredTypes) columns(database, columns string) string {
	if database != dialect.Postgres {
		return columns
	}
	if text, ok := rewritten.Load(columns); ok {
		return text.(string)
	}
	list := strings.Split(columns, ", ")
	for i, c := range list {
		quoted := strings.Split(c, `"`) // "table"."column" and nothing else
		if len(quoted) != 5 || quoted[0] != "" || quoted[2] != "." || quoted[4] != "" {
			continue
		}
		if stored := cmp.Or(t[quoted[3]], t[quoted[1]+"."+quoted[3]]); stored != "" {
			list[i] = stored + "_send(" + c + ")"
		}
	}
	text := strings.Join(list, ", ")
	rewritten.Store(columns, text)
	return text
}

// Query runs the statement for these columns and returns its rows, to be read by
// rowscan.ForEach.
func Query(ctx context.Context, d dialect.Driver, s *sql.Selector, stored StoredTypes, columns string) (*sql.Rows, error) {
	s.SelectExpr(sql.Raw(stored.columns(d.Dialect(), columns)))
	if err := s.Err(); err != nil {
		return nil, err
	}
	query, args := s.Query()
	rows := &sql.Rows{}
	if err := d.Query(rowscan.RawRows(ctx), query, args, rows); err != nil {
		return nil, err
	}
	return rows, nil
}
