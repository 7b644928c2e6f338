package report

import (
	"time"

	"chairside/internal/civil"
	"chairside/schema/ask"
)

// Days completes a period. from and to are the days that the user chose, or zero. A
// missing day comes from the report's default period: the one for today, or, if the
// chosen day lies outside that, the one for the chosen day.
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

// OneDay reports whether the report covers a single day, like the day sheet. Other AsAt
// reports show the state at the end of a day and have a period that starts earlier.
func (r *Report) OneDay() bool { return r.AsAt && r.Daily() }

// Daily reports whether the report's default period is a single day.
func (r *Report) Daily() bool {
	const lastOfYear = "2026-12-31" // neither a calendar year nor a contract year starts on this day
	from, to := r.Period(civil.MustParse(lastOfYear))
	return from == to
}

// The default periods of reports.

// oneDay is today.
func oneDay(today civil.Date) (from, to civil.Date) { return today, today }

// contractYear is the current NHS contract year, which starts on 1 April, up to today.
func contractYear(today civil.Date) (from, to civil.Date) { return yearStart(today), today }

// twelveMonths is the current month up to today and the eleven months before it.
func twelveMonths(today civil.Date) (from, to civil.Date) {
	return monthStart(today).AddMonths(-11), today
}

// eightWeeks is today and the days up to the end of the seventh week after the current one.
func eightWeeks(today civil.Date) (from, to civil.Date) {
	return today, weekStart(today).AddDays(8*7 - 1)
}

// weekStart returns the Monday of a day's week.
func weekStart(d civil.Date) civil.Date { return d.AddDays(-(int(d.Weekday()+6) % 7)) }

// lastMonth is the whole month before today's.
func lastMonth(today civil.Date) (from, to civil.Date) {
	first := monthStart(today)
	return first.AddMonths(-1), first.AddDays(-1)
}

// yearStart returns the first day of the contract year: the last 1 April that is not
// after d.
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

// months returns the first day of each month in the period.
func months(f Filter) (all []civil.Date) {
	for m := monthStart(f.From); !f.To.Before(m); m = m.AddMonths(1) {
		all = append(all, m)
	}
	return all
}

// days returns the number of days from one day to another; 0 for the same day.
func days(from, to civil.Date) int {
	return int(to.Time().Sub(from.Time()) / (24 * time.Hour))
}

// percent returns part as a percentage of whole, rounded half away from zero to two
// decimals. It returns nil, an empty cell, if whole is 0.
func percent(part, whole int64) any {
	if share, ok := (ask.Ratio{Part: part, Whole: whole}).Percent(); ok {
		return share
	}
	return nil
}

// ratio returns a*b/c, rounded half away from zero. c must not be 0.
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
