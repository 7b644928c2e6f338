package report

import (
	"slices"
	"strings"
)

// sortBy orders the rows of every table that has a column, in descending order for "-column".
// Rows without a value come last, and rows with the same value stay in the report's order. A
// table is grouped only in the order of its groups.
func (r *Result) sortBy(column string) {
	if column == "" {
		return
	}
	key, descending := strings.CutPrefix(column, "-")
	for i := range r.Sections {
		s := &r.Sections[i]
		at := slices.IndexFunc(s.Columns, func(c Column) bool { return c.Key == key })
		if at < 0 {
			continue
		}
		kind := s.Columns[at].Kind
		s.Columns = slices.Clone(s.Columns) // reports share them
		for j := range s.Columns {
			s.Columns[j].Group = s.Columns[j].Group && j == at
		}
		slices.SortStableFunc(s.Rows, func(a, b []any) int {
			x, y := a[at], b[at]
			switch {
			case x == nil && y == nil:
				return 0
			case x == nil:
				return 1
			case y == nil:
				return -1
			case descending:
				return kind.compare(y, x)
			}
			return kind.compare(x, y)
		})
	}
}

// sortable reports whether a table has the column to sort by.
func (r *Result) sortable(column string) bool {
	key := strings.TrimPrefix(column, "-")
	return column == "" || slices.ContainsFunc(r.Sections, func(s Section) bool {
		return slices.ContainsFunc(s.Columns, func(c Column) bool { return c.Key == key })
	})
}
