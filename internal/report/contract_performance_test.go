package report

import "testing"

// TestYearIsSettled: below 96% of the target the whole gap is reclaimed; from there on to 102% the
// difference is carried forward.
func TestYearIsSettled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ target, delivered, shortfall, carried int64 }{
		{1000_00, 0, 1000_00, 0},
		{1000_00, 959_99, 40_01, 0},
		{1000_00, 960_00, 0, -40_00},
		{1000_00, 999_99, 0, -1},
		{1000_00, 1000_00, 0, 0},
		{1000_00, 1000_01, 0, 1},
		{1000_00, 1020_00, 0, 20_00},
		{1000_00, 1020_01, 0, 20_00},
		{1000_00, 5000_00, 0, 20_00},
		{33, 31, 2, 0}, // 96% is 31.68
		{33, 32, 0, -1},
		{33, 34, 0, 1}, // 102% is 33.66
	} {
		if shortfall, carried := settle(c.target, c.delivered); shortfall != c.shortfall || carried != c.carried {
			t.Errorf("%d of %d: shortfall %d, carried forward %d; want %d and %d", c.delivered, c.target, shortfall, carried, c.shortfall, c.carried)
		}
	}
}
