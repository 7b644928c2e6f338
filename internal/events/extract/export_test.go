package extract

import "testing"

// LimitGroups gives row groups other limits until the test ends.
func LimitGroups(t *testing.T, rows, bytes int) {
	beforeRows, beforeBytes := groupRows, groupBytes
	groupRows, groupBytes = rows, bytes
	t.Cleanup(func() { groupRows, groupBytes = beforeRows, beforeBytes })
}
