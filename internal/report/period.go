package report

import (
	"time"

	"chairside/internal/civil"
	"chairside/internal/decimal"
)

// Days completes a period of which somebody named the first day, the last, both
// or neither (zero): the rest is the report's own, as suits what was named.
func (r *Report) Days(today, from, to civil.Date) (first, last civil.Date) {
	first, last = r.Period(today)
	if !to.IsZero() {
		if last = to; last.Before(first) {
			first, _ = r.Period(last)
		}
	}
	if !from.IsZero() && !r.AsAt {
		if first = from; last.Before(first) && to.IsZero() {
			_, last = r.Period(first)
		}
	}
	return first, last
}

// OneDay reports whether the report is about a day, rather than as at its end:
// then no day has a period that began before.
func (r *Report) OneDay() bool {
	const lastOfYear = "2026-12-31" // no year of any kind begins here
	if !r.AsAt {
		return false
	}
	from, to := r.Period(civil.MustParse(lastOfYear))
	return from == to
}

// Periods that reports are about unless somebody says otherwise.

// oneDay is today alone.
func oneDay(today civil.Date) (from, to civil.Date) { return today, today }

// contractYear is the NHS year of today, April to March, up to today.
func contractYear(today civil.Date) (from, to civil.Date) { return yearStart(today), today }

// twelveMonths are the eleven whole months before today and what there is of
// this one.
func twelveMonths(today civil.Date) (from, to civil.Date) {
	return monthStart(today).AddMonths(-11), today
}

// yearStart is the 1 April on or before a day.
func yearStart(d civil.Date) civil.Date {
	start := civil.Date{Year: d.Year, Month: time.April, Day: 1}
	if d.Before(start) {
		start.Year--
	}
	return start
}

func monthStart(d civil.Date) civil.Date {
	return civil.Date{Year: d.Year, Month: d.Month, Day: 1}
}

// months are the first days of the months of a period.
func months(f Filter) (all []civil.Date) {
	for m := monthStart(f.From); !f.To.Before(m); m = m.AddMonths(1) {
		all = append(all, m)
	}
	return all
}

// days is the number of days from one day to another, 0 for the same one.
func days(from, to civil.Date) int {
	return int(to.Time().Sub(from.Time()) / (24 * time.Hour))
}

// percent is part of whole, rounded half away from zero to hundredths of a
// percent; nil, for a cell without a value, where there is no whole.
func percent(part, whole int64) any {
	if whole == 0 {
		return nil
	}
	return decimal.Decimal(ratio(part, 100_00, whole))
}

// ratio is a*b/c, rounded half away from zero. c is not 0.
func ratio(a, b, c int64) int64 {
	n := a * b
	if c < 0 {
		n, c = -n, -c
	}
	if n < 0 {
		return -((-n + c/2) / c)
	}
	return (n + c/2) / c
}
