package report_test

import (
	"testing"

	"chairside/internal/report"
)

// TestReportsAreGrouped: every report has a group and a question. The reports of a group
// are adjacent, so that each heading is shown once.
func TestReportsAreGrouped(t *testing.T) {
	t.Parallel()
	seen := map[report.Group]bool{}
	var last report.Group
	for _, r := range report.All {
		if r.Group == "" || r.Question == "" {
			t.Errorf("%s has no group or question", r.Name)
		}
		if r.Group != last && seen[r.Group] {
			t.Errorf("%s is not beside the other reports of %s", r.Name, r.Group)
		}
		seen[r.Group], last = true, r.Group
	}
}
