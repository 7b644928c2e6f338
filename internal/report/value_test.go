package report

import (
	"testing"

	"chairside/internal/civil"
	"chairside/internal/decimal"
)

func TestFormat(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		country string
		kind    Kind
		v       any
		want    string
	}{
		{"GB", Money, decimal.Decimal(-1234567_05), "-£1,234,567.05"}, {"GB", Money, decimal.Decimal(5), "£0.05"}, {"GB", Money, nil, "–"},
		{"GB", Count, 1234, "1,234"}, {"GB", ID, int64(1234), "1234"}, {"GB", Units, decimal.Decimal(1234_50), "1,234.50"},
		{"GB", Minutes, 450, "7 h 30 min"}, {"GB", Minutes, 80, "1 h 20 min"}, {"GB", Minutes, -5, "-5 min"}, {"GB", Minutes, 0, "0 min"}, {"GB", Minutes, 72240, "1,204 h"},
		{"GB", Percent, decimal.Decimal(12_50), "12.50%"}, {"GB", Percent, decimal.Decimal(72_95), "72.95%"}, {"GB", Percent, decimal.Decimal(100_00), "100.00%"},
		{"GB", Percent, decimal.Decimal(1234_50), "1,234.50%"}, {"GB", Percent, decimal.Decimal(-5), "-0.05%"}, {"GB", Percent, decimal.Decimal(0), "0.00%"},
		{"GB", Date, civil.MustParse("2026-04-09"), "9 Apr 2026"}, {"GB", Month, civil.MustParse("2026-04-09"), "Apr 2026"}, {"GB", Text, "a\x1b[0mb\u202e", "a [0mb "},
		{"IE", Money, decimal.Decimal(1234_50), "€1,234.50"}, {"NZ", Money, decimal.Decimal(1234_50), "$1,234.50"}, {"US", Money, decimal.Decimal(-1234_50), "-$1,234.50"},
		{"DE", Money, decimal.Decimal(-1234567_05), "-1.234.567,05\u00a0€"}, {"DE", Percent, decimal.Decimal(12_50), "12,50\u00a0%"}, {"DE", Count, 1234, "1.234"},
		{"AT", Money, decimal.Decimal(12_50), "€\u00a012,50"}, {"NL", Money, decimal.Decimal(1234_50), "€\u00a01.234,50"},
		{"FR", Money, decimal.Decimal(1234_50), "1\u00a0234,50\u00a0€"}, {"CH", Money, decimal.Decimal(1234_50), "CHF\u00a01’234.50"},
		{"IN", Money, decimal.Decimal(12345678_90), "₹1,23,45,678.90"}, {"AE", Count, 1234, "1,234"},
		{"", Money, decimal.Decimal(1234_50), "1,234.50"}, {"??", Minutes, 80, "1 h 20 min"},
	} {
		if got := LocaleOf(c.country).Format(c.kind, c.v); got != c.want {
			t.Errorf("%s: %v: got %q, want %q", c.country, c.v, got, c.want)
		}
	}
}

func TestShort(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind Kind
		v    int64
		want string
	}{
		{Money, 0, "£0"}, {Money, 50, "£0.50"}, {Money, 27_40, "£27.40"}, {Money, 99_95, "£99.95"}, {Money, 1234_56, "£1,235"}, {Money, 12_345_67, "£12.3k"}, {Money, -12_345_67, "-£12.3k"},
		{Money, 999_999_00, "£1m"}, {Money, 1_500_000_00, "£1.5m"}, {Minutes, 90, "1.5 h"}, {Minutes, 72_240, "1,204 h"}, {Percent, 12_50, "12.5%"}, {Count, 7, "7"},
	} {
		if got := LocaleOf("GB").Short(c.kind, c.v); got != c.want {
			t.Errorf("%v: got %q, want %q", c.v, got, c.want)
		}
	}
}

// TestTicksHaveOneUnit: the marks of an axis.
func TestTicksHaveOneUnit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind       Kind
		v, highest int64
		want       string
	}{
		{Money, 10_000_00, 10_000_00, "£10k"}, {Money, 5_000_00, 10_000_00, "£5k"}, {Money, -5_000_00, 10_000_00, "-£5k"}, {Money, 0, 10_000_00, "£0"},
		{Money, 500_000_00, 1_000_000_00, "£0.5m"}, {Count, 5_000, 8_000, "5,000"}, {Percent, 50_00, 100_00, "50%"}, {Minutes, 300, 900, "5 h"},
	} {
		if got := LocaleOf("GB").Tick(c.kind, c.v, c.highest); got != c.want {
			t.Errorf("%v of %v: got %q, want %q", c.v, c.highest, got, c.want)
		}
	}
}

func TestChange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind        Kind
		now, before any
		want        string
	}{
		{Money, decimal.Decimal(1120_00), decimal.Decimal(1000_00), "+£120.00 (+12.00%)"}, {Money, decimal.Decimal(875_00), decimal.Decimal(1000_00), "-£125.00 (-12.50%)"},
		{Money, decimal.Decimal(5), decimal.Decimal(0), "+£0.05"}, {Money, decimal.Decimal(5), decimal.Decimal(5), "no change"}, {Money, nil, decimal.Decimal(5), "–"},
		{Money, decimal.Decimal(109_90), decimal.Decimal(10_00), "+£99.90 (+999.00%)"}, {Money, decimal.Decimal(110_00), decimal.Decimal(10_00), "+£100.00"}, {Money, decimal.Decimal(-100_00), decimal.Decimal(10_00), "-£110.00"},
		{Count, 3, 4, "-1 (-25.00%)"}, {Minutes, 80, 60, "+20 min (+33.33%)"}, {Percent, decimal.Decimal(72_50), decimal.Decimal(70_00), "+2.50 points"}, {Units, decimal.Decimal(-1_00), decimal.Decimal(-2_00), "+1.00"},
	} {
		if got := LocaleOf("GB").Change(c.kind, c.now, c.before); got != c.want {
			t.Errorf("%v after %v: got %q, want %q", c.now, c.before, got, c.want)
		}
	}
}

func TestHeadersNameUnits(t *testing.T) {
	t.Parallel()
	l := LocaleOf("GB")
	for want, c := range map[string]Column{
		"invoiced_gbp": {Key: "invoiced", Kind: Money}, "share_percent": {Key: "share", Kind: Percent}, "minutes": {Key: "minutes", Kind: Minutes},
		"free_minutes": {Key: "free_minutes", Kind: Minutes}, "claims": {Key: "claims", Kind: Count},
	} {
		if got := c.Header(l); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := (Column{Key: "paid", Kind: Money}).Header(English); got != "paid" {
		t.Errorf("without a currency: %s", got)
	}
}
