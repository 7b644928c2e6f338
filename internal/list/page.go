package list

import "math"

// Page is the part of a list that a request asks for.
type Page struct{ Number, Size int }

// Limit is the number of rows of the page.
func (p Page) Limit() int { return p.Size }

// Offset is the number of rows before the page. It never exceeds half of the largest
// int divided by the size, because Totals.Find doubles it and callers add Limit.
func (p Page) Offset() int {
	return min(p.Number-1, math.MaxInt/2/p.Size) * p.Size
}

// Deep reports whether too many rows precede the page to read and drop them all. In
// order of id, startAtFirst serves pages up to where Early ends, deep ones too.
func (p Page) Deep() bool { return p.Offset() >= 500 }

// Early reports whether a few rows precede the page: a merge join reads the joined
// table from its beginning, too.
func (p Page) Early() bool { return p.Number > 1 && p.Offset() <= 2000 }

// Meta describes the page of a list of total rows.
func (p Page) Meta(total int) Meta {
	return Meta{Total: total, Page: p.Number, CurrentPage: p.Number, PerPage: p.Size, TotalPages: (total + p.Size - 1) / p.Size}
}

// isWhole reports whether the rows read for the page are the whole list, so that
// nothing has to be counted.
func (p Page) isWhole(rows int) bool { return p.Number == 1 && rows < p.Size }

// Meta is the meta member of a list response.
type Meta struct {
	Total       int `json:"total"`
	Page        int `json:"page"`
	CurrentPage int `json:"current_page"`
	PerPage     int `json:"per_page"`
	TotalPages  int `json:"total_pages"`
}
