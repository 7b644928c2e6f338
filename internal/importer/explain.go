package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"chairside/internal/civil"
	"chairside/internal/clock"
	"chairside/internal/decimal"
	"chairside/internal/store"
)

// explainedRows is the number of rows of each file that Explain reads.
const explainedRows = 3

// Explanation says how the import reads one file.
type Explanation struct {
	File, Entity string
	Format       string     // encoding and delimiter
	Fields       [][]string // for each field: its name, where it comes from, and its value in each row
	Ignored      []string   // columns that are not imported
	Missing      []string   // columns of an optional mapping that the file does not have
}

// Explain returns the mapping of the files in dir as Import will use it, in the order of the
// import, with the values of the first rows. It writes nothing. References are shown as they are
// written, because their records may be in files that are still to be imported. It returns the
// same errors as Import.
func Explain(ctx context.Context, db *store.DB, dir string, o Options) ([]Explanation, error) {
	m, _, err := readMapping(dir, o.Mapping)
	if err != nil {
		return nil, err
	}
	practice, err := findPractice(ctx, db, cmp.Or(o.Practice, m.Practice))
	if err != nil {
		return nil, err
	}
	plans, err := newPlans(dir, m, practice.zone, civil.Of(clock.Now(ctx).In(practice.zone)))
	if err != nil {
		return nil, err
	}
	all := make([]Explanation, len(plans))
	for i, p := range plans {
		if all[i], err = p.explain(); err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return all, nil
}

// explain reads the first rows of the file.
func (p *plan) explain() (e Explanation, err error) {
	e = Explanation{File: p.name, Entity: p.entity.Name, Format: p.encoding + ", separated by " + fmt.Sprintf("%q", p.delimiter), Ignored: p.ignored, Missing: p.missing}
	s, err := p.open()
	if err != nil {
		return e, err
	}
	defer s.close()
	var records []*record
	for len(records) < explainedRows {
		source, err := s.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return e, err
		}
		r := p.newRecord(source)
		p.parse(r)
		records = append(records, r)
	}
	line := func(name, from string, shown func(r *record) string) {
		cells := []string{name, from}
		for _, r := range records {
			value := shown(r)
			if at := slices.IndexFunc(r.problems, func(x problem) bool { return x.field == name }); at >= 0 {
				value = "REJECTED: " + r.problems[at].reason
			}
			cells = append(cells, value)
		}
		e.Fields = append(e.Fields, cells)
	}
	line("", "line", func(r *record) string { return fmt.Sprint(r.source.line) })
	if p.hasIDs() {
		line(legacyID, p.idSource(), func(r *record) string { return r.legacyID })
	}
	for _, t := range p.targets {
		if !t.isLegacyID() {
			line(t.name, p.sourceOf(t), func(r *record) string { return p.shown(t, r) })
		}
	}
	return e, nil
}

// idSource says where legacy IDs come from.
func (p *plan) idSource() string {
	if p.idIsLine {
		return "the line number"
	}
	var parts []string
	for _, part := range p.idParts {
		parts = append(parts, p.templateText(part))
	}
	return strings.Join(parts, " + ")
}

// sourceOf says where the value of a target comes from.
func (p *plan) sourceOf(t *target) string {
	if t.constant != nil {
		return "constant " + p.templateText(t.constant)
	}
	var parts []string
	for _, c := range t.cells {
		from := p.header[c.index]
		if c.match != nil {
			from += " (match " + c.match.String() + ")"
		}
		parts = append(parts, from)
	}
	return strings.Join(parts, " + ")
}

// templateText returns a template as the mapping writes it.
func (p *plan) templateText(t template) (s string) {
	if index, ok := t.column(); ok {
		return p.header[index]
	}
	for _, part := range t {
		if s += part.text; part.index >= 0 {
			s += "{" + p.header[part.index] + "}"
		}
	}
	return s
}

// shown returns the value of a target in a record, as it would be stored; "" for none.
func (p *plan) shown(t *target, r *record) string {
	switch {
	case r.values == nil: // the row cannot be read
		return ""
	case t.role == reference:
		return r.referenceKeys[t.name]
	case t.role == metadataValue:
		return r.metadata[strings.TrimPrefix(t.name, metadataPrefix)]
	case t.role == total:
		return p.text(t, r.cells)
	case t.column == nil:
		if pence, ok := r.openingBalance.(int64); ok {
			return decimal.Decimal(pence).String()
		}
		return ""
	}
	text, _, err := t.column.Stored.Format(r.values[t.name])
	if err != nil {
		return fmt.Sprint(r.values[t.name])
	}
	return text
}
