package transfer

import (
	"regexp"
	"strconv"
	"strings"

	"chairside/internal/wire"
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
var clockLength = regexp.MustCompile(`^(\d{1,3}):([0-5]\d)(?::00)?$`)

// foreignValue brings a value of another system into the form in which the API
// reads it, or says what is wrong. What the API will refuse anyway is left to it.
func foreignValue(f wire.Field, s string, t *translator) (string, string) {
	switch f.Kind {
	case wire.Enum:
		return foreignEnum(f.Values, s), ""
	case wire.Boolean, wire.Flag:
		if word, ok := booleanWords[strings.ToLower(s)]; ok {
			return word, ""
		}
		return "", "must be yes or no"
	case wire.Consent:
		if word, ok := booleanWords[strings.ToLower(s)]; ok {
			return map[string]string{"true": "1", "false": "0"}[word], ""
		}
	case wire.Gender:
		if word, ok := genderWords[strings.ToLower(strings.TrimSuffix(s, "."))]; ok {
			return word, ""
		}
		return "", "must be male or female"
	case wire.Integer:
		if strings.HasSuffix(f.Name, "_minute") && len(s) > 1 && s[0] == '0' && !strings.Contains(s, ":") { // 0900 are no 900 minutes
			return "", "must be a time such as 09:00, or minutes since midnight"
		}
		if hours := clockLength.FindStringSubmatch(s); hours != nil { // 1:30 is 90 minutes
			h, _ := strconv.Atoi(hours[1])
			m, _ := strconv.Atoi(hours[2])
			return strconv.Itoa(60*h + m), ""
		}
		whole, fraction, _ := strings.Cut(s, ".")
		if whole != "" && strings.Trim(fraction, "0") == "" { // 30.0
			return whole, ""
		}
	case wire.Decimal:
		return foreignAmount(s, t.decimalMark)
	case wire.Date:
		d, message := t.date(s, f.Name == "date_of_birth")
		return d.String(), message
	case wire.Time:
		m, message := t.moment(s, f.Required)
		return m.Format("2006-01-02T15:04:05.000Z07:00"), message
	case wire.Email:
		return strings.TrimSuffix(strings.TrimPrefix(s, "mailto:"), ";"), ""
	}
	return s, ""
}

func foreignEnum(values []string, s string) string {
	word := strings.ToLower(strings.TrimSuffix(s, "."))
	if synonym, ok := enumWords[word]; ok {
		for _, v := range values {
			if v == synonym {
				return v
			}
		}
	}
	for _, v := range values {
		if strings.ToLower(v) == word {
			return v
		}
	}
	return s
}

// grouped are amounts with their thousands apart, and a decimal point.
var grouped = regexp.MustCompile(`^\d{1,3}([, ']\d{3})+(\.\d+)?$`)

// pence follow a comma that cannot stand between thousands.
var pence = regexp.MustCompile(`^\d+,\d{1,2}$`)

// foreignAmount reads "£1,234.50", "12.5", "(3.00)", "-3", "3.00-", "12.5000".
// With a comma as the decimal mark, points and commas change places.
func foreignAmount(s, mark string) (string, string) {
	sign, n := "", strings.TrimSpace(strings.ReplaceAll(s, "\u00a0", " "))
	if inner, ok := strings.CutPrefix(n, "("); ok && strings.HasSuffix(inner, ")") {
		sign, n = "-", strings.TrimSuffix(inner, ")")
	}
	if minus, ok := strings.CutSuffix(n, "-"); ok {
		sign, n = "-", minus
	}
	if minus, ok := strings.CutPrefix(n, "-"); ok {
		sign, n = "-", minus
	}
	n = strings.TrimPrefix(n, "+")
	for _, currency := range []string{"£", "$", "€", "GBP", "EUR"} {
		n = strings.TrimPrefix(strings.TrimSuffix(n, currency), currency)
	}
	n = strings.TrimSpace(n)
	if minus, ok := strings.CutPrefix(n, "-"); ok && sign == "" { // £-3.00
		sign, n = "-", minus
	}
	if mark == "," {
		n = strings.Map(func(r rune) rune {
			switch r {
			case ',':
				return '.'
			case '.':
				return ','
			}
			return r
		}, n)
	}
	if mark == "" && pence.MatchString(n) {
		n = strings.Replace(n, ",", ".", 1)
	}
	if grouped.MatchString(n) {
		n = strings.NewReplacer(",", "", " ", "", "'", "").Replace(n)
	}
	if whole, fraction, ok := strings.Cut(n, "."); ok && len(fraction) > 2 && strings.Trim(fraction[2:], "0") == "" {
		n = whole + "." + fraction[:2]
	}
	if strings.HasPrefix(n, ".") {
		n = "0" + n
	}
	if n == "" || strings.Trim(n, "0123456789.") != "" {
		return "", "must be an amount like 12.50; thousands may be apart as in 1,234.50"
	}
	return sign + strings.TrimSuffix(n, "."), ""
}

// foreignList reads teeth and the like: words between commas, semicolons or spaces.
func foreignList(s string) []string {
	list := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(",; |/", r) })
	if list == nil {
		return []string{}
	}
	return list
}

// null words are those that mean that there is no value, unless the mapping
// says otherwise.
var nullWords = []string{"NULL", `\N`}
