package importer

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"chairside/internal/civil"
	"chairside/internal/codec"
	"chairside/internal/entx/table"
)

// target is one field of the entity and where it comes from.
type target struct {
	name     string
	column   *table.Column // nil for a field that is none
	field    codec.Field   // how the API reads it
	role     role
	cells    []cell
	constant phrase  // nil for none
	by       string  // of a reference: what it is found by
	refers   *entity // of a reference
	blank    bool    // a reference to nothing leaves the field empty
	negate   bool
	read     translator
}

// role is what becomes of a target's value.
type role int

const (
	value     role = iota // stored, after the checks of the API
	reference             // the id of a record is stored
	jsonValue             // stored as JSON
	metadatum             // one key of the metadata
	total                 // compared with what the rows come to
)

// cell is one cell of a row that a target is made of.
type cell struct {
	place    int
	match    *regexp.Regexp    // of which part is taken; nil for all
	values   map[string]string // in lower case; nil for all as they are
	fallback phrase            // for a blank one
}

// part is what is taken of a cell, and whether there is such a part.
func (c cell) part(s string) (string, bool) {
	if c.match == nil || s == "" {
		return s, true
	}
	groups := c.match.FindStringSubmatch(s)
	if groups == nil {
		return "", false
	}
	return strings.TrimSpace(groups[len(groups)-1]), true
}

// translator reads what has several forms.
type translator struct {
	calendar
	decimalMark string
	hundredths  bool // amounts are written in pence, cents and the like
}

// newTranslator puts together how a file and one of its columns write values.
func newTranslator(r reading, dates, times []string, zone *time.Location, today civil.Date) (translator, error) {
	c, err := newCalendar(own(dates, r.Dates), own(times, r.Times), zone, today)
	return translator{calendar: c, decimalMark: r.DecimalMark}, err
}

func (b *planner) readColumns() {
	mapped := map[int]bool{}
	for _, c := range b.f.Columns {
		place := b.place(c.column)
		if place < 0 {
			continue
		}
		mapped[place] = true
		switch {
		case c.Field == legacyID && (c.Match != "" || c.Values != nil || c.Default != ""):
			b.wrong("%s: an id is taken as it is", c.column)
		case c.Field != "" && c.Field != legacyID:
			b.add(c, place)
		}
	}
	for _, part := range b.p.id {
		if len(part) == 1 { // a column; those in braces may be fields too
			mapped[part[0].place] = true
		}
	}
	tells := map[int]bool{} // which rows are read, while what it says may be a field's value
	for _, c := range b.p.only {
		if tells[c.place] = slices.Contains(c.words, "*"); !tells[c.place] {
			mapped[c.place] = true
		}
	}
	for place, h := range b.p.header {
		name := headerName(h)
		switch {
		case mapped[place], h == "":
		case slices.Contains(b.p.entity.fields(), name) && b.p.target(name) == nil && name != legacyID:
			b.add(columnMapping{column: h, Field: name}, place)
		case b.quotes(name), tells[place]:
		default:
			b.p.ignored = append(b.p.ignored, h)
		}
	}
}

// quotes reports whether a constant, a default or the id names a column in braces.
func (b *planner) quotes(column string) bool {
	phrases := slices.Concat(b.f.ID, slices.Collect(maps.Values(b.f.Constants)))
	for _, c := range b.f.Columns {
		phrases = append(phrases, c.Default)
	}
	return slices.ContainsFunc(phrases, func(s string) bool {
		return slices.ContainsFunc(inBraces.FindAllString(s, -1), func(name string) bool { return headerName(strings.Trim(name, "{}")) == column })
	})
}

func (b *planner) readConstants() {
	for _, field := range sortedKeys(b.f.Constants) {
		if b.p.target(field) != nil {
			b.wrong("constants: %s comes from a column already; give the column a default instead", field)
		} else if t := b.newTarget(columnMapping{column: "constants", Field: field}); t != nil {
			t.constant = b.phrase(b.f.Constants[field])
		}
	}
}

// checkWords refuses words of the mapping that would be refused in every row, or could be
// compared with nothing: of constants, defaults and translations, where nothing else is added to
// them.
func (b *planner) checkWords() {
	for _, t := range b.p.targets {
		check := func(where string, word phrase) {
			if s, ok := word.alone(); ok && s != "" {
				if message := b.p.wordFor(t, s); message != "" {
					b.wrong("%s: %q for %s %s", where, s, t.name, message)
				}
			}
		}
		check("constants", t.constant)
		if len(t.cells) == 1 {
			c := t.cells[0]
			check(b.p.header[c.place], c.fallback)
			for _, from := range sortedKeys(c.values) {
				check(b.p.header[c.place], phrase{{c.values[from], -1}})
			}
		}
	}
}

// wordFor says what is wrong with a text for a target, as far as it can be known without a row
// and without the database.
func (p *plan) wordFor(t *target, s string) string {
	switch t.role {
	case value, jsonValue:
		return p.readValue(&record{given: row{}}, t, s, "")
	case total:
		s, message := foreignValue(t.field, s, &t.read)
		if message == "" {
			_, _, message = t.field.ReadText(t.negated(s), time.UTC)
		}
		return message
	}
	return ""
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// add makes a column part of the target it names.
func (b *planner) add(c columnMapping, place int) {
	name := c.Field
	if name != claimedBalance {
		name = strings.TrimPrefix(name, claimed)
	}
	t := b.p.target(name)
	if t == nil {
		t = b.newTarget(c)
	}
	if t == nil {
		return
	}
	from := cell{place: place, fallback: b.phrase(c.Default)}
	if c.Match != "" {
		var err error
		switch from.match, err = regexp.Compile(c.Match); {
		case err != nil:
			b.wrong("%s: match: %v", c.column, err)
		case from.match.NumSubexp() > 1:
			b.wrong("%s: match: %q has more than one part in brackets; (?:…) is none", c.column, c.Match)
		}
	}
	if c.Values != nil {
		from.values = map[string]string{}
		for k, v := range c.Values {
			from.values[strings.ToLower(strings.TrimSpace(k))] = v
		}
	}
	t.cells = append(t.cells, from)
}

// newTarget finds out what a field is.
func (b *planner) newTarget(c columnMapping) *target {
	e, name := b.p.entity, c.Field
	if bare, ok := strings.CutPrefix(name, claimed); ok && name != claimedBalance {
		if name = bare; !e.isTotal(name) {
			b.wrong("%s: %s has no total %s", c.column, e.Name, name)
			return nil
		}
	}
	t := &target{name: name, column: e.Column(name), negate: c.Negate, by: c.By, blank: c.Missing == "blank"}
	var err error
	if t.read, err = newTranslator(b.reading, c.Dates, c.Times, b.zone, b.today); err != nil {
		b.wrong("%s: dates: %v", c.column, err)
		return nil
	}
	t.read.home, t.read.hundredths = b.home, c.Hundredths
	if !slices.Contains([]string{"", "reject", "blank"}, c.Missing) {
		b.wrong("%s: missing: must be reject or blank", c.column)
	}
	switch {
	case strings.HasPrefix(name, metadataKey) && e.Has("metadata"):
		t.role = metadatum
	case !slices.Contains(e.fields(), name):
		b.wrong("%s: %s has no field %q; it has: %s", c.column, e.Name, c.Field, strings.Join(e.fields(), ", "))
		return nil
	case e.Name == "payments" && name == paysInvoice:
		t.role, t.refers = reference, entityOf("invoices")
	case t.column != nil && t.column.References != "":
		t.role, t.refers = reference, entityOf(t.column.References)
	case t.column != nil && t.column.Stored == table.JSON && name != "metadata":
		t.role = jsonValue
	case e.isTotal(name) || name == claimedBalance:
		t.role = total
	}
	switch {
	case t.by != "" && t.role != reference:
		b.wrong("%s: by: only a reference is found by something", c.column)
	case t.role == reference && !t.refers.findableBy(t.by):
		b.wrong("%s: by: %s are not found by %q", c.column, t.refers.Name, t.by)
	}
	if t.role == value || t.role == total {
		t.field = e.field(name)
	}
	if c.Hundredths && t.field.Kind != codec.Decimal {
		b.wrong("%s: hundredths: only amounts have them", c.column)
	}
	b.p.targets = append(b.p.targets, t)
	return t
}

// phrase is a text of the mapping in which {Column} stands for what a row says in that column.
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

// phrase is what a row makes of it, to be an id or anything: nothing where one of its columns is
// blank.
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
