package list

import "math"

// Page selects one page of a list.
type Page struct{ Number, Size int }

// Limit is the number of rows of the page.
func (p Page) Limit() int { return p.Size }

// Offset is the number of rows before the page. It stays below half of the largest int,
// because Counters.Find doubles it and callers add Limit.
func (p Page) Offset() int {
	return min(p.Number-1, math.MaxInt/2/p.Size) * p.Size
}

// Deep reports whether too many rows precede the page to read them and drop them. In
// order of id, startAtFirst serves pages as long as they are Early, deep ones too.
func (p Page) Deep() bool { return p.Offset() >= 500 }

// Early reports whether a few rows precede the page. With many, startAtFirst would not
// pay: a merge join still reads the joined table from its beginning.
func (p Page) Early() bool { return p.Number > 1 && p.Offset() <= 2000 }

// Meta returns the meta member for a list of total rows.
func (p Page) Meta(total int) Meta {
	return Meta{Total: total, Page: p.Number, CurrentPage: p.Number, PerPage: p.Size, TotalPages: (total + p.Size - 1) / p.Size}
}

// isWholeList reports whether the rows of the page are the whole list, which then needs
// no count.
func (p Page) isWholeList(rows int) bool { return p.Number == 1 && rows < p.Size }

// Meta is the meta member of a list response.
type Meta struct {
	Total       int `json:"total"`
	Page        int `json:"page"`
	CurrentPage int `json:"current_page"`
	PerPage     int `json:"per_page"`
	TotalPages  int `json:"total_pages"`
}
