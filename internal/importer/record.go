package importer

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"chairside/internal/civil"
	"chairside/internal/codec"
	"chairside/internal/decimal"
	"chairside/internal/entx/table"
	"chairside/schema"
)

// row is a row by column, as it is stored.
type row map[string]any

// record is one row of a file on its way into the database.
type record struct {
	row    sourceRow
	before string // the line that is of the same record, "" for none
	line   int
	cells  []string // for the file of rejects
	legacy string   // the identity of its legacy id, "" where the file has no ids
	raw    string   // the legacy id as the file spells it

	given    row               // the columns the file gives a value for
	keys     map[string]string // what references are found by
	metadata map[string]string
	opening  any  // of a patient: the opening balance, nil where the file gives none
	derived  bool // the columns that follow from given ones are there

	existing row      // the row as it is, nil for a new one
	id       any      // int64 or the text of a uuid
	linked   []string // the spellings of its legacy id for which that row is remembered
	gone     bool     // its row was deleted here

	problems []problem
	warnings []finding
}

// problem is why a row is refused.
type problem struct{ field, reason string }

func (r *record) refuse(field, reason string) {
	r.problems = append(r.problems, problem{field, reason})
}

// check refuses the row for a message, unless that is "".
func (r *record) check(field, message string) {
	if message != "" {
		r.refuse(field, message)
	}
}

func (r *record) warn(field, message string) {
	r.warnings = append(r.warnings, finding{field: field, message: message})
}

// get is the value of a column as it is to be.
func (r *record) get(column string) any {
	if v, ok := r.given[column]; ok {
		return v
	}
	return r.existing[column]
}

func (r *record) text(column string) (s string)    { s, _ = r.get(column).(string); return s }
func (r *record) integer(column string) (n int64)  { n, _ = r.get(column).(int64); return n }
func (r *record) boolean(column string) (b bool)   { b, _ = r.get(column).(bool); return b }
func (r *record) time(column string) (t time.Time) { t, _ = r.get(column).(time.Time); return t }

// has reports whether the file gives a value that is not blank.
func (r *record) has(column string) bool { return r.given[column] != nil }

// changes reports whether the row in the database has another value.
func (r *record) changes(column string) bool { return r.get(column) != r.existing[column] }

// fill sets a column that nothing else gives a value.
func (r *record) fill(column string, v any) {
	if r.get(column) == nil {
		r.given[column] = v
	}
}

// take makes a record of a row: its cells, and which record of the other system it is.
func (p *plan) take(row sourceRow) *record {
	r := &record{row: row, line: row.line, cells: make([]string, len(row.cells))}
	for i, c := range row.cells {
		shown, ok := decodeText(c, p.encoding)
		r.cells[i] = trimmed(shown)
		if !ok && row.message == "" && p.reads(i) {
			r.refuse(p.header[i], undecodable(p.encoding))
		}
	}
	if row.message != "" {
		r.refuse("", row.message)
		return r
	}
	r.raw = p.legacyID(r.cells, row.line)
	r.legacy = p.identity(r.raw)
	return r
}

// formula is a text that spreadsheets are to leave as it is: ="00123".
var formula = regexp.MustCompile(`^="([^"]*)"$`)

// trimmed is what a cell says.
func trimmed(cell string) string {
	cell = strings.TrimSpace(cell)
	if strings.HasPrefix(cell, `="`) {
		return strings.TrimSpace(formula.ReplaceAllString(cell, "$1"))
	}
	return cell
}

// read gives a record its values. What is wrong with it is in its problems.
func (p *plan) read(r *record, source string) {
	if len(r.problems) > 0 {
		return
	}
	r.given, r.keys = make(row, len(p.entity.Columns)), make(map[string]string)
	switch {
	case r.legacy == "" && !p.withoutIDs():
		r.refuse(legacyID, cantBeBlank)
	case len(r.legacy) > 255 || len(withoutFractions(r.raw)) > 255:
		r.refuse(legacyID, "must not be longer than 255 bytes")
	case strings.ContainsRune(r.legacy, 0):
		r.refuse(legacyID, holdsNUL)
	}
	for _, t := range p.targets {
		if t.role != total {
			p.readTarget(r, t, source)
		}
	}
	if r.metadata != nil {
		r.check("metadata", codec.CheckMetadata(r.metadata))
		content, _ := json.Marshal(r.metadata) // strings always marshal
		r.given["metadata"] = string(content)
	}
	if p.entity.Name == "patients" {
		r.given[legacyID] = withoutFractions(r.raw)
	}
	place := func(field string) int {
		return slices.IndexFunc(p.targets, func(t *target) bool { return t.name == field })
	}
	slices.SortStableFunc(r.problems, func(a, b problem) int { return place(a.field) - place(b.field) })
}

const (
	cantBeBlank = "can't be blank"
	holdsNUL    = "must not contain NUL"
)

// reads reports whether anything is made of a column.
func (p *plan) reads(place int) bool {
	quotes := func(part phrase) bool { return part.reads(place) }
	return slices.ContainsFunc(p.id, quotes) || slices.ContainsFunc(p.targets, func(t *target) bool {
		return t.constant.reads(place) || slices.ContainsFunc(t.cells, func(c cell) bool { return c.place == place || c.fallback.reads(place) })
	})
}

// withoutIDs reports whether the rows have none: they are of records that can be there only once.
func (p *plan) withoutIDs() bool { return len(p.id) == 0 && !p.lineID }

// legacyID is the legacy id as a row spells it.
func (p *plan) legacyID(cells []string, line int) string {
	if p.lineID {
		return fmt.Sprint(line)
	}
	parts := make([]string, len(p.id))
	for i, part := range p.id {
		if len(part) == 1 && part[0].place >= 0 {
			parts[i] = p.cell(cells, part[0].place)
		} else {
			parts[i] = p.phrase(part, cells, true)
		}
		if parts[i] == "" {
			return ""
		}
	}
	return strings.Join(parts, betweenIDs)
}

// betweenIDs stands between the columns of a legacy id, and of what refers to it.
const betweenIDs = "/"

var (
	// fraction is what spreadsheets and the like make of whole numbers in columns that have gaps:
	// 123.0 is the id 123.
	fraction = regexp.MustCompile(`(^|/)(\d+)\.0+(/|$)`)
	// leading are zeros in front of a number.
	leading = regexp.MustCompile(`(^|/)0+(\d+)(/|$)`)
)

// eachPart replaces what an expression finds in the parts of an id. Parts share the separators
// between them, so it goes over the id twice.
func eachPart(parts *regexp.Regexp, id string) string {
	return parts.ReplaceAllString(parts.ReplaceAllString(id, "$1$2$3"), "$1$2$3")
}

// withoutFractions is a legacy id as people know it.
func withoutFractions(id string) string {
	if !strings.Contains(id, ".0") {
		return id
	}
	return eachPart(fraction, id)
}

// identity is what a legacy id is compared by.
func (p *plan) identity(id string) string {
	id = withoutFractions(id)
	if p.looseIDs {
		return eachPart(leading, strings.ToUpper(id))
	}
	return id
}

// spellings are what a legacy id may be remembered as: its identity, what people know it as, and
// how the file has it. They differ where ids are loose, or were when the record was imported
// before.
func (p *plan) spellings(raw string) []string {
	return slices.Compact([]string{p.identity(raw), withoutFractions(raw), raw})
}

// cell is the text of a cell, "" for one of the words that mean nothing.
func (p *plan) cell(cells []string, place int) string {
	if s := cells[place]; !slices.Contains(p.nulls, s) {
		return s
	}
	return ""
}

// text is what a row says for a target: the parts of its cells, translated, with a space between
// them, or what stands between the columns of a legacy id.
func (p *plan) text(t *target, cells []string) string {
	s, _ := p.matched(t, cells)
	return s
}

// matched is the text for a target, and the first pattern that a cell has no part like, nil for
// none.
func (p *plan) matched(t *target, cells []string) (said string, missed *regexp.Regexp) {
	if t.constant != nil {
		return p.phrase(t.constant, cells, t.role == reference), nil
	}
	var parts []string
	for _, c := range t.cells {
		s, ok := c.part(p.cell(cells, c.place))
		if !ok && missed == nil {
			missed = c.match
		}
		if c.values != nil {
			word, ok := c.values[strings.ToLower(s)]
			if !ok && s != "" {
				word, ok = c.values["*"]
			}
			if ok {
				s = word
			}
		}
		if s == "" {
			s = p.phrase(c.fallback, cells, t.role == reference)
		}
		if s != "" {
			parts = append(parts, s)
		}
	}
	if t.namesLegacyID() {
		return strings.Join(parts, betweenIDs), missed
	}
	return strings.Join(parts, " "), missed
}

// namesLegacyID reports whether a target can be nothing but a legacy id.
func (t *target) namesLegacyID() bool {
	return t.role == reference && (t.by == legacyID || t.by == "" && t.refers.commonName() == "")
}

// readTarget keeps what a row says for a target.
func (p *plan) readTarget(r *record, t *target, source string) {
	s, missed := p.matched(t, r.cells)
	switch {
	case missed != nil:
		r.refuse(t.name, "has no part like "+missed.String())
	case strings.ContainsRune(s, 0):
		r.refuse(t.name, holdsNUL)
	case t.role == reference:
		r.keys[t.name] = s
	case t.role == metadatum:
		if r.metadata == nil {
			r.metadata = map[string]string{}
		}
		if s != "" {
			r.metadata[strings.TrimPrefix(t.name, metadataKey)] = s
		}
	case t.role == value && s == "" && p.entity.supplies(t.name): // it follows from something else
	default:
		r.check(t.name, p.readValue(r, t, s, source))
	}
}

// readValue keeps a text as the API's own reader understands it, in the form in which it is
// stored, or says what is wrong with it.
func (p *plan) readValue(r *record, t *target, s, source string) (message string) {
	if t.role == jsonValue {
		content, message := readDocument(t.column, s)
		if message == "" {
			r.given[t.name] = content
		}
		return message
	}
	said := s
	if t.column != nil && t.column.Stored == table.UUID && s != "" && uuid.Validate(s) != nil { // the number of a family
		s = uuid.NewSHA1(uuid.NameSpaceOID, []byte(source+"\x00"+t.name+"\x00"+p.identity(s))).String()
	}
	if s != "" {
		if s, message = foreignValue(t.field, s, &t.read); message != "" {
			return message
		}
		s = t.negated(s)
	}
	v, follows, message := t.field.ReadText(s, time.UTC)
	if message != "" || follows {
		return message
	}
	look := func(shown, message string) {
		if message != "" {
			r.warnings = append(r.warnings, finding{field: t.name, claimed: said, computed: shown, message: message})
		}
	}
	switch read := v.(type) {
	case decimal.Decimal:
		v = int64(read)
	case string:
		if t.field.Kind == codec.Date {
			day, _ := civil.Parse(read) // the API's reader has
			look(read, t.read.farAway(day.Year))
		}
		if p.entity.Name == "users" && t.name == "email" {
			v = schema.NormalizeEmail(read)
		}
	case time.Time:
		shown := read.In(t.read.home).Format("2006-01-02T15:04:05Z07:00")
		look(shown, t.read.farAway(read.Year()))
		look(shown, t.read.clockChange(said, read))
	}
	if t.column == nil {
		r.opening = v
	} else {
		r.given[t.name] = v
	}
	return ""
}

// readDocument is the JSON that is stored for the text of a list or an object.
func readDocument(c *table.Column, s string) (content any, message string) {
	switch {
	case s == "" && c.Null:
		return nil, ""
	case s == "":
		return emptyDocument(c), ""
	case c.Kind == codec.Strings && !strings.HasPrefix(s, "["):
		list, _ := json.Marshal(foreignList(s)) // texts always marshal
		return string(list), ""
	}
	return c.ParseJSON(s)
}

// emptyDocument is what stands for no value in a column that needs one.
func emptyDocument(c *table.Column) string {
	if c.Limit.JSON == "array" {
		return "[]"
	}
	return "{}"
}

func (t *target) negated(s string) string {
	if !t.negate || s == "" {
		return s
	}
	if positive, ok := strings.CutPrefix(s, "-"); ok {
		return positive
	}
	return "-" + s
}
