package api

import (
	"math"
	"testing"
)

// TestFurtherReadingsAreFew, however many free periods the first days have, and
// whether or not those behind them have any.
func TestFurtherReadingsAreFew(t *testing.T) {
	t.Parallel()
	const year = 366
	for _, wanted := range []int{1, 21, 101, 2001} {
		for first := range wanted { // free periods of the first reading
			for each := range 3 { // in every shift after it
				read, found, readings := wanted/freePerShift+2, first, 1
				for ; read < year && found < wanted; readings++ {
					shifts := further(read, found, wanted-found)
					if shifts < 1 || shifts > 2*read {
						t.Fatalf("%d shifts after %d with %d free periods of %d", shifts, read, found, wanted)
					}
					read += shifts
					found += shifts * each
				}
				if readings > 13 {
					t.Errorf("%d readings for %d free periods: %d at first, then %d in a shift", readings, wanted, first, each)
				}
			}
		}
	}
	if shifts := further(0, 0, math.MaxInt/2); shifts != 1 {
		t.Errorf("%d shifts where nobody worked", shifts)
	}
	if shifts := further(1<<20, 0, math.MaxInt/2); shifts != 2<<20 {
		t.Errorf("%d shifts of very many", shifts)
	}
}
