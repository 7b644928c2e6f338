package report

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/currency"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/number"

	"chairside/internal/civil"
	"chairside/internal/decimal"
	"chairside/internal/principal"
)

// Locale is how people in a practice's country write numbers. The texts around them are in
// English, so months and units of time are, too.
type Locale struct {
	Currency string // ISO 4217 code, or ""

	Symbol     string // of the currency, with the space beside it if there is one
	SymbolLast bool   // the symbol follows the amount

	group, point string // between thousands, and before the decimals
	groupSize    int    // digits of a group above the last three: 3, but 2 in India
	percent      string // after a percentage
}

// English is the Locale without a country.
var English = Locale{group: ",", point: ".", groupSize: 3, percent: "%"}

// symbolFirst lists the countries that write a decimal comma but the currency's symbol before
// the amount. Package currency does not know the position.
var symbolFirst = []string{"AR", "AT", "BR", "CL", "CO", "ID", "LI", "NL", "PY", "TR", "UY", "VE"}

// LocaleOf returns the Locale of a country: of its most spoken language, in Western digits.
// An unknown country is English.
func LocaleOf(country string) Locale {
	l := English
	region, err := language.ParseRegion(country)
	if err != nil {
		return l
	}
	inCountry, err := language.Compose(language.Und, region)
	if err != nil {
		return l
	}
	base, _ := inCountry.Base()
	tag, err := language.Parse(base.String() + "-" + region.String() + "-u-nu-latn")
	if err != nil {
		return l
	}
	p := message.NewPrinter(tag)
	l.readSeparators(p.Sprint(number.Decimal(1234567.5)), p.Sprint(number.Percent(0.12)))
	unit, ok := currency.FromRegion(region)
	if !ok {
		return l
	}
	l.Currency, l.Symbol = unit.String(), p.Sprint(currency.NarrowSymbol(unit))
	l.SymbolLast = l.point == "," && !slices.Contains(symbolFirst, region.String())
	switch letters := strings.ContainsFunc(l.Symbol, unicode.IsLetter); {
	case l.SymbolLast:
		l.Symbol = "\u00a0" + l.Symbol
	case letters || l.point == ",":
		l.Symbol += "\u00a0"
	}
	return l
}

// readSeparators reads the separators from 1234567.5 and 12%, as the country writes them.
func (l *Locale) readSeparators(decimals, percentage string) {
	between := func(before, after string) string {
		_, rest, _ := strings.Cut(decimals, before)
		separator, _, _ := strings.Cut(rest, after)
		return separator
	}
	l.group, l.point = between("4", "5"), between("7", "5")
	if between("2", "3") != "" {
		l.groupSize = 2
	}
	if _, sign, ok := strings.Cut(percentage, "12"); ok && sign != "" {
		l.percent = sign
	}
}

// localeOf returns the Locale of the caller's practice.
func localeOf(ctx context.Context) Locale { return LocaleOf(principal.Must(ctx).Country) }

// Format formats a value for people.
func (l Locale) Format(k Kind, v any) string {
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
			return l.duration(v)
		}
		return l.grouped(strconv.Itoa(v))
	case decimal.Decimal:
		switch k {
		case Money:
			return l.money(l.grouped(v.String()))
		case Percent:
			return l.grouped(v.String()) + l.percent
		}
		return l.grouped(v.String())
	case civil.Date:
		if k == Month {
			return monthName(v)
		}
		return dayName(v)
	case time.Time:
		return v.Format("15:04")
	}
	return k.Plain(v)
}

// monthName is "Apr 2026".
func monthName(d civil.Date) string { return d.Time().Format("Jan 2006") }

// dayName is "9 Apr 2026".
func dayName(d civil.Date) string { return d.Time().Format("2 Jan 2006") }

// Short formats the value of a chart for a label: "£12.3k", "1,204 h", "48%". Values are as in
// Series.
func (l Locale) Short(k Kind, v int64) string { return l.short(k, v, v) }

// Tick formats a mark of an axis as Short does, in the unit of the highest mark: "£5k" below "£10k".
func (l Locale) Tick(k Kind, v, highest int64) string {
	if v == 0 {
		highest = 0
	}
	return l.short(k, v, highest)
}

// short formats a value in the unit for another.
func (l Locale) short(k Kind, v, like int64) string {
	n, size := float64(v), math.Abs(float64(like))
	switch k {
	case Money, Units, Percent:
		n, size = n/100, size/100
	case Minutes:
		n, size = n/60, size/60
	}
	unit, decimals := "", 2
	switch {
	case size >= 999_950:
		n, unit, decimals = n/1e6, "m", 1
	case size >= 10_000:
		n, unit, decimals = n/1e3, "k", 1
	case size >= 100:
		decimals = 0
	case size >= 10 && k != Money:
		decimals = 1
	}
	scale := math.Pow10(decimals)
	n = math.Round(n*scale) / scale
	digits := strconv.FormatFloat(n+0, 'f', -1, 64)
	if k == Money && unit == "" && n != math.Trunc(n) {
		digits = strconv.FormatFloat(n, 'f', 2, 64) // pence have two digits
	}
	text := l.grouped(digits) + unit
	switch k {
	case Money:
		return l.money(text)
	case Percent:
		return text + l.percent
	case Minutes:
		return text + " h"
	}
	return text
}

// Exact formats the value of a chart as the table beneath does.
func (l Locale) Exact(k Kind, v int64) string {
	switch k {
	case Money, Units, Percent:
		return l.Format(k, decimal.Decimal(v))
	}
	return l.Format(k, int(v))
}

// money adds the currency to an amount, after its sign.
func (l Locale) money(amount string) string {
	digits, negative := strings.CutPrefix(amount, "-")
	if l.SymbolLast {
		digits += l.Symbol
	} else {
		digits = l.Symbol + digits
	}
	if negative {
		return "-" + digits
	}
	return digits
}

// duration formats minutes: "1 h 20 min", "45 min", "1,204 h".
func (l Locale) duration(minutes int) string {
	sign := ""
	if minutes < 0 {
		sign, minutes = "-", -minutes
	}
	hours, rest := l.grouped(strconv.Itoa(minutes/60))+" h", strconv.Itoa(minutes%60)+" min"
	switch {
	case minutes < 60:
		return sign + rest
	case minutes%60 == 0:
		return sign + hours
	}
	return sign + hours + " " + rest
}

// grouped writes the digits of a number with the country's separators.
func (l Locale) grouped(number string) string {
	digits, negative := strings.CutPrefix(number, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	for i, size := len(whole)-3, l.groupSize; i > 0; i -= size {
		whole = whole[:i] + l.group + whole[i:]
	}
	if fraction != "" {
		whole += l.point + fraction
	}
	if negative {
		return "-" + whole
	}
	return whole
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
