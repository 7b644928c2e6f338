package report

import (
	"context"
	"fmt"
	"strings"

	"chairside/ent"
	"chairside/internal/civil"
	"chairside/internal/scope"
)

// All are the reports in list order, by group.
var All = []Report{
	daySheet, diaryReport,
	recalls, sources,
	contractPerformance, claims,
	income, agedDebt, treatments,
}

// Group is the heading that a report is listed under.
type Group string

// The groups.
const (
	GroupDiary    Group = "Diary"
	GroupPatients Group = "Patients"
	GroupNHS      Group = "NHS"
	GroupMoney    Group = "Money"
)

// Report is one question about a practice.
type Report struct {
	Name  string // of the command and in the address: "aged-debt"
	Title string
	Group Group
	// Question is the sentence below the title in the list and on the page.
	Question string
	// Doc says what counts and how it is counted, in sentences for whoever reads
	// the report: they stand beneath its tables.
	Doc string
	// Reads are the scopes of what it reads. It is open to the users whose role may
	// hold all of them. A report on money names financials:read, whatever its rows.
	Reads scope.Set
	// Period is what the report is about unless somebody says otherwise.
	Period func(today civil.Date) (from, to civil.Date)
	AsAt   bool // it is as at the last day of the period; the first does not matter
	// Practitioners says that it can be limited to one practitioner. Every report
	// can be limited to a site.
	Practitioners bool
	// Run answers the question for the practice (and site) of the caller in ctx.
	// It only reads, and needs to see one state of the database: see store.DB.View.
	Run func(ctx context.Context, client *ent.Client, f Filter) (*Result, error)
}

// OpenTo reports whether users of a permission level may see the report. One that
// does not name what it reads is open to nobody.
func (r *Report) OpenTo(level scope.Level) bool {
	return len(r.Reads) > 0 && level.MayHold().AllowsAll(r.Reads)
}

// Result is the answer, ready to be drawn in every format.
type Result struct {
	Summary  []Figure  // what to see first, a few numbers
	Sections []Section // the first one is the report as CSV
}

// Figure is a number with a name.
type Figure struct {
	Key   string // in JSON, snake_case
	Label string
	Kind  Kind
	Value any    // as Kind says
	Note  string // a few words of explanation, or ""
}

// Section is a table, with a chart of it above. Sections that follow each other
// with the same key, and then the same columns, are one table in CSV and JSON.
type Section struct {
	Key     string // in JSON, snake_case
	Title   string
	Note    string // a sentence under the title, or ""
	Columns []Column
	Rows    [][]any // a value for each column, as its Kind says; nil for none
	Total   []any   // like a row, or nil where there is no sum
	Chart   *Chart  // nil for none
	Empty   string  // what it means that there are no rows, and what to do
}

// Column is a column of a section.
type Column struct {
	Key   string // in JSON and CSV, snake_case
	Title string // on the page and on the terminal
	Kind  Kind
	Minor bool // left out on a terminal or page that is too narrow for all columns
	Spare bool // left out on a terminal that is too narrow even without those
	// Group says that rows stand together by this column: on a page it is a line
	// above those that share it.
	Group bool
}

// Kind is what a value is, which decides how it is written.
type Kind int

// The kinds, and the Go types of their values.
const (
	Text    Kind = iota // string
	Count               // int
	Minutes             // int; shown as hours and minutes, in CSV and JSON as a number of minutes
	Money               // decimal.Decimal
	Units               // decimal.Decimal: units of dental or orthodontic activity
	Percent             // decimal.Decimal: 12.50 is 12.5 %
	Date                // civil.Date
	Month               // civil.Date, any day of the month; shown as "Apr 2026", in CSV and JSON as 2026-04
	ID                  // int64: the number of a patient or an invoice, never added up
	Clock               // time.Time in the practice's zone; shown as 09:30, in CSV and JSON with date and offset
)

// UnknownError is returned by Find.
type UnknownError struct{ Name string }

// Error names what there is.
func (e UnknownError) Error() string {
	return fmt.Sprintf("there is no report %q; there are: %s", e.Name, Names())
}

// Names are those of all reports.
func Names() string {
	var names []string
	for _, r := range All {
		names = append(names, r.Name)
	}
	return strings.Join(names, ", ")
}

// Find gives the report of a name, or an UnknownError.
func Find(name string) (*Report, error) {
	for i := range All {
		if All[i].Name == name {
			return &All[i], nil
		}
	}
	return nil, UnknownError{name}
}
