package floor

import (
	"embed"
	"regexp"
	"strings"
)

// reportFiles has the hand-written SQL of each report.
//
//go:embed reports/*.sql
var reportFiles embed.FS

// ReportQuery is a statement that returns the tables of a report, written by hand for
// PostgreSQL. Its parameters are @practice, @from, @to and @now; the time zone of its session is
// the practice's. Its first column, "table", says which of the report's tables a row belongs to,
// and its other columns have the names of theirs. Columns that the table does not have are
// ignored, so that one statement can add up several tables with GROUPING SETS.
type ReportQuery struct {
	Text string
	// NotSelected are the columns of the report that the statement leaves out.
	NotSelected []string
}

// notSelected finds the comments that name such a column, with the reason.
var notSelected = regexp.MustCompile(`(?m)^-- Not selected: ([a-z_]+), `)

// Report returns the hand-written statement of a report.
func Report(name string) (ReportQuery, error) {
	text, err := reportFiles.ReadFile("reports/" + name + ".sql")
	q := ReportQuery{Text: string(text)}
	for _, found := range notSelected.FindAllStringSubmatch(q.Text, -1) {
		q.NotSelected = append(q.NotSelected, found[1])
	}
	return q, err
}

// Reports returns the names of the reports with a hand-written statement.
func Reports() (names []string, err error) {
	files, err := reportFiles.ReadDir("reports")
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".sql"))
	}
	return names, err
}
