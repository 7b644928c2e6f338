package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"chairside/internal/civil"
	"chairside/internal/decimal"
)

// none is shown for a missing value.
const none = "–"

// holds reports whether v has the kind's Go type, or is nil.
func (k Kind) holds(v any) bool {
	if v == nil {
		return true
	}
	var ok bool
	switch k {
	case Text:
		_, ok = v.(string)
	case Count, Minutes:
		_, ok = v.(int)
	case Money, Units, Percent:
		_, ok = v.(decimal.Decimal)
	case Date, Month:
		_, ok = v.(civil.Date)
	case ID:
		_, ok = v.(int64)
	case Clock:
		_, ok = v.(time.Time)
	}
	return ok
}

// Numeric reports whether values are numbers, which tables align to the right.
func (k Kind) Numeric() bool { return k != Text && k != Date && k != Month && k != Clock }

// Format formats a value for people.
func (k Kind) Format(v any) string {
	switch {
	case v == nil && (k == Clock || k == ID):
		return "" // not yet arrived, or an entry without a patient: nothing is missing
	case v == nil:
		return none
	}
	switch v := v.(type) {
	case string:
		return Printable(v)
	case int:
		if k == Minutes {
			return hours(v)
		}
		return Grouped(strconv.Itoa(v))
	case decimal.Decimal:
		if k == Percent {
			return Grouped(v.String()) + "%"
		}
		return Grouped(v.String())
	case civil.Date:
		if k == Month {
			return v.Time().Format("Jan 2006")
		}
		return v.Time().Format("2 Jan 2006")
	case time.Time:
		return v.Format("15:04")
	}
	return k.Plain(v)
}

// Plain formats a value for programs, as in CSV.
func (k Kind) Plain(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case civil.Date:
		if k == Month {
			return v.String()[:len("2026-04")]
		}
		return v.String()
	case time.Time:
		return v.Format(time.RFC3339)
	}
	return fmt.Sprint(v)
}

// hours formats minutes as hours and minutes: 450 is "7:30".
func hours(minutes int) string {
	sign := ""
	if minutes < 0 {
		sign, minutes = "-", -minutes
	}
	return fmt.Sprintf("%s%s:%02d", sign, Grouped(strconv.Itoa(minutes/60)), minutes%60)
}

// Grouped adds thousands separators to a number: "1234.50" becomes "1,234.50".
func Grouped(number string) string {
	whole, fraction, _ := strings.Cut(number, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction != "" {
		whole += "." + fraction
	}
	return sign + whole
}

// Printable replaces control characters, which could move the cursor of a terminal, and
// characters that change the direction of text, with spaces.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return ' '
		}
		return r
	}, s)
}
