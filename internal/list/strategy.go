package list

import "slices"

// maxSortRows is the most rows sorted for one page. Beyond it, walk an index that
// already has the order. A smaller number would gain nothing: the rows within the
// range are counted in any case, and the first one in the order may be the last one
// of the index.
const maxSortRows = 200_000

// probeRows is the number of rows that are looked through in the order before the rows
// of one value are sorted. Most values occur among them; those of few rows, or of rows
// at the end of the order, may not.
const probeRows = 5_000

// Filter is a filter of a request by a column, or a search, which has none.
type Filter struct {
	Set    bool
	Column string
	Equal  bool   // for one value of the column, not a range
	Dense  bool   // the value is not one patient's: its rows mostly come soon in any order
	Leads  Orders // the orders that an index has for one value
}

// Orders are values of sort_by.
type Orders []string

// Unless adds some, unless the list shows more than the rows of their index.
func (o Orders) Unless(more bool, keys ...string) Orders {
	if more {
		return o
	}
	return append(o, keys...)
}

// strategy is how filterFirst finds rows.
type strategy struct {
	column string // by the range of a column; else as the database likes
	probe  bool   // they may well be among the first in the order
}

// choose reports whether to find rows by the filters that are set before sorting them,
// and how. It does not where there is no filter, or where an index has the filtered
// rows in the order. Ordered are the orders that an index has for all rows.
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
