package report

import (
	"context"

	"chairside/ent"
	"chairside/internal/civil"
)

// recallColumns describe a recall.
var recallColumns = []Column{
	{Key: "due", Title: "Due", Kind: Date}, {Key: "days_overdue", Title: "Days overdue", Kind: Count}, {Key: "recall", Title: "Recall"},
	{Key: "patient_id", Title: "Patient no.", Kind: ID, Minor: true}, {Key: "patient", Title: "Patient"},
	{Key: "method", Title: "Method"}, {Key: "contact", Title: "Contact"}, {Key: "note", Title: "Note"},
	{Key: "practitioner", Title: "Practitioner", Minor: true}, {Key: "site", Title: "Site", Minor: true},
	{Key: "last_seen", Title: "Last seen", Kind: Date},
}

// cells returns the values of recallColumns.
func (r *RecallRow) cells() []any {
	return []any{
		r.Due, max(r.Overdue, 0), string(r.Kind), r.PatientID, r.Patient,
		string(r.Method), r.Contact, r.Note, r.Practitioner, r.Site, optionalDate(r.LastSeen),
	}
}

// recallRecords are the recalls, which the figures count.
var recallRecords = Records{
	Columns: recallColumns,
	Measures: []Column{
		{Key: "dental", Title: "Dental recalls", Kind: Count}, {Key: "hygiene", Title: "Hygiene recalls", Kind: Count},
		{Key: "overdue", Title: "Overdue", Kind: Count}, {Key: "without_contact", Title: "Contact missing", Kind: Count},
	},
	Read: func(ctx context.Context, client *ent.Client, f Filter) ([]Record, error) {
		rows, err := Recalls(ctx, client, f)
		records := make([]Record, len(rows))
		for i := range rows {
			row := &rows[i]
			records[i] = Record{row.cells(), []any{one(row.Kind == DentalRecall), one(row.Kind == HygieneRecall), one(row.Overdue > 0), one(row.Contact == "")}}
		}
		return records, err
	},
}

// one is 1 for true and 0 for false, to count with.
func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// overdueRanges are the bars of the chart, the longest overdue first.
var overdueRanges = []struct {
	label   string
	minDays int // days overdue
}{
	{"Over a year", 366}, {"6–12 months", 181}, {"3–6 months", 91}, {"1–3 months", 31}, {"Up to a month", 1},
}

// recallsResult lays the report out: one table, with a chart of how long overdue.
func recallsResult(rows []RecallRow) *Result {
	main := Section{
		Key: "recalls", Title: "Patients to invite",
		Columns: recallColumns,
		Empty:   "No recalls: no one is due in this period, or all who are due have an appointment. Recall dates are set on the patient. Choose a longer period to look further ahead.",
	}
	labels := make([]string, 0, len(overdueRanges)+1)
	for _, r := range overdueRanges {
		labels = append(labels, r.label)
	}
	counts := map[RecallKind][]int64{DentalRecall: make([]int64, len(overdueRanges)+1), HygieneRecall: make([]int64, len(overdueRanges)+1)}
	dental, overdue, unreachable := 0, 0, 0
	for i := range rows {
		row := &rows[i]
		main.Rows = append(main.Rows, row.cells())
		bar := len(overdueRanges)
		for j := range overdueRanges {
			if row.Overdue >= overdueRanges[j].minDays {
				bar = j
				break
			}
		}
		counts[row.Kind][bar]++
		if row.Kind == DentalRecall {
			dental++
		}
		if row.Overdue > 0 {
			overdue++
		}
		if row.Contact == "" {
			unreachable++
		}
	}
	main.Chart = &Chart{
		Form: StackedHorizontalBars, Title: "How long overdue", Kind: Count, Labels: append(labels, "Not yet due"),
		Series: []Series{{"Dental", counts[DentalRecall]}, {"Hygiene", counts[HygieneRecall]}},
	}
	return &Result{
		Summary: []Figure{
			{Key: "dental", Label: "Dental recalls", Kind: Count, Value: dental, Term: "Dental recalls, hygiene recalls"},
			{Key: "hygiene", Label: "Hygiene recalls", Kind: Count, Value: len(rows) - dental, Term: "Dental recalls, hygiene recalls"},
			{Key: "overdue", Label: "Overdue", Kind: Count, Value: overdue},
			{Key: "without_contact", Label: "Contact missing", Kind: Count, Value: unreachable, Note: "for the preferred method"},
		},
		Sections: []Section{main},
	}
}

// optionalDate returns the value for a cell: nil for a nil pointer.
func optionalDate(d *civil.Date) any {
	if d == nil {
		return nil
	}
	return *d
}
