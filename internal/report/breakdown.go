package report

import (
	"context"
	"slices"
	"strings"

	"chairside/ent"
	"chairside/internal/civil"
	"chairside/internal/decimal"
	"chairside/schema"
)

// A report that only adds up records consists of its records (Records), a function that reads
// them, and breakdowns, which add them up by some of their columns.

// adding completes a report that only adds up records: read returns those of the period, and
// result lays them out.
func (r Report) adding(read func(ctx context.Context, client *ent.Client, f Filter) ([]Record, error), result func(records []Record, f Filter) *Result) Report {
	r.Run = func(ctx context.Context, client *ent.Client, f Filter) (*Result, error) {
		records, err := read(ctx, client, f)
		if err != nil {
			return nil, err
		}
		return result(records, f), nil
	}
	r.Layout = func(f Filter, _ Locale) *Result { return result(nil, f) }
	return r
}

// readBy completes records with the function that reads them, if that refers to them itself.
func (r Records) readBy(read func(ctx context.Context, client *ent.Client, f Filter) ([]Record, error)) Records {
	r.Read = read
	return r
}

// namingPatients completes records whose columns are patient_id and patient, among others: the
// names are read only for the list of the records behind a figure. Records without a patient
// have none.
func (r Records) namingPatients() Records {
	id, name, read := r.column("patient_id"), r.column("patient"), r.Read
	r.Read = func(ctx context.Context, client *ent.Client, f Filter) ([]Record, error) {
		records, err := read(ctx, client, f)
		if err != nil {
			return nil, err
		}
		var ids []int64
		for _, record := range records {
			if patient, ok := record.Cells[id].(int64); ok {
				ids = append(ids, patient)
			}
		}
		names, err := patientNames(ctx, client, ids)
		for _, record := range records {
			if patient, ok := record.Cells[id].(int64); ok {
				record.Cells[name] = names[patient]
			}
		}
		return records, err
	}
	return r
}

// sums are the sums of the measures over some records.
type sums struct {
	records *Records
	values  []int64 // of each measure, in hundredths, minutes or as counted
}

// add adds the values of one record.
func (s sums) add(record Record) {
	for i, v := range record.Values {
		n, _ := number64(v)
		s.values[i] += n
	}
}

// of returns the sum of a measure as an integer.
func (s sums) of(measure string) int64 { return s.values[s.records.measured(measure)] }

// value returns the sum of a measure as a value of its kind.
func (s sums) value(measure string) any {
	if k := s.records.Measures[s.records.measured(measure)].Kind; k == Count || k == Minutes {
		return int(s.of(measure))
	}
	return decimal.Decimal(s.of(measure))
}

// sum adds up records.
func (r *Records) sum(records []Record) sums {
	s := sums{r, make([]int64, len(r.Measures))}
	for _, record := range records {
		s.add(record)
	}
	return s
}

// breakdown is a table that adds up records by some of their columns.
type breakdown struct {
	key, title, note, empty string
	by                      []string // keys of the columns, in the order of the table
	group                   string   // key of the one that groups the rows of a page; "" for none
	all                     string   // label of the total
	columns                 []summed
}

// summed is a column of a breakdown: the measure with its key, or what value calculates from
// the sums of a row, or the row's share of a measure.
type summed struct {
	Column
	value   func(sums) any
	shareOf string
}

// measures are the columns of a breakdown that show measures.
func (r *Records) measures(keys ...string) (columns []summed) {
	for _, key := range keys {
		columns = append(columns, summed{Column: r.Measures[r.measured(key)]})
	}
	return columns
}

// rate is a column of a breakdown: a measure as a share of another.
func rate(key, title, part, whole string) summed {
	return summed{Column: Column{Key: key, Title: title, Kind: Percent}, value: func(s sums) any { return percent(s.of(part), s.of(whole)) }}
}

// brokenDown is one row of a breakdown.
type brokenDown struct {
	cells []any // of the columns that it adds up by
	order []any // cells in the order in which they decide the row's place; texts are folded
	sums
}

// breakDown adds up the records. Rows are in the order of their columns; rows without a value
// come last.
func (r *Records) breakDown(b breakdown, records []Record) Section {
	s := Section{Key: b.key, Title: b.title, Note: b.note, Empty: b.empty}
	at := make([]int, len(b.by)) // the columns of the records
	for i, key := range b.by {
		at[i] = r.column(key)
		c := r.Columns[at[i]]
		c.Minor, c.Spare, c.Group = false, false, key == b.group
		s.Columns = append(s.Columns, c)
		if !slices.Contains(b.by, key+"_id") { // the ID selects the records
			s.Keys = append(s.Keys, key)
		}
	}
	for _, c := range b.columns {
		s.Columns = append(s.Columns, c.Column)
	}
	rows, total := r.rows(at, records), r.sum(records)
	sortRows(rows, s.Columns[:len(b.by)])
	for _, one := range rows {
		s.Rows = append(s.Rows, append(slices.Clone(one.cells), cellsOf(b.columns, one.sums)...))
	}
	for i, c := range b.columns {
		if c.shareOf != "" {
			parts := make([]int64, len(rows))
			for j := range rows {
				parts[j] = rows[j].of(c.shareOf)
			}
			for j, share := range shares(parts) {
				s.Rows[j][len(b.by)+i] = share
			}
		}
	}
	if len(rows) > 0 {
		s.Total = append(make([]any, len(b.by)), cellsOf(b.columns, total)...)
		s.Total[slices.IndexFunc(s.Columns, func(c Column) bool { return !c.Hidden })] = b.all
	}
	return s
}

// group identifies a row of a breakdown by its cells.
type group [6]any

// rows adds up the records by the columns at some indexes.
func (r *Records) rows(at []int, records []Record) (rows []*brokenDown) {
	found := map[group]*brokenDown{}
	for _, record := range records {
		var g group
		for i, column := range at {
			g[i] = r.Columns[column].Kind.same(record.Cells[column])
		}
		one := found[g]
		if one == nil {
			one = &brokenDown{cells: make([]any, len(at)), sums: r.sum(nil)}
			for i, column := range at {
				one.cells[i] = record.Cells[column]
			}
			found[g] = one
			rows = append(rows, one)
		}
		one.add(record)
	}
	return rows
}

// cellsOf returns the values of the columns for some sums; a total is 100% of itself.
func cellsOf(columns []summed, s sums) []any {
	cells := make([]any, len(columns))
	for i, c := range columns {
		switch {
		case c.shareOf != "":
			cells[i] = percent(s.of(c.shareOf), s.of(c.shareOf))
		case c.value != nil:
			cells[i] = c.value(s)
		default:
			cells[i] = s.value(c.Key)
		}
	}
	return cells
}

// sortRows orders rows by their visible columns, then by their IDs. Names are folded once, not for
// each comparison.
func sortRows(rows []*brokenDown, columns []Column) {
	folded := map[string]string{}
	var kinds []Kind
	for _, hidden := range []bool{false, true} {
		for i, c := range columns {
			if c.Hidden != hidden {
				continue
			}
			kinds = append(kinds, c.Kind)
			for _, row := range rows {
				cell := row.cells[i]
				if name, ok := cell.(string); ok {
					if _, ok := folded[name]; !ok {
						folded[name] = schema.Fold(name)
					}
					cell = folded[name]
				}
				row.order = append(row.order, cell)
			}
		}
	}
	slices.SortFunc(rows, func(x, y *brokenDown) int {
		for i, kind := range kinds {
			if order := kind.compareFolded(x.order[i], y.order[i]); order != 0 {
				return order
			}
		}
		return 0
	})
}

// compareFolded is compare for texts that are folded already. Cells without a value come last.
func (k Kind) compareFolded(a, b any) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	if name, ok := a.(string); ok {
		return strings.Compare(name, b.(string))
	}
	return k.compare(a, b)
}

// draw adds a chart of the rows: a label for each value of a column, and a series for each of
// the other columns. Rows with the same label are added up. over are labels that the chart
// shows even without rows, such as every month of the period.
func (s *Section) draw(form Form, title, label string, over []civil.Date, columns ...string) {
	find := func(key string) int {
		return slices.IndexFunc(s.Columns, func(c Column) bool { return c.Key == key })
	}
	of := find(label)
	kind := s.Columns[of].Kind
	s.Chart = &Chart{Form: form, Title: title, Kind: s.Columns[find(columns[0])].Kind}
	for _, day := range over {
		s.Chart.Labels = append(s.Chart.Labels, English.Format(kind, day))
	}
	for _, row := range s.Rows {
		if name := English.Format(kind, row[of]); !slices.Contains(s.Chart.Labels, name) {
			s.Chart.Labels = append(s.Chart.Labels, name)
		}
	}
	for _, key := range columns {
		at := find(key)
		series := Series{s.Columns[at].Title, make([]int64, len(s.Chart.Labels))}
		for _, row := range s.Rows {
			n, _ := number64(row[at])
			series.Values[slices.Index(s.Chart.Labels, English.Format(kind, row[of]))] += n
		}
		s.Chart.Series = append(s.Chart.Series, series)
	}
}
