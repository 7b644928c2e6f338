package list

import (
	"entgo.io/ent/dialect/sql"
	"github.com/google/uuid"
)

// idsFirst chooses the rows of a page by their ids alone, so that those before it are
// passed over in an index, not in the table.
func idsFirst(s *sql.Selector) {
	id := s.C("id")
	page := s.Clone().Select(id)
	s.SetP(sql.In(id, sql.Select("id").From(page.As("page")))).Offset(0)
}

// startAtFirst begins a page in order of id at its first row: those before it are
// passed over for their ids alone, and an index on the id has nothing to sort.
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

// counterColumn is the total of a page that is read with a counter (withCounter).
const counterColumn = "(SELECT n FROM counter)"

// withCounter reads a counter beside the page.
func withCounter(of *sql.Selector) func(*sql.Selector) {
	return func(s *sql.Selector) { s.Prefix(sql.With("counter", "n").As(of)) }
}

// amongFirst looks for the rows of a query among the first of the practice, in the
// order of a list:
//
//	SELECT … FROM (SELECT * FROM t WHERE practice_id = … ORDER BY … LIMIT probeRows) AS t
//	WHERE … ORDER BY … LIMIT …
//
// It stops with the last row of the page.
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

// filteredTotal is the total of a page that filterFirst reads. It exceeds maxSortRows
// where there are too many rows.
const filteredTotal = "(SELECT COUNT(*) FROM picked)"

// filtered makes a query find the rows of a list by a column, or as PostgreSQL likes
// where there is none, at most maxSortRows of them, then sort these by another column,
// and then read the page:
//
//	WITH picked AS (SELECT id, by FROM t WHERE … ORDER BY column LIMIT maxSortRows + 1)
//	SELECT …, (SELECT COUNT(*) FROM picked) FROM t
//	WHERE id IN (SELECT id FROM picked ORDER BY … LIMIT … OFFSET …) ORDER BY …
//
// Left to itself, PostgreSQL reads the index that has the order until it has met enough
// rows within the range: all of it, where they are at its end. All that confines the
// query to a practice and a site is in the first SELECT.
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

// ByPart orders a query by a column of the rows that are joined.
func ByPart(table, column string) func(*sql.Selector) {
	return func(s *sql.Selector) {
		s.OrderExpr(sql.Raw(sql.Dialect(s.Dialect()).Table(table).C(column)))
	}
}
