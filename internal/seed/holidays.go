package seed

import (
	"slices"
	"time"

	"chairside/internal/civil"
)

// holiday is a day on which a practice is closed.
type holiday struct {
	date civil.Date
	name string
}

// bankHolidays returns the bank holidays of England in a year, with both Christmas days and New
// Year's Day even if they fall on a weekend. Days moved or added for one year, such as those of
// jubilees, follow no rule and are left out.
func bankHolidays(year int) []holiday {
	sunday := easter(year)
	all := []holiday{
		{civil.Date{Year: year, Month: time.January, Day: 1}, "New Year's Day"},
		{civil.Date{Year: year, Month: time.December, Day: 25}, "Christmas Day"},
		{civil.Date{Year: year, Month: time.December, Day: 26}, "Boxing Day"},
	}
	for _, h := range all {
		if !isWeekend(h.date) {
			continue
		}
		substitute := h.date
		for isWeekend(substitute) || named(all, substitute) != "" { // the next weekday that is not a holiday itself
			substitute = substitute.AddDays(1)
		}
		all = append(all, holiday{substitute, h.name + " (substitute day)"})
	}
	return append(all,
		holiday{sunday.AddDays(-2), "Good Friday"},
		holiday{sunday.AddDays(1), "Easter Monday"},
		holiday{mondayFrom(civil.Date{Year: year, Month: time.May, Day: 1}), "Early May bank holiday"},
		holiday{mondayFrom(civil.Date{Year: year, Month: time.May, Day: 25}), "Spring bank holiday"},
		holiday{mondayFrom(civil.Date{Year: year, Month: time.August, Day: 25}), "Summer bank holiday"},
	)
}

// closed returns why an English practice is closed on a date, or "" if it is not: for a bank
// holiday, or for a weekend between two, as at Easter.
func closed(date civil.Date) string {
	if name := named(bankHolidays(date.Year), date); name != "" || !isWeekend(date) {
		return name
	}
	friday := date.AddDays(-1)
	if date.Weekday() == time.Sunday {
		friday = date.AddDays(-2)
	}
	monday := friday.AddDays(3)
	if named(bankHolidays(friday.Year), friday) != "" && named(bankHolidays(monday.Year), monday) != "" {
		return "Holiday weekend"
	}
	return ""
}

// named returns the name of the holiday on a date, or "".
func named(all []holiday, date civil.Date) string {
	if i := slices.IndexFunc(all, func(h holiday) bool { return h.date == date }); i >= 0 {
		return all[i].name
	}
	return ""
}

// isWeekend reports whether a date is a Saturday or a Sunday.
func isWeekend(date civil.Date) bool {
	return date.Weekday() == time.Saturday || date.Weekday() == time.Sunday
}

// mondayFrom returns the first Monday that is not before a date.
func mondayFrom(date civil.Date) civil.Date {
	for date.Weekday() != time.Monday {
		date = date.AddDays(1)
	}
	return date
}

// easter returns Easter Sunday of the Gregorian calendar, by the algorithm of Meeus, Jones and
// Butcher, whose variables it keeps.
func easter(year int) civil.Date {
	a, b, c := year%19, year/100, year%100
	d, e := b/4, b%4
	f := (b + 8) / 25
	g := (b - f + 1) / 3
	h := (19*a + b - d - g + 15) % 30
	i, k := c/4, c%4
	l := (32 + 2*e + 2*i - h - k) % 7
	m := (a + 11*h + 22*l) / 451
	n := h + l - 7*m + 114
	return civil.Date{Year: year, Month: time.Month(n / 31), Day: n%31 + 1}
}
