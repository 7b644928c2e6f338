package report

import (
	"cmp"
	_ "embed"
	"html/template"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Style is the style sheet of Fragment, for a page on screen and on paper.
//
//go:embed report.css
var Style string

//go:embed report.html
var markup string

// The templates "page" and "report". This is the only place beside package web
// that makes HTML: a report on the command line is a page, too.
var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"text":   Kind.text,
	"cell":   func(s Section, i int, v any) string { return s.Columns[i].Kind.text(v) },
	"shape":  shape,
	"foot":   Section.foot,
	"class":  Section.class,
	"minor":  Section.minor,
	"group":  Section.group,
	"groups": groups,
	"shown":  Section.shown,
	"hidden": Section.hidden,
	"count":  func(n int) string { return Count.text(n) },
	"svg":    (*Chart).svg,
	"cut":    (*Chart).cut,
	"blank":  (*Chart).blank,
	"print":  printable,
	"style":  func() template.CSS { return template.CSS(Style) }, //nolint:gosec // our own file
}).Parse(markup))

// page is an answer with at most so many rows in a table, 0 for all of them.
type page struct {
	*Answer
	Most int
}

// writeHTML writes a whole page that needs nothing beside itself.
func (a *Answer) writeHTML(w io.Writer) error { return pages.ExecuteTemplate(w, "page", page{a, 0}) }

// Fragment is the report without its heading, for a page that has its own, puts
// it into an element of the class "report", and uses Style. Tables have at most
// so many rows, all of them for 0. It holds no scripts and no style attributes.
func (a *Answer) Fragment(most int) (template.HTML, error) {
	var b strings.Builder
	if err := pages.ExecuteTemplate(&b, "body", page{a, most}); err != nil {
		return "", err
	}
	return template.HTML(b.String()), nil //nolint:gosec // made by the template
}

// shown are the first rows of a section.
func (s Section) shown(most int) [][]any { return s.Rows[:len(s.Rows)-s.hidden(most)] }

// hidden is the number of rows after those.
func (s Section) hidden(most int) int {
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
func (s Section) group() int {
	return slices.IndexFunc(s.Columns, func(c Column) bool { return c.Group })
}

// foot is the value of a column in the last line. There is no line above it that
// could say whose sum it is: what the column of those lines says stands in the
// one after it.
func (s Section) foot(column int) string {
	if group := s.group(); group >= 0 && column == group+1 {
		return s.sum(group)
	}
	return s.sum(column)
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
		name := cmp.Or(Text.text(row[column]), Text.text(nil)) // a line in any case, or they would seem to belong to those above
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
func (s Section) leavesOut(c Column) bool {
	return c.Minor && (len(s.Columns) > crowded || c.Kind == ID)
}

// class is how the style sheet knows the cells of a column.
func (s Section) class(i int) string {
	c := s.Columns[i]
	class := "text"
	switch {
	case c.Kind.number():
		class = "number"
	case c.Kind != Text:
		class = "day"
	}
	if s.leavesOut(c) {
		class += " minor"
	}
	return class
}

// minor names the columns that narrow pages leave out.
func (s Section) minor() string {
	var titles []string
	for _, c := range s.Columns {
		if s.leavesOut(c) {
			titles = append(titles, c.Title)
		}
	}
	return strings.Join(titles, ", ")
}
