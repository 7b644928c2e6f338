package render

import (
	"cmp"
	_ "embed"
	"html/template"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"chairside/internal/report"
)

// Style is the style sheet of Fragment, for a page on screen and on paper.
//
//go:embed report.css
var Style string

//go:embed report.html
var markup string

// pages holds the templates "page" and "body" of report.html.
var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"text":   report.Kind.Format,
	"cell":   func(s report.Section, i int, v any) string { return s.Columns[i].Kind.Format(v) },
	"shape":  shape,
	"foot":   foot,
	"class":  class,
	"minor":  minorTitles,
	"group":  groupColumn,
	"groups": groups,
	"shown":  shownRows,
	"hidden": hiddenRows,
	"count":  func(n int) string { return report.Count.Format(n) },
	"svg":    func(c *report.Chart) (template.HTML, error) { return chart{c}.svg() },
	"cut":    func(c *report.Chart) int { return chart{c}.hiddenLabels() },
	"blank":  func(c *report.Chart) bool { return chart{c}.blank() },
	"print":  report.Printable,
	"style":  func() template.CSS { return template.CSS(Style) }, //nolint:gosec // our own file
}).Parse(markup))

// page is the data of the templates.
type page struct {
	*report.Answer
	MaxRows int // rows shown per table, 0 for all
}

// writeHTML writes a self-contained page.
func writeHTML(w io.Writer, a *report.Answer) error {
	return pages.ExecuteTemplate(w, "page", page{a, 0})
}

// Fragment returns the report without its heading. The page around it has a heading of its
// own, puts the fragment into an element of the class "report", and uses Style. Tables
// show at most maxRows rows, or all if it is 0. The fragment has no scripts and no style
// attributes, which the page's content security policy may forbid.
func Fragment(a *report.Answer, maxRows int) (template.HTML, error) {
	var b strings.Builder
	if err := pages.ExecuteTemplate(&b, "body", page{a, maxRows}); err != nil {
		return "", err
	}
	return template.HTML(b.String()), nil //nolint:gosec // made by the template
}

// shownRows returns the first maxRows rows of a section.
func shownRows(s report.Section, maxRows int) [][]any {
	return s.Rows[:len(s.Rows)-hiddenRows(s, maxRows)]
}

// hiddenRows returns the number of rows after the first maxRows.
func hiddenRows(s report.Section, maxRows int) int {
	if maxRows == 0 {
		return 0
	}
	return max(0, len(s.Rows)-maxRows)
}

const (
	longWord = 30 // letters; longer words may be broken
	longText = 30 // letters; longer texts get a wider column
)

// shape returns the CSS classes for a cell of text: " unbroken" if a very long word may be
// broken, " word" if the column may be narrow, " long" if it needs to be wide.
func shape(v any) (class string) {
	s, isText := v.(string)
	if !isText {
		return ""
	}
	words, longest := strings.Fields(s), 0
	for _, word := range words {
		longest = max(longest, utf8.RuneCountInString(word))
	}
	switch {
	case longest > longWord:
		class = " unbroken"
	case len(words) < 2:
		class = " word"
	}
	if utf8.RuneCountInString(s) > longText {
		class += " long"
	}
	return class
}

// groupColumn returns the index of the column that rows are grouped by, -1 for none.
func groupColumn(s report.Section) int {
	return slices.IndexFunc(s.Columns, func(c report.Column) bool { return c.Group })
}

// foot formats a column of the total line. The group column is not shown as a column, so
// the next column shows its text ("All practitioners").
func foot(s report.Section, column int) string {
	if group := groupColumn(s); group >= 0 && column == group+1 {
		return totalText(&s, group)
	}
	return totalText(&s, column)
}

// rowGroup is a group of rows under a heading.
type rowGroup struct {
	Name string // the heading, "" for none
	Rows [][]any
}

// groups groups consecutive rows with the same value in a column. If the column is -1, all
// rows are one group without a heading.
func groups(column int, rows [][]any) (all []rowGroup) {
	if column < 0 {
		return []rowGroup{{"", rows}}
	}
	for _, row := range rows {
		name := cmp.Or(report.Text.Format(row[column]), report.Text.Format(nil)) // an empty name would look like more rows of the group above
		if n := len(all); n == 0 || all[n-1].Name != name {
			all = append(all, rowGroup{Name: name})
		}
		last := &all[len(all)-1]
		last.Rows = append(last.Rows, row)
	}
	return all
}

// crowded is the number of columns above which tables hide their Minor columns on narrow
// pages and on paper.
const crowded = 8

// hides reports whether narrow pages and paper hide a column. They always hide Minor IDs,
// which are for programs.
func hides(s report.Section, c report.Column) bool {
	return c.Minor && (len(s.Columns) > crowded || c.Kind == report.ID)
}

// class returns the CSS classes for the cells of a column.
func class(s report.Section, i int) string {
	c := s.Columns[i]
	class := "text"
	switch {
	case c.Kind.Numeric():
		class = "number"
	case c.Kind != report.Text:
		class = "day"
	}
	if hides(s, c) {
		class += " minor"
	}
	return class
}

// minorTitles lists the columns that narrow pages hide.
func minorTitles(s report.Section) string {
	var titles []string
	for _, c := range s.Columns {
		if hides(s, c) {
			titles = append(titles, c.Title)
		}
	}
	return strings.Join(titles, ", ")
}
