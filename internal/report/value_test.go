package report

import (
	"testing"

	"chairside/internal/civil"
	"chairside/internal/decimal"
)

func TestFormat(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind Kind
		v    any
		want string
	}{
		{Money, decimal.Decimal(-1234567_05), "-1,234,567.05"}, {Money, decimal.Decimal(5), "0.05"}, {Money, nil, "–"},
		{Count, 1234, "1,234"}, {ID, int64(1234), "1234"}, {Minutes, 450, "7:30"}, {Minutes, -5, "-0:05"}, {Minutes, 600000, "10,000:00"},
		{Percent, decimal.Decimal(33_33), "33.33%"}, {Percent, decimal.Decimal(1234_50), "1,234.50%"}, {Percent, decimal.Decimal(-5), "-0.05%"},
		{Date, civil.MustParse("2026-04-09"), "9 Apr 2026"}, {Month, civil.MustParse("2026-04-09"), "Apr 2026"}, {Text, "a\x1b[0mb\u202e", "a [0mb "},
	} {
		if got := c.kind.Format(c.v); got != c.want {
			t.Errorf("%v: got %q, want %q", c.v, got, c.want)
		}
	}
}
