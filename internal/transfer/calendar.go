package transfer

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"chairside/internal/civil"
	"chairside/internal/wire"
)

// calendar reads dates and times in the forms that a mapping declares.
type calendar struct {
	dates []layout // declared ones and ISO 8601
	times []layout // of a date and a time together
	zone  *time.Location
	today civil.Date
}

// layout is one form, as Go writes it.
type layout struct {
	shown   string // as the mapping writes it
	pattern string
	short   bool   // the year has two digits
	shape   string // of the pattern, see shapeOf
}

// shapeOf is what a text has in common with others of its form: 0 for digits, a
// for letters, and what stands between them.
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

// couldRead reports whether a text of a shape has the layout's form. Seconds
// may have a fraction that the pattern does not show.
func (l layout) couldRead(shape string) bool {
	return l.shape == shape || strings.Contains(l.pattern, "05") && strings.ContainsAny(shape, ".,")
}

// words are the parts of a form and what Go calls them; longer ones first. Days
// and months of two letters also take one digit, where something separates them.
var words = []struct{ word, loose, fixed string }{
	{"YYYY", "2006", "2006"}, {"YY", "06", "06"},
	{"MMMM", "January", "January"}, {"MMM", "Jan", "Jan"}, {"MM", "1", "01"}, {"M", "1", "1"},
	{"DD", "2", "02"}, {"D", "2", "2"},
	{"HH", "15", "15"}, {"H", "15", "15"}, {"hh", "3", "03"}, {"h", "3", "3"},
	{"mm", "04", "04"}, {"ss", "05", "05"}, {"a", "PM", "PM"}, {"A", "PM", "PM"},
}

// readLayout reads a form like DD/MM/YYYY or "D MMM YYYY h:mm a".
func readLayout(shown string) (layout, error) {
	var patterns [2]strings.Builder
	separated, previous := false, false
	var seen []string
	for rest := shown; rest != ""; {
		word := ""
		for _, w := range words {
			if strings.HasPrefix(rest, w.word) {
				word = w.word
				patterns[0].WriteString(w.loose)
				patterns[1].WriteString(w.fixed)
				seen = append(seen, w.word[:1])
				break
			}
		}
		switch {
		case word == "":
			r, _ := utf8.DecodeRuneInString(rest)
			if r == utf8.RuneError || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' && r != 'a' || r >= 'B' && r <= 'Z' && r != 'T' {
				return layout{}, fmt.Errorf("%q in %q is not understood; a form is made of YYYY YY MM M MMM DD D HH h mm ss a", string(r), shown)
			}
			word = string(r)
			patterns[0].WriteString(word)
			patterns[1].WriteString(word)
			previous = false
		default:
			separated = separated || previous // two words side by side
			previous = true
		}
		rest = rest[len(word):]
	}
	for _, need := range []string{"Y", "M", "D"} {
		if strings.Count(strings.Join(seen, ""), need) != 1 {
			return layout{}, fmt.Errorf("%q needs a year, a month and a day, once each", shown)
		}
	}
	l := layout{shown: shown, pattern: patterns[0].String(), short: !strings.Contains(shown, "YYYY")}
	if separated {
		l.pattern = patterns[1].String()
	}
	l.pattern = strings.ReplaceAll(l.pattern, " PM", "PM")
	l.shape = shapeOf(l.pattern)
	return l, nil
}

// clocks are the forms of a time of day that may follow any date.
var clocks = []string{"15:04", "15:04:05", "3:04PM", "3:04:05PM", "3PM", "15.04", "3.04PM"}

// newCalendar understands the declared forms of dates, alone and with a time of
// day after them, the declared forms of both together, and ISO 8601.
func newCalendar(dates, times []string, zone *time.Location, today civil.Date) (c calendar, err error) {
	c = calendar{zone: zone, today: today}
	for _, shown := range append([]string{"YYYY-MM-DD"}, dates...) {
		l, err := readLayout(shown)
		if err != nil {
			return c, err
		}
		c.dates = append(c.dates, l)
		for _, clock := range clocks {
			for _, between := range []string{" ", "T", ", "} {
				pattern := l.pattern + between + clock
				c.times = append(c.times, layout{shown + between + clock, pattern, l.short, shapeOf(pattern)})
			}
		}
	}
	for _, shown := range times {
		l, err := readLayout(shown)
		if err != nil {
			return c, err
		}
		c.times = append(c.times, l)
	}
	return c, nil
}

// date reads a day; a time means its day. past is whether it cannot lie in the
// future, which settles the century of years with two digits.
func (c calendar) date(s string, past bool) (civil.Date, string) {
	s = tidyTime(s)
	found, message := c.pick(s, c.dates, past)
	if found == nil && message == "" {
		if found, message = c.pick(s, c.times, past); found == nil && message == "" {
			t, ok := wire.ParseTime(s, c.zone)
			if !ok {
				return civil.Date{}, "is not a date of the forms " + c.forms()
			}
			t = t.In(c.zone)
			found = &t
		}
	}
	if message != "" {
		return civil.Date{}, message
	}
	return civil.Of(*found), ""
}

// moment reads a time, or unless it must be exact a day, which means its first
// moment. What has no offset is local.
func (c calendar) moment(s string, exact bool) (time.Time, string) {
	s = tidyTime(s)
	if t, ok := wire.ParseTime(s, c.zone); ok {
		return t, ""
	}
	found, message := c.pick(s, c.times, false)
	if found == nil && message == "" {
		if found, message = c.pick(s, c.dates, false); found != nil && exact {
			return time.Time{}, "is a day without a time"
		}
	}
	switch {
	case message != "":
		return time.Time{}, message
	case found == nil:
		return time.Time{}, "is not a date and time; dates have the forms " + c.forms()
	}
	return found.UTC().Truncate(time.Millisecond), ""
}

// pick reads s in every form, and refuses to choose where they disagree.
func (c calendar) pick(s string, layouts []layout, past bool) (*time.Time, string) {
	var found *time.Time
	shape := shapeOf(s)
	for _, l := range layouts {
		if !l.couldRead(shape) { // it would take long to try them all
			continue
		}
		t, err := time.ParseInLocation(l.pattern, s, c.zone)
		if err != nil {
			continue
		}
		if l.short {
			t = c.century(t, past)
		}
		if found != nil && !found.Equal(t) {
			first, second := civil.Of(*found), civil.Of(t)
			return nil, "is ambiguous: it could be " + first.String() + " or " + second.String()
		}
		found = &t
	}
	return found, ""
}

// century moves a year of two digits into the century it must be of: not in
// the future where it cannot be, otherwise at most twenty years ahead.
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

func (c calendar) forms() string {
	shown := make([]string, len(c.dates))
	for i, l := range c.dates {
		shown[i] = l.shown
	}
	return strings.Join(shown, ", ")
}

// dayless is what databases of offices put before a time that has no day, and
// the midnight behind a day that has no time.
var dayless = regexp.MustCompile(`(?:[ T]0?0:00(?::00(?:\.0+)?)?)? (?:30/12/1899|12/30/1899|1899-12-30)[ T]`)

// tidyTime brings the ways of writing morning and afternoon into one, and a day
// and a time of two columns together.
func tidyTime(s string) string {
	s = dayless.ReplaceAllString(strings.Join(strings.Fields(s), " "), " ")
	if n := len(s); n > 2 && strings.ContainsAny(s[n-2:], "mM.") {
		s = strings.NewReplacer("A.M.", "AM", "P.M.", "PM", " AM", "AM", " PM", "PM").Replace(strings.ToUpper(s))
		s = strings.Replace(strings.Replace(s, " A.M", "AM", 1), " P.M", "PM", 1)
		s = strings.Replace(s, " AM", "AM", 1)
		s = strings.Replace(s, " PM", "PM", 1)
	}
	return s
}
