package list

import (
	"context"

	"entgo.io/ent/dialect/sql"

	"chairside/internal/audit"
	"chairside/internal/codec"
	"chairside/internal/entx"
	"chairside/internal/principal"
)

// Query is a generated query Q with its predicates P and orders O.
type Query[Q any, P, O ~func(*sql.Selector)] interface {
	Rows
	Where(...P) Q
	Order(...O) Q
	Limit(int) Q
	Offset(int) Q
	Clone() Q
	Shape(...func(*sql.Selector))
	Count(context.Context) (int, error)
}

// List describes the list of a resource.
type List[Q Query[Q, P, O], P, O ~func(*sql.Selector), R any] struct {
	Form[R]
	Table   string
	IDKind  codec.Kind
	Default string // sort_by of a request without it
	Sorts   []Sort[O]
	Ordered Orders // orders that an index has for all rows of a practice
	// Counters returns the counters for a query; nil for lists without counters.
	Counters func(Q, context.Context) (*entx.Counters, error)
	// DayCounter counts rows per day of DayColumn and finds deep pages in the default
	// order; AllCounter counts the same rows.
	DayCounter, DayColumn, AllCounter string
}

// Sort is a value of sort_by other than id: a column of the table or of an edge's table.
type Sort[O ~func(*sql.Selector)] struct {
	Key, Column string
	By          func(...sql.OrderTermOption) O // for a column of an edge's table
	SQL         string                         // the column as SQL text
	Kind        codec.Kind                     // of the column
}

// Request is a list request.
type Request[P ~func(*sql.Selector)] struct {
	Page
	SortBy     string
	Descending bool
	Where      []P      // conditions of all filters that are not hand-written
	Filters    []Filter // filters that filterFirst may use
	Counter    string   // name of the counter of its rows; "" if the query must count them
	Key        int64    // key of Counter

	ByCursor bool
	Cursor   string // "" for the first page
	WithPage bool   // page was sent too, which is refused
	Query    string // with ByCursor: the filters as text, which must stay the same
}

// Direction returns the order term for ascending or descending.
func (r Request[P]) Direction() sql.OrderTermOption {
	if r.Descending {
		return sql.OrderDesc()
	}
	return sql.OrderAsc()
}

// Order returns the order of a request; the id breaks ties.
func (l *List[Q, P, O, R]) Order(r Request[P]) (order []O) {
	byID := O(sql.OrderByField("id", r.Direction()).ToFunc())
	for _, s := range l.Sorts {
		switch {
		case s.Key != r.SortBy:
		case s.By != nil:
			return []O{s.By(r.Direction()), byID}
		default:
			return []O{O(sql.OrderByField(s.Column, r.Direction()).ToFunc()), byID}
		}
	}
	return []O{byID}
}

// column returns the column that a request is sorted by, or id if that column is in an
// edge's table.
func (l *List[Q, P, O, R]) column(r Request[P]) string {
	for _, s := range l.Sorts {
		if s.Key == r.SortBy && s.By == nil {
			return s.Column
		}
	}
	return "id"
}

// Read reads the page of a request and counts all rows. extra are the conditions of
// hand-written filters; counters do not know them, so with any of them Read counts the rows
// itself. It also returns all, the query for the rows of all pages, for sums over them.
func (l *List[Q, P, O, R]) Read(ctx context.Context, view codec.View, q Q, r Request[P], extra ...P) (rows []R, meta Meta, all Q, err error) {
	x := reading[Q, P, O, R]{List: l, Request: r, view: view}
	if l.Counters != nil {
		counters, err := l.Counters(q, ctx)
		if err != nil {
			return nil, Meta{}, all, err
		}
		if len(extra) == 0 {
			x.counters = counters
		}
	}
	for _, e := range extra {
		q.Where(entx.Enclose(e))
	}
	q.Where(r.Where...)
	all = q.Clone()
	if r.ByCursor {
		rows, meta, err = x.readAfter(ctx, q, all)
		return rows, meta, all, err
	}
	if how, ok := choose(r.SortBy, l.Ordered, r.Filters); ok && r.Offset() <= maxSortRows {
		if rows, meta, ok, err := x.filterFirst(ctx, q, how); ok || err != nil {
			return rows, meta, all, err
		}
	}
	rows, meta, err = x.readPage(ctx, q, all)
	return rows, meta, all, err
}

// reading is one call of Read.
type reading[Q Query[Q, P, O], P, O ~func(*sql.Selector), R any] struct {
	*List[Q, P, O, R]
	Request[P]
	view     codec.View
	counters *entx.Counters // nil if no counter may be used
}

// counterQuery returns the query for the counter, or nil without one.
func (x *reading[Q, P, O, R]) counterQuery() *sql.Selector {
	if x.Counter == "" || x.counters == nil {
		return nil
	}
	return x.counters.Of(x.Counter, x.Key)
}

// count counts all rows of q.
func (x *reading[Q, P, O, R]) count(ctx context.Context, q Q) (int, error) {
	if query := x.counterQuery(); query != nil {
		return x.counters.Read(ctx, query)
	}
	return q.Count(ctx)
}

// filterFirst finds the rows by the filters and sorts them. ok is false if there are too
// many to sort.
func (x *reading[Q, P, O, R]) filterFirst(ctx context.Context, q Q, how strategy) (rows []R, meta Meta, ok bool, err error) {
	order := x.Order(x.Request)
	found := q.Clone().Order(order...)
	if how.probe && !x.Deep() {
		first := found.Clone().Limit(x.Limit()).Offset(x.Offset())
		first.Shape(amongFirst(principal.Must(ctx).PracticeID, x.Table, order))
		tried, read := audit.With(ctx) // its own log, because the rows may not be sent
		rows, err := All(tried, x.view, first, x.Form, x.Limit())
		if err != nil {
			return nil, Meta{}, false, err
		}
		if len(rows) == x.Limit() {
			audit.From(ctx).Add(read)
			total, err := x.count(ctx, q)
			return rows, x.Meta(total), true, err
		}
	}
	found.Shape(filtered(how.column, x.column(x.Request), order, x.Page))
	tried, read := audit.With(ctx)
	total := 0
	rows, err = All(tried, x.view, found, x.Form.withTotal(filteredTotal, &total), x.Limit())
	switch {
	case err != nil:
		return nil, Meta{}, false, err
	case len(rows) == 0 && x.Number > 1: // past the end, so no row carried the total
		total, err = x.count(ctx, q)
		return rows, x.Meta(total), true, err
	case total > maxSortRows:
		return nil, Meta{}, false, nil
	}
	audit.From(ctx).Add(read)
	return rows, x.Meta(total), true, nil
}

// readPage reads the page in the order of the list; all is the query for all pages.
func (x *reading[Q, P, O, R]) readPage(ctx context.Context, q, all Q) (rows []R, meta Meta, err error) {
	q.Order(x.Order(x.Request)...).Limit(x.Limit())
	switch {
	case x.SortBy == "id" && x.Early():
		q.Shape(startAtFirst(x.Descending))
	case x.Deep():
		q.Shape(idsFirst)
	}
	if start, found, err := x.findDay(ctx, q); found || err != nil {
		if err != nil || x.Offset() >= start.Total {
			return []R{}, x.Meta(start.Total), err
		}
		rows, err := All(ctx, x.view, q.Offset(x.Offset()-start.Before), x.Form, x.Limit())
		return rows, x.Meta(start.Total), err
	}
	column, counter, total := "", x.counterQuery(), 0
	if counter != nil {
		column = counterColumn
		q.Shape(withCounter(counter))
	}
	rows, err = All(ctx, x.view, q.Offset(x.Offset()), x.Form.withTotal(column, &total), x.Limit())
	switch {
	case err != nil:
	case x.isWholeList(len(rows)):
		total = len(rows)
	case counter == nil || len(rows) == 0: // no row carried the total
		total, err = x.count(ctx, all)
	}
	return rows, x.Meta(total), err
}

// findDay narrows q to the day of the page's first row and later ones, for a deep page in the
// default order. ok is false for other requests.
func (x *reading[Q, P, O, R]) findDay(ctx context.Context, q Q) (start entx.PageStart, ok bool, err error) {
	if x.DayCounter == "" || x.counters == nil || x.Counter != x.AllCounter || x.SortBy != x.Default || !x.Deep() {
		return start, false, nil
	}
	start, ok, err = x.counters.PageStart(ctx, x.AllCounter, x.DayCounter, x.Offset(), x.Descending)
	if ok && x.Descending {
		q.Where(P(sql.FieldLT(x.DayColumn, start.Day.AddDate(0, 0, 1))))
	} else if ok {
		q.Where(P(sql.FieldGTE(x.DayColumn, start.Day)))
	}
	return start, ok, err
}
