package importer

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"chairside/internal/civil"
	"chairside/internal/codec"
)

// calendar reads dates and times in the forms that a mapping declares.
type calendar struct {
	dates  []layout       // declared ones and ISO 8601
	times  []layout       // of a date and a time together
	counts []layout       // what no other form reads
	zone   *time.Location // of what has no offset
	home   *time.Location // of the practice, which says what day it is
	today  civil.Date
	shown  []string // the forms, as the mapping writes them
}

// layout is one form, as Go writes it.
type layout struct {
	pattern string
	short   bool   // the year has two digits
	shape   string // of the pattern, see shapeOf

	unit time.Duration // of a count, 0 for others
}

// counts are the forms of times that count since the beginning of 1970, UTC, and of spreadsheets,
// which count days on the clocks of their place.
var counts = map[string]time.Duration{"unix": time.Second, "unix ms": time.Millisecond, "excel": spreadsheetDay}

const spreadsheetDay = 24 * time.Hour

// shapeOf is what a text has in common with others of its form: 0 for digits, a for letters, and
// what stands between them.
func shapeOf(s string) string {
	shape, last := make([]byte, 0, len(s)), byte(0)
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= '0' && c <= '9':
			c = '0'
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			c = 'a'
		}
		if c != last || c != '0' && c != 'a' && c != ' ' {
			shape = append(shape, c)
		}
		last = c
	}
	return strings.TrimSpace(string(shape))
}

// couldRead reports whether a text of a shape has the layout's form. Seconds may have a fraction
// that the pattern does not show.
func (l layout) couldRead(shape string) bool {
	if l.unit > 0 {
		return slices.Contains([]string{"0", "0.0"}, strings.TrimPrefix(shape, "-"))
	}
	return l.shape == shape || strings.Contains(l.pattern, "05") && strings.ContainsAny(shape, ".,")
}

// read reads a text of the form.
func (l layout) read(s string, zone *time.Location) (time.Time, error) {
	if l.unit == 0 {
		t, err := time.ParseInLocation(l.pattern, s, time.UTC)
		if err == nil && t.Location() == time.UTC {
			t, _ = civil.Local(t, zone) // clockChange warns of a time that does not exist
		}
		return t, err
	}
	n, err := strconv.ParseFloat(s, 64)
	if err == nil && l.unit == spreadsheetDay && n >= 1 && n < lastSerial {
		days := int(n)
		seconds := int(math.Round((n - float64(days)) * 24 * 3600))
		t, _ := civil.Local(time.Date(1899, time.December, 30+days, 0, 0, seconds, 0, time.UTC), zone)
		return t, nil
	}
	if ms := n * float64(l.unit/time.Millisecond); err == nil && l.unit < spreadsheetDay && math.Abs(ms) < longestCount {
		return time.UnixMilli(int64(math.Round(ms))).In(zone), nil
	}
	return time.Time{}, errors.New("is not a count of the times that are stored")
}

const (
	longestCount = 1000 * 365 * 24 * 3600 * 1000 // milliseconds from 1970: about a thousand years
	lastSerial   = 2958466                       // the day after the last one of spreadsheets, in the year 9999
)

// word is a part of a form and what Go calls it.
type word struct{ word, loose, fixed string }

// words are the parts of a form and what Go calls them; longer ones first. Days and months of two
// letters also take one digit, where something separates them.
var words = []word{
	{"YYYY", "2006", "2006"}, {"YY", "06", "06"},
	{"MMMM", "January", "January"}, {"MMM", "Jan", "Jan"}, {"MM", "1", "01"}, {"M", "1", "1"},
	{"DD", "2", "02"}, {"D", "2", "2"},
	{"HH", "15", "15"}, {"H", "15", "15"}, {"hh", "3", "03"}, {"h", "3", "3"},
	{"mm", "04", "04"}, {"ss", "05", "05"}, {"a", "PM", "PM"}, {"A", "PM", "PM"},
}

// readLayout reads a form like DD/MM/YYYY or "D MMM YYYY h:mm a".
func readLayout(shown string) (layout, error) {
	var loose, fixed strings.Builder
	separated, seen := true, ""
	for rest, previous := shown, false; rest != ""; {
		i := slices.IndexFunc(words, func(w word) bool { return strings.HasPrefix(rest, w.word) })
		if i < 0 {
			r, size := utf8.DecodeRuneInString(rest)
			if r == utf8.RuneError || unicode.IsDigit(r) || r < utf8.RuneSelf && unicode.IsLetter(r) && r != 'T' {
				return layout{}, fmt.Errorf("%q in %q is not understood; a form is made of YYYY YY MM M MMM DD D HH h mm ss a", string(r), shown)
			}
			loose.WriteRune(r)
			fixed.WriteRune(r)
			rest, previous = rest[size:], false
			continue
		}
		separated = separated && !previous // no two words side by side
		loose.WriteString(words[i].loose)
		fixed.WriteString(words[i].fixed)
		seen += words[i].word[:1]
		rest, previous = rest[len(words[i].word):], true
	}
	for _, need := range []string{"Y", "M", "D"} {
		if strings.Count(seen, need) != 1 {
			return layout{}, fmt.Errorf("%q needs a year, a month and a day, once each", shown)
		}
	}
	pattern := fixed.String()
	if separated {
		pattern = loose.String()
	}
	pattern = strings.ReplaceAll(pattern, " PM", "PM")
	return layout{pattern: pattern, short: !strings.Contains(shown, "YYYY"), shape: shapeOf(pattern)}, nil
}

// clocks are the forms of a time of day that may follow any date.
var clocks = []string{"15:04", "15:04:05", "3:04PM", "3:04:05PM", "3PM", "15.04", "3.04PM", "15h04"}

// newCalendar understands the declared forms of dates, alone and with a time of day after them,
// the declared forms of both together, and ISO 8601.
func newCalendar(dates, times []string, zone *time.Location, today civil.Date) (c calendar, err error) {
	c = calendar{zone: zone, home: zone, today: today}
	for _, shown := range append([]string{"YYYY-MM-DD"}, dates...) {
		if counts[shown] > 0 { // wherever the mapping has it
			times = append(times[:len(times):len(times)], shown)
			continue
		}
		l, err := readLayout(shown)
		if err != nil {
			return c, err
		}
		c.dates, c.shown = append(c.dates, l), append(c.shown, shown)
		for _, clock := range clocks {
			for _, between := range []string{" ", "T", ", "} {
				pattern := l.pattern + between + clock
				c.times = append(c.times, layout{pattern: pattern, short: l.short, shape: shapeOf(pattern)})
			}
		}
	}
	for _, shown := range times {
		c.shown = append(c.shown, shown)
		if unit := counts[shown]; unit > 0 {
			c.counts = append(c.counts, layout{unit: unit})
			continue
		}
		l, err := readLayout(shown)
		if err != nil {
			return c, err
		}
		c.times = append(c.times, l)
	}
	return c, nil
}

// date reads a day; a time means the practice's day, but midnight where the file is from that of
// the file: so databases write a day alone. past is whether it cannot lie in the future, which
// settles the century of years with two digits.
func (c calendar) date(s string, past bool) (civil.Date, string) {
	s = tidyTime(s)
	found, message := c.pick(s, past, c.dates)
	if found != nil {
		return civil.Of(*found), ""
	}
	if message == "" {
		found, message = c.pick(s, past, c.times, c.counts)
	}
	if message != "" {
		return civil.Date{}, message
	}
	if found == nil {
		t, ok := c.iso(s)
		if !ok {
			return civil.Date{}, "is not a date of the forms " + strings.Join(c.shown, ", ")
		}
		found = &t
	}
	if there := found.In(c.zone); there.Equal(civil.Of(there).In(c.zone)) {
		return civil.Of(there), ""
	}
	return civil.Of(found.In(c.home)), ""
}

// moment reads a time, or unless it must be exact a day, which means its first moment. What has
// no offset is local.
func (c calendar) moment(s string, exact bool) (time.Time, string) {
	s = tidyTime(s)
	if t, ok := c.iso(s); ok {
		return t, ""
	}
	found, message := c.pick(s, false, c.times)
	day := false
	if found == nil && message == "" {
		found, message = c.pick(s, false, c.dates)
		day = found != nil
	}
	if found == nil && message == "" {
		found, message = c.pick(s, false, c.counts)
		day = found != nil && c.wholeDay(s)
	}
	switch {
	case message != "":
	case found == nil:
		message = "is not a date and time; dates have the forms " + strings.Join(c.shown, ", ")
	case day && exact:
		message = "is a day without a time"
	default:
		return found.UTC().Truncate(time.Millisecond), ""
	}
	return time.Time{}, message
}

// farAway says of a year that nobody can have meant it: "" for most. Other systems write the
// first day of year one, or the last one of 9999, where there is none.
func (c calendar) farAway(year int) string {
	switch {
	case year < c.today.Year-125:
		return "is longer ago than people live"
	case year > c.today.Year+50:
		return "is more than 50 years ahead"
	}
	return ""
}

// clockChange says what a change of clocks does to a time that was read from a text without an
// offset: "" for most.
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
	const away = 13 * time.Hour // no clock here shows what it shows there
	elsewhere := c
	elsewhere.zone = time.FixedZone("", int(away/time.Second))
	there, message := elsewhere.moment(s, false)
	wall := func(at time.Time) time.Time { return at.Add(offset(at)) } // what clocks show, as if it were UTC
	shown := there.Add(away)
	switch {
	case message != "", there.Equal(t), shown.Equal(shown.Truncate(24 * time.Hour)): // it has an offset, or is a day alone
	case !wall(t).Equal(shown):
		return "is in an hour that the clocks skip"
	case wall(t.Add(shift)).Equal(shown), wall(t.Add(-shift)).Equal(shown):
		return "is in an hour that the clocks show twice"
	}
	return ""
}

// wholeDay reports whether a number is a day of a spreadsheet's, without a time.
func (c calendar) wholeDay(s string) bool {
	n, err := strconv.ParseFloat(s, 64)
	return err == nil && n < lastSerial && n == math.Trunc(n) && slices.ContainsFunc(c.counts, func(l layout) bool { return l.unit == spreadsheetDay })
}

// iso reads a time of ISO 8601 as the API does, but no space for the + that was lost in an
// address: in a file it stands between two columns. Before an offset there may be one.
func (c calendar) iso(s string) (time.Time, bool) {
	if clock := len("2006-01-02 "); len(s) > clock {
		s = s[:clock] + strings.NewReplacer(" +", "+", " -", "-", " UTC", "Z").Replace(s[clock:])
		if strings.Contains(s[clock:], " ") {
			return time.Time{}, false
		}
	}
	return codec.ParseTime(s, c.zone)
}

// pick reads s in every form of the first group that can read it, and refuses to choose where
// they disagree.
func (c calendar) pick(s string, past bool, groups ...[]layout) (found *time.Time, message string) {
	shape := shapeOf(s)
	for _, layouts := range groups {
		for _, l := range layouts {
			if !l.couldRead(shape) { // it would take long to try them all
				continue
			}
			t, err := l.read(s, c.zone)
			if err != nil {
				continue
			}
			if l.short {
				t = c.century(t, past)
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

// century moves a year of two digits into the century it must be of: not in the future where it
// cannot be, otherwise at most twenty years ahead.
func (c calendar) century(t time.Time, past bool) time.Time {
	limit := c.today
	if !past {
		limit = civil.Date{Year: limit.Year + 20, Month: limit.Month, Day: 1}
	}
	for limit.Before(civil.Of(t)) {
		t = t.AddDate(-100, 0, 0)
	}
	return t
}

var (
	// Databases put a day before a time that has none, and midnight behind a day that has no time.
	dayless  = regexp.MustCompile(` (?:30/12/1899|12/30/1899|30\.12\.1899|1899-12-30|01/01/1900|1900-01-01)[ T]`)
	timeless = regexp.MustCompile(`[ T]0?0:00(?::00(?:\.0+)?)?( \d{1,2}[:.h]\d)`)
	// What people write beside the number of a day, month and year.
	dayName   = regexp.MustCompile(`(?i)^(?:mon|tue|tues|tuesday|wed|wednes|thu|thur|thurs|fri|sat|satur|sun)(?:day)?\.?,? `)
	ordinal   = regexp.MustCompile(`(?i)\b(\d{1,2})(?:st|nd|rd|th)\b`)
	september = regexp.MustCompile(`(?i)\bsept\b\.?`)
	afternoon = regexp.MustCompile(` ?([AP])\.?M\.?$`)
)

// minuteOf reads a time of day as the minutes since midnight. A point is no colon here: 9.50 may
// be ten to ten or half past nine.
func minuteOf(s string) (int, bool) {
	s, _ = strings.CutPrefix(tidyTime("- "+s), "- ") // a day comes before a time
	for _, clock := range clocks {
		if t, err := time.Parse(clock, s); err == nil && !strings.Contains(clock, ".") && t.Second() == 0 {
			return 60*t.Hour() + t.Minute(), true
		}
	}
	return 0, false
}

// withoutDayName leaves out of a date what no form has. Most dates have nothing of the kind,
// which is seen faster than expressions are tried.
func withoutDayName(s string) string {
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

// tidyTime brings the ways of writing morning and afternoon into one, and a day and a time of two
// columns together.
func tidyTime(s string) string {
	s = withoutDayName(strings.Join(strings.Fields(s), " "))
	if strings.Contains(s, " ") { // of two columns
		s = timeless.ReplaceAllString(dayless.ReplaceAllString(s, " "), "$1")
	}
	if n := len(s); n > 2 && strings.ContainsAny(s[n-2:], "mM.") {
		s = afternoon.ReplaceAllString(strings.ToUpper(s), "${1}M")
	}
	return s
}
