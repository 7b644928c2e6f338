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

// Names reports whether columns include one of the table joined under a name. Looking for the
// quoted name is enough: the generator refuses edges named like a table, and the database
// refuses columns of a table that is not joined.
func Names(columns, joined string) bool { return strings.Contains(columns, `"`+joined+`".`) }

// LeftJoin joins the rows of an edge's table under a name. confined are the predicates that
// restrict them to the rows that the principal may see.
func LeftJoin[P ~func(*sql.Selector)](s *sql.Selector, table, name, from, to string, confined []P) {
	t := sql.Dialect(s.Dialect()).Table(table).As(name)
	visible := sql.Dialect(s.Dialect()).Select().From(t)
	for _, p := range confined {
		p(visible)
	}
	s.LeftJoin(t).On(s.C(from), t.C(to))
	switch p := visible.P(); {
	case p == nil:
	case s.Dialect() == dialect.SQLite:
		// For a bare comparison SQLite reads the whole table into a Bloom filter for each page.
		s.OnP(sql.P(func(b *sql.Builder) { b.Wrap(func(b *sql.Builder) { b.Join(p) }).WriteString(" IS TRUE") }))
	default:
		s.OnP(p)
	}
}

// StoredTypes are the PostgreSQL types of time, day and uuid columns, which are read in the
// binary form in which they are stored (decision 9). A key is the column's name, or
// table.column if columns of that name differ in type.
type StoredTypes map[string]string

// rewritten caches the results of StoredTypes.columns by argument. The arguments are literals
// of the program, so the cache stays small.
var rewritten sync.Map

// columns replaces each plain column of a stored type with the function that returns its
// binary form, such as timestamptz_send. Other expressions stay as they are.
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

// Query runs the statement for these columns and returns its rows for rowscan.ForEach.
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
