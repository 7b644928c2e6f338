package importer

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"chairside/internal/civil"
	"chairside/internal/codec"
	"chairside/internal/entx/table"
)

// plan is how one file of another system's is read: its mapping, put together with its header and
// the entity.
type plan struct {
	name     string // of the file
	path     string
	size     int64  // in bytes
	rejects  string // name of the file of its rejects
	entity   *entity
	encoding string
	nulls    []string
	delim    rune
	top      int // the line of the header
	header   []string
	id       []phrase // the parts of the legacy id
	lineID   bool     // the line is the legacy id
	looseIDs bool     // legacy ids that differ in case or in zeros in front are the same
	only     []condition
	targets  []*target
	ignored  []string // columns that go nowhere
	makeItem bool     // each invoice gets one item, because no file has any
}

// target is the target of a field, nil for none.
func (p *plan) target(field string) *target {
	for _, t := range p.targets {
		if t.name == field {
			return t
		}
	}
	return nil
}

// standsAlone reports whether the rows of the file, where all of them are new, have nothing to do
// with each other or with rows that others write: they refer to none, may have the same values,
// are not looked up by anything but their legacy ids, and nothing is made or counted of them.
func (p *plan) standsAlone() bool {
	refers := func(t *target) bool { return t.role == reference }
	return rules[p.entity.Name] == nil && len(p.entity.Unique) == 0 && !p.entity.Has(legacyID) && !slices.ContainsFunc(p.targets, refers)
}

// needs reports whether every new row needs a value for the column, and what the file refers to
// has none.
func (p *plan) needs(c *table.Column) bool {
	said := func(r *table.Column) bool { return p.target(r.Name) != nil }
	return p.entity.needs(c) && !slices.ContainsFunc(p.inheritedFrom(c), said)
}

// inheritedFrom are the references of a file's rows whose records have the same column: those of
// its entity, and the invoice of a payment says whose that is.
func (p *plan) inheritedFrom(c *table.Column) []*table.Column {
	list := p.entity.inheritedFrom(c)
	if p.entity.Name == "payments" && c.Name == "patient_id" && p.target(paysInvoice) != nil {
		list = append(list, paidInvoice)
	}
	return list
}

// paidInvoice stands for the invoice that a payment names, which is no column.
var paidInvoice = &table.Column{Field: codec.Field{Name: paysInvoice}, References: "invoices"}

// newPlans reads the headers of all files and puts the plans in the order in which their entities
// depend on each other. Everything that is wrong is told at once, in a MappingError.
func newPlans(dir string, m mapping, zone *time.Location, today civil.Date) ([]*plan, error) {
	var mistakes MappingError
	if m.Source == "" || len(m.Source) > 255 {
		mistakes.add("source: must name the other system, in at most 255 bytes")
	}
	if len(m.Files) == 0 {
		mistakes.add("files: must list at least one file")
	}
	var plans []*plan
	uses, listed := map[string]int{}, map[string]int{}
	for _, f := range m.Files {
		uses[f.File]++
	}
	for _, f := range m.Files {
		b := planner{f: f, mistakes: &mistakes, today: today, reading: f.Reading.over(m.Reading), zone: zone, home: zone}
		p := &plan{name: f.File, path: filepath.Join(dir, f.File), looseIDs: m.LooseIDs}
		if b.p = p; !b.plan() {
			continue
		}
		if p.rejects = filepath.Base(p.name); uses[p.name] > 1 || p.rejects == Findings {
			p.rejects = strings.TrimSuffix(p.rejects, filepath.Ext(p.rejects)) + "." + p.entity.Name + ".csv"
		}
		again := p.name + "\x00" + p.entity.Name
		if listed[again]++; listed[again] > 1 { // other rows, or other records of the same ones
			p.rejects = fmt.Sprintf("%s.%d.csv", strings.TrimSuffix(p.rejects, ".csv"), listed[again])
		}
		if slices.ContainsFunc(plans, func(other *plan) bool { return other.rejects == p.rejects }) {
			mistakes.add("%s: has the name of a file elsewhere", p.name)
		}
		plans = append(plans, p)
	}
	if len(mistakes) > 0 {
		return nil, mistakes
	}
	place := func(p *plan) int {
		i := slices.Index(entities, p.entity)
		if p.entity.Name == "payments" || p.entity.Name == "payment_explanations" { // a payment may name the invoice it pays, whose items say what that is
			i += len(entities)
		}
		return i
	}
	slices.SortStableFunc(plans, func(a, b *plan) int { return place(a) - place(b) })
	items := slices.ContainsFunc(plans, func(p *plan) bool { return p.entity.Name == "invoice_items" })
	for _, p := range plans {
		p.makeItem = p.entity.Name == "invoices" && !items && p.target("amount") != nil
	}
	return plans, nil
}

// planner makes the plan of one file.
type planner struct {
	f        fileMapping
	mistakes *MappingError
	today    civil.Date
	zone     *time.Location // of the file's times
	home     *time.Location // of the practice
	reading  reading
	p        *plan
}

func (b *planner) wrong(format string, args ...any) {
	b.mistakes.add(b.f.File+": "+format, args...)
}

// plan completes the plan, and reports whether the file could be read.
func (b *planner) plan() bool {
	if !filepath.IsLocal(b.f.File) {
		b.wrong("must be the name of a file in the directory")
		return false
	}
	var known []string
	for _, e := range entities {
		if want := plain(b.f.Entity); want != "" && (want == plain(e.Name) || want == plain(e.Type)) {
			b.p.entity = e
		}
		if ourOwn[e.Name] == "" {
			known = append(known, e.Name)
		}
	}
	switch e := b.p.entity; {
	case e == nil:
		slices.Sort(known)
		b.wrong("entity: %q is none of: %s", b.f.Entity, strings.Join(known, ", "))
		return false
	case ourOwn[e.Name] != "":
		b.wrong("entity: %s cannot be imported; %s", e.Name, ourOwn[e.Name])
		return false
	}
	b.readReading()
	if !b.readHeader() {
		return false
	}
	b.readID()
	b.readOnly()
	b.readColumns()
	b.readConstants()
	b.checkWords()
	b.checkNeeds()
	return true
}

// encodings are the names of encodings.
var encodings = map[string]string{
	"": utf8Encoding, "utf-8": utf8Encoding, "utf8": utf8Encoding, "utf-16": utf8Encoding, "utf16": utf8Encoding, // the latter has a mark
	latin1: latin1, "latin1": latin1, "iso-8859-1": latin1, windows: windows, "cp1252": windows, mixed: mixed,
}

func (b *planner) readReading() {
	if b.p.encoding = encodings[strings.ToLower(b.reading.Encoding)]; b.p.encoding == "" {
		b.wrong("encoding: %q is none of utf-8, latin-1, windows-1252, mixed", b.reading.Encoding)
	}
	switch d := []rune(b.reading.Delimiter); {
	case len(d) == 0:
	case strings.EqualFold(string(d), "tab"), string(d) == `\t`:
		b.p.delim = '\t'
	case len(d) == 1 && !strings.ContainsRune("\"\r\n\ufffd", d[0]):
		b.p.delim = d[0]
	default:
		b.wrong("delimiter: must be one character, or tab")
	}
	if !slices.Contains([]string{"", ".", ","}, b.reading.DecimalMark) {
		b.wrong("decimal_mark: must be . or ,")
	}
	if b.reading.TimeZone != "" {
		zone, err := time.LoadLocation(b.reading.TimeZone)
		if err != nil {
			b.wrong("time_zone: must be the IANA name of a time zone")
		} else {
			b.zone = zone
		}
	}
	b.p.nulls = own([]string(b.reading.Nulls), nullWords)
}

func (b *planner) readHeader() bool {
	s, err := openSource(b.p.path, b.p.delim, b.f.Header)
	if err != nil {
		b.wrong("%v", err)
		return false
	}
	defer s.close()
	b.p.delim, b.p.top = s.delimiter, b.f.Header
	if b.f.Header > 1 && s.header == nil {
		b.wrong("header: there is no line %d", b.f.Header)
	}
	switch { // whatever its neighbours are
	case s.wide:
		b.p.encoding = utf16
	case s.marked && b.p.encoding != mixed:
		b.p.encoding = utf8Encoding
	}
	for _, name := range s.header {
		name, _ = decodeText(name, b.p.encoding)
		b.p.header = append(b.p.header, strings.TrimSpace(name))
	}
	return true
}

// open opens the file to read the rows that the mapping means.
func (p *plan) open() (*source, error) {
	s, err := openSource(p.path, p.delim, p.top)
	if err == nil && len(p.only) > 0 {
		s.wants = p.wants
	}
	return s, err
}

// headerName is a column's name for comparison: "Last Name" is last_name.
func headerName(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return unicode.IsSpace(r) || r == '_' || r == '-' }), "_")
}

// hasColumn reports whether the header has a column, whatever its case.
func (b *planner) hasColumn(name string) bool {
	return slices.ContainsFunc(b.p.header, func(h string) bool { return headerName(h) == name })
}

// place finds a column of the header, whatever its case. An empty file has none, and needs none.
func (b *planner) place(name string) int {
	found := -1
	for i, h := range b.p.header {
		switch {
		case headerName(h) != headerName(name):
		case found >= 0:
			b.wrong("the header has the column %s twice", name)
			return found
		default:
			found = i
		}
	}
	if found < 0 && len(b.p.header) > 0 {
		b.wrong("there is no column %s; the header has: %s", name, strings.Join(b.p.header, ", "))
	}
	return found
}

func (b *planner) readID() {
	ids := b.f.ID
	if ids != nil && len(ids) == 0 { // [] is none
		if len(b.p.entity.Unique) == 0 {
			b.wrong("id: %s can be there many times; name the column of their ids", b.p.entity.Name)
		}
		return
	}
	for _, c := range b.f.Columns {
		if len(b.f.ID) == 0 && c.Field == legacyID {
			ids = append(ids, c.column)
		}
	}
	for _, candidate := range []string{legacyID, "id"} {
		if len(ids) == 0 && b.hasColumn(candidate) {
			ids = names{candidate}
		}
	}
	switch {
	case len(ids) == 1 && ids[0] == "line" && !b.hasColumn("line"):
		b.p.lineID = true
		return
	case len(ids) == 0 && len(b.p.header) > 0 && len(b.p.entity.Unique) == 0:
		b.wrong("id: must name the column that holds the id in the other system; the header has: %s", strings.Join(b.p.header, ", "))
	}
	for _, name := range ids {
		if inBraces.MatchString(name) {
			b.p.id = append(b.p.id, b.phrase(name))
		} else if place := b.place(name); place >= 0 {
			b.p.id = append(b.p.id, phrase{{place: place}})
		}
	}
}

// condition is what a row has to say in a column to be read.
type condition struct {
	place int
	words []string // in lower case
}

func (b *planner) readOnly() {
	for _, column := range sortedKeys(b.f.Only) {
		if place := b.place(column); place >= 0 {
			c := condition{place: place}
			for _, word := range b.f.Only[column] {
				c.words = append(c.words, strings.ToLower(strings.TrimSpace(word)))
			}
			if c.words == nil { // ~ is no value
				c.words = []string{""}
			}
			b.p.only = append(b.p.only, c)
		}
	}
}

// wants reports whether the mapping means a row: others are not there for it.
func (p *plan) wants(cells []string) bool {
	return !slices.ContainsFunc(p.only, func(c condition) bool {
		shown, _ := decodeText(cells[c.place], p.encoding)
		said := strings.ToLower(p.cell([]string{trimmed(shown)}, 0))
		return !slices.Contains(c.words, said) && (said == "" || !slices.Contains(c.words, "*"))
	})
}

// checkNeeds refuses a file that cannot give what every record needs.
func (b *planner) checkNeeds() {
	e := b.p.entity
	for i := range e.Columns {
		if c := &e.Columns[i]; len(b.p.header) > 0 && b.p.target(c.Name) == nil && b.p.needs(c) {
			b.wrong("no column gives %s, which %s need; map a column to it, or put it among the constants", c.Name, e.Name)
		}
	}
}
