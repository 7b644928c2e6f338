package list

import (
	"entgo.io/ent/dialect/sql"
	"github.com/google/uuid"
)

// idsFirst selects the rows of a page by their ids alone, so that the database skips the
// rows before it in an index, not in the table.
func idsFirst(s *sql.Selector) {
	id := s.C("id")
	page := s.Clone().Select(id)
	s.SetP(sql.In(id, sql.Select("id").From(page.As("page")))).Offset(0)
}

// startAtFirst starts a page in order of id at its first row. The database skips the rows
// before it in the index on the id and sorts nothing.
func startAtFirst(descending bool) func(*sql.Selector) {
	return func(s *sql.Selector) {
		id := s.C("id")
		first := s.Clone().Select(id).Limit(1)
		begin := sql.GTE(id, first)
		if descending {
			begin = sql.LTE(id, first)
		}
		s.Where(begin).Offset(0)
	}
}

// counterColumn is the column with the total that withCounter adds.
const counterColumn = "(SELECT n FROM counter)"

// withCounter reads a counter beside the page.
func withCounter(of *sql.Selector) func(*sql.Selector) {
	return func(s *sql.Selector) { s.Prefix(sql.With("counter", "n").As(of)) }
}

// amongFirst limits the search to the practice's first probeRows rows in the order of the list:
//
//	SELECT … FROM (SELECT * FROM t WHERE practice_id = … ORDER BY … LIMIT probeRows) AS t
//	WHERE … ORDER BY … LIMIT …
//
// The database stops at the last row of the page.
func amongFirst[O ~func(*sql.Selector)](practice uuid.UUID, table string, order []O) func(*sql.Selector) {
	return func(s *sql.Selector) {
		t := sql.Dialect(s.Dialect()).Table(table)
		first := sql.Dialect(s.Dialect()).Select("*").From(t).Where(sql.EQ(t.C("practice_id"), practice)).Limit(probeRows)
		for _, o := range order {
			o(first)
		}
		s.From(first.As(table))
	}
}

// filteredTotal is the column with the total that filtered adds. It exceeds maxSortRows if
// there are too many rows to sort.
const filteredTotal = "(SELECT COUNT(*) FROM picked)"

// filtered finds at most maxSortRows rows by a range of column, sorts them in the order of the
// list, whose first column is by, and reads the page. If column is "", the database chooses
// how to find them.
//
//	WITH picked AS (SELECT id, by FROM t WHERE … ORDER BY column LIMIT maxSortRows + 1)
//	SELECT …, (SELECT COUNT(*) FROM picked) FROM t
//	WHERE id IN (SELECT id FROM picked ORDER BY … LIMIT … OFFSET …) ORDER BY …
//
// Without this, PostgreSQL would walk the index that has the order until it has found enough
// rows within the range; if they are at its end, that is the whole index. The conditions that
// confine the query to a practice and a site are in the first SELECT.
func filtered[O ~func(*sql.Selector)](column, by string, order []O, page Page) func(*sql.Selector) {
	return func(s *sql.Selector) {
		set := s.Clone().ClearOrder()
		set.Select(set.C("id")).Limit(maxSortRows + 1)
		if by != "id" {
			set.AppendSelect(set.C(by))
		}
		if column != "" {
			set.OrderBy(set.C(column))
		}
		t := sql.Dialect(s.Dialect()).Table("picked")
		ids := sql.Dialect(s.Dialect()).Select(t.C("id")).From(t).Limit(page.Limit()).Offset(page.Offset())
		for _, o := range order {
			o(ids)
		}
		s.Prefix(sql.With("picked").As(set))
		s.SetP(sql.In(s.C("id"), ids))
	}
}

// ByPart orders a query by a column of a joined table.
func ByPart(table, column string) func(*sql.Selector) {
	return func(s *sql.Selector) {
		s.OrderExpr(sql.Raw(sql.Dialect(s.Dialect()).Table(table).C(column)))
	}
}
