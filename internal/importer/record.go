package importer

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// row holds the values of columns by name, in the form in which they are stored.
type row map[string]any

// record is one row of a source file on its way into the database.
type record struct {
	source      sourceRow
	cells       []string // decoded and trimmed; rejects show them
	legacyID    string   // normalised for comparison; "" if the file has no IDs
	rawID       string   // the legacy ID as the file spells it
	duplicateOf string   // an earlier line with the same record, "" if there is none

	values         row               // columns that the file or a rule sets
	referenceKeys  map[string]string // by field: the text that identifies the referenced record
	metadata       map[string]string
	openingBalance any  // of a patient, in pence; nil if the file has none
	derived        bool // derived columns are set

	id             any      // int64, or the text of a UUID; nil until it is known
	existing       row      // the row in the database, nil for a new one
	deleted        bool     // an earlier import made the row, and it was deleted since
	savedSpellings []string // spellings of the legacy ID in imported_records

	problems []problem
	warnings []finding
}

// problem is a reason to reject a record. field is "" if it concerns the whole row.
type problem struct{ field, reason string }

func (r *record) reject(field, reason string) {
	r.problems = append(r.problems, problem{field, reason})
}

// rejectIf rejects the record if there is a message.
func (r *record) rejectIf(field, message string) {
	if message != "" {
		r.reject(field, message)
	}
}

func (r *record) rejected() bool { return len(r.problems) > 0 }

func (r *record) warn(field, message string) {
	r.warnings = append(r.warnings, finding{field: field, message: message})
}

// get returns the value that a column will have: the record's, or else the existing one.
func (r *record) get(column string) any {
	if v, ok := r.values[column]; ok {
		return v
	}
	return r.existing[column]
}

func (r *record) text(column string) (s string)    { s, _ = r.get(column).(string); return s }
func (r *record) integer(column string) (n int64)  { n, _ = r.get(column).(int64); return n }
func (r *record) boolean(column string) (b bool)   { b, _ = r.get(column).(bool); return b }
func (r *record) time(column string) (t time.Time) { t, _ = r.get(column).(time.Time); return t }

// sets reports whether the record has a value for the column that is not null.
func (r *record) sets(column string) bool { return r.values[column] != nil }

// changes reports whether the column will differ from the existing row. Every column of a new row
// that is not null does.
func (r *record) changes(column string) bool { return r.get(column) != r.existing[column] }

// setDefault sets a column that would otherwise be null.
func (r *record) setDefault(column string, v any) {
	if r.get(column) == nil {
		r.values[column] = v
	}
}

// newRecord decodes the cells of a row and reads its legacy ID. It does not read any other value.
func (p *plan) newRecord(source sourceRow) *record {
	r := &record{source: source, cells: make([]string, len(source.cells))}
	for i, c := range source.cells {
		text, ok := decodeText(c, p.encoding)
		r.cells[i] = trimCell(text)
		if !ok && source.message == "" && p.usesColumn(i) {
			r.reject(p.header[i], undecodable(p.encoding))
		}
	}
	if source.message != "" {
		r.reject("", source.message)
		return r
	}
	r.rawID = p.readLegacyID(r.cells, source.line)
	r.legacyID = p.normalizeID(r.rawID)
	return r
}

// usesColumn reports whether the plan reads a column, other than to select rows.
func (p *plan) usesColumn(index int) bool {
	uses := func(t template) bool { return t.uses(index) }
	return slices.ContainsFunc(p.idParts, uses) || slices.ContainsFunc(p.targets, func(t *target) bool {
		return t.constant.uses(index) || slices.ContainsFunc(t.cells, func(c cell) bool { return c.index == index || c.fallback.uses(index) })
	})
}

// formula matches a text that is protected from spreadsheets: ="00123".
var formula = regexp.MustCompile(`^="([^"]*)"$`)

// trimCell trims spaces and takes a text out of a spreadsheet formula.
func trimCell(cell string) string {
	cell = strings.TrimSpace(cell)
	if strings.HasPrefix(cell, `="`) {
		return strings.TrimSpace(formula.ReplaceAllString(cell, "$1"))
	}
	return cell
}
