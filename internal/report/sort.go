package report

import (
	"slices"
	"strings"
)

// sortBy orders the rows of every table that has a column, in descending order for "-column".
// Rows without a value come last, and rows with the same value stay in the report's order. A
// table is grouped only in the order of its groups.
func (r *Result) sortBy(column string) error {
	if column == "" {
		return nil
	}
	key, descending := strings.CutPrefix(column, "-")
	found, rows := false, 0
	for i := range r.Sections {
		s := &r.Sections[i]
		rows += len(s.Rows)
		at := slices.IndexFunc(s.Columns, func(c Column) bool { return c.Key == key })
		if at < 0 {
			continue
		}
		found = true
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
	if !found && rows > 0 { // a report without rows may leave tables out
		return ErrSort
	}
	return nil
}
