package importer

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"chairside/internal/codec"
	"chairside/internal/entx/table"
)

// target is a field of the entity that a file has values for.
type target struct {
	name     string
	column   *table.Column // nil if the field is not a column
	field    codec.Field   // how the API reads it
	role     role
	cells    []cell   // where the value comes from; several are joined
	constant template // or the value itself; nil if there is none
	convert  converter
	negate   bool
	// blankInvalid leaves the field blank if its value is invalid.
	blankInvalid bool

	// Only of references:
	refers       *entity
	by           string // the column by which a record is found, "" for the default
	blankMissing bool   // leave the field blank if there is no such record
}

// role is what the import does with the value of a target.
type role int

const (
	plainValue    role = iota // stored after the API's checks
	reference                 // looked up; the ID of the record is stored
	jsonValue                 // stored as JSON
	metadataValue             // stored as one key of the metadata
	total                     // only compared with the computed total
)

// cell is a source of a target's value.
type cell struct {
	index    int               // of the column
	match    *regexp.Regexp    // extracts a part; nil for the whole cell
	values   map[string]string // translations by lower-case word; nil for none
	fallback template          // if the cell is blank
}

// pattern returns the regular expression of the part, "" for the whole cell.
func (c cell) pattern() string {
	if c.match == nil {
		return ""
	}
	return c.match.String()
}

// extract returns the part of a cell that the pattern matches. ok is false if it does not match.
func (c cell) extract(s string) (part string, ok bool) {
	if c.match == nil || s == "" {
		return s, true
	}
	groups := c.match.FindStringSubmatch(s)
	if groups == nil {
		return "", false
	}
	return strings.TrimSpace(groups[len(groups)-1]), true
}

// translate returns the translation of a word, or the word if it has none.
func (c cell) translate(s string) string {
	if c.values == nil {
		return s
	}
	if word, ok := c.values[strings.ToLower(s)]; ok {
		return word
	}
	if word, ok := c.values["*"]; ok && s != "" {
		return word
	}
	return s
}

// form returns how templates are expanded for the target.
func (t *target) form() textForm {
	if t.role == reference {
		return idText
	}
	return plainText
}

// isLegacyID reports whether the target holds legacy IDs and nothing else.
func (t *target) isLegacyID() bool {
	return t.role == reference && (t.by == legacyID || t.by == "" && t.refers.commonName() == "")
}

// applySign changes the sign of an amount if the mapping says so.
func (t *target) applySign(s string) string {
	if !t.negate || s == "" {
		return s
	}
	if positive, ok := strings.CutPrefix(s, "-"); ok {
		return positive
	}
	return "-" + s
}

// planColumns makes targets of the mapped columns, and of unmapped ones that are named like a
// field. The rest are ignored.
func (pl *planner) planColumns() {
	used := map[int]bool{}
	for _, c := range pl.file.Columns {
		index := pl.findOptional(c.column)
		if index < 0 {
			continue
		}
		used[index] = true
		switch {
		case c.Field == legacyID && (c.Match != "" || c.Values != nil || c.Default != ""):
			pl.wrong("%s: an id cannot have match, values or default", c.column)
		case c.Field != "" && c.Field != legacyID:
			pl.addColumn(c, index)
		}
	}
	for _, part := range pl.plan.idParts {
		if index, ok := part.column(); ok { // columns in braces may be fields too
			used[index] = true
		}
	}
	selects := map[int]bool{} // columns that select rows by any value, which may be a field's too
	for _, c := range pl.plan.conditions {
		if slices.Contains(c.words, "*") {
			selects[c.index] = true
		} else {
			used[c.index] = true
		}
	}
	for index, h := range pl.plan.header {
		name := headerName(h)
		switch {
		case used[index], h == "":
		case slices.Contains(pl.plan.entity.fields(), name) && pl.plan.target(name) == nil && name != legacyID:
			pl.addColumn(columnMapping{column: h, Field: name}, index)
		case pl.inTemplate(name), selects[index]:
		default:
			pl.plan.ignored = append(pl.plan.ignored, h)
		}
	}
}

// inTemplate reports whether a constant, a default or the ID contains a column.
func (pl *planner) inTemplate(column string) bool {
	texts := slices.Concat(pl.file.ID, slices.Collect(maps.Values(pl.file.Constants)))
	for _, c := range pl.file.Columns {
		texts = append(texts, c.Default)
	}
	return slices.ContainsFunc(texts, func(s string) bool {
		return slices.ContainsFunc(placeholder.FindAllString(s, -1), func(name string) bool { return headerName(strings.Trim(name, "{}")) == column })
	})
}

func (pl *planner) planConstants() {
	for _, field := range sortedKeys(pl.file.Constants) {
		if pl.plan.target(field) != nil {
			pl.wrong("constants: %s comes from a column already; give the column a default instead", field)
		} else if t := pl.newTarget(columnMapping{column: "constants", Field: field}); t != nil {
			t.constant = pl.parseTemplate(pl.file.Constants[field])
		}
	}
}

// checkTexts refuses constants, defaults and translations that every row would be rejected for.
// It checks those without columns of targets with one source.
func (pl *planner) checkTexts() {
	for _, t := range pl.plan.targets {
		check := func(where string, text template) {
			if s, ok := text.literal(); ok && s != "" {
				if message := pl.plan.checkText(t, s); message != "" {
					pl.wrong("%s: %q for %s %s", where, s, t.name, message)
				}
			}
		}
		check("constants", t.constant)
		if len(t.cells) == 1 {
			c := t.cells[0]
			check(pl.plan.header[c.index], c.fallback)
			for _, from := range sortedKeys(c.values) {
				check(pl.plan.header[c.index], literal(c.values[from]))
			}
		}
	}
}

// checkText returns a message if a text is invalid for a target in every row.
func (p *plan) checkText(t *target, s string) (message string) {
	switch t.role {
	case plainValue, jsonValue:
		return p.parseValue(&record{values: row{}}, t, s)
	case total:
		if s, message = t.convert.value(t.field, s); message == "" {
			_, _, message = t.field.ReadText(t.applySign(s), time.UTC)
		}
	}
	return message
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// addColumn adds a column to the target that it is mapped to.
func (pl *planner) addColumn(c columnMapping, index int) {
	name := c.Field
	if name != claimedBalance {
		name = strings.TrimPrefix(name, claimedPrefix)
	}
	t := pl.plan.target(name)
	if t == nil {
		t = pl.newTarget(c)
	}
	if t == nil {
		return
	}
	source := cell{index: index, fallback: pl.parseTemplate(c.Default)}
	if c.Match != "" {
		var err error
		switch source.match, err = regexp.Compile(c.Match); {
		case err != nil:
			pl.wrong("%s: match: %v", c.column, err)
		case source.match.NumSubexp() > 1:
			pl.wrong("%s: match: %q has more than one group; (?:…) groups without capturing", c.column, c.Match)
		}
	}
	if c.Values != nil {
		source.values = map[string]string{}
		for k, v := range c.Values {
			source.values[strings.ToLower(strings.TrimSpace(k))] = v
		}
	}
	if slices.ContainsFunc(t.cells, func(other cell) bool { return other.index == index && other.pattern() == source.pattern() }) {
		pl.wrong("%s: is listed twice for %s, which would join it with itself", c.column, c.Field)
	}
	t.cells = append(t.cells, source)
}

// newTarget adds a target for a field to the plan. It returns nil if the entity has no such
// field.
func (pl *planner) newTarget(c columnMapping) *target {
	e, name := pl.plan.entity, c.Field
	if column, ok := strings.CutPrefix(name, claimedPrefix); ok && name != claimedBalance {
		if name = column; !e.isTotal(name) {
			pl.wrong("%s: %s has no total %s", c.column, e.Name, name)
			return nil
		}
	}
	if !slices.Contains(e.fields(), name) && !(strings.HasPrefix(name, metadataPrefix) && e.Has("metadata")) {
		pl.wrong("%s: %s has no field %q; it has: %s", c.column, e.Name, c.Field, strings.Join(e.fields(), ", "))
		return nil
	}
	t := &target{name: name, column: e.Column(name), negate: c.Negate, by: c.By, blankMissing: c.Missing == "blank", blankInvalid: c.Invalid == "blank"}
	var err error
	if t.convert, err = newConverter(pl.format, c.Dates, c.Times, pl.zone, pl.today); err != nil {
		pl.wrong("%s: dates: %v", c.column, err)
		return nil
	}
	t.convert.home, t.convert.hundredths = pl.practiceZone, c.Hundredths
	t.setRole(e)
	pl.checkOptions(c, t)
	pl.plan.targets = append(pl.plan.targets, t)
	return t
}

// setRole sets what the import does with the target, and what that needs.
func (t *target) setRole(e *entity) {
	switch {
	case strings.HasPrefix(t.name, metadataPrefix) && e.Has("metadata"):
		t.role = metadataValue
	case e.Name == "payments" && t.name == invoiceID:
		t.role, t.refers = reference, entityOf("invoices")
	case t.column != nil && t.column.References != "":
		t.role, t.refers = reference, entityOf(t.column.References)
	case t.column != nil && t.column.Stored == table.JSON && t.name != "metadata":
		t.role = jsonValue
	case e.isTotal(t.name) || t.name == claimedBalance:
		t.role = total
	}
	if t.role == plainValue || t.role == total {
		t.field = e.field(t.name)
	}
}

// checkOptions refuses options of a column that its target cannot have.
func (pl *planner) checkOptions(c columnMapping, t *target) {
	if !slices.Contains([]string{"", "reject", "blank"}, c.Missing) {
		pl.wrong("%s: missing: must be reject or blank", c.column)
	}
	switch {
	case !slices.Contains([]string{"", "reject", "blank"}, c.Invalid):
		pl.wrong("%s: invalid: must be reject or blank", c.column)
	case t.blankInvalid && t.role == reference:
		pl.wrong("%s: invalid: is not for references, which have missing", c.column)
	case t.blankInvalid && t.role == total:
		pl.wrong("%s: invalid: %s is only compared, so no value of it rejects a row", c.column, c.Field)
	case t.blankInvalid && (t.isLegacyID() || t.column != nil && pl.plan.requires(t.column)):
		pl.wrong("%s: invalid: %s cannot be blank", c.column, t.name)
	}
	switch {
	case t.by != "" && t.role != reference:
		pl.wrong("%s: by: is only for references", c.column)
	case t.role == reference && !t.refers.findableBy(t.by):
		pl.wrong("%s: by: %s cannot be found by %q", c.column, t.refers.Name, t.by)
	}
	if c.Hundredths && t.field.Kind != codec.Decimal {
		pl.wrong("%s: hundredths: is only for amounts", c.column)
	}
}
