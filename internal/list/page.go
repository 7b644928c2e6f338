package list

import "math"

// Page selects one page of a list.
type Page struct{ Number, Size int }

// Limit is the number of rows of the page.
func (p Page) Limit() int { return p.Size }

// Offset is the number of rows before the page. It stays below half of the largest int,
// because Counters.PageStart doubles it and callers add Limit.
func (p Page) Offset() int {
	return min(p.Number-1, math.MaxInt/2/p.Size) * p.Size
}

// Deep reports whether so many rows precede the page that skipping them one by one is slow.
func (p Page) Deep() bool { return p.Offset() >= 500 }

// Early reports whether startAtFirst pays for a page in order of id. On later pages it does
// not: a merge join reads the joined table from its beginning anyway.
func (p Page) Early() bool { return p.Number > 1 && p.Offset() <= 2000 }

// Meta returns the meta member for a list of total rows.
func (p Page) Meta(total int) Meta {
	return Meta{Total: total, Page: p.Number, CurrentPage: p.Number, PerPage: p.Size, TotalPages: (total + p.Size - 1) / p.Size}
}

// isWholeList reports whether a first page with so many rows is the whole list, which then
// needs no count.
func (p Page) isWholeList(rows int) bool { return p.Number == 1 && rows < p.Size }

// Meta is the meta member of a list response.
type Meta struct {
	Total, Page, CurrentPage, PerPage, TotalPages int

	ByCursor bool
	Next     *string // with ByCursor; nil on the last page
}
