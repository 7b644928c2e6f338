package report_test

import (
	"os"
	"slices"
	"strings"
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

// TestGuideListsReports: the guide's table has a row for each report, and no other.
func TestGuideListsReports(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../guides/reports.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(guide), "|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var listed, want []string
	for line := range strings.Lines(table) {
		listed = append(listed, strings.TrimSpace(strings.Split(line, "|")[2]))
	}
	for _, r := range report.All {
		want = append(want, r.Title)
	}
	if !slices.Equal(listed, want) {
		t.Errorf("the guide lists %q, want %q", listed, want)
	}
}
