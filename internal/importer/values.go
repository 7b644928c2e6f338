package importer

import (
	"encoding/json"
	"maps"
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

const (
	cantBeBlank = "can't be blank"
	containsNUL = "must not contain NUL"
)

// parse reads the values of a record and rejects a duplicate.
func (p *plan) parse(r *record) {
	p.parseValues(r)
	if r.duplicateOf != "" {
		field := legacyID
		if !p.hasIDs() {
			field = p.entity.Unique[0].Last()
		}
		r.reject(field, "already occurs in "+r.duplicateOf)
	}
}

// parseAgain returns a new record of the same source row, without what the database said of the
// old one.
func (p *plan) parseAgain(r *record) *record {
	again := p.newRecord(r.source)
	again.duplicateOf = r.duplicateOf
	p.parse(again)
	return again
}

// parseValues reads the value of every target. Problems are in the order of the targets.
func (p *plan) parseValues(r *record) {
	if r.rejected() {
		return
	}
	r.values, r.referenceKeys = make(row, p.rowSize), make(map[string]string)
	switch {
	case r.legacyID == "" && p.hasIDs():
		r.reject(legacyID, cantBeBlank)
	case len(r.legacyID) > 255 || len(trimDecimals(r.rawID)) > 255:
		r.reject(legacyID, "must not be longer than 255 bytes")
	case strings.ContainsRune(r.legacyID, 0):
		r.reject(legacyID, containsNUL)
	}
	for _, t := range p.targets {
		if t.role != total {
			p.parseTarget(r, t)
		}
	}
	if r.metadata != nil {
		r.rejectIf("metadata", codec.CheckMetadata(r.metadata))
		content, _ := json.Marshal(r.metadata) // strings always marshal
		r.values["metadata"] = string(content)
	}
	if p.entity.Name == "patients" {
		r.values[legacyID] = trimDecimals(r.rawID)
	}
	order := func(field string) int {
		return slices.IndexFunc(p.targets, func(t *target) bool { return t.name == field })
	}
	slices.SortStableFunc(r.problems, func(a, b problem) int { return order(a.field) - order(b.field) })
}

// cell returns the text of a cell, "" if it is one of the words for no value.
func (p *plan) cell(cells []string, index int) string {
	if s := cells[index]; !slices.Contains(p.nulls, s) {
		return s
	}
	return ""
}

// text returns what a row says for a target: its cells, translated and joined.
func (p *plan) text(t *target, cells []string) string {
	s, _ := p.textAndMismatch(t, cells)
	return s
}

// textAndMismatch also returns the first pattern that its cell does not match, or nil.
func (p *plan) textAndMismatch(t *target, cells []string) (text string, mismatch *regexp.Regexp) {
	if t.constant != nil {
		return p.expand(t.constant, cells, t.form()), nil
	}
	var parts []string
	for _, c := range t.cells {
		s, ok := c.extract(p.cell(cells, c.index))
		if !ok && mismatch == nil {
			mismatch = c.match
		}
		if s = c.translate(s); s == "" {
			s = p.expand(c.fallback, cells, t.form())
		}
		if s != "" {
			parts = append(parts, s)
		}
	}
	separator := " "
	if t.isLegacyID() {
		separator = idSeparator
	}
	return strings.Join(parts, separator), mismatch
}

// parseTarget stores what a row says for a target in the record.
func (p *plan) parseTarget(r *record, t *target) {
	if t.role == metadataValue && r.metadata == nil {
		r.metadata = map[string]string{}
	}
	s, mismatch := p.textAndMismatch(t, r.cells)
	switch {
	case mismatch != nil:
		p.refuse(r, t, "does not match "+mismatch.String())
	case strings.ContainsRune(s, 0):
		p.refuse(r, t, containsNUL)
	case t.role == reference:
		r.referenceKeys[t.name] = s
	case t.role == metadataValue && s == "":
	case t.role == metadataValue:
		key := strings.TrimPrefix(t.name, metadataPrefix)
		if message := codec.CheckMetadata(map[string]string{key: s}); message != "" && t.blankInvalid {
			p.refuse(r, t, message)
			return
		}
		r.metadata[key] = s // parseValues checks all keys
	case t.role == plainValue && s == "" && p.entity.supplies(t.name): // a rule will set it
	default:
		message := p.parseValue(r, t, s)
		if message == "" && t.blankInvalid && t.column != nil && t.column.Limit != nil && !t.column.IsSealed() {
			message = t.column.Limit.Check(r.values[t.name])
		}
		if message != "" {
			p.refuse(r, t, message)
		}
	}
}

// refuse rejects a record for an invalid value, or leaves the field blank and warns, as the
// mapping says.
func (p *plan) refuse(r *record, t *target, message string) {
	if !t.blankInvalid {
		r.reject(t.name, message)
		return
	}
	if t.role != metadataValue && !p.entity.supplies(t.name) {
		if blank := p.parseValue(r, t, ""); blank != "" {
			r.reject(t.name, message)
			return
		}
	}
	var shown []string // the cells; a pattern may match none of a cell
	for _, c := range t.cells {
		shown = append(shown, p.cell(r.cells, c.index))
	}
	r.warnings = append(r.warnings, finding{field: t.name, claimed: strings.ToValidUTF8(strings.Join(shown, " "), "\uFFFD"), message: "left blank: " + message})
}

// parseValue converts a text to the API's form, checks it as the API does and stores the value in
// the record. It returns a message if the value is invalid.
func (p *plan) parseValue(r *record, t *target, s string) (message string) {
	if t.role == jsonValue {
		content, message := parseDocument(t.column, s)
		if message == "" {
			r.values[t.name] = content
		}
		return message
	}
	original := s
	if t.column != nil && t.column.Stored == table.UUID && s != "" && uuid.Validate(s) != nil { // a family's number
		s = uuid.NewSHA1(uuid.NameSpaceOID, []byte(p.system+"\x00"+t.name+"\x00"+p.normalizeID(s))).String()
	}
	if s != "" {
		if s, message = t.convert.value(t.field, s); message != "" {
			return message
		}
		s = t.applySign(s)
	}
	v, derived, message := t.field.ReadText(s, time.UTC)
	if message != "" || derived {
		return message
	}
	v = p.warnOfValue(r, t, original, v)
	switch whole, isMetadata := v.(json.RawMessage); {
	case isMetadata: // parseValues stores it, with the values of metadata.KEY
		values := map[string]string{}
		_ = json.Unmarshal(whole, &values) // ReadText has made it
		maps.Copy(values, r.metadata)
		r.metadata = values
	case t.column == nil:
		r.openingBalance = v
	default:
		r.values[t.name] = v
	}
	return ""
}

// warnOfValue warns of dates and times that are unlikely to be meant, and returns the value in
// the form in which it is stored.
func (p *plan) warnOfValue(r *record, t *target, original string, v any) any {
	warn := func(shown, message string) {
		if message != "" {
			r.warnings = append(r.warnings, finding{field: t.name, claimed: original, computed: shown, message: message})
		}
	}
	switch v := v.(type) {
	case decimal.Decimal:
		return int64(v)
	case string:
		if t.field.Kind == codec.Date {
			day, _ := civil.Parse(v) // ReadText has checked it
			warn(v, t.convert.unlikelyYear(day.Year))
		}
		if p.entity.Name == "users" && t.name == "email" {
			return schema.NormalizeEmail(v)
		}
	case time.Time:
		shown := v.In(t.convert.home).Format("2006-01-02T15:04:05Z07:00")
		warn(shown, t.convert.unlikelyYear(v.Year()))
		warn(shown, t.convert.clockChange(original, v))
	}
	return v
}

// parseDocument returns the JSON to store for the text of a list or an object, or a message.
func parseDocument(c *table.Column, s string) (content any, message string) {
	switch {
	case s == "" && c.Null:
		return nil, ""
	case s == "":
		return emptyDocument(c), ""
	case c.Kind == codec.Strings && !strings.HasPrefix(s, "["):
		list, _ := json.Marshal(splitList(s)) // strings always marshal
		return string(list), ""
	}
	return c.ParseJSON(s)
}

// emptyDocument returns the JSON for no value in a column that is not nullable.
func emptyDocument(c *table.Column) string {
	if c.Limit.JSON == "array" {
		return "[]"
	}
	return "{}"
}
