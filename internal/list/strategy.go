package list

import "slices"

// maxSortRows is the most rows sorted for one page. If there are more, the list walks an index
// that already has the order. A smaller limit would gain nothing: the rows in the range are
// counted anyway, and the first one in the order may be the last one in the index.
const maxSortRows = 200_000

// probeRows is how many rows are searched in the order of the list before the rows of one
// value are selected and sorted. For most values they contain a full page; for rare values,
// and for values at the end of the order, they do not.
const probeRows = 5_000

// Filter is a filter of a request, by a column or, for a search, without one.
type Filter struct {
	Set    bool
	Column string
	Equal  bool   // compares with one value, not a range
	Dense  bool   // the rows of a value are spread over the list, unlike one patient's
	Leads  Orders // orders that an index has for the rows of one value
}

// Orders are values of sort_by.
type Orders []string

// Unless adds orders of a partial index, unless the list also has rows outside it.
func (o Orders) Unless(outside bool, keys ...string) Orders {
	if outside {
		return o
	}
	return append(o, keys...)
}

// strategy is how filterFirst finds rows.
type strategy struct {
	column string // select by a range of this column; "" lets the database choose
	probe  bool   // search the first rows in the order before that
}

// choose decides whether to find rows by the filters before sorting them, and how. ok is
// false without filters, or if an index has the filtered rows in the order. ordered are the
// orders that an index has for all rows.
func choose(order string, ordered Orders, filters []Filter) (how strategy, ok bool) {
	led, equal, dense := false, false, slices.Contains(ordered, order)
	for _, f := range filters {
		switch {
		case !f.Set:
		case f.Column == "":
			return strategy{}, true
		case f.Equal && slices.Contains(f.Leads, order):
			led = true
		case f.Equal:
			equal, dense = true, dense && f.Dense
		case f.Column != order:
			how.column = f.Column
		}
	}
	if how.column != "" {
		return how, true
	}
	return strategy{probe: dense}, equal && !led
}
