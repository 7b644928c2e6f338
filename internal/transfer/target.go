package transfer

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"chairside/internal/civil"
	"chairside/internal/codec"
)

// target is one field of the entity and where it comes from.
type target struct {
	field    string
	column   *column // nil for a field that is none
	wire     codec.Field
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

// translator puts together how a file and one of its columns write dates.
func newTranslator(r reading, dates, times []string, zone *time.Location, today civil.Date) (translator, error) {
	if dates == nil {
		dates = r.Dates
	}
	if times == nil {
		times = r.Times
	}
	c, err := newCalendar(dates, times, zone, today)
	return translator{calendar: c, decimalMark: r.DecimalMark}, err
}

func (p *plan) target(field string) *target {
	for _, t := range p.targets {
		if t.field == field {
			return t
		}
	}
	return nil
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
		case slices.Contains(b.p.entity.fieldNames(), name) && b.p.target(name) == nil && name != legacyID:
			b.add(columnMapping{column: h, Field: name}, place)
		case b.quotes(place), tells[place]:
		default:
			b.p.ignored = append(b.p.ignored, h)
		}
	}
}

// quotes reports whether a constant, a default or the id names a column in braces.
func (b *planner) quotes(place int) bool {
	names := func(s string) bool {
		return slices.ContainsFunc(inBraces.FindAllString(s, -1), func(name string) bool {
			return headerName(name[1:len(name)-1]) == headerName(b.p.header[place])
		})
	}
	for _, constant := range b.f.Constants {
		if names(constant) {
			return true
		}
	}
	return slices.ContainsFunc(b.f.ID, names) || slices.ContainsFunc(b.f.Columns, func(c columnMapping) bool { return names(c.Default) })
}

func (b *planner) readConstants() {
	for _, field := range sortedKeys(b.f.Constants) {
		constant := b.f.Constants[field]
		if b.p.target(field) != nil {
			b.wrong("constants: %s comes from a column already; give the column a default instead", field)
			continue
		}
		if t := b.newTarget(columnMapping{column: "constants", Field: field}); t != nil {
			t.constant = b.phrase(constant)
		}
	}
}

// checkWords refuses words of the mapping that would be refused in every row, or
// could be compared with nothing: of constants, defaults and translations, where
// nothing else is added to them.
func (b *planner) checkWords() {
	for _, t := range b.p.targets {
		check := func(where string, word phrase) {
			if s, ok := word.alone(); ok && s != "" {
				if message := b.p.wordFor(t, s); message != "" {
					b.wrong("%s: %q for %s %s", where, s, t.field, message)
				}
			}
		}
		check("constants", t.constant)
		if len(t.cells) != 1 {
			continue
		}
		for _, c := range t.cells {
			check(b.p.header[c.place], c.fallback)
			for _, from := range sortedKeys(c.values) {
				check(b.p.header[c.place], phrase{{c.values[from], -1}})
			}
		}
	}
}

// wordFor says what is wrong with a text for a target, as far as it can be known
// without a row and without the database.
func (p *plan) wordFor(t *target, s string) string {
	switch t.role {
	case value:
		return p.readValue(&record{given: map[string]any{}}, t, s, "")
	case jsonValue:
		_, message := readDocument(t.column, s)
		return message
	case total:
		s, message := foreignValue(t.wire, s, &t.read)
		if message == "" {
			_, _, message = t.wire.ReadText(t.negated(s), time.UTC)
		}
		return message
	}
	return ""
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// add makes a column part of the target it names.
func (b *planner) add(c columnMapping, place int) {
	t := b.p.target(strings.TrimPrefix(c.Field, claimed))
	if t == nil || c.Field == claimedBalance {
		t = b.p.target(c.Field)
	}
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
	e := b.p.entity
	name := c.Field
	if bare, ok := strings.CutPrefix(name, claimed); ok && name != claimedBalance {
		name = bare
		if !slices.Contains(totals[e.table], name) {
			b.wrong("%s: %s has no total %s", c.column, e.table, name)
			return nil
		}
	}
	t := &target{field: name, column: e.column(name), negate: c.Negate, by: c.By}
	var err error
	if t.read, err = newTranslator(b.reading, c.Dates, c.Times, b.zone, b.today); err != nil {
		b.wrong("%s: dates: %v", c.column, err)
		return nil
	}
	t.read.home, t.read.hundredths = b.home, c.Hundredths
	switch c.Missing {
	case "", "reject":
	case "blank":
		t.blank = true
	default:
		b.wrong("%s: missing: must be reject or blank", c.column)
	}
	known := slices.Contains(e.fieldNames(), name)
	switch {
	case strings.HasPrefix(name, metadataKey) && e.has("metadata"):
		t.role, t.field = metadatum, name
	case !known:
		b.wrong("%s: %s has no field %q; it has: %s", c.column, e.table, c.Field, strings.Join(e.fieldNames(), ", "))
		return nil
	case e.table == "payments" && name == paysInvoice:
		t.role, t.refers = reference, b.entity("invoices")
	case t.column != nil && t.column.refers != "":
		t.role, t.refers = reference, b.entity(t.column.refers)
	case t.column != nil && t.column.kind == document && name != "metadata":
		t.role = jsonValue
	case slices.Contains(totals[e.table], name) || name == claimedBalance && e.table == "patients":
		t.role = total
	}
	switch {
	case t.by != "" && t.role != reference:
		b.wrong("%s: by: only a reference is found by something", c.column)
	case t.role == reference && !t.refers.findableBy(t.by):
		b.wrong("%s: by: %s are not found by %q", c.column, t.refers.table, t.by)
	}
	if t.role == value || t.role == total {
		if t.wire, err = e.wireField(name); err != nil {
			b.wrong("%s: %v", c.column, err)
			return nil
		}
	}
	if c.Hundredths && t.wire.Kind != codec.Decimal {
		b.wrong("%s: hundredths: only amounts have them", c.column)
	}
	if t.role == value && e.supplies(name) {
		t.wire.Required = false
	}
	b.p.targets = append(b.p.targets, t)
	return t
}

func (b *planner) entity(table string) *entity {
	return b.all[slices.IndexFunc(b.all, func(e *entity) bool { return e.table == table })]
}
