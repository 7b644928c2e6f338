package importer

import (
	"regexp"
	"slices"
	"strings"
)

// template is a text of the mapping in which {Column} stands for the cell of that column.
type template []templatePart

// templatePart is a literal text or a column.
type templatePart struct {
	text  string
	index int // of the column, -1 for a literal
}

// textForm says how a template uses its cells.
type textForm int

const (
	plainText textForm = iota
	idText             // part of a legacy ID: spreadsheet decimals are removed
)

// placeholder matches {Column}. In JSON, a brace is followed by a quotation mark or nothing.
var placeholder = regexp.MustCompile(`\{[^{}"\s][^{}"]*\}`)

// literal returns a template without columns.
func literal(s string) template { return template{{s, -1}} }

// parseTemplate reads a text of the mapping.
func (pl *planner) parseTemplate(s string) (t template) {
	last := 0
	for _, at := range placeholder.FindAllStringIndex(s, -1) {
		t = append(t, templatePart{s[last:at[0]], -1})
		if index := pl.findColumn(s[at[0]+1 : at[1]-1]); index >= 0 {
			t = append(t, templatePart{index: index})
		}
		last = at[1]
	}
	return append(t, templatePart{s[last:], -1})
}

// literal returns the text of a template without columns. ok is false if it has columns.
func (t template) literal() (s string, ok bool) {
	for _, part := range t {
		if part.index >= 0 {
			return "", false
		}
		s += part.text
	}
	return s, true
}

// column returns the index of the column that is the whole template. ok is false if it is
// anything else.
func (t template) column() (index int, ok bool) {
	if len(t) == 1 && t[0].index >= 0 {
		return t[0].index, true
	}
	return 0, false
}

// uses reports whether the template contains a column.
func (t template) uses(index int) bool {
	return slices.ContainsFunc(t, func(part templatePart) bool { return part.index == index })
}

// expand fills a template with the cells of a row. It returns "" if one of the cells is blank.
func (p *plan) expand(t template, cells []string, form textForm) string {
	var s strings.Builder
	for _, part := range t {
		text := part.text
		if part.index >= 0 {
			if text = p.cell(cells, part.index); text == "" {
				return ""
			}
			if form == idText {
				text = trimDecimals(text)
			}
		}
		s.WriteString(text)
	}
	return s.String()
}
