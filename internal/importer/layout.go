package importer

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"chairside/internal/civil"
)

// layout is a date or time format.
type layout struct {
	pattern   string // as package time writes it
	shortYear bool   // the year has two digits
	shape     string // of texts in this format: see shapeOf

	unit time.Duration // of a format that counts, 0 for others
}

const day24h = 24 * time.Hour

// countUnits are the formats that count, with their units. unix counts from 1970 in UTC, excel
// from 1899-12-30 in local time.
var countUnits = map[string]time.Duration{"unix": time.Second, "unix ms": time.Millisecond, "excel": day24h}

const (
	maxUnixMilliseconds = 1000 * 365 * 24 * 3600 * 1000 // about a thousand years from 1970
	endOfExcelDays      = 2958466                       // the day after 9999-12-31, the last day of spreadsheets
)

// formatWord is a word of the mapping's date formats, such as MM.
type formatWord struct {
	word  string
	loose string // in package time's notation, between separators: one or two digits
	fixed string // in package time's notation, without separators: two digits
}

// formatWords has longer words before their prefixes.
var formatWords = []formatWord{
	{"YYYY", "2006", "2006"}, {"YY", "06", "06"},
	{"MMMM", "January", "January"}, {"MMM", "Jan", "Jan"}, {"MM", "1", "01"}, {"M", "1", "1"},
	{"DD", "2", "02"}, {"D", "2", "2"},
	{"HH", "15", "15"}, {"H", "15", "15"}, {"hh", "3", "03"}, {"h", "3", "3"},
	{"mm", "04", "04"}, {"ss", "05", "05"}, {"a", "PM", "PM"}, {"A", "PM", "PM"},
}

// parseLayout reads a format such as DD/MM/YYYY or "D MMM YYYY h:mm a".
func parseLayout(format string) (layout, error) {
	var loose, fixed strings.Builder
	separated, initials := true, ""
	for rest, afterWord := format, false; rest != ""; {
		i := slices.IndexFunc(formatWords, func(w formatWord) bool { return strings.HasPrefix(rest, w.word) })
		if i < 0 {
			r, size := utf8.DecodeRuneInString(rest)
			if r == utf8.RuneError || unicode.IsDigit(r) || r < utf8.RuneSelf && unicode.IsLetter(r) && r != 'T' {
				return layout{}, fmt.Errorf("%q in %q is not understood; a format is made of YYYY YY MM M MMM DD D HH h mm ss a", string(r), format)
			}
			loose.WriteRune(r)
			fixed.WriteRune(r)
			rest, afterWord = rest[size:], false
			continue
		}
		separated = separated && !afterWord
		loose.WriteString(formatWords[i].loose)
		fixed.WriteString(formatWords[i].fixed)
		initials += formatWords[i].word[:1]
		rest, afterWord = rest[len(formatWords[i].word):], true
	}
	for _, required := range []string{"Y", "M", "D"} {
		if strings.Count(initials, required) != 1 {
			return layout{}, fmt.Errorf("%q needs a year, a month and a day, once each", format)
		}
	}
	pattern := fixed.String()
	if separated {
		pattern = loose.String()
	}
	pattern = strings.ReplaceAll(pattern, " PM", "PM")
	return layout{pattern: pattern, shortYear: !strings.Contains(format, "YYYY"), shape: shapeOf(pattern)}, nil
}

// shapeOf returns what texts of one format have in common: a run of digits becomes 0, a run of
// letters a, and everything else stays.
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

// fits reports whether a text with this shape may have the format. It rules most formats out
// faster than parsing does. Seconds may have a fraction that the pattern does not show.
func (l layout) fits(shape string) bool {
	if l.unit > 0 {
		return slices.Contains([]string{"0", "0.0"}, strings.TrimPrefix(shape, "-"))
	}
	return l.shape == shape || strings.Contains(l.pattern, "05") && strings.ContainsAny(shape, ".,")
}

// parse reads a text of the format as a time in the zone.
func (l layout) parse(s string, zone *time.Location) (time.Time, error) {
	if l.unit > 0 {
		return l.parseCount(s, zone)
	}
	t, err := time.ParseInLocation(l.pattern, s, time.UTC)
	if err == nil && t.Location() == time.UTC {
		t, _ = civil.Local(t, zone) // clockChange warns of a time that does not exist
	}
	return t, err
}

// parseCount reads a number of seconds, milliseconds or spreadsheet days.
func (l layout) parseCount(s string, zone *time.Location) (time.Time, error) {
	n, err := strconv.ParseFloat(s, 64)
	if err == nil && l.unit == day24h && n >= 1 && n < endOfExcelDays {
		days := int(n)
		seconds := int(math.Round((n - float64(days)) * 24 * 3600))
		t, _ := civil.Local(time.Date(1899, time.December, 30+days, 0, 0, seconds, 0, time.UTC), zone)
		return t, nil
	}
	if ms := n * float64(l.unit/time.Millisecond); err == nil && l.unit < day24h && math.Abs(ms) < maxUnixMilliseconds {
		return time.UnixMilli(int64(math.Round(ms))).In(zone), nil
	}
	return time.Time{}, errors.New("is not a count in the range of dates")
}
