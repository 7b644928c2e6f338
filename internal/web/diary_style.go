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
		fmt.Fprintf(&b, ".at-%d{grid-row-start:%d}\n.for-%d{grid-row-end:span %d;--lines:%d}\n.fine .for-%d{--lines:%d}\n", row, row, row, row, lines(row, false), row, lines(row, true))
	}
	for lane := 1; lane <= mostLanes; lane++ {
		fmt.Fprintf(&b, ".lanes-%d{--lanes:%d}\n.lane-%d{grid-column:%d}\n", lane, lane, lane, lane)
	}
	return b.String()
})

// lines returns how many lines of text fit into an entry. A line is 16 pixels high, and the borders
// and the gap together 4. A row has 12 pixels, or 24 on a fine axis.
func lines(rows int, fine bool) int {
	height := 12 * rows
	if fine {
		height = 24 * rows
	}
	return max(1, (height-4)/16)
}
