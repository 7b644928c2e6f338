package transfer

import (
	"crypto/sha256"
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
)

// record is one row of a file on its way into the database.
type record struct {
	row    sourceRow
	before string // the line that is of the same record, "" for none
	line   int
	cells  []string // for the file of rejects
	legacy string   // the identity of its legacy id, "" where the file has no ids
	raw    string   // the legacy id as the file spells it

	given    map[string]any    // the columns the file gives a value for, as they are stored
	keys     map[string]string // what references are found by
	metadata map[string]string
	opening  any  // of a patient: the opening balance, nil where the file gives none
	derived  bool // the columns that follow from given ones are there

	existing map[string]any // the row as it is, nil for a new one
	id       any            // int64 or the text of a uuid
	linked   []string       // the spellings of its legacy id for which that row is remembered
	gone     bool           // its row was deleted here

	problems []problem
	warnings []finding
}

// problem is why a row is refused.
type problem struct{ field, reason string }

func (r *record) refuse(field, reason string) {
	r.problems = append(r.problems, problem{field, reason})
}

// get is the value of a column as it is to be.
func (r *record) get(column string) any {
	if v, ok := r.given[column]; ok {
		return v
	}
	return r.existing[column]
}

func (r *record) text(column string) string {
	s, _ := r.get(column).(string)
	return s
}

func (r *record) integer(column string) int64 {
	n, _ := r.get(column).(int64)
	return n
}

func (r *record) boolean(column string) bool {
	b, _ := r.get(column).(bool)
	return b
}

func (r *record) time(column string) time.Time {
	t, _ := r.get(column).(time.Time)
	return t
}

// has reports whether the file gives a value that is not blank.
func (r *record) has(column string) bool { return r.given[column] != nil }

// fill sets a column that nothing else gives a value.
func (r *record) fill(column string, v any) {
	if r.get(column) == nil {
		r.given[column] = v
	}
}

// take makes a record of a row: its cells, and which record of the other
// system it is.
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
	if !strings.HasPrefix(cell, `="`) {
		return cell
	}
	if text := formula.FindStringSubmatch(cell); text != nil {
		return strings.TrimSpace(text[1])
	}
	return cell
}

// read gives a record its values. What is wrong with it is in its problems.
func (p *plan) read(r *record, source string) {
	if len(r.problems) > 0 {
		return
	}
	r.given, r.keys = make(map[string]any, len(p.entity.columns)), make(map[string]string)
	if r.legacy == "" && (len(p.id) > 0 || p.lineID) {
		r.refuse(legacyID, "can't be blank")
	}
	switch {
	case len(r.legacy) > 255 || len(withoutFractions(r.raw)) > 255:
		r.refuse(legacyID, "must not be longer than 255 bytes")
	case strings.ContainsRune(r.legacy, 0):
		r.refuse(legacyID, "must not contain NUL")
	}
	for _, t := range p.targets {
		if t.role != total {
			p.readTarget(r, t, source)
		}
	}
	if r.metadata != nil {
		if message := codec.CheckMetadata(r.metadata); message != "" {
			r.refuse("metadata", message)
		}
		content, _ := json.Marshal(r.metadata) // strings always marshal
		r.given["metadata"] = string(content)
	}
	if p.entity.table == "patients" {
		r.given[legacyID] = withoutFractions(r.raw)
	}
	slices.SortStableFunc(r.problems, func(a, b problem) int { return p.order(a.field) - p.order(b.field) })
}

// order is the place of a field among the targets.
func (p *plan) order(field string) int {
	return slices.IndexFunc(p.targets, func(t *target) bool { return t.field == field })
}

// reads reports whether anything is made of a column.
func (p *plan) reads(place int) bool {
	quotes := func(part phrase) bool { return part.reads(place) }
	return slices.ContainsFunc(p.id, quotes) || slices.ContainsFunc(p.targets, func(t *target) bool {
		return t.constant.reads(place) || slices.ContainsFunc(t.cells, func(c cell) bool { return c.place == place || c.fallback.reads(place) })
	})
}

// withoutIDs reports whether the rows have none: they are of records that can be
// there only once.
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

// fraction is what spreadsheets and the like make of whole numbers in columns that
// have gaps: 123.0 is the id 123.
var fraction = regexp.MustCompile(`^(\d+)\.0+$`)

// leading are zeros in front of a number.
var leading = regexp.MustCompile(`^0+(\d+)$`)

// withoutFractions is a legacy id as people know it.
func withoutFractions(id string) string {
	if !strings.Contains(id, ".0") {
		return id
	}
	parts := strings.Split(id, betweenIDs)
	for i, part := range parts {
		parts[i] = fraction.ReplaceAllString(part, "$1")
	}
	return strings.Join(parts, betweenIDs)
}

// identity is what a legacy id is compared by.
func (p *plan) identity(id string) string {
	id = withoutFractions(id)
	if !p.looseIDs {
		return id
	}
	parts := strings.Split(strings.ToUpper(id), betweenIDs)
	for i, part := range parts {
		if number := leading.FindStringSubmatch(part); number != nil {
			parts[i] = number[1]
		}
	}
	return strings.Join(parts, betweenIDs)
}

// spellings are what a legacy id may be remembered as: its identity, what people know
// it as, and how the file has it. They differ where ids are loose, or were when
// the record was imported before.
func (p *plan) spellings(raw string) []string {
	return slices.Compact([]string{p.identity(raw), withoutFractions(raw), raw})
}

// betweenIDs stands between the columns of a legacy id, and of what refers to it.
const betweenIDs = "/"

// cell is the text of a cell, "" for one of the words that mean nothing.
func (p *plan) cell(cells []string, place int) string {
	if s := cells[place]; !slices.Contains(p.nulls, s) {
		return s
	}
	return ""
}

// text is what a row says for a target: the parts of its cells, translated, with a space
// between them, or what stands between the columns of a legacy id.
func (p *plan) text(t *target, cells []string) string {
	s, _ := p.matched(t, cells)
	return s
}

// matched is the text for a target, and the first pattern that a cell has no part
// like, nil for none.
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
			if word, ok := c.values[strings.ToLower(s)]; ok {
				s = word
			} else if word, ok := c.values["*"]; ok && s != "" {
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
	if missed != nil {
		r.refuse(t.field, "has no part like "+missed.String())
		return
	}
	if strings.ContainsRune(s, 0) {
		r.refuse(t.field, "must not contain NUL")
		return
	}
	switch t.role {
	case reference:
		r.keys[t.field] = s
	case metadatum:
		if r.metadata == nil {
			r.metadata = map[string]string{}
		}
		if s != "" {
			r.metadata[strings.TrimPrefix(t.field, metadataKey)] = s
		}
	case jsonValue:
		switch content, message := readDocument(t.column, s); {
		case s == "" && t.column.nullable:
			r.given[t.field] = nil
		case s == "":
			r.given[t.field] = emptyDocument(t.column)
		case message != "":
			r.refuse(t.field, message)
		default:
			r.given[t.field] = content
		}
	case value:
		if s == "" && p.entity.supplies(t.field) { // it follows from something else
			break
		}
		if message := p.readValue(r, t, s, source); message != "" {
			r.refuse(t.field, message)
		}
	}
}

// readValue keeps a text as the API's own reader understands it, in the form in
// which it is stored, or says what is wrong with it.
func (p *plan) readValue(r *record, t *target, s, source string) (message string) {
	said := s
	if s != "" {
		if t.column != nil && t.column.kind == unique {
			if _, err := uuid.Parse(s); err != nil { // the number of a family
				s = uuid.NewSHA1(uuid.NameSpaceOID, []byte(source+"\x00"+t.field+"\x00"+p.identity(s))).String()
			}
		}
		if s, message = foreignValue(t.wire, s, &t.read); message != "" {
			return message
		}
		s = t.negated(s)
	}
	v, follows, message := t.wire.ReadText(s, time.UTC)
	switch {
	case message != "" || follows:
		return message
	case t.column == nil: // the opening balance of a patient
		if d, ok := v.(decimal.Decimal); ok {
			r.opening = int64(d)
		}
		return ""
	}
	stored, err := t.column.storedOf(v)
	if err != nil {
		return err.Error()
	}
	look := func(shown, message string) {
		if message != "" {
			r.warnings = append(r.warnings, finding{field: t.field, claimed: said, computed: shown, message: message})
		}
	}
	switch v := stored.(type) {
	case string:
		switch {
		case t.wire.Kind == codec.Date:
			if day, err := civil.Parse(v); err == nil {
				look(v, t.read.farAway(day.Year))
			}
		case p.entity.table == "users" && t.field == "email":
			stored = strings.ToLower(v)
		}
	case time.Time:
		shown := v.In(t.read.home).Format("2006-01-02T15:04:05Z07:00")
		look(shown, t.read.farAway(v.Year()))
		look(shown, t.read.clockChange(said, v))
	}
	r.given[t.field] = stored
	return ""
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

// storedOf is the form in which a value of the API's reader is stored.
func (c *column) storedOf(v any) (any, error) {
	switch v := v.(type) {
	case string:
		return c.kind.read(v)
	case decimal.Decimal:
		return int64(v), nil
	case json.RawMessage:
		return string(v), nil
	}
	return v, nil
}

// fingerprint stands for a legacy id in the memory of those a file has had.
type fingerprint [16]byte

func fingerprintOf(s string) (f fingerprint) {
	sum := sha256.Sum256([]byte(s))
	copy(f[:], sum[:])
	return f
}
