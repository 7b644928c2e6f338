package importer

import (
	"regexp"
	"slices"
	"strings"
)

// phrase is a text of the mapping in which {Column} stands for what a row says in
// that column.
type phrase []piece

// piece is a text, or a column.
type piece struct {
	text  string
	place int // of the column, -1 for a text
}

// inBraces is the name of a column in a text. JSON has quotation marks there, or nothing.
var inBraces = regexp.MustCompile(`\{[^{}"\s][^{}"]*\}`)

// phrase reads a text of the mapping.
func (b *planner) phrase(s string) (read phrase) {
	last := 0
	for _, at := range inBraces.FindAllStringIndex(s, -1) {
		read = append(read, piece{s[last:at[0]], -1})
		if place := b.place(s[at[0]+1 : at[1]-1]); place >= 0 {
			read = append(read, piece{place: place})
		}
		last = at[1]
	}
	return append(read, piece{s[last:], -1})
}

// alone is a phrase without columns; ok is false where there are any.
func (w phrase) alone() (s string, ok bool) {
	for _, piece := range w {
		if piece.place >= 0 {
			return "", false
		}
		s += piece.text
	}
	return s, true
}

// reads reports whether a column is part of the phrase.
func (w phrase) reads(place int) bool {
	return slices.ContainsFunc(w, func(p piece) bool { return p.place == place })
}

// phrase is what a row makes of it, to be an id or anything: nothing where one of
// its columns is blank.
func (p *plan) phrase(w phrase, cells []string, id bool) string {
	var s strings.Builder
	for _, piece := range w {
		said := piece.text
		if piece.place >= 0 {
			if said = p.cell(cells, piece.place); said == "" {
				return ""
			}
			if id {
				said = withoutFractions(said)
			}
		}
		s.WriteString(said)
	}
	return s.String()
}
