package report

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"chairside/internal/decimal"
)

func TestSharesAddUp(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		parts []int64
		want  string
	}{
		{nil, "[]"},
		{[]int64{0, 0}, "[<nil> <nil>]"},
		{[]int64{5, -5}, "[<nil> <nil>]"}, // a sum of 0 has no shares
		{[]int64{7}, "[100.00]"},
		{[]int64{1, 1, 1}, "[33.34 33.33 33.33]"}, // equal remainders: the first in the table
		{[]int64{1, 2, 0}, "[33.33 66.67 0.00]"},
		{[]int64{1, 1, 1, 1, 1, 1}, "[16.67 16.67 16.67 16.67 16.66 16.66]"},
		{[]int64{-1, 4}, "[-33.33 133.33]"},    // a refund beside a charge: the larger remainder is the refund's
		{[]int64{1, -4}, "[-33.33 133.33]"},    // of a negative sum
		{[]int64{1, 9999_99}, "[0.00 100.00]"}, // too small to be shown
	} {
		if got := fmt.Sprint(shares(c.parts)); got != c.want {
			t.Errorf("%d: %s, want %s", c.parts, got, c.want)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		parts, whole := make([]int64, 1+random.IntN(20)), int64(0)
		for i := range parts {
			parts[i] = random.Int64N(1_000_000_00) - 10_000_00
			whole += parts[i]
		}
		sum := int64(0)
		for i, share := range shares(parts) {
			if whole == 0 {
				break
			}
			got := int64(share.(decimal.Decimal))
			sum += got
			if off := got*whole - parts[i]*100_00; off <= -abs(whole) || abs(whole) <= off {
				t.Fatalf("%d: share %d is off by a hundredth of a percent or more", parts, got)
			}
		}
		if whole != 0 && sum != 100_00 {
			t.Fatalf("%d: the shares add up to %d", parts, sum)
		}
	}
}

func abs(n int64) int64 { return max(n, -n) }
