package report

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"chairside/ent"
)

// Records says which records the figures of a report add up, so that every figure leads to a
// list of rows whose values are its parts.
type Records struct {
	Columns  []Column // that describe a record; among them are the Keys of sections
	Measures []Column // of an additive kind
	Read     func(ctx context.Context, client *ent.Client, f Filter) ([]Record, error)
}

// hiddenID is a column of IDs that select records: names are not unique.
func hiddenID(key string, kind Kind) Column {
	return Column{Key: key, Title: "ID", Kind: kind, Hidden: true}
}

// Record is one record: an invoice, a claim, a day.
type Record struct {
	Cells  []any // of Columns
	Values []any // of Measures
}

// record returns a record with the values of some columns, by their keys, and of all measures.
// Its other cells are empty.
func (r *Records) record(cells map[string]any, values ...any) Record {
	record := Record{make([]any, len(r.Columns)), values}
	for key, value := range cells {
		record.Cells[r.column(key)] = value
	}
	return record
}

// Behind selects the records behind a figure.
type Behind struct {
	Measure string
	Where   []Condition // all hold
}

// Condition selects the records with a value in a column, in the form of Kind.Plain.
type Condition struct{ Column, Value string }

// measured returns the index of a measure, or -1.
func (r *Records) measured(key string) int {
	return slices.IndexFunc(r.Measures, func(c Column) bool { return c.Key == key })
}

// column returns the index of a column, or -1.
func (r *Records) column(key string) int {
	return slices.IndexFunc(r.Columns, func(c Column) bool { return c.Key == key })
}

// behind selects the records of a measure if there are any.
func (a *Answer) behind(measure string, value any, where []Condition) *Behind {
	if n, ok := number64(value); !ok || n == 0 || a.Records.measured(measure) < 0 {
		return nil
	}
	return &Behind{measure, where}
}

// BehindFigure selects the records behind a figure, nil for none.
func (a *Answer) BehindFigure(f Figure) *Behind {
	return a.behind(cmp.Or(f.Measure, f.Key), f.Value, f.Where)
}

// BehindTotal selects the records behind the total of a column, nil for none.
func (a *Answer) BehindTotal(s *Section, column int) *Behind {
	c := s.Columns[column]
	if s.Keys == nil || s.Total == nil {
		return nil
	}
	return a.behind(cmp.Or(c.Measure, c.Key), s.Total[column], nil)
}

// BehindCell selects the records behind a value in a row, nil for none.
func (a *Answer) BehindCell(s *Section, row []any, column int) *Behind {
	c := s.Columns[column]
	if s.Keys == nil {
		return nil
	}
	b := a.behind(cmp.Or(c.Measure, c.Key), row[column], nil)
	if b == nil {
		return nil
	}
	for _, key := range s.Keys {
		at := slices.IndexFunc(s.Columns, func(c Column) bool { return c.Key == key })
		if row[at] == nil { // a row for the records without such an ID has a name instead
			key = strings.TrimSuffix(key, "_id")
			at = slices.IndexFunc(s.Columns, func(c Column) bool { return c.Key == key })
		}
		b.Where = append(b.Where, Condition{key, s.Columns[at].Kind.Plain(row[at])})
	}
	return b
}

// layOutRecords returns the table of the records behind a figure, without rows.
func (a *Answer) layOutRecords(b Behind) (*Result, error) {
	all, at := &a.Records, a.Records.measured(b.Measure)
	if at < 0 || slices.ContainsFunc(b.Where, func(c Condition) bool { return all.column(c.Column) < 0 }) {
		return nil, ErrBehind
	}
	measure := all.Measures[at]
	return &Result{Sections: []Section{{
		Key: "records", Title: measure.Title, Columns: append(slices.Clone(all.Columns), measure),
		Empty: "No records make up this figure now. They may have changed since the report was opened.",
	}}}, nil
}

// listRecords lists the records behind a figure and adds them up.
func (a *Answer) listRecords(ctx context.Context, client *ent.Client, f Filter) (*Result, error) {
	result, err := a.layOutRecords(*f.Behind)
	if err != nil {
		return nil, err
	}
	all, s := &a.Records, &result.Sections[0]
	records, err := all.Read(ctx, client, f)
	if err != nil {
		return nil, err
	}
	at, selected := all.measured(f.Behind.Measure), all.Select(records, *f.Behind)
	for i, r := range selected {
		if i == 0 {
			s.Note = all.describe(r, f.Behind.Where, a.Locale)
		}
		s.Rows = append(s.Rows, append(slices.Clone(r.Cells), r.Values[at]))
	}
	s.Total = make([]any, len(s.Columns))
	first := slices.IndexFunc(s.Columns, func(c Column) bool { return !c.Hidden && !c.Minor && !c.Group })
	s.Total[first], s.Total[len(s.Total)-1] = "Sum", all.Sum(selected, *f.Behind)
	return result, nil
}

// Select returns the records that a figure adds up.
func (r *Records) Select(all []Record, b Behind) (selected []Record) {
	at := r.measured(b.Measure)
	for _, record := range all {
		if n, _ := number64(record.Values[at]); n != 0 && r.match(record, b.Where) {
			selected = append(selected, record)
		}
	}
	return selected
}

// Sum adds up the records of a figure.
func (r *Records) Sum(all []Record, b Behind) any {
	at := r.measured(b.Measure)
	kind := r.Measures[at].Kind
	total := kind.zero()
	for _, record := range r.Select(all, b) {
		total = kind.sum(total, record.Values[at])
	}
	return total
}

// match reports whether a record meets all conditions.
func (r *Records) match(record Record, where []Condition) bool {
	return !slices.ContainsFunc(where, func(c Condition) bool {
		at := r.column(c.Column)
		return r.Columns[at].Kind.Plain(record.Cells[at]) != c.Value
	})
}

// describe says in words which records meet the conditions, as the given one does: "Month: May
// 2026 · Practitioner: Ann Jones".
func (r *Records) describe(record Record, where []Condition, l Locale) string {
	var parts []string
	for _, c := range where {
		at := r.column(c.Column)
		if named := r.column(strings.TrimSuffix(c.Column, "_id")); named >= 0 {
			at = named
		}
		column := r.Columns[at]
		parts = append(parts, column.Title+": "+l.Format(column.Kind, record.Cells[at]))
	}
	return strings.Join(parts, " · ")
}
