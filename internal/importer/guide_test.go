package importer

import (
	"strings"
	"testing"
)

// The help describes every member of a mapping.
func TestGuideNamesEveryMember(t *testing.T) {
	t.Parallel()
	for _, name := range append([]string{
		"practice", "loose_ids", "encoding", "delimiter", "dates", "times", "time_zone", "decimal_mark", "nulls",
		"file", "entity", "header", "id", "only", "columns", "constants",
	}, columnOptions...) {
		if !strings.Contains(Guide, "`"+name+"`") {
			t.Errorf("there is no %s", name)
		}
	}
}
