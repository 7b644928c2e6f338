package render

import (
	"cmp"
	_ "embed"
	"fmt"
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
	"shape": shape,
	"class": class,
	"minor": minorTitles,
	"group": groupColumn,
	"print": report.Printable,
	"style": func() template.CSS { return template.CSS(Style) }, //nolint:gosec // our own file
}).Parse(markup))

// Links holds the addresses that a page of package web links to beside a report's tables. A
// page without Links shows only the tables.
type Links struct {
	Sort   func(column string) string         // the same page, sorted by a column or "-column"
	Table  func(key string) string            // a table as CSV
	Behind func(records report.Behind) string // the records behind a figure
}

// page is the data of the templates.
type page struct {
	*report.Answer
	MaxRows int // rows shown per table, 0 for all
	Links   *Links
}

// writeHTML writes a self-contained page.
func writeHTML(w io.Writer, a *report.Answer) error {
	return pages.ExecuteTemplate(w, "page", &page{Answer: a})
}

// Fragment returns the report without its heading. The page around it has a heading of its
// own, puts the fragment into an element of the class "report", and uses Style. Tables
// show at most maxRows rows, or all if it is 0. The fragment has no scripts and no style
// attributes, which the page's content security policy may forbid.
func Fragment(a *report.Answer, maxRows int, links *Links) (template.HTML, error) {
	var b strings.Builder
	if err := pages.ExecuteTemplate(&b, "body", &page{a, maxRows, links}); err != nil {
		return "", err
	}
	return template.HTML(b.String()), nil //nolint:gosec // made by the template
}

// DefinitionList returns a report's definitions with their sources, for a page that uses Style
// and has an element of the class "report" around it.
func DefinitionList(r *report.Report) (template.HTML, error) {
	var b strings.Builder
	if err := pages.ExecuteTemplate(&b, "definitions", r.Definitions); err != nil {
		return "", err
	}
	return template.HTML(b.String()), nil //nolint:gosec // made by the template
}

// Tables returns the sections; those that continue a table have no links of their own.
func (p *page) Tables() (all []*table) {
	for i := range p.Sections {
		s := &p.Sections[i]
		t := &table{Section: s, page: p, ID: "table-" + s.Key, First: i == 0 || p.Sections[i-1].Key != s.Key}
		if !t.First {
			t.ID += fmt.Sprintf("-%d", i)
		}
		all = append(all, t)
	}
	return all
}

// Text formats a value.
func (p *page) Text(k report.Kind, v any) string { return p.Locale.Format(k, v) }

// FigureLink is the address of the records behind a figure, "" for none.
func (p *page) FigureLink(f report.Figure) string { return p.link(p.BehindFigure(f)) }

// FigureChange is the change of a figure since the period before.
func (p *page) FigureChange(f report.Figure) string {
	return p.Locale.Change(f.Kind, f.Value, p.FigureBefore(f))
}

func (p *page) link(b *report.Behind) string {
	if b == nil || p.Links == nil {
		return ""
	}
	return p.Links.Behind(*b)
}

// table is a section on a page.
type table struct {
	*report.Section
	page  *page
	ID    string // of its heading
	First bool   // it does not continue the table before
}

// File is the address of the table as CSV, "" for none.
func (t *table) File() string {
	if t.page.Links == nil || !t.First {
		return ""
	}
	return t.page.Links.Table(t.Key)
}

// Drawing is the table's chart.
func (t *table) Drawing() (template.HTML, error) { return t.chart().svg() }

// Charted is the number of rows that the chart shows if it does not show all, 0 if it does.
func (t *table) Charted() int {
	if t.chart().hiddenLabels() == 0 {
		return 0
	}
	return len(t.Chart.Labels) - t.chart().hiddenLabels()
}

// OnPaper is the number of labels that the chart shows on paper if it shows more on screen, or else 0.
func (t *table) OnPaper() int {
	if !t.chart().tall() {
		return 0
	}
	return t.chart().paperLabels()
}

func (t *table) chart() chart { return chart{t.Chart, t.page.Locale} }

// Heading is the heading of a column.
type Heading struct {
	Title, Class string
	Link         string // sorts by the column; "" for none
	Sorted       string // "ascending", "descending" or "" for neither
}

// Headings returns the headings of the columns that pages show.
func (t *table) Headings() (all []Heading) {
	for _, i := range t.Shown() {
		c := t.Columns[i]
		h := Heading{Title: c.Title, Class: class(t.Section, i)}
		key, descending := strings.CutPrefix(t.page.Filter.Sort, "-")
		next := c.Key
		switch {
		case c.Key == key && descending:
			h.Sorted = "descending"
		case c.Key == key:
			h.Sorted, next = "ascending", "-"+c.Key
		case c.Kind.Numeric() && c.Kind != report.ID:
			next = "-" + c.Key // the largest first
		}
		if t.page.Links != nil {
			h.Link = t.page.Links.Sort(next) + "#" + t.ID
		}
		all = append(all, h)
	}
	return all
}

// Shown returns the indices of the columns that pages show in rows: not the one that rows are
// grouped by, and no IDs for programs.
func (t *table) Shown() (all []int) {
	group := groupColumn(t.Section)
	for i, c := range t.Columns {
		if i != group && !c.Hidden {
			all = append(all, i)
		}
	}
	return all
}

// ShownRows returns the first rows, at most those that the page shows.
func (t *table) ShownRows() [][]any { return t.Rows[:len(t.Rows)-t.left()] }

// LeftOver is the number of rows that the page does not show, "" for none.
func (t *table) LeftOver() string {
	if t.left() == 0 {
		return ""
	}
	return t.page.Locale.Format(report.Count, t.left())
}

func (t *table) left() int {
	if t.page.MaxRows == 0 {
		return 0
	}
	return max(0, len(t.Rows)-t.page.MaxRows)
}

// Cell is a value in a row or a total.
type Cell struct{ Text, Class, Link string }

// Cells returns the cells of a row that pages show.
func (t *table) Cells(row []any) (all []Cell) {
	for _, i := range t.Shown() {
		all = append(all, Cell{
			t.page.Locale.Format(t.Columns[i].Kind, row[i]), class(t.Section, i) + shape(row[i]),
			t.page.link(t.page.BehindCell(t.Section, row, i)),
		})
	}
	return all
}

// Feet returns the lines of totals. The group column is not shown as a column, so the first
// column shows its text ("All practitioners").
func (t *table) Feet() (lines [][]Cell) {
	group, shown := groupColumn(t.Section), t.Shown()
	for n, line := range totals(t.page.Answer, t.Section) {
		var cells []Cell
		for _, i := range shown {
			c := Cell{Text: line[i], Class: class(t.Section, i)}
			if i == shown[0] && group >= 0 {
				c.Text = line[group]
			}
			if n == 0 {
				c.Link = t.page.link(t.page.BehindTotal(t.Section, i))
			}
			cells = append(cells, c)
		}
		lines = append(lines, cells)
	}
	return lines
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
func groupColumn(s *report.Section) int {
	return slices.IndexFunc(s.Columns, func(c report.Column) bool { return c.Group })
}

// rowGroup is a group of rows under a heading.
type rowGroup struct {
	Name string // the heading, "" for none
	Rows [][]any
}

// Groups groups consecutive rows with the same value in the group column. Without one, all
// rows are one group without a heading.
func (t *table) Groups() (all []rowGroup) {
	column, rows := groupColumn(t.Section), t.ShownRows()
	if column < 0 {
		return []rowGroup{{"", rows}}
	}
	for _, row := range rows {
		name := cmp.Or(t.page.Locale.Format(report.Text, row[column]), t.page.Locale.Format(report.Text, nil)) // an empty name would look like more rows of the group above
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
func hides(s *report.Section, c report.Column) bool {
	n := 0
	for _, other := range s.Columns {
		if !other.Hidden {
			n++
		}
	}
	return c.Minor && (n > crowded || c.Kind == report.ID)
}

// class returns the CSS classes for the cells of a column.
func class(s *report.Section, i int) string {
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
func minorTitles(t *table) string {
	var titles []string
	for _, i := range t.Shown() {
		if c := t.Columns[i]; hides(t.Section, c) {
			titles = append(titles, c.Title)
		}
	}
	return strings.Join(titles, ", ")
}
