// Package decimal has decimals with exactly two fraction digits, for money and NHS units of
// activity. Floats are never used for either.
package decimal

import (
	"errors"
	"strconv"
	"strings"
)

// Decimal counts hundredths: 1250 is "12.50". Both databases store it as a
// 64-bit integer.
type Decimal int64

// Max is the largest amount that Parse accepts: sums of hundreds of thousands of amounts
// still fit 64 bits.
const Max Decimal = 99_999_999_999

// ErrSyntax is returned for text that is not a decimal with at most two fraction digits.
var ErrSyntax = errors.New("must be a decimal with at most two fraction digits")

// ErrRange is returned for amounts beyond Max.
var ErrRange = errors.New("is too large")

// Parse parses an optional minus sign, digits and at most two fraction digits. It refuses
// exponents, spaces and group separators.
func Parse(s string) (Decimal, error) {
	digits, negative := strings.CutPrefix(s, "-")
	whole, fraction, point := strings.Cut(digits, ".")
	if whole == "" || point && fraction == "" || len(fraction) > 2 {
		return 0, ErrSyntax
	}
	for _, part := range [2]string{whole, fraction} {
		if strings.Trim(part, "0123456789") != "" {
			return 0, ErrSyntax
		}
	}
	whole = strings.TrimLeft(whole, "0")
	if len(whole) > 9 {
		return 0, ErrRange
	}
	n, err := strconv.ParseInt(whole+(fraction + "00")[:2], 10, 64)
	if err != nil {
		return 0, ErrSyntax
	}
	if negative {
		n = -n
	}
	return Decimal(n), nil
}

// MustParse is Parse for text that has been checked; it panics on any other.
func MustParse(s string) Decimal {
	d, err := Parse(s)
	if err != nil {
		panic("decimal: " + strconv.Quote(s) + " " + err.Error())
	}
	return d
}

// String returns the amount with exactly two fraction digits: "-0.05" for -5.
func (d Decimal) String() string {
	sign, n := "", uint64(d)
	if d < 0 {
		sign, n = "-", -n
	}
	cents := strconv.FormatUint(n%100, 10)
	if len(cents) == 1 {
		cents = "0" + cents
	}
	return sign + strconv.FormatUint(n/100, 10) + "." + cents
}
