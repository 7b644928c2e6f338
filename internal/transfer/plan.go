package transfer

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"chairside/internal/civil"
)

// plan is how one file of another system's is read: its mapping, put together
// with its header and the entity.
type plan struct {
	name     string // of the file
	path     string
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

// standsAlone reports whether the rows of the file, where all of them are new,
// have nothing to do with each other or with rows that others write: they refer
// to none, may have the same values, are not looked up by anything but their
// legacy ids, and nothing is made or counted of them.
func (p *plan) standsAlone() bool {
	refers := func(t *target) bool { return t.role == reference }
	return rules[p.entity.table] == nil && len(p.entity.unique) == 0 && !p.entity.has(legacyID) && !slices.ContainsFunc(p.targets, refers)
}

// newPlans reads the headers of all files and puts the plans in the order in
// which their entities depend on each other. Everything that is wrong is told
// at once, in a MappingError.
func newPlans(dir string, m mapping, zone *time.Location, today civil.Date) ([]*plan, error) {
	var mistakes MappingError
	if m.Source == "" || len(m.Source) > 255 {
		mistakes.add("source: must name the other system, in at most 255 bytes")
	}
	if len(m.Files) == 0 {
		mistakes.add("files: must list at least one file")
	}
	all, err := entities()
	if err != nil {
		return nil, err
	}
	var plans []*plan
	uses, listed := map[string]int{}, map[string]int{}
	for _, f := range m.Files {
		uses[f.File]++
	}
	for i := range m.Files {
		b := planner{m: m, f: m.Files[i], mistakes: &mistakes, dir: dir, today: today, all: all}
		p := b.plan(zone)
		if p == nil {
			continue
		}
		if p.rejects = filepath.Base(p.name); uses[p.name] > 1 || p.rejects == Findings {
			p.rejects = strings.TrimSuffix(p.rejects, filepath.Ext(p.rejects)) + "." + p.entity.table + ".csv"
		}
		again := p.name + "\x00" + p.entity.table
		if listed[again]++; listed[again] > 1 { // other rows, or other records of the same ones
			p.rejects = fmt.Sprintf("%s.%d.csv", strings.TrimSuffix(p.rejects, ".csv"), listed[again])
		}
		for _, other := range plans {
			if other.rejects == p.rejects {
				mistakes.add("%s: has the name of a file elsewhere", p.name)
			}
		}
		plans = append(plans, p)
	}
	if len(mistakes) > 0 {
		return nil, mistakes
	}
	place := func(p *plan) int { return slices.Index(all, p.entity) }
	after := func(p *plan) int { // a payment may name the invoice it pays, whose items say what that is
		if p.entity.table == "payments" || p.entity.table == "payment_explanations" {
			return place(p) + len(all)
		}
		return place(p)
	}
	slices.SortStableFunc(plans, func(a, b *plan) int { return after(a) - after(b) })
	items := slices.ContainsFunc(plans, func(p *plan) bool { return p.entity.table == "invoice_items" })
	for _, p := range plans {
		p.makeItem = p.entity.table == "invoices" && !items && p.target("amount") != nil
	}
	return plans, nil
}

// planner makes the plan of one file.
type planner struct {
	m        mapping
	f        fileMapping
	mistakes *MappingError
	dir      string
	today    civil.Date
	all      []*entity
	zone     *time.Location // of the file's times
	home     *time.Location // of the practice
	reading  reading
	p        *plan
}

func (b *planner) wrong(format string, args ...any) {
	b.mistakes.add(b.f.File+": "+format, args...)
}

func (b *planner) plan(zone *time.Location) *plan {
	b.reading, b.zone, b.home = b.f.Reading.over(b.m.Reading), zone, zone
	b.p = &plan{name: b.f.File, looseIDs: b.m.LooseIDs}
	if !filepath.IsLocal(b.f.File) {
		b.wrong("must be the name of a file in the directory")
		return nil
	}
	b.p.path = filepath.Join(b.dir, b.f.File)
	for _, e := range b.all {
		if want := plain(b.f.Entity); want != "" && (want == plain(e.table) || want == plain(e.name)) {
			b.p.entity = e
		}
	}
	switch e := b.p.entity; {
	case e == nil:
		b.wrong("entity: %q is none of: %s", b.f.Entity, strings.Join(importable(b.all), ", "))
		return nil
	case ourOwn[e.table] != "":
		b.wrong("entity: %s cannot be imported; %s", e.table, ourOwn[e.table])
		return nil
	}
	b.readReading()
	if !b.readHeader() {
		return nil
	}
	b.readID()
	b.readOnly()
	b.readColumns()
	b.readConstants()
	b.checkWords()
	b.checkNeeds()
	return b.p
}

func importable(all []*entity) (list []string) {
	for _, e := range all {
		if ourOwn[e.table] == "" {
			list = append(list, e.table)
		}
	}
	slices.Sort(list)
	return list
}

func (b *planner) readReading() {
	switch name := strings.ToLower(b.reading.Encoding); name {
	case "", "utf-8", "utf8", "utf-16", "utf16": // the latter has a mark
		b.p.encoding = utf8Encoding
	case latin1, "latin1", "iso-8859-1":
		b.p.encoding = latin1
	case windows, "cp1252":
		b.p.encoding = windows
	case mixed:
		b.p.encoding = mixed
	default:
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
	switch b.reading.DecimalMark {
	case "", ".", ",":
	default:
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
	if b.p.nulls = b.reading.Nulls; b.p.nulls == nil {
		b.p.nulls = nullWords
	}
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

// place finds a column of the header, whatever its case. An empty file has none,
// and needs none.
func (b *planner) place(name string) int {
	found := -1
	for i, h := range b.p.header {
		if headerName(h) != headerName(name) {
			continue
		}
		if found >= 0 {
			b.wrong("the header has the column %s twice", name)
			return found
		}
		found = i
	}
	if found < 0 && len(b.p.header) > 0 {
		b.wrong("there is no column %s; the header has: %s", name, strings.Join(b.p.header, ", "))
	}
	return found
}

// headerName is a column's name for comparison: "Last Name" is last_name.
func headerName(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return unicode.IsSpace(r) || r == '_' || r == '-' }), "_")
}

func (b *planner) readID() {
	ids := b.f.ID
	if ids != nil && len(ids) == 0 { // [] is none
		if len(b.p.entity.unique) == 0 {
			b.wrong("id: %s can be there many times; name the column of their ids", b.p.entity.table)
		}
		return
	}
	if len(ids) == 0 {
		for _, c := range b.f.Columns {
			if c.Field == legacyID {
				ids = append(ids, c.column)
			}
		}
	}
	for _, candidate := range []string{legacyID, "id"} {
		if len(ids) > 0 {
			break
		}
		if slices.ContainsFunc(b.p.header, func(h string) bool { return headerName(h) == candidate }) {
			ids = names{candidate}
		}
	}
	switch {
	case len(ids) == 1 && ids[0] == "line" && !slices.ContainsFunc(b.p.header, func(h string) bool { return headerName(h) == "line" }):
		b.p.lineID = true
		return
	case len(ids) == 0 && len(b.p.header) > 0 && len(b.p.entity.unique) == 0:
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
	if len(b.p.header) == 0 {
		return
	}
	e := b.p.entity
	for i := range e.columns {
		c := &e.columns[i]
		if b.p.target(c.name) != nil || !b.p.needs(c) {
			continue
		}
		b.wrong("no column gives %s, which %s need; map a column to it, or put it among the constants", c.name, e.table)
	}
}

// needs reports whether every new row needs a value for the column, and what the
// file refers to has none.
func (p *plan) needs(c *column) bool {
	said := func(r *column) bool { return p.target(r.name) != nil }
	return p.entity.needs(c) && !slices.ContainsFunc(p.inheritedFrom(c), said)
}

// needs reports whether every new row needs a value for the column from its file.
func (e *entity) needs(c *column) bool {
	return !c.nullable && c.defaults == nil && c.kind != document && e.settable(c) && c.name != "created_at" &&
		!slices.Contains(totals[e.table], c.name) && !e.supplies(c.name)
}

// supplies reports whether a column follows from others where a file does not
// give it. A site is the patient's, or the practice's first.
func (e *entity) supplies(column string) bool {
	c := e.column(column)
	return c != nil && c.refers == "sites" || supplied[e.table+"."+column]
}

var supplied = map[string]bool{
	"appointments.finish_time": true, "appointments.duration": true,
	"invoices.account_id": true, "invoices.due_on": true,
	"invoice_items.item_price": true, "invoice_items.quantity": true,
}

// inheritedFrom are the references of a file's rows whose records have the same
// column: those of its entity, and the invoice of a payment says whose that is.
func (p *plan) inheritedFrom(c *column) []*column {
	list := p.entity.inheritedFrom(c)
	if p.entity.table == "payments" && c.name == "patient_id" && p.target(paysInvoice) != nil {
		list = append(list, paidInvoice)
	}
	return list
}

// paidInvoice stands for the invoice that a payment names, which is no column.
var paidInvoice = &column{name: paysInvoice, refers: "invoices"}

// inheritedFrom are the references of the entity whose records have the same
// column: where a file does not say who the patient of a treatment is, it is
// the patient of the plan.
func (e *entity) inheritedFrom(c *column) []*column {
	if c.refers == "" && c.name != "nomenclature" { // the name of a treatment when it was planned
		return nil
	}
	var list []*column
	for i := range e.columns {
		r := &e.columns[i]
		if r.refers == "" || r.refers == "practices" || r.name == c.name {
			continue
		}
		if parent, err := byTable(r.refers); err == nil {
			if theirs := parent.column(c.name); theirs != nil && theirs.kind == c.kind && theirs.refers == c.refers {
				list = append(list, r)
			}
		}
	}
	return list
}
