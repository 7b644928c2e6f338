package importer

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"chairside/internal/codec"
)

// The words that other systems use for ours, in lower case.
var (
	booleanWords = map[string]string{
		"y": "true", "yes": "true", "true": "true", "t": "true", "1": "true", "-1": "true", "on": "true", "x": "true",
		"n": "false", "no": "false", "false": "false", "f": "false", "0": "false", "off": "false",
	}
	genderWords = map[string]string{
		"m": "male", "male": "male", "man": "male", "boy": "male", "true": "male",
		"f": "female", "female": "female", "woman": "female", "girl": "female", "w": "female", "false": "female",
	}
	// enumWords hold where the field has the word on the right.
	enumWords = map[string]string{
		"doctor": "Dr", "professor": "Prof", "reverend": "Rev", "mstr": "Master", "mister": "Mr", "missus": "Mrs", "honourable": "Hon",
		"post": "Letter", "mail": "Letter", "text": "SMS", "telephone": "Phone", "e-mail": "Email",
		"dna": "Did not attend", "fta": "Did not attend", "no show": "Did not attend", "failed to attend": "Did not attend", "canceled": "Cancelled",
		"complete": "completed", "voided": "void", "part paid": "part_paid",
	}
)

// clockLength is a length of time as clocks show it.
var clockLength = regexp.MustCompile(`^(\d{1,3})[:h]([0-5]\d)(?::00)?$`)

// foreignValue brings a value of another system into the form in which the API reads it, or says
// what is wrong. What the API will refuse anyway is left to it.
func foreignValue(f codec.Field, s string, t *translator) (string, string) {
	switch f.Kind {
	case codec.Enum:
		return foreignEnum(f.Values, s), ""
	case codec.Boolean, codec.Flag:
		return translated(booleanWords, s, "must be yes or no")
	case codec.Consent:
		if word, ok := booleanWords[strings.ToLower(s)]; ok {
			return map[string]string{"true": "1", "false": "0"}[word], ""
		}
	case codec.Gender:
		return translated(genderWords, strings.TrimSuffix(s, "."), "must be male or female")
	case codec.Integer:
		return foreignInteger(f.Name, s, t.decimalMark)
	case codec.Decimal:
		return t.amount(s)
	case codec.Date:
		birth := f.Name == "date_of_birth"
		d, message := t.date(s, birth)
		if message == "" && birth && t.today.Before(d) {
			message = "must not be in the future"
		}
		return d.String(), message
	case codec.Time:
		m, message := t.moment(s, f.Required)
		return m.Format("2006-01-02T15:04:05.000Z07:00"), message
	case codec.Country:
		if strings.EqualFold(s, "UK") {
			return "GB", ""
		}
	case codec.Email:
		return strings.TrimSuffix(strings.TrimPrefix(s, "mailto:"), ";"), ""
	}
	return s, ""
}

// translated is our word for a word of another system.
func translated(words map[string]string, s, message string) (string, string) {
	if word, ok := words[strings.ToLower(s)]; ok {
		return word, ""
	}
	return "", message
}

// foreignInteger reads weekdays by name, minutes as times of day, lengths of time, and numbers
// such as 30.0.
func foreignInteger(field, s, mark string) (string, string) {
	if field == "weekday" {
		for day := time.Sunday; day <= time.Saturday; day++ {
			if name := day.String(); strings.EqualFold(s, name) || strings.EqualFold(strings.TrimSuffix(s, "."), name[:3]) {
				return strconv.Itoa(int(day)), ""
			}
		}
		return s, ""
	}
	if strings.HasSuffix(field, "_minute") {
		minute, ok := minuteOf(s)
		switch {
		case ok:
			return strconv.Itoa(minute), ""
		case strings.Contains(s, ":"): // 24:00
		case len(s) > 1 && s[0] == '0', strings.ContainsAny(s, ".,"): // 0900 are no 900 minutes, 9.00 no 9
			return "", "must be a time such as 09:00, or minutes since midnight"
		}
	}
	if parts := clockLength.FindStringSubmatch(s); parts != nil { // 1:30 is 90 minutes
		hours, _ := strconv.Atoi(parts[1])
		minutes, _ := strconv.Atoi(parts[2])
		return strconv.Itoa(60*hours + minutes), ""
	}
	whole, fraction, _ := strings.Cut(pointed(s, mark), ".")
	if whole != "" && strings.Trim(fraction, "0") == "" { // 30.0
		return whole, ""
	}
	return s, ""
}

// foreignEnum is the word of a list that a word of another system means, or that word.
func foreignEnum(values []string, s string) string {
	word := strings.ToLower(strings.TrimSuffix(s, "."))
	for _, means := range []string{enumWords[word], word} {
		if i := slices.IndexFunc(values, func(v string) bool { return v == means || strings.ToLower(v) == means }); i >= 0 {
			return values[i]
		}
	}
	return s
}

var (
	// grouped are amounts with their thousands apart, and a decimal point.
	grouped = regexp.MustCompile(`^\d{1,3}([, ']\d{3})+(\.\d+)?$`)
	// pence follow a comma that cannot stand between thousands.
	pence = regexp.MustCompile(`^\d+,\d{1,2}$`)
	// even is an amount with a dash for the pence: "12,-" is no amount that is owed.
	even = regexp.MustCompile(`(\d)[.,](?:-{1,2}|[–—])([^\d-]*)$`)
	// nothing is how spreadsheets show zero. A dash alone may be no amount.
	nothing = regexp.MustCompile(`^(?:[£$€]\s*[-–—]|[-–—]\s*[£$€])$`)
)

// amount reads an amount as its column writes it.
func (t *translator) amount(s string) (string, string) {
	n, message := foreignAmount(s, t.decimalMark)
	if message != "" || !t.hundredths {
		return n, message
	}
	positive := strings.TrimPrefix(n, "-")
	whole, fraction, _ := strings.Cut(positive, ".")
	if strings.Trim(fraction, "0") != "" {
		return "", "must be a whole number of hundredths"
	}
	whole = strings.Repeat("0", max(0, 3-len(whole))) + whole
	return n[:len(n)-len(positive)] + whole[:len(whole)-2] + "." + whole[len(whole)-2:], ""
}

// foreignAmount reads "£1,234.50", "12.5", "(3.00)", "-3", "3.00-", "12.5000", "12.-", "£ -",
// "37.199999999999996". With a comma as the decimal mark it reads "1.234,50".
func foreignAmount(s, mark string) (string, string) {
	n := even.ReplaceAllString(strings.ReplaceAll(strings.TrimSpace(s), "\u2212", "-"), "$1$2")
	if nothing.MatchString(n) {
		return "0", ""
	}
	n, sign := unsigned(n, true)
	n = strings.TrimPrefix(n, "+")
	for _, currency := range []string{"£", "$", "€", "GBP", "EUR"} {
		n = strings.TrimPrefix(strings.TrimSuffix(n, currency), currency)
	}
	if n = strings.TrimSpace(n); sign == "" { // £-3.00, £(3.00)
		n, sign = unsigned(n, false)
	}
	n = rounded(pointed(n, mark))
	if whole, fraction, ok := strings.Cut(n, "."); ok && len(fraction) > 2 && strings.Trim(fraction[2:], "0") == "" {
		n = whole + "." + fraction[:2]
	}
	if strings.HasPrefix(n, ".") {
		n = "0" + n
	}
	if n == "" || strings.Trim(n, "0123456789.") != "" {
		example, thousands := "12.50", "1,234.50"
		if mark == "," {
			example, thousands = "12,50", "1.234,50"
		}
		return "", "must be an amount like " + example + "; thousands may be apart as in " + thousands
	}
	return sign + strings.TrimSuffix(n, "."), ""
}

// unsigned takes the ways of writing a debt off an amount: (3.00), -3.00, and where it may stand
// behind, 3.00-.
func unsigned(n string, behind bool) (rest, sign string) {
	if inner, ok := strings.CutPrefix(n, "("); ok && strings.HasSuffix(inner, ")") {
		n, sign = strings.TrimSuffix(inner, ")"), "-"
	}
	if positive, ok := strings.CutSuffix(n, "-"); ok && behind {
		n, sign = positive, "-"
	}
	if positive, ok := strings.CutPrefix(n, "-"); ok {
		n, sign = positive, "-"
	}
	return n, sign
}

// rounded is an amount without what is left of binary fractions in its last digits.
func rounded(n string) string {
	_, fraction, _ := strings.Cut(n, ".")
	f, err := strconv.ParseFloat(n, 64)
	if len(fraction) < 9 || err != nil || strings.Trim(n, "0123456789.") != "" {
		return n
	}
	if near := math.Round(f*100) / 100; math.Abs(near-f) < 1e-7 {
		return strconv.FormatFloat(near, 'f', 2, 64)
	}
	return n
}

// pointed is a number with a point before its decimals and its thousands not apart. What is none
// comes back as it is, or as what is none either.
func pointed(n, mark string) string {
	n = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r): // some do not break lines
			return ' '
		case r == '’':
			return '\''
		case mark == "," && r == ',':
			return '.'
		case mark == "," && r == '.':
			return ','
		}
		return r
	}, n)
	if mark == "" && pence.MatchString(n) {
		n = strings.Replace(n, ",", ".", 1)
	}
	if grouped.MatchString(n) {
		n = strings.NewReplacer(",", "", " ", "", "'", "").Replace(n)
	}
	return n
}

// palmer is a tooth and the side it is on, as Palmer's notation is typed: 6| is not |6. Both
// sides of it are two teeth.
var palmer = regexp.MustCompile(`^(?:[1-8]\||\|[1-8]|[1-8]\|[1-8])$`)

// foreignList reads teeth and the like: words between commas, semicolons, slashes, bars or
// spaces.
func foreignList(s string) []string {
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

// nullWords are those that mean that there is no value, unless the mapping says otherwise.
var nullWords = []string{"NULL", `\N`}
