package render

import (
	"fmt"
	"io"
	"slices"
	"strings"

	pretty "github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"chairside/internal/report"
)

const (
	proseWidth   = 100 // widest line of running text, in characters
	narrowColumn = 14  // narrowest column of text, in characters
)

// wrap breaks lines between words and removes trailing spaces.
func wrap(s string, width int) string {
	lines := strings.Split(text.WrapSoft(s, width), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// writeTable writes all parts of a report except its charts.
func writeTable(w io.Writer, a *report.Answer, width int) error {
	prose := proseWidth
	if width > 0 {
		prose = min(prose, width)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n", a.Title, wrap(report.Printable(a.Practice)+" · "+a.Scope(), prose))
	if len(a.Figures()) > 0 {
		b.WriteString("\n" + figures(a) + "\n")
	}
	if a.Before != nil {
		b.WriteString(wrap("Compared with the period before: "+a.NameBefore(), prose) + "\n")
	}
	for i := range a.Sections {
		s := &a.Sections[i]
		fmt.Fprintf(&b, "\n%s\n", s.Title)
		if s.Note != "" {
			b.WriteString(wrap(s.Note, prose) + "\n")
		}
		if len(s.Rows) == 0 {
			b.WriteString(wrap(s.Empty, prose) + "\n")
			continue
		}
		draw(&b, a, s, width)
	}
	if len(a.Definitions) > 0 {
		b.WriteString("\n" + Definitions(a.Report, prose))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Definitions lists the definitions of a report with their sources, in lines of a width.
func Definitions(r *report.Report, width int) string {
	var b strings.Builder
	b.WriteString("Definitions\n")
	for _, d := range r.Definitions {
		b.WriteString(wrap("• "+d.Term+": "+d.Meaning, width) + "\n")
		if d.Source != "" {
			b.WriteString(wrap("Source: "+d.Source, width) + "\n")
		}
	}
	return b.String()
}

// figures formats the summary, one line per figure.
func figures(a *report.Answer) string {
	t := pretty.NewWriter()
	t.SetStyle(pretty.StyleDefault)
	t.Style().Options = pretty.OptionsNoBordersAndSeparators
	t.Style().Box.PaddingLeft = ""
	right := []pretty.ColumnConfig{{Number: 2, Align: text.AlignRight}}
	if a.Before != nil {
		right = append(right, pretty.ColumnConfig{Number: 3, Align: text.AlignRight})
	}
	t.SetColumnConfigs(right)
	for _, f := range a.Figures() {
		row := pretty.Row{f.Label, a.Locale.Format(f.Kind, f.Value)}
		if a.Before != nil {
			before := a.FigureBefore(f)
			row = append(row, a.Locale.Format(f.Kind, before)+" before", a.Locale.Change(f.Kind, f.Value, before))
		}
		t.AppendRow(append(row, f.Note))
	}
	t.SuppressTrailingSpaces()
	return t.Render()
}

// draw writes a table. If it is too wide, draw hides the less important columns and then
// wraps headings and text.
func draw(b *strings.Builder, a *report.Answer, s *report.Section, width int) {
	feet := totals(a, s)
	columns, hidden := measure(a.Locale, s, feet), []string(nil)
	if width > 0 {
		columns, hidden = fit(columns, width)
		squeeze(columns, width)
	}
	t := pretty.NewWriter()
	t.SetStyle(pretty.StyleLight)
	t.Style().Format.Header, t.Style().Format.Footer = text.FormatDefault, text.FormatDefault
	t.SuppressTrailingSpaces()
	var head pretty.Row
	var configs []pretty.ColumnConfig
	for i, c := range columns {
		head = append(head, c.Title)
		config := pretty.ColumnConfig{Number: i + 1, WidthMax: c.width, WidthMaxEnforcer: wrap}
		if c.Kind.Numeric() {
			config.Align, config.AlignHeader, config.AlignFooter = text.AlignRight, text.AlignRight, text.AlignRight
		}
		configs = append(configs, config)
	}
	t.SetColumnConfigs(configs)
	t.AppendHeader(head)
	for _, row := range s.Rows {
		var cells pretty.Row
		for _, c := range columns {
			cells = append(cells, a.Locale.Format(c.Kind, row[c.index]))
		}
		t.AppendRow(cells)
	}
	for _, line := range feet {
		var cells pretty.Row
		for _, c := range columns {
			cells = append(cells, line[c.index])
		}
		t.AppendFooter(cells)
	}
	b.WriteString(t.Render() + "\n")
	if len(hidden) > 0 {
		b.WriteString(wrap("Hidden columns: "+strings.Join(hidden, ", ")+". Widen the terminal to show them.", min(width, proseWidth)) + "\n")
	}
}

// totals formats the lines below a table: the total and, in a comparison, that of the period
// before and the change. Columns without a total stay blank.
func totals(a *report.Answer, s *report.Section) (lines [][]string) {
	if s.Total == nil {
		return nil
	}
	lines = [][]string{make([]string, len(s.Total))}
	if a.Before != nil {
		lines = append(lines, make([]string, len(s.Total)), make([]string, len(s.Total)))
	}
	for i, v := range s.Total {
		kind := s.Columns[i].Kind
		texts := []string{a.Locale.Format(kind, v), "Period before", "Change"}
		switch v.(type) {
		case nil:
			continue
		case string:
		default:
			if a.Before != nil {
				before := a.TotalBefore(s, i)
				texts = []string{texts[0], a.Locale.Format(kind, before), a.Locale.Change(kind, v, before)}
			}
		}
		for n := range lines {
			lines[n][i] = texts[n]
		}
	}
	return lines
}

// drawn is a column of a terminal table. Widths are in characters.
type drawn struct {
	report.Column
	index    int // of its values in a row
	width    int // current width; at first that of the widest value or the heading
	minWidth int // that of the widest value that must not be wrapped, or the longest word of the heading
}

// measure returns the columns with the widths of their longest cells. A text column may be
// narrower, but not narrower than a word of its title.
func measure(l report.Locale, s *report.Section, feet [][]string) []drawn {
	var columns []drawn
	for i, c := range s.Columns {
		if c.Hidden {
			continue
		}
		d := drawn{Column: c, index: i}
		for _, row := range s.Rows {
			d.width = max(d.width, text.StringWidth(l.Format(c.Kind, row[i])))
		}
		for _, line := range feet {
			d.width = max(d.width, text.StringWidth(line[i]))
		}
		d.minWidth = d.width
		if c.Kind == report.Text {
			d.minWidth = min(d.minWidth, narrowColumn)
		}
		for _, word := range strings.Fields(c.Title) {
			d.minWidth = max(d.minWidth, text.StringWidth(word))
		}
		d.width = max(d.width, text.StringWidth(c.Title))
		columns = append(columns, d)
	}
	return columns
}

// tableWidth returns the width of a table whose columns have the widths that of returns.
func tableWidth(columns []drawn, of func(drawn) int) int {
	const ruleWidth = 3 // a vertical rule and the spaces beside it
	n := 1
	for _, c := range columns {
		n += of(c) + ruleWidth
	}
	return n
}

// fit hides columns until the others fit when their text is wrapped: first the Minor
// columns, then the Spare ones, then any others, each time the last one. It keeps at
// least two columns.
func fit(columns []drawn, width int) (kept []drawn, hidden []string) {
	for len(columns) > 2 && tableWidth(columns, func(c drawn) int { return c.minWidth }) > width {
		last := len(columns) - 1
		for i, c := range columns {
			if c.Minor || c.Spare && !columns[last].Minor {
				last = i
			}
		}
		hidden = append(hidden, columns[last].Title)
		columns = slices.Delete(columns, last, last+1)
	}
	return columns, hidden
}

// squeeze narrows the columns, always the one that is furthest above its minimum, until the
// table fits or all columns have their minimum width.
func squeeze(columns []drawn, width int) {
	for tableWidth(columns, func(c drawn) int { return c.width }) > width {
		widest := -1
		for i, c := range columns {
			if c.width > c.minWidth && (widest < 0 || c.width-c.minWidth > columns[widest].width-columns[widest].minWidth) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		columns[widest].width--
	}
}
