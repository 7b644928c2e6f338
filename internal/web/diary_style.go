package web

import (
	"fmt"
	"strings"
	"sync"
)

// positions returns the classes that place entries on a timeline: the policy of pages forbids
// style attributes.
var positions = sync.OnceValue(func() string {
	var b strings.Builder
	for hours := 1; hours <= longestAxis; hours++ {
		fmt.Fprintf(&b, ".hours-%d{--slots:%d}\n", hours, hours*slotsPerHour)
	}
	for row := 1; row <= longestAxis*slotsPerHour; row++ {
		// A line is as high as 4/3 rows, the border and the gap together as 1/3 of a row.
		lines := max(1, (3*row-1)/4)
		fmt.Fprintf(&b, ".at-%d{grid-row-start:%d}\n.for-%d{grid-row-end:span %d;--lines:%d}\n", row, row, row, row, lines)
	}
	for lane := 1; lane <= mostLanes; lane++ {
		fmt.Fprintf(&b, ".lanes-%d{--lanes:%d}\n.lane-%d{grid-column:%d}\n", lane, lane, lane, lane)
	}
	return b.String()
})
