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

// pages are the templates "page" and "body". Only this package and package web make HTML:
// a report on the command line is a page, too.
var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"text":   report.Kind.Format,
	"cell":   func(s report.Section, i int, v any) string { return s.Columns[i].Kind.Format(v) },
	"shape":  shape,
	"foot":   foot,
	"class":  class,
	"minor":  minor,
	"group":  group,
	"groups": groups,
	"shown":  shown,
	"hidden": hidden,
	"count":  func(n int) string { return report.Count.Format(n) },
	"svg":    func(c *report.Chart) (template.HTML, error) { return chart{c}.svg() },
	"cut":    func(c *report.Chart) int { return chart{c}.cut() },
	"blank":  func(c *report.Chart) bool { return chart{c}.blank() },
	"print":  report.Printable,
	"style":  func() template.CSS { return template.CSS(Style) }, //nolint:gosec // our own file
}).Parse(markup))

// page is an answer with at most so many rows in a table, 0 for all of them.
type page struct {
	*report.Answer
	Most int
}

// writeHTML writes a whole page that needs nothing beside itself.
func writeHTML(w io.Writer, a *report.Answer) error {
	return pages.ExecuteTemplate(w, "page", page{a, 0})
}

// Fragment returns the report without its heading, for a page that has its own, puts
// it into an element of the class "report", and uses Style. Tables have at most
// so many rows, all of them for 0. It holds no scripts and no style attributes.
func Fragment(a *report.Answer, most int) (template.HTML, error) {
	var b strings.Builder
	if err := pages.ExecuteTemplate(&b, "body", page{a, most}); err != nil {
		return "", err
	}
	return template.HTML(b.String()), nil //nolint:gosec // made by the template
}

// shown are the first rows of a section.
func shown(s report.Section, most int) [][]any { return s.Rows[:len(s.Rows)-hidden(s, most)] }

// hidden is the number of rows after those.
func hidden(s report.Section, most int) int {
	if most == 0 {
		return 0
	}
	return max(0, len(s.Rows)-most)
}

// In letters: longer words are broken, and longer texts get room.
const (
	longWord = 30
	longName = 30
)

// shape is how the style sheet knows a cell of text by what is in it: a sentence
// needs a wider column than a name, a name with a very long word must be broken
// inside of it, and where there is but a short word a column may be narrow.
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
	if utf8.RuneCountInString(s) > longName {
		class += " long"
	}
	return class
}

// group is the column whose values are lines above the rows, -1 for none.
func group(s report.Section) int {
	return slices.IndexFunc(s.Columns, func(c report.Column) bool { return c.Group })
}

// foot is the value of a column in the last line. There is no line above it that
// could say whose sum it is: what the column of those lines says stands in the
// one after it.
func foot(s report.Section, column int) string {
	if group := group(s); group >= 0 && column == group+1 {
		return sum(&s, group)
	}
	return sum(&s, column)
}

// rowGroup is rows under one line.
type rowGroup struct {
	Name string // "" for no line
	Rows [][]any
}

// groups puts rows that follow each other with the same value in a column under
// a line. All rows are together where the column is -1.
func groups(column int, rows [][]any) (all []rowGroup) {
	if column < 0 {
		return []rowGroup{{"", rows}}
	}
	for _, row := range rows {
		name := cmp.Or(report.Text.Format(row[column]), report.Text.Format(nil)) // a line in any case, or they would seem to belong to those above
		if n := len(all); n == 0 || all[n-1].Name != name {
			all = append(all, rowGroup{Name: name})
		}
		last := &all[len(all)-1]
		last.Rows = append(last.Rows, row)
	}
	return all
}

// crowded tables leave out their minor columns on narrow pages and on paper.
const crowded = 8 // columns

// leavesOut reports whether narrow pages leave a column out. What only programs
// need, the ids beside names, they leave out always.
func leavesOut(s report.Section, c report.Column) bool {
	return c.Minor && (len(s.Columns) > crowded || c.Kind == report.ID)
}

// class is how the style sheet knows the cells of a column.
func class(s report.Section, i int) string {
	c := s.Columns[i]
	class := "text"
	switch {
	case c.Kind.Numeric():
		class = "number"
	case c.Kind != report.Text:
		class = "day"
	}
	if leavesOut(s, c) {
		class += " minor"
	}
	return class
}

// minor names the columns that narrow pages leave out.
func minor(s report.Section) string {
	var titles []string
	for _, c := range s.Columns {
		if leavesOut(s, c) {
			titles = append(titles, c.Title)
		}
	}
	return strings.Join(titles, ", ")
}
