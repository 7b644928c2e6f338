package seed

import (
	"time"

	"chairside/internal/civil"
	"chairside/internal/clock"
)

const (
	daysAhead = 190       // how far patients book ahead
	tenOClock = 10 * hour // the local minute at which a history ends that is made for a date
)

// calendar converts between days, counted from the diary's first, and local times. Days
// before the first are negative.
type calendar struct {
	zone  *time.Location
	first civil.Date
	today int       // the last day of the history
	end   int       // the day after the last of the diary
	now   time.Time // the minute at which the history ends
	rush  int       // minute of today around which most emergencies come: now, if practices are open then

	dates     []civil.Date // of the days of the diary
	midnights []time.Time  // 00:00, calculated from noon
	closures  []string     // why the practice is closed; "" if it is not
}

// newCalendar returns the calendar of the given years up to now, and of the days for which patients
// book ahead.
func newCalendar(zone *time.Location, now time.Time, years int) *calendar {
	asOf := civil.Of(now.In(zone))
	first := asOf.AddMonths(-12 * years)
	c := &calendar{zone: zone, first: first, today: days(first, asOf)}
	c.end = c.today + daysAhead
	for day := range c.end {
		date := first.AddDays(day)
		c.dates = append(c.dates, date)
		c.midnights = append(c.midnights, c.midnight(date))
		c.closures = append(c.closures, closed(date))
	}
	c.now = clock.Truncate(now.Truncate(time.Minute))
	c.rush = tenOClock
	if minute := int(c.now.Sub(c.at(c.today, 0)) / time.Minute); minute >= 9*hour && minute <= 16*hour {
		c.rush = minute / slotMinutes * slotMinutes
	}
	return c
}

// morning returns ten o'clock on a date.
func morning(zone *time.Location, date civil.Date) time.Time { return date.FirstAt(tenOClock, zone) }

// days returns the days from a to b.
func days(a, b civil.Date) int { return int(b.Time().Sub(a.Time()) / (24 * time.Hour)) }

// midnight is twelve hours before noon. Clocks change at night, so minutes from it give
// local times during the day.
func (c *calendar) midnight(date civil.Date) time.Time {
	noon := time.Date(date.Year, date.Month, date.Day, 12, 0, 0, 0, c.zone)
	return clock.Truncate(noon.Add(-12 * time.Hour))
}

// date is the date of a day.
func (c *calendar) date(day int) civil.Date {
	if day >= 0 && day < len(c.dates) {
		return c.dates[day]
	}
	return c.first.AddDays(day)
}

// day is the day of a date.
func (c *calendar) day(date civil.Date) int { return days(c.first, date) }

// dayOf returns the day of an instant.
func (c *calendar) dayOf(t time.Time) int { return c.day(civil.Of(t.In(c.zone))) }

// at returns the instant of a local minute of a day, in UTC.
func (c *calendar) at(day, minute int) time.Time {
	length := time.Duration(minute) * time.Minute
	if day >= 0 && day < len(c.midnights) {
		return c.midnights[day].Add(length)
	}
	return c.midnight(c.date(day)).Add(length)
}

// weekday is the day of the week, 0 is Sunday.
func (c *calendar) weekday(day int) int {
	const week = 7
	return ((int(c.first.Weekday())+day)%week + week) % week
}

// workday returns a day of the diary from Monday to Friday on which the practice is not closed: the
// given one, or the next.
func (c *calendar) workday(day int) int {
	for isWeekend(c.date(day)) || c.closures[day] != "" {
		day++
	}
	return day
}

// notAfterNow returns t, or now if t is later.
func (c *calendar) notAfterNow(t time.Time) time.Time {
	if t.After(c.now) {
		return c.now
	}
	return t
}
