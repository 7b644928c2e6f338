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
	proseWidth   = 100 // columns of running text, at most
	narrowColumn = 14  // no column of text becomes narrower
)

// wrap breaks lines between words, and leaves no spaces at their ends.
func wrap(s string, width int) string {
	lines := strings.Split(text.WrapSoft(s, width), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// writeTable writes everything but the charts.
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
	fmt.Fprintf(&b, "\n%s\n", wrap(a.Doc, prose))
	_, err := io.WriteString(w, b.String())
	return err
}

// figures writes the summary, a line each.
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

// draw writes the table. Where there is no room for all columns, those that are
// not so important are left out; then headings and text are wrapped.
func draw(b *strings.Builder, s *report.Section, width int) {
	columns, left := measure(s), []string(nil)
	if width > 0 {
		columns, left = fit(columns, width)
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
			foot = append(foot, sum(s, c.at))
		}
	}
	t.SetColumnConfigs(configs)
	t.AppendHeader(head)
	for _, row := range s.Rows {
		var cells table.Row
		for _, c := range columns {
			cells = append(cells, c.Kind.Format(row[c.at]))
		}
		t.AppendRow(cells)
	}
	if foot != nil {
		t.AppendFooter(foot)
	}
	b.WriteString(t.Render() + "\n")
	if len(left) > 0 {
		b.WriteString(wrap("Left out for want of room: "+strings.Join(left, ", ")+".", min(width, proseWidth)) + "\n")
	}
}

// sum is the value of a column in the last line. Columns that cannot be added
// up stay blank.
func sum(s *report.Section, column int) string {
	switch v := s.Total[column].(type) {
	case nil:
		return ""
	case string:
		return report.Printable(v)
	default:
		return s.Columns[column].Kind.Format(v)
	}
}

// drawn is a column on a terminal.
type drawn struct {
	report.Column
	at       int // in the rows
	width    int // of the widest value, and of the heading
	narrowed int // of the widest value that must not be wrapped, and the longest word of the heading
}

func measure(s *report.Section) []drawn {
	var columns []drawn
	for i, c := range s.Columns {
		d := drawn{Column: c, at: i}
		for _, row := range s.Rows {
			d.width = max(d.width, text.StringWidth(c.Kind.Format(row[i])))
		}
		if s.Total != nil {
			d.width = max(d.width, text.StringWidth(sum(s, i)))
		}
		d.narrowed = d.width
		if c.Kind == report.Text {
			d.narrowed = min(d.narrowed, narrowColumn)
		}
		for _, word := range strings.Fields(c.Title) {
			d.narrowed = max(d.narrowed, text.StringWidth(word))
		}
		d.width = max(d.width, text.StringWidth(c.Title))
		columns = append(columns, d)
	}
	return columns
}

// total is the width of a table, with its rules.
func total(columns []drawn, wide bool) int {
	const rule = 3 // and the spaces beside it
	n := 1
	for _, c := range columns {
		if wide {
			n += c.width + rule
		} else {
			n += c.narrowed + rule
		}
	}
	return n
}

// fit leaves out columns, the last of the minor ones first, then of the spare
// ones, then the last but not the first two, until the others have room when
// wrapped.
func fit(columns []drawn, width int) (kept []drawn, left []string) {
	for len(columns) > 2 && total(columns, false) > width {
		last := len(columns) - 1
		for i, c := range columns {
			if c.Minor || c.Spare && !columns[last].Minor {
				last = i
			}
		}
		left = append(left, columns[last].Title)
		columns = slices.Delete(columns, last, last+1)
	}
	return columns, left
}

// squeeze narrows the widest column that can give, again and again, until the
// table fits or nothing gives any more.
func squeeze(columns []drawn, width int) {
	for total(columns, true) > width {
		widest := -1
		for i, c := range columns {
			if c.width > c.narrowed && (widest < 0 || c.width-c.narrowed > columns[widest].width-columns[widest].narrowed) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		columns[widest].width--
	}
}
