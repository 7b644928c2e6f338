package importer

import (
	"strings"
	"testing"
)

// The guide describes every key of a mapping.
func TestGuideNamesEveryKey(t *testing.T) {
	t.Parallel()
	for _, name := range append([]string{
		"practice", "loose_ids", "optional", "encoding", "delimiter", "dates", "times", "time_zone", "decimal_mark", "nulls",
		"file", "entity", "header", "id", "merge_by", "only", "columns", "constants",
	}, columnOptions...) {
		if !strings.Contains(Guide, "`"+name+"`") {
			t.Errorf("the guide does not name %s", name)
		}
	}
}
