package schedule

import (
	"time"

	"chairside/internal/civil"
	"chairside/internal/report"
)

// Period says which days a scheduled report covers, seen from the day on which it is due.
type Period string

// The periods.
const (
	Default   Period = "default"    // the report's own
	LastWeek  Period = "last-week"  // Monday to Sunday of the week before
	LastMonth Period = "last-month" // the whole month before
)

// Days returns the first and the last day that a report covers. A report on the state at the end of a day
// has only the last one.
func (p Period) Days(r *report.Report, due civil.Date) (from, to civil.Date) {
	switch p {
	case LastWeek:
		monday := due.AddDays(-(int(due.Weekday()-time.Monday+daysPerWeek) % daysPerWeek))
		from, to = monday.AddDays(-daysPerWeek), monday.AddDays(-1)
	case LastMonth:
		first := civil.Date{Year: due.Year, Month: due.Month, Day: 1}
		from, to = first.AddMonths(-1), first.AddDays(-1)
	}
	return r.Days(due, from, to)
}
