package decimal_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"chairside/internal/decimal"
)

func TestParseAccepts(t *testing.T) {
	for text, want := range map[string]decimal.Decimal{
		"0": 0, "0.00": 0, "-0": 0, "-0.00": 0, "0.05": 5, "-0.05": -5, "12.5": 1250, "12.50": 1250, "12": 1200, "-3.2": -320,
		"007": 700, "000000000000001.10": 110, "999999999.99": decimal.Max, "-999999999.99": -decimal.Max,
	} {
		got, err := decimal.Parse(text)
		if err != nil || got != want {
			t.Errorf("Parse(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]error{
		"": decimal.ErrSyntax, " ": decimal.ErrSyntax, "-": decimal.ErrSyntax, ".": decimal.ErrSyntax, ".5": decimal.ErrSyntax, "5.": decimal.ErrSyntax,
		"+5": decimal.ErrSyntax, "--5": decimal.ErrSyntax, "5-": decimal.ErrSyntax, "1.-5": decimal.ErrSyntax, "1.234": decimal.ErrSyntax, "1.230": decimal.ErrSyntax,
		"1e3": decimal.ErrSyntax, "1E3": decimal.ErrSyntax, "0x10": decimal.ErrSyntax, "1,234.00": decimal.ErrSyntax, "1 000": decimal.ErrSyntax,
		" 5": decimal.ErrSyntax, "5\n": decimal.ErrSyntax, "£5": decimal.ErrSyntax, "NaN": decimal.ErrSyntax, "Inf": decimal.ErrSyntax, "٣": decimal.ErrSyntax,
		"1.2.3": decimal.ErrSyntax, "1_000": decimal.ErrSyntax, "5.\x00": decimal.ErrSyntax,
		"1000000000": decimal.ErrRange, "-1000000000.00": decimal.ErrRange, strings.Repeat("9", 400): decimal.ErrRange,
	} {
		if got, err := decimal.Parse(text); !errors.Is(err, want) {
			t.Errorf("Parse(%q) = %s, %v; want %v", text, got, err, want)
		}
	}
}

func TestStringHasExactlyTwoFractionDigits(t *testing.T) {
	for d, want := range map[decimal.Decimal]string{
		0: "0.00", 5: "0.05", -5: "-0.05", 50: "0.50", 100: "1.00", -100: "-1.00", 1250: "12.50",
		math.MaxInt64: "92233720368547758.07", math.MinInt64: "-92233720368547758.08",
	} {
		if got := d.String(); got != want {
			t.Errorf("%d prints %q, want %q", int64(d), got, want)
		}
	}
}

// FuzzParse checks that an accepted amount is printed as text that parses to the same amount.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"12.50", "-0.05", "1e9", "00.1", "999999999.99", "٣", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := decimal.Parse(text)
		if err != nil {
			return
		}
		if d > decimal.Max || d < -decimal.Max {
			t.Errorf("Parse(%q) = %d is beyond Max", text, d)
		}
		if again, err := decimal.Parse(d.String()); err != nil || again != d {
			t.Errorf("%q is printed as %q, which parses as %d, %v", text, d, again, err)
		}
	})
}
