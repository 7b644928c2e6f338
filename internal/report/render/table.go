package render

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
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
	if len(a.Summary) > 0 {
		b.WriteString("\n" + figures(a.Summary) + "\n")
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
		draw(&b, s, width)
	}
	if len(a.Definitions) > 0 {
		b.WriteString("\nDefinitions\n")
	}
	for _, d := range a.Definitions {
		b.WriteString(wrap(d.Term+": "+d.Meaning, prose) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// figures formats the summary, one line per figure.
func figures(all []report.Figure) string {
	t := table.NewWriter()
	t.SetStyle(table.StyleDefault)
	t.Style().Options = table.OptionsNoBordersAndSeparators
	t.Style().Box.PaddingLeft = ""
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 2, Align: text.AlignRight}})
	for _, f := range all {
		t.AppendRow(table.Row{f.Label, f.Kind.Format(f.Value), f.Note})
	}
	t.SuppressTrailingSpaces()
	return t.Render()
}

// draw writes a table. If it is too wide, draw hides the less important columns and then
// wraps headings and text.
func draw(b *strings.Builder, s *report.Section, width int) {
	columns, hidden := measure(s), []string(nil)
	if width > 0 {
		columns, hidden = fit(columns, width)
		squeeze(columns, width)
	}
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header, t.Style().Format.Footer = text.FormatDefault, text.FormatDefault
	t.SuppressTrailingSpaces()
	var head, foot table.Row
	var configs []table.ColumnConfig
	for i, c := range columns {
		head = append(head, c.Title)
		config := table.ColumnConfig{Number: i + 1, WidthMax: c.width, WidthMaxEnforcer: wrap}
		if c.Kind.Numeric() {
			config.Align, config.AlignHeader, config.AlignFooter = text.AlignRight, text.AlignRight, text.AlignRight
		}
		configs = append(configs, config)
		if s.Total != nil {
			foot = append(foot, totalText(s, c.index))
		}
	}
	t.SetColumnConfigs(configs)
	t.AppendHeader(head)
	for _, row := range s.Rows {
		var cells table.Row
		for _, c := range columns {
			cells = append(cells, c.Kind.Format(row[c.index]))
		}
		t.AppendRow(cells)
	}
	if foot != nil {
		t.AppendFooter(foot)
	}
	b.WriteString(t.Render() + "\n")
	if len(hidden) > 0 {
		b.WriteString(wrap("Hidden columns: "+strings.Join(hidden, ", ")+". Widen the terminal to show them.", min(width, proseWidth)) + "\n")
	}
}

// totalText formats a column of the total line. Columns without a total stay blank.
func totalText(s *report.Section, column int) string {
	switch v := s.Total[column].(type) {
	case nil:
		return ""
	case string:
		return report.Printable(v)
	default:
		return s.Columns[column].Kind.Format(v)
	}
}

// drawn is a column of a terminal table. Widths are in characters.
type drawn struct {
	report.Column
	index    int // of its values in a row
	width    int // current width; at first that of the widest value or the heading
	minWidth int // that of the widest value that must not be wrapped, or the longest word of the heading
}

// measure returns the columns of a section with their widths.

// measure returns the columns with the widths of their longest cells. A text column may be
// narrower, but not narrower than a word of its title.
func measure(s *report.Section) []drawn {
	var columns []drawn
	for i, c := range s.Columns {
		d := drawn{Column: c, index: i}
		for _, row := range s.Rows {
			d.width = max(d.width, text.StringWidth(c.Kind.Format(row[i])))
		}
		if s.Total != nil {
			d.width = max(d.width, text.StringWidth(totalText(s, i)))
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
