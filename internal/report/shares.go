package report

import (
	"cmp"
	"slices"

	"chairside/internal/decimal"
)

// sharesAddUp is the part of a definition that says how shares are rounded.
const sharesAddUp = "Shares are rounded to two decimals by the largest remainder method, so that they add up to 100%."

// shares returns the parts as percentages of their sum, which add up to exactly 100%: they are
// rounded by the largest remainder method: each is rounded down, and the missing hundredths go one
// each to the largest remainders, the first in the table of equal ones. If the sum is 0 all are
// nil, empty cells.
func shares(parts []int64) []any {
	all, whole := make([]any, len(parts)), int64(0)
	for _, part := range parts {
		whole += part
	}
	if whole == 0 {
		return all
	}
	remainders, order, missing := make([]int64, len(parts)), make([]int, len(parts)), int64(100_00)
	for i, part := range parts {
		var share int64
		share, remainders[i] = floorShare(part, whole)
		all[i], order[i] = decimal.Decimal(share), i
		missing -= share
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(remainders[b], remainders[a]) })
	for _, i := range order[:missing] { // below len(order), because each remainder is below 1
		all[i] = all[i].(decimal.Decimal) + 1
	}
	return all
}

// floorShare returns part as a percentage of whole, rounded down to two decimals, and the
// remainder of the division, which is not negative.
func floorShare(part, whole int64) (share, remainder int64) {
	if whole < 0 { // the same share
		part, whole = -part, -whole
	}
	share, remainder = part*100_00/whole, part*100_00%whole
	if remainder < 0 {
		share, remainder = share-1, remainder+whole
	}
	return share, remainder
}
