package importer

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

var (
	// groupedThousands matches 1,234.50, with a comma, space or apostrophe between thousands.
	groupedThousands = regexp.MustCompile(`^\d{1,3}([, ']\d{3})+(\.\d+)?$`)
	// commaPence matches 12,50, where the comma cannot separate thousands.
	commaPence = regexp.MustCompile(`^\d+,\d{1,2}$`)
	// dashPence matches 12,- with a dash for no pence. It is not a debt.
	dashPence = regexp.MustCompile(`(\d)[.,](?:-{1,2}|[–—])([^\d-]*)$`)
	// dashZero matches how spreadsheets show zero. A dash without a currency may mean no amount.
	dashZero = regexp.MustCompile(`^(?:[£$€]\s*[-–—]|[-–—]\s*[£$€])$`)
)

// amount converts an amount as its column writes it.
func (c *converter) amount(s string) (converted, message string) {
	n, message := parseAmount(s, c.decimalMark)
	if message != "" || !c.hundredths {
		return n, message
	}
	digits := strings.TrimPrefix(n, "-")
	sign := n[:len(n)-len(digits)]
	whole, fraction, _ := strings.Cut(digits, ".")
	if strings.Trim(fraction, "0") != "" {
		return "", "must be a whole number of hundredths"
	}
	whole = strings.Repeat("0", max(0, 3-len(whole))) + whole
	return sign + whole[:len(whole)-2] + "." + whole[len(whole)-2:], ""
}

// parseAmount reads "£1,234.50", "12.5", "(3.00)", "-3", "3.00-", "12.5000", "12.-", "£ -" and
// "37.199999999999996". With a comma as the decimal mark it reads "1.234,50".
func parseAmount(s, decimalMark string) (amount, message string) {
	n := dashPence.ReplaceAllString(strings.ReplaceAll(strings.TrimSpace(s), "\u2212", "-"), "$1$2")
	if dashZero.MatchString(n) {
		return "0", ""
	}
	n, sign := cutSign(n)
	if positive, ok := strings.CutSuffix(n, "-"); ok { // 3.00-
		n, sign = positive, "-"
	}
	n = strings.TrimPrefix(n, "+")
	for _, currency := range []string{"£", "$", "€", "GBP", "EUR"} {
		n = strings.TrimPrefix(strings.TrimSuffix(n, currency), currency)
	}
	if n = strings.TrimSpace(n); sign == "" { // £-3.00, £(3.00)
		n, sign = cutSign(n)
	}
	n = roundBinary(plainNumber(n, decimalMark))
	if whole, fraction, ok := strings.Cut(n, "."); ok && len(fraction) > 2 && strings.Trim(fraction[2:], "0") == "" {
		n = whole + "." + fraction[:2]
	}
	if strings.HasPrefix(n, ".") {
		n = "0" + n
	}
	if n == "" || strings.Trim(n, "0123456789.") != "" {
		examples := "12.50 or 1,234.50"
		if decimalMark == "," {
			examples = "12,50 or 1.234,50"
		}
		return "", "must be an amount such as " + examples
	}
	return sign + strings.TrimSuffix(n, "."), ""
}

// cutSign removes the parentheses or the minus sign of a negative amount.
func cutSign(n string) (rest, sign string) {
	if inner, ok := strings.CutPrefix(n, "("); ok && strings.HasSuffix(inner, ")") {
		n, sign = strings.TrimSuffix(inner, ")"), "-"
	}
	if positive, ok := strings.CutPrefix(n, "-"); ok {
		n, sign = positive, "-"
	}
	return n, sign
}

// roundBinary rounds an amount to two decimals if its last digits come from binary fractions:
// 37.199999999999996 is 37.20.
func roundBinary(n string) string {
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

// plainNumber returns a number with a decimal point and without separators between thousands. A
// text that is not a number stays invalid.
func plainNumber(n, decimalMark string) string {
	n = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r): // such as a no-break space
			return ' '
		case r == '’':
			return '\''
		case decimalMark == "," && r == ',':
			return '.'
		case decimalMark == "," && r == '.':
			return ','
		}
		return r
	}, n)
	if decimalMark == "" && commaPence.MatchString(n) {
		n = strings.Replace(n, ",", ".", 1)
	}
	if groupedThousands.MatchString(n) {
		n = strings.NewReplacer(",", "", " ", "", "'", "").Replace(n)
	}
	return n
}
