package transfer

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"chairside/internal/wire"
)

// rowKey is the member under which the API's reader finds the fields of a row.
const rowKey = "row"

// record is one row of a file on its way into the database.
type record struct {
	row    sourceRow
	before int // the line that has the same legacy id, 0 for none
	line   int
	cells  []string // for the file of rejects
	legacy string   // "" where the file has no ids

	given    map[string]any    // the columns the file gives a value for, as they are stored
	keys     map[string]string // what references are found by
	metadata map[string]string
	opening  any // of a patient: the opening balance, nil where the file gives none

	existing map[string]any // the row as it is, nil for a new one
	id       any            // int64 or the text of a uuid
	linked   bool           // it is remembered which row the record is
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

// read makes a record of a row. What is wrong with it is in its problems.
func (p *plan) read(row sourceRow, source string) *record {
	r := &record{row: row, line: row.line, given: map[string]any{}, keys: map[string]string{}}
	for i, c := range row.cells {
		shown, ok := decodeText(c, p.encoding)
		r.cells = append(r.cells, strings.TrimSpace(shown))
		if !ok && row.message == "" && p.reads(i) {
			r.refuse(p.header[i], "has bytes that are not "+p.encoding+"; set encoding to latin-1, windows-1252, or mixed for both")
		}
	}
	if row.message != "" {
		r.refuse("", row.message)
	}
	if len(r.problems) > 0 {
		return r
	}
	if r.legacy = p.legacyID(r.cells, row.line); r.legacy == "" && (len(p.id) > 0 || p.lineID) {
		r.refuse(legacyID, "can't be blank")
	}
	if len(r.legacy) > 255 {
		r.refuse(legacyID, "must not be longer than 255 bytes")
	}
	sent := map[string]any{}
	for _, t := range p.targets {
		if t.role != total {
			p.readTarget(r, t, sent, source)
		}
	}
	p.readValues(r, sent)
	if r.metadata != nil {
		if message := wire.CheckMetadata(r.metadata); message != "" {
			r.refuse("metadata", message)
		}
		content, _ := json.Marshal(r.metadata) // strings always marshal
		r.given["metadata"] = string(content)
	}
	if p.entity.table == "patients" {
		r.given[legacyID] = r.legacy
	}
	slices.SortStableFunc(r.problems, func(a, b problem) int { return p.order(a.field) - p.order(b.field) })
	return r
}

// order is the place of a field among the targets.
func (p *plan) order(field string) int {
	return slices.IndexFunc(p.targets, func(t *target) bool { return t.field == field })
}

// reads reports whether anything is made of a column.
func (p *plan) reads(place int) bool {
	return slices.Contains(p.id, place) || slices.ContainsFunc(p.targets, func(t *target) bool {
		return slices.ContainsFunc(t.cells, func(c cell) bool { return c.place == place })
	})
}

func (p *plan) legacyID(cells []string, line int) string {
	if p.lineID {
		return fmt.Sprint(line)
	}
	parts := make([]string, len(p.id))
	for i, place := range p.id {
		if parts[i] = p.cell(cells, place); parts[i] == "" {
			return ""
		}
	}
	return strings.Join(parts, "/")
}

// cell is the text of a cell, "" for one of the words that mean nothing.
func (p *plan) cell(cells []string, place int) string {
	if s := cells[place]; !slices.Contains(p.nulls, s) {
		return s
	}
	return ""
}

// text is what a row says for a target: its cells, translated, with a space
// between them.
func (p *plan) text(t *target, cells []string) string {
	if t.constant != nil {
		return *t.constant
	}
	var parts []string
	for _, c := range t.cells {
		s := p.cell(cells, c.place)
		if c.values != nil {
			if word, ok := c.values[strings.ToLower(s)]; ok {
				s = word
			} else if word, ok := c.values["*"]; ok && s != "" {
				s = word
			}
		}
		if s == "" {
			s = c.fallback
		}
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, " ")
}

// readTarget keeps what a row says for a target, or adds it to what the API's
// reader is to read.
func (p *plan) readTarget(r *record, t *target, sent map[string]any, source string) {
	s := p.text(t, r.cells)
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
		if s == "" {
			if !p.entity.supplies(t.field) { // those follow from something else
				sent[t.field] = nil
			}
			break
		}
		if t.column != nil && t.column.kind == unique {
			if _, err := uuid.Parse(s); err != nil { // the number of a family
				s = uuid.NewSHA1(uuid.NameSpaceOID, []byte(source+"\x00"+t.field+"\x00"+s)).String()
			}
		}
		if t.wire.Kind == wire.Metadata {
			sent[t.field] = json.RawMessage("{}")
			if json.Valid([]byte(s)) {
				sent[t.field] = json.RawMessage(s)
			} else {
				r.refuse(t.field, "must be an object of strings")
			}
			break
		}
		read, message := foreignValue(t.wire, s, &t.read)
		if message != "" {
			r.refuse(t.field, message)
			break
		}
		sent[t.field] = t.negated(read)
	}
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

// readValues runs the API's own reader over the values, and keeps what comes
// out as it is stored.
func (p *plan) readValues(r *record, sent map[string]any) {
	refused := map[string]bool{}
	for _, problem := range r.problems {
		refused[problem.field] = true
	}
	body, err := json.Marshal(map[string]any{rowKey: sent})
	if err != nil {
		r.refuse("", "cannot be read")
		return
	}
	canonical, messages, err := p.body.Read(body, time.UTC)
	if err != nil {
		r.refuse("", "has bytes that are not "+p.encoding)
		return
	}
	for _, field := range slices.Sorted(maps.Keys(messages)) {
		if !refused[field] {
			for _, m := range messages[field] {
				r.refuse(field, m)
			}
		}
	}
	var read struct {
		Row map[string]any `json:"row"`
	}
	decoder := json.NewDecoder(bytes.NewReader(canonical))
	decoder.UseNumber()
	if err := decoder.Decode(&read); err != nil {
		r.refuse("", "cannot be read")
		return
	}
	for field, v := range read.Row {
		if field == openingBalance && p.entity.table == "patients" {
			if s, ok := v.(string); ok {
				r.opening, _ = amount.read(s) // canonical
			}
			continue
		}
		stored, err := p.entity.column(field).stored(v)
		if err != nil {
			r.refuse(field, err.Error())
			continue
		}
		if s, ok := stored.(string); ok && p.entity.table == "users" && field == "email" {
			stored = strings.ToLower(s)
		}
		r.given[field] = stored
	}
}

// stored is the form in which a canonical JSON value is stored.
func (c *column) stored(v any) (any, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case bool:
		return v, nil
	case json.Number:
		return v.Int64()
	case string:
		return c.kind.read(v)
	}
	content, err := json.Marshal(v)
	return string(content), err
}

// fingerprint stands for a legacy id in the memory of those a file has had.
type fingerprint [16]byte

func fingerprintOf(s string) (f fingerprint) {
	sum := sha256.Sum256([]byte(s))
	copy(f[:], sum[:])
	return f
}
