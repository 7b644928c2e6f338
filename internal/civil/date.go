// Package civil has calendar dates: days without a time of day or a time zone.
package civil

import (
	"cmp"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"time"
)

// Date is a day of the Gregorian calendar. Dates compare with ==. A date column stores them as
// YYYY-MM-DD, which sorts the same on both databases. The zero Date means no date.
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

// Layout is YYYY-MM-DD.
const Layout = time.DateOnly

// Of returns the date of t in t's location.
func Of(t time.Time) Date {
	y, m, d := t.Date()
	return Date{y, m, d}
}

// Parse parses YYYY-MM-DD. It refuses the year 0 and days that do not exist.
func Parse(s string) (Date, error) {
	t, err := time.Parse(Layout, s)
	if err != nil || t.Year() == 0 {
		return Date{}, fmt.Errorf("must be a date of the form YYYY-MM-DD")
	}
	return Of(t), nil
}

// MustParse is Parse for literals; it panics on anything else.
func MustParse(s string) Date {
	d, err := Parse(s)
	if err != nil {
		panic("civil: " + s + " " + err.Error())
	}
	return d
}

// String returns YYYY-MM-DD.
func (d Date) String() string {
	if d.Year < 1000 || d.Year > 9999 || d.Month < 1 || d.Month > 12 || d.Day < 1 || d.Day > 31 { // not a valid date
		return fmt.Sprintf("%04d-%02d-%02d", d.Year, d.Month, d.Day)
	}
	return string([]byte{
		'0' + byte(d.Year/1000), '0' + byte(d.Year/100%10), '0' + byte(d.Year/10%10), '0' + byte(d.Year%10),
		'-', '0' + byte(d.Month/10), '0' + byte(d.Month%10), '-', '0' + byte(d.Day/10), '0' + byte(d.Day%10),
	})
}

// IsZero reports whether d is the zero Date.
func (d Date) IsZero() bool { return d == Date{} }

// Time returns midnight in UTC.
func (d Date) Time() time.Time { return time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC) }

// In returns the first instant of the day in loc.
func (d Date) In(loc *time.Location) time.Time { return d.FirstAt(0, loc) }

// FirstAt returns the first instant at which the clocks in loc show minute minutes after
// midnight on the day; 1440 is the next midnight. If they skip that time, FirstAt returns the
// instant of the skip.
func (d Date) FirstAt(minute int, loc *time.Location) time.Time {
	first, _ := d.at(minute, loc)
	return first
}

// LastAt is FirstAt for the last such instant. It differs if the clocks go back and show the
// time twice.
func (d Date) LastAt(minute int, loc *time.Location) time.Time {
	_, last := d.at(minute, loc)
	return last
}

// at returns the first and the last instant at which the clocks in loc show a minute of the day.
func (d Date) at(minute int, loc *time.Location) (first, last time.Time) {
	wall := time.Date(d.Year, d.Month, d.Day, 0, minute, 0, 0, time.UTC)
	_, before := wall.AddDate(0, 0, -1).In(loc).Zone()
	_, after := wall.AddDate(0, 0, 1).In(loc).Zone()
	early := wall.Add(-time.Duration(before) * time.Second).In(loc)
	late := wall.Add(-time.Duration(after) * time.Second).In(loc)
	if late.Before(early) && !shows(late, wall) && !shows(early, wall) { // skipped
		skip, _ := early.ZoneBounds()
		return skip, skip
	}
	first, last = early, early
	if shows(late, wall) {
		last = late
	}
	if !shows(early, wall) {
		first, last = late, late
	}
	return first, last
}

// Local returns the first instant at which the clocks in loc show the same time as wall does
// in UTC. exists is false if the clocks skip that time; then the instant is the one at which
// they would show it if they had not changed.
func Local(wall time.Time, loc *time.Location) (first time.Time, exists bool) {
	_, before := wall.AddDate(0, 0, -1).In(loc).Zone()
	_, after := wall.AddDate(0, 0, 1).In(loc).Zone()
	_, near := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), wall.Nanosecond(), loc).Zone()
	for _, offset := range []int{before, near, after} {
		t := wall.Add(-time.Duration(offset) * time.Second).In(loc)
		if shows(t, wall) && (!exists || t.Before(first)) {
			first, exists = t, true
		}
	}
	if !exists {
		first = wall.Add(-time.Duration(before) * time.Second).In(loc)
	}
	return first, exists
}

// shows reports whether the clocks at t show the same time as wall.
func shows(t, wall time.Time) bool {
	_, offset := t.Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second).Equal(wall)
}

// AddDays returns the date n days later.
func (d Date) AddDays(n int) Date { return Of(d.Time().AddDate(0, 0, n)) }

// AddMonths returns the date n months later, at most the last day of that month.
func (d Date) AddMonths(n int) Date {
	first := time.Date(d.Year, d.Month+time.Month(n), 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return Date{first.Year(), first.Month(), min(d.Day, last)}
}

// Compare returns -1 if d is before o, 1 if it is after o, and 0 for the same date.
func (d Date) Compare(o Date) int {
	return cmp.Or(cmp.Compare(d.Year, o.Year), cmp.Compare(d.Month, o.Month), cmp.Compare(d.Day, o.Day))
}

// Before reports whether d is before o.
func (d Date) Before(o Date) bool { return d.Compare(o) < 0 }

// Weekday returns the day of the week.
func (d Date) Weekday() time.Weekday { return d.Time().Weekday() }

// Value implements driver.Valuer: text, or NULL for the zero Date.
func (d Date) Value() (driver.Value, error) {
	if d.IsZero() {
		return nil, nil
	}
	return d.String(), nil
}

// Scan implements sql.Scanner for a date column of either database.
func (d *Date) Scan(src any) (err error) {
	switch v := src.(type) {
	case nil:
		*d = Date{}
	case time.Time:
		*d = Of(v)
	case string:
		*d, err = Parse(v[:min(len(v), len(Layout))])
	case []byte:
		return d.Scan(string(v))
	default:
		err = fmt.Errorf("civil: cannot read a date from %T", src)
	}
	return err
}

// MarshalJSON returns the date as a JSON string.
func (d Date) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// UnmarshalJSON parses a JSON string.
func (d *Date) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	v, err := Parse(s)
	*d = v
	return err
}
