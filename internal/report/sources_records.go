package report

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"chairside/ent"
)

// sourceRecords are the patients added in the period.
var sourceRecords = Records{
	Columns: []Column{
		{Key: "added_on", Title: "Added", Kind: Date}, {Key: "month", Title: "Added in", Kind: Month, Minor: true},
		hiddenID("source_id", Text), {Key: "source", Title: "Source"}, {Key: "patient_id", Title: "Patient no.", Kind: ID}, {Key: "patient", Title: "Patient"},
	},
	Measures: []Column{
		{Key: "patients", Title: "New patients", Kind: Count},
		{Key: "invoiced", Title: "Invoiced in the first year", Kind: Money}, {Key: "paid", Title: "Paid in the first year", Kind: Money},
	},
	Read: func(ctx context.Context, client *ent.Client, f Filter) ([]Record, error) {
		people, err := readNewcomers(ctx, client, f)
		if err != nil {
			return nil, err
		}
		ids := slices.SortedFunc(maps.Keys(people), func(a, b int64) int {
			return cmp.Or(people[a].day.Time().Compare(people[b].day.Time()), cmp.Compare(a, b))
		})
		names, err := patientNames(ctx, client, ids)
		if err != nil {
			return nil, err
		}
		records := make([]Record, len(ids))
		for i, id := range ids {
			row := people[id].row
			records[i] = Record{
				Cells:  []any{people[id].day, row.Month, row.id(), row.Source, id, names[id]},
				Values: []any{row.Patients, row.Invoiced, row.Paid},
			}
		}
		return records, nil
	},
}
