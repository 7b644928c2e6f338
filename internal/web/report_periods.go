package web

import (
	"net/url"
	"time"

	"chairside/internal/civil"
)

// period is a link to the same report for another period.
type period struct {
	Name, Address string
	Current       bool // the page shows this period
}

// periods returns links to common periods.
func (q *question) periods() []period {
	from, to := q.report.Period(q.today)
	month := civil.Date{Year: q.today.Year, Month: q.today.Month, Day: 1}
	year := contractYear(q.today)
	var all []period
	add := func(name string, from, to civil.Date) { all = append(all, q.period(name, from, to)) }
	switch {
	case q.report.OneDay():
		shown := q.filter.To
		add("Day before", shown, shown.AddDays(-1))
		add("Today", q.today, q.today)
		add("Day after", shown, shown.AddDays(1))
	case q.report.AsAt:
		add("Today", from, q.today)
		add("End of last month", from, month.AddDays(-1))
		add("End of last contract year", from, year.AddDays(-1))
	case from.IsZero(): // everything up to a day
		add("Overdue and next month", from, to)
		add("Overdue", from, q.today.AddDays(-1))
		add("Due this month", month, month.AddMonths(1).AddDays(-1))
		add("Due next month", month.AddMonths(1), month.AddMonths(2).AddDays(-1))
	case q.today.Before(to): // weeks ahead
		add("Next 4 weeks", from, to.AddDays(-4*7))
		add("Next 8 weeks", from, to)
		add("Next 12 weeks", from, to.AddDays(4*7))
	case q.report.Daily():
		add("Today", q.today, q.today)
		add("Yesterday", q.today.AddDays(-1), q.today.AddDays(-1))
		add("Last 7 days", q.today.AddDays(-6), q.today)
		add("This month", month, month.AddMonths(1).AddDays(-1))
		add("Last month", month.AddMonths(-1), month.AddDays(-1))
	default:
		add("This month", month, month.AddMonths(1).AddDays(-1))
		add("Last month", month.AddMonths(-1), month.AddDays(-1))
		add("Last 12 months", month.AddMonths(-11), q.today)
		add("This contract year", year, q.today)
		add("Last contract year", year.AddMonths(-12), year.AddDays(-1))
	}
	return all
}

// contractYear returns the first day of the NHS contract year that day is in.
func contractYear(day civil.Date) civil.Date {
	first := civil.Date{Year: day.Year, Month: time.April, Day: 1}
	if day.Before(first) {
		return first.AddMonths(-12)
	}
	return first
}

// period returns a link to the same report for the days from to to.
func (q *question) period(name string, from, to civil.Date) period {
	values := url.Values{"to": {to.String()}}
	current := to == q.filter.To
	if !q.report.AsAt {
		current = current && from == q.filter.From
		if !from.IsZero() {
			values.Set("from", from.String())
		}
	}
	kept := []string{"site", "practitioner", "compare", "sort"}
	if q.filter.Behind != nil {
		kept = kept[:2] // the order is that of the records
	}
	for _, field := range kept {
		if q.form.values.Has(field) && q.form.Error(field) == "" {
			values[field] = q.form.values[field]
		}
	}
	return period{name, reportsPath + "/" + q.report.Name + "?" + values.Encode(), current && len(q.form.wrong) == 0}
}
