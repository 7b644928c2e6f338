package api

import (
	"math"
	"testing"
)

// TestAvailabilityTakesFewStatements checks that, whatever number of slots the first and the
// later days have, few statements read them.
func TestAvailabilityTakesFewStatements(t *testing.T) {
	t.Parallel()
	const year = 366
	for _, wanted := range []int{1, 21, 101, 2001} {
		for first := range wanted { // slots found by the first statement
			for each := range 3 { // slots in every later shift
				read, found, statements := wanted/slotsPerShift+2, first, 1
				for ; read < year && found < wanted; statements++ {
					shifts := nextShifts(read, found, wanted-found)
					if shifts < 1 || shifts > 2*read {
						t.Fatalf("%d shifts after %d with %d of %d slots", shifts, read, found, wanted)
					}
					read += shifts
					found += shifts * each
				}
				if statements > 13 {
					t.Errorf("%d statements for %d slots: %d at first, then %d in a shift", statements, wanted, first, each)
				}
			}
		}
	}
	if shifts := nextShifts(0, 0, math.MaxInt/2); shifts != 1 {
		t.Errorf("%d shifts after none", shifts)
	}
	if shifts := nextShifts(1<<20, 0, math.MaxInt/2); shifts != 2<<20 {
		t.Errorf("%d shifts after very many", shifts)
	}
}
