package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"chairside/ent"
	"chairside/internal/civil"
	"chairside/internal/scope"
)

// All lists the reports in the order of the list page. Each report adds itself with register.
var All []Report

// register adds a report to All.
func register(r Report) Report {
	at, _ := slices.BinarySearchFunc(All, r, func(a, b Report) int {
		return cmp.Or(cmp.Compare(slices.Index(groups, a.Group), slices.Index(groups, b.Group)), cmp.Compare(a.Place, b.Place), strings.Compare(a.Title, b.Title))
	})
	All = slices.Insert(All, at, r)
	return r
}

// Group is the heading under which a report is listed.
type Group string

// The groups.
const (
	GroupDiary    Group = "Diary"
	GroupPatients Group = "Patients"
	GroupNHS      Group = "NHS"
	GroupMoney    Group = "Money"
)

// groups are the groups in the order of the list page.
var groups = []Group{GroupDiary, GroupPatients, GroupNHS, GroupMoney}

// Report is one question about a practice.
type Report struct {
	Name  string // on the command line and in URLs: "aged-debt"
	Title string
	Group Group
	Place int // among the reports of its group, which are in this order; equal ones are in order of their titles
	// Question is the sentence below the title, in the list and on the page.
	Question string
	// Definitions explain what the report counts. Readers see them below its tables.
	Definitions []Definition
	// Reads lists the scopes of the data it reads. Users see the report if their role
	// allows all of them. Reports on money include financials:read, whatever they read.
	Reads scope.Set
	// Period returns the default period.
	Period func(today civil.Date) (from, to civil.Date)
	// AsAt marks a report on the state at the end of the period's last day; its first
	// day is ignored.
	AsAt bool
	// Yearly marks an AsAt report that adds up the year so far.
	Yearly bool
	// Practitioners says that the report can be limited to one practitioner. Every
	// report can be limited to a site.
	Practitioners bool
	// Run answers the question for the practice (and site) of the caller in ctx.
	// It only reads. The client must show one snapshot of the database: see store.DB.View.
	Run func(ctx context.Context, client *ent.Client, f Filter) (*Result, error)
	// Layout lays out the report without rows: Run returns the same tables, columns and
	// figures, whatever the data.
	Layout func(f Filter, l Locale) *Result
	// Records are what its figures add up.
	Records Records
}

// Definition says how a report uses a term: what counts, and what does not.
type Definition struct {
	Term, Meaning string
	// Source names the regulation or guidance that the rule comes from; "" for a rule of the
	// program's own.
	Source string
}

// Sources of rules.
const (
	gdsContracts = "NHS (General Dental Services Contracts) Regulations 2005 (S.I. 2005/3361)"
	bsaYear      = "NHSBSA, \"Which financial year will my activity be awarded to?\""
	bsaTwoMonths = "NHSBSA, \"Two Month Rule\" (knowledge base article KA-01820)"
	bsaYearEnd   = "NHSBSA, year-end reconciliation (knowledge base article KA-01672)"
	yearEnd      = "NHS England, guidance on dental contract management arrangements for 2023/24 year-end reconciliation"
)

// OpenTo reports whether users of a permission level may see the report. A report
// without Reads is open to no one.
func (r *Report) OpenTo(level scope.Level) bool {
	return len(r.Reads) > 0 && level.MayHold().AllowsAll(r.Reads)
}

// Result is the content of a report, independent of the output format.
type Result struct {
	Summary  []Figure // a few key numbers, shown first
	Sections []Section
}

// Figure is one number of the summary.
type Figure struct {
	Key   string // its JSON name, in snake_case
	Label string
	Kind  Kind
	Value any    // of the Go type that Kind names; nil if there is none
	Note  string // a few words of explanation, or ""
	// Term is the definition's, if it is not the label.
	Term string
	// Measure is the measure of the report's records that adds up to the figure; "" for the
	// one with the figure's key, if there is one. Where selects the records.
	Measure string
	Where   []Condition
	// Unused says that the practice has nothing that the figure measures. Programs find its
	// key without a value; pages and terminals leave it out.
	Unused bool
}

// Figures returns the figures that pages and terminals show.
func (r *Result) Figures() []Figure {
	return slices.DeleteFunc(slices.Clone(r.Summary), func(f Figure) bool { return f.Unused })
}

// Section is a table with an optional chart above it. Consecutive sections with the
// same key have the same columns and form one table in CSV and JSON.
type Section struct {
	Key     string // its JSON name, in snake_case
	Title   string
	Note    string // a sentence under the title, or ""
	Columns []Column
	Rows    [][]any // one value per column, of the Go type that its Kind names, or nil
	// Keys are the columns that select the records of a row. Without them, its values are not
	// linked to records.
	Keys  []string
	Total []any  // the last line, laid out like a row; nil for no last line
	Chart *Chart // nil for no chart
	Empty string // shown instead of a table without rows: what that means, and what to do
}

// Column is a column of a section.
type Column struct {
	Key   string // its name in JSON and CSV, in snake_case
	Title string // its heading on pages and terminals
	Kind  Kind
	Minor bool // hidden on a terminal or page that is too narrow for all columns
	Spare bool // hidden on a terminal that is still too narrow without the Minor columns
	// Hidden marks an ID that only programs and links use: pages and terminals do not show it.
	Hidden bool
	// Group marks the column by which pages group rows: its value is a heading
	// above the rows that share it.
	Group bool
	// Measure is the measure of the report's records that adds up to the values; "" for the one
	// with the column's key, if there is one, and "-" for none.
	Measure string
}

// Kind is the kind of a value. It decides the format.
type Kind int

// The kinds, and the Go types of their values.
const (
	Text    Kind = iota // string
	Count               // int
	Minutes             // int; shown as hours and minutes (7 h 30 min), in CSV and JSON as minutes (450)
	Money               // decimal.Decimal
	Units               // decimal.Decimal; units of dental or orthodontic activity
	Percent             // decimal.Decimal; 12.50 means 12.50%
	Date                // civil.Date
	Month               // civil.Date, any day of the month; shown as "Apr 2026", in CSV and JSON as 2026-04
	ID                  // int64; the ID of a patient, appointment or practitioner, never added up
	Clock               // time.Time in the practice's zone; shown as 09:30, in CSV and JSON as RFC 3339
)

// UnknownError means that no report has the name.
type UnknownError struct{ Name string }

// Error lists the names that exist.
func (e UnknownError) Error() string {
	return fmt.Sprintf("unknown report %q: must be one of %s", e.Name, Names())
}

// Names returns the names of all reports, separated by commas.
func Names() string {
	var names []string
	for _, r := range All {
		names = append(names, r.Name)
	}
	return strings.Join(names, ", ")
}

// Find returns the report with the name, or an UnknownError.
func Find(name string) (*Report, error) {
	for i := range All {
		if All[i].Name == name {
			return &All[i], nil
		}
	}
	return nil, UnknownError{name}
}
