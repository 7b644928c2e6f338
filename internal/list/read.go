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

// List is what Read has to know of a resource.
type List[Q Query[Q, P, O], P, O ~func(*sql.Selector), R any] struct {
	Form[R]
	Table   string
	Default string // the order of a request without sort_by
	Sorts   []Sort[O]
	Ordered Orders // those that an index has for all rows of a practice
	// Counters returns the counters of a query; nil for lists without any.
	Counters func(Q, context.Context) (*entx.Counters, error)
	// DayCounter is the counter of rows per day that finds deep pages of the default
	// order by DayColumn; AllCounter counts the same rows.
	DayCounter, DayColumn, AllCounter string
}

// Sort is a value of sort_by other than id: a column of the table, or one behind an edge.
type Sort[O ~func(*sql.Selector)] struct {
	Key, Column string
	By          func(...sql.OrderTermOption) O // of a column behind an edge
}

// Request is a list request.
type Request[P ~func(*sql.Selector)] struct {
	Page
	SortBy     string
	Descending bool
	Where      []P      // its filters, except those that the schema calls manual
	Filters    []Filter // those that filterFirst may use
	Counter    string   // counts its rows; "" where the query has to
	Key        int64    // of Counter
}

// Direction is ascending or descending.
func (r Request[P]) Direction() sql.OrderTermOption {
	if r.Descending {
		return sql.OrderDesc()
	}
	return sql.OrderAsc()
}

// Order is the order of a request, the id last.
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

// column is the column of the table that a request is ordered by, before the id.
func (l *List[Q, P, O, R]) column(r Request[P]) string {
	for _, s := range l.Sorts {
		if s.Key == r.SortBy && s.By == nil {
			return s.Column
		}
	}
	return "id"
}

// Read reads the page that a request asks for and counts all rows. Extra conditions,
// those of manual filters and of the list itself, add to the request's own; with any,
// no counter is used. all finds the rows of all pages, for sums over them.
func (l *List[Q, P, O, R]) Read(ctx context.Context, view codec.View, q Q, r Request[P], extra ...P) (shown []R, meta Meta, all Q, err error) {
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
	// A page behind everything that may be sorted is read in order.
	if how, ok := choose(r.SortBy, l.Ordered, r.Filters); ok && r.Offset() <= maxSortRows {
		if shown, meta, ok, err := x.filterFirst(ctx, q, how); ok || err != nil {
			return shown, meta, all, err
		}
	}
	shown, meta, err = x.readPage(ctx, q, all)
	return shown, meta, all, err
}

// reading is one call of Read.
type reading[Q Query[Q, P, O], P, O ~func(*sql.Selector), R any] struct {
	*List[Q, P, O, R]
	Request[P]
	view     codec.View
	counters *entx.Counters // nil where no counter may be used
}

// counterQuery is the query of the counter, nil without one.
func (x *reading[Q, P, O, R]) counterQuery() *sql.Selector {
	if x.Counter == "" || x.counters == nil {
		return nil
	}
	return x.counters.Of(x.Counter, x.Key)
}

// count is the number of all rows of q.
func (x *reading[Q, P, O, R]) count(ctx context.Context, q Q) (int, error) {
	if query := x.counterQuery(); query != nil {
		return x.counters.Read(ctx, query)
	}
	return q.Count(ctx)
}

// filterFirst finds the rows by the filters and sorts them. It is not ok where there
// are too many.
func (x *reading[Q, P, O, R]) filterFirst(ctx context.Context, q Q, how strategy) (shown []R, meta Meta, ok bool, err error) {
	order := x.Order(x.Request)
	found := q.Clone().Order(order...)
	if how.probe && !x.Deep() {
		first := found.Clone().Limit(x.Limit()).Offset(x.Offset())
		first.Shape(amongFirst(principal.Must(ctx).PracticeID, x.Table, order))
		tried, read := audit.With(ctx) // the rows may not be shown
		shown, err := All(tried, x.view, first, x.Form, x.Limit())
		if err != nil {
			return nil, Meta{}, false, err
		}
		if len(shown) == x.Limit() {
			audit.From(ctx).Add(read)
			total, err := x.count(ctx, q)
			return shown, x.Meta(total), true, err
		}
	}
	found.Shape(filtered(how.column, x.column(x.Request), order, x.Page))
	tried, read := audit.With(ctx)
	shown, total, err := counted(tried, x.view, found, x.Form, x.Limit(), filteredTotal)
	switch {
	case err != nil:
		return nil, Meta{}, false, err
	case len(shown) == 0 && x.Number > 1: // past the end: no row has the total
		total, err = x.count(ctx, q)
		return shown, x.Meta(total), true, err
	case total > maxSortRows:
		return nil, Meta{}, false, nil
	}
	audit.From(ctx).Add(read)
	return shown, x.Meta(total), true, nil
}

// readPage reads the page in the order; all finds the rows of all pages.
func (x *reading[Q, P, O, R]) readPage(ctx context.Context, q, all Q) (shown []R, meta Meta, err error) {
	q.Order(x.Order(x.Request)...).Limit(x.Limit())
	switch {
	case x.SortBy == "id" && x.Early():
		q.Shape(startAtFirst(x.Descending))
	case x.Deep():
		q.Shape(idsFirst)
	}
	if place, found, err := x.findDay(ctx, q); found || err != nil {
		if err != nil || x.Offset() >= place.Total {
			return []R{}, x.Meta(place.Total), err
		}
		shown, err := All(ctx, x.view, q.Offset(x.Offset()-place.Before), x.Form, x.Limit())
		return shown, x.Meta(place.Total), err
	}
	column, query := "", x.counterQuery()
	if query != nil {
		column = counterColumn
		q.Shape(withCounter(query))
	}
	shown, total, err := counted(ctx, x.view, q.Offset(x.Offset()), x.Form, x.Limit(), column)
	switch {
	case err != nil:
	case x.isWhole(len(shown)):
		total = len(shown)
	case query == nil || len(shown) == 0: // no row has it
		total, err = x.count(ctx, all)
	}
	return shown, x.Meta(total), err
}

// findDay finds a page deep in the default order by the day of its first row. It is
// false for other requests.
func (x *reading[Q, P, O, R]) findDay(ctx context.Context, q Q) (place entx.Place, ok bool, err error) {
	if x.DayCounter == "" || x.counters == nil || x.Counter != x.AllCounter || x.SortBy != x.Default || !x.Deep() {
		return place, false, nil
	}
	place, ok, err = x.counters.Find(ctx, x.AllCounter, x.DayCounter, x.Offset(), x.Descending)
	if ok && x.Descending {
		q.Where(P(sql.FieldLT(x.DayColumn, place.Day.AddDate(0, 0, 1))))
	} else if ok {
		q.Where(P(sql.FieldGTE(x.DayColumn, place.Day)))
	}
	return place, ok, err
}
