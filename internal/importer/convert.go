package importer

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"chairside/internal/civil"
	"chairside/internal/codec"
)

// converter converts values of another system to the form that the API reads.
type converter struct {
	calendar
	decimalMark string // "," or "."; "" for a point
	hundredths  bool   // amounts are in pence, cents and the like
}

// newConverter returns the converter of a column. The column's date and time formats replace
// those of its file.
func newConverter(f format, dates, times []string, zone *time.Location, today civil.Date) (converter, error) {
	c, err := newCalendar(orElse(dates, f.Dates), orElse(times, f.Times), zone, today)
	return converter{calendar: c, decimalMark: f.DecimalMark}, err
}

// defaultNulls are the words that mean null unless the mapping lists others.
var defaultNulls = []string{"NULL", `\N`}

// Words of other systems, in lower case, and ours.
var (
	booleanWords = map[string]string{
		"y": "true", "yes": "true", "true": "true", "t": "true", "1": "true", "-1": "true", "on": "true", "x": "true",
		"n": "false", "no": "false", "false": "false", "f": "false", "0": "false", "off": "false",
	}
	genderWords = map[string]string{
		"m": "male", "male": "male", "man": "male", "boy": "male", "true": "male",
		"f": "female", "female": "female", "woman": "female", "girl": "female", "w": "female", "false": "female",
	}
	// enumWords apply to fields that have our word among their values.
	enumWords = map[string]string{
		"doctor": "Dr", "professor": "Prof", "reverend": "Rev", "mstr": "Master", "mister": "Mr", "missus": "Mrs", "honourable": "Hon",
		"post": "Letter", "mail": "Letter", "text": "SMS", "telephone": "Phone", "e-mail": "Email",
		"dna": "Did not attend", "fta": "Did not attend", "no show": "Did not attend", "failed to attend": "Did not attend", "canceled": "Cancelled",
		"complete": "completed", "voided": "void", "part paid": "part_paid",
	}
)

// value converts a value, or returns a message if it cannot. It leaves values alone that the API
// will reject.
func (c *converter) value(f codec.Field, s string) (converted, message string) {
	switch f.Kind {
	case codec.Enum:
		return enumValue(f.Values, s), ""
	case codec.Boolean, codec.Flag:
		return lookUpWord(booleanWords, s, "must be yes or no")
	case codec.Consent:
		if word, ok := booleanWords[strings.ToLower(s)]; ok {
			return map[string]string{"true": "1", "false": "0"}[word], ""
		}
	case codec.Gender:
		return lookUpWord(genderWords, strings.TrimSuffix(s, "."), "must be male or female")
	case codec.Integer:
		return c.integer(f.Name, s)
	case codec.Decimal:
		return c.amount(s)
	case codec.Date:
		if f.Name == "date_of_birth" {
			return c.dateOfBirth(s)
		}
		d, message := c.date(s, nearFuture)
		return d.String(), message
	case codec.Time:
		precision := dayOrTime
		if f.Required {
			precision = timeOnly
		}
		t, message := c.time(s, precision)
		return t.Format("2006-01-02T15:04:05.000Z07:00"), message
	case codec.Country:
		if strings.EqualFold(s, "UK") {
			return "GB", ""
		}
	case codec.Email:
		return strings.TrimSuffix(strings.TrimPrefix(s, "mailto:"), ";"), ""
	}
	return s, ""
}

func (c *converter) dateOfBirth(s string) (converted, message string) {
	d, message := c.date(s, notInFuture)
	if message == "" && c.today.Before(d) {
		message = "must not be in the future"
	}
	return d.String(), message
}

// lookUpWord returns our word for s, or an error message for an unknown word.
func lookUpWord(words map[string]string, s, message string) (string, string) {
	if word, ok := words[strings.ToLower(s)]; ok {
		return word, ""
	}
	return "", message
}

// enumValue returns the enum value that s means, or s itself if it means no value.
func enumValue(values []string, s string) string {
	word := strings.ToLower(strings.TrimSuffix(s, "."))
	for _, means := range []string{enumWords[word], word} {
		if i := slices.IndexFunc(values, func(v string) bool { return v == means || strings.ToLower(v) == means }); i >= 0 {
			return values[i]
		}
	}
	return s
}

// hoursAndMinutes matches a duration such as 1:30 or 1h30.
var hoursAndMinutes = regexp.MustCompile(`^(\d{1,3})[:h]([0-5]\d)(?::00)?$`)

// integer converts weekdays, times of day in minutes, durations, and whole numbers such as 30.0.
func (c *converter) integer(field, s string) (converted, message string) {
	if field == "weekday" {
		return weekday(s), ""
	}
	if strings.HasSuffix(field, "_minute") {
		minute, ok := minuteOfDay(s)
		switch {
		case ok:
			return strconv.Itoa(minute), ""
		case strings.Contains(s, ":"): // 24:00 is read below
		case len(s) > 1 && s[0] == '0', strings.ContainsAny(s, ".,"): // 0900 and 9.00 are times, not minutes
			return "", "must be a time such as 09:00, or minutes since midnight"
		}
	}
	if parts := hoursAndMinutes.FindStringSubmatch(s); parts != nil { // 1:30 is 90 minutes
		hours, _ := strconv.Atoi(parts[1])
		minutes, _ := strconv.Atoi(parts[2])
		return strconv.Itoa(60*hours + minutes), ""
	}
	whole, fraction, _ := strings.Cut(plainNumber(s, c.decimalMark), ".")
	if whole != "" && strings.Trim(fraction, "0") == "" { // 30.0
		return whole, ""
	}
	return s, ""
}

// weekday converts the English name of a weekday, or its first three letters, to 0 (Sunday) to 6.
func weekday(s string) string {
	for day := time.Sunday; day <= time.Saturday; day++ {
		if name := day.String(); strings.EqualFold(s, name) || strings.EqualFold(strings.TrimSuffix(s, "."), name[:3]) {
			return strconv.Itoa(int(day))
		}
	}
	return s
}

// palmer matches teeth in Palmer notation as it is typed. The bar says which side a tooth is on:
// 6| is not |6, and 6|6 is a tooth on either side.
var palmer = regexp.MustCompile(`^(?:[1-8]\||\|[1-8]|[1-8]\|[1-8])$`)

// splitList splits a list of teeth or other words at commas, semicolons, slashes, spaces and,
// unless they are Palmer notation, bars.
func splitList(s string) []string {
	list := []string{}
	for _, word := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(",; /", r) }) {
		if palmer.MatchString(word) {
			list = append(list, word)
			continue
		}
		list = append(list, strings.FieldsFunc(word, func(r rune) bool { return r == '|' })...)
	}
	return list
}
