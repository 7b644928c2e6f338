package importer

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"chairside/internal/civil"
	"chairside/internal/codec"
)

// calendar reads dates and times in the formats of a mapping and in ISO 8601.
type calendar struct {
	dates   []layout
	times   []layout       // a date and a time of day
	counts  []layout       // tried last
	zone    *time.Location // of times without an offset
	home    *time.Location // of the practice: it decides the day of a time
	today   civil.Date
	formats []string // as the mapping writes them, for messages
}

// yearRule finds the century of a year with two digits.
type yearRule int

const (
	nearFuture  yearRule = iota // at most 20 years ahead
	notInFuture                 // at most today: a date of birth
)

// timePrecision says whether a day may stand for a time.
type timePrecision int

const (
	dayOrTime timePrecision = iota // a day is its first moment
	timeOnly
)

// clockPatterns are the formats of a time of day, which may follow any date.
var clockPatterns = []string{"15:04", "15:04:05", "3:04PM", "3:04:05PM", "3PM", "15.04", "3.04PM", "15h04"}

// newCalendar returns a calendar for the formats of dates, alone or with a time of day, and for
// the formats of date and time together.
func newCalendar(dates, times []string, zone *time.Location, today civil.Date) (c calendar, err error) {
	c = calendar{zone: zone, home: zone, today: today}
	for _, format := range append([]string{"YYYY-MM-DD"}, dates...) {
		if countUnits[format] > 0 { // allowed in both lists
			times = append(times[:len(times):len(times)], format)
			continue
		}
		l, err := parseLayout(format)
		if err != nil {
			return c, err
		}
		c.dates, c.formats = append(c.dates, l), append(c.formats, format)
		for _, clock := range clockPatterns {
			for _, between := range []string{" ", "T", ", "} {
				pattern := l.pattern + between + clock
				c.times = append(c.times, layout{pattern: pattern, shortYear: l.shortYear, shape: shapeOf(pattern)})
			}
		}
	}
	for _, format := range times {
		c.formats = append(c.formats, format)
		if unit := countUnits[format]; unit > 0 {
			c.counts = append(c.counts, layout{unit: unit})
			continue
		}
		l, err := parseLayout(format)
		if err != nil {
			return c, err
		}
		c.times = append(c.times, l)
	}
	return c, nil
}

// date reads a day. A time is on the practice's day, except midnight in the zone of the file,
// with which databases write a day.
func (c calendar) date(s string, rule yearRule) (civil.Date, string) {
	s = tidyDate(s)
	found, message := c.parse(s, rule, c.dates)
	if found != nil {
		return civil.Of(*found), ""
	}
	if message == "" {
		found, message = c.parse(s, rule, c.times, c.counts)
	}
	if message != "" {
		return civil.Date{}, message
	}
	if found == nil {
		t, ok := c.parseISO(s)
		if !ok {
			return civil.Date{}, "is not a date in one of the formats " + strings.Join(c.formats, ", ")
		}
		found = &t
	}
	if local := found.In(c.zone); local.Equal(civil.Of(local).In(c.zone)) {
		return civil.Of(local), ""
	}
	return civil.Of(found.In(c.home)), ""
}

// time reads a time, to the millisecond and in UTC.
func (c calendar) time(s string, precision timePrecision) (time.Time, string) {
	s = tidyDate(s)
	if t, ok := c.parseISO(s); ok {
		return t, ""
	}
	found, message := c.parse(s, nearFuture, c.times)
	isDay := false
	if found == nil && message == "" {
		found, message = c.parse(s, nearFuture, c.dates)
		isDay = found != nil
	}
	if found == nil && message == "" {
		found, message = c.parse(s, nearFuture, c.counts)
		isDay = found != nil && c.isExcelDay(s)
	}
	switch {
	case message != "":
	case found == nil:
		message = "is not a date and time; the formats of dates are " + strings.Join(c.formats, ", ")
	case isDay && precision == timeOnly:
		message = "is a day without a time"
	default:
		return found.UTC().Truncate(time.Millisecond), ""
	}
	return time.Time{}, message
}

// parse reads s in the first group of layouts in which one fits. found is nil if none does. If
// the layouts of that group disagree, it returns a message.
func (c calendar) parse(s string, rule yearRule, groups ...[]layout) (found *time.Time, message string) {
	shape := shapeOf(s)
	for _, layouts := range groups {
		for _, l := range layouts {
			if !l.fits(shape) {
				continue
			}
			t, err := l.parse(s, c.zone)
			if err != nil {
				continue
			}
			if l.shortYear {
				t = c.setCentury(t, rule)
			}
			if found != nil && !found.Equal(t) {
				return nil, "is ambiguous: it could be " + civil.Of(*found).String() + " or " + civil.Of(t).String()
			}
			found = &t
		}
		if found != nil {
			break
		}
	}
	return found, ""
}

// setCentury moves a year of two digits back until it satisfies the rule.
func (c calendar) setCentury(t time.Time, rule yearRule) time.Time {
	limit := c.today
	if rule == nearFuture {
		limit = civil.Date{Year: limit.Year + 20, Month: limit.Month, Day: 1}
	}
	for limit.Before(civil.Of(t)) {
		t = t.AddDate(-100, 0, 0)
	}
	return t
}

// parseISO reads a time of ISO 8601 as the API does, and one with a space before the offset. The
// API takes any other space for a + that was lost in a URL; here it separates two columns.
func (c calendar) parseISO(s string) (time.Time, bool) {
	if clock := len("2006-01-02 "); len(s) > clock {
		s = s[:clock] + strings.NewReplacer(" +", "+", " -", "-", " UTC", "Z").Replace(s[clock:])
		if strings.Contains(s[clock:], " ") {
			return time.Time{}, false
		}
	}
	return codec.ParseTime(s, c.zone)
}

// isExcelDay reports whether a number is a spreadsheet's day without a time.
func (c calendar) isExcelDay(s string) bool {
	n, err := strconv.ParseFloat(s, 64)
	return err == nil && n < endOfExcelDays && n == math.Trunc(n) && slices.ContainsFunc(c.counts, func(l layout) bool { return l.unit == day24h })
}

// unlikelyYear returns a warning if a year is far from today's. Other systems write the year 1 or
// 9999 for no date.
func (c calendar) unlikelyYear(year int) string {
	switch {
	case year < c.today.Year-125:
		return "is more than 125 years ago"
	case year > c.today.Year+50:
		return "is more than 50 years ahead"
	}
	return ""
}

// clockChange returns a warning if the text s, which was read as t, is a local time that a
// change of the clocks skips or repeats.
func (c calendar) clockChange(s string, t time.Time) string {
	const around = 12 * time.Hour
	offset := func(at time.Time) time.Duration {
		_, seconds := at.In(c.zone).Zone()
		return time.Duration(seconds) * time.Second
	}
	shift := offset(t.Add(around)) - offset(t.Add(-around))
	if shift == 0 {
		return ""
	}
	// Reading s in a zone without such changes gives the clock time that it shows. If t stays
	// the same, s has an offset.
	const fixedOffset = 13 * time.Hour
	fixed := c
	fixed.zone = time.FixedZone("", int(fixedOffset/time.Second))
	inFixed, message := fixed.time(s, dayOrTime)
	shown := inFixed.Add(fixedOffset)
	clockTime := func(at time.Time) time.Time { return at.Add(offset(at)) }
	isMidnight := shown.Equal(shown.Truncate(day24h))
	switch {
	case message != "", inFixed.Equal(t), isMidnight:
	case !clockTime(t).Equal(shown):
		return "is in the hour that is skipped when the clocks go forward"
	case clockTime(t.Add(shift)).Equal(shown), clockTime(t.Add(-shift)).Equal(shown):
		return "is in the hour that is repeated when the clocks go back"
	}
	return ""
}

// minuteOfDay reads a time of day as minutes since midnight. It refuses a point between hours and
// minutes: 9.50 may be ten to ten or half past nine.
func minuteOfDay(s string) (int, bool) {
	s, _ = strings.CutPrefix(tidyDate("- "+s), "- ") // tidyDate expects a day before a time
	for _, clock := range clockPatterns {
		if t, err := time.Parse(clock, s); err == nil && !strings.Contains(clock, ".") && t.Second() == 0 {
			return 60*t.Hour() + t.Minute(), true
		}
	}
	return 0, false
}

var (
	// emptyDay matches the day that databases put before a time without one.
	emptyDay = regexp.MustCompile(` (?:30/12/1899|12/30/1899|30\.12\.1899|1899-12-30|01/01/1900|1900-01-01)[ T]`)
	// emptyTime matches the midnight that databases put after a day, before the time of another
	// column.
	emptyTime = regexp.MustCompile(`[ T]0?0:00(?::00(?:\.0+)?)?( \d{1,2}[:.h]\d)`)

	dayName   = regexp.MustCompile(`(?i)^(?:mon|tue|tues|tuesday|wed|wednes|thu|thur|thurs|fri|sat|satur|sun)(?:day)?\.?,? `)
	ordinal   = regexp.MustCompile(`(?i)\b(\d{1,2})(?:st|nd|rd|th)\b`)
	september = regexp.MustCompile(`(?i)\bsept\b\.?`)
	amPM      = regexp.MustCompile(` ?([AP])\.?M\.?$`)
)

// tidyDate removes what no format has: the name of the weekday, ordinals, and the placeholders
// between a day and a time of two columns. It writes AM and PM in one way.
func tidyDate(s string) string {
	s = tidyDay(strings.Join(strings.Fields(s), " "))
	if strings.Contains(s, " ") {
		s = emptyTime.ReplaceAllString(emptyDay.ReplaceAllString(s, " "), "$1")
	}
	if n := len(s); n > 2 && strings.ContainsAny(s[n-2:], "mM.") {
		s = amPM.ReplaceAllString(strings.ToUpper(s), "${1}M")
	}
	return s
}

// tidyDay removes the name of the weekday and ordinals, and shortens Sept to Sep. It checks for
// letters first, because most dates have none and expressions are slow.
func tidyDay(s string) string {
	letter := func(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
	if s != "" && letter(s[0]) {
		s = dayName.ReplaceAllString(s, "")
	}
	if strings.Contains(s, "ept") || strings.Contains(s, "EPT") {
		s = september.ReplaceAllString(s, "Sep")
	}
	for i := 2; i < len(s); i++ {
		if s[i-2] >= '0' && s[i-2] <= '9' && letter(s[i-1]) && letter(s[i]) {
			return ordinal.ReplaceAllString(s, "$1")
		}
	}
	return s
}
