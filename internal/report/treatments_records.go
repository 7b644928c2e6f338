package report

import (
	"cmp"
	"context"
	"slices"

	"chairside/ent"
	"chairside/internal/civil"
	"chairside/internal/principal"
)

// treatmentRecords are the treatment plan items completed in the period.
var treatmentRecords = Records{
	Columns: []Column{
		{Key: "completed_on", Title: "Completed", Kind: Date}, {Key: "category", Title: "Category"}, hiddenID("treatment_id", ID),
		{Key: "treatment", Title: "Treatment"}, hiddenID("payment_plan_id", ID), {Key: "payment_plan", Title: "Payment plan"},
		{Key: "practitioner", Title: "Practitioner"}, {Key: "patient_id", Title: "Patient no.", Kind: ID, Minor: true}, {Key: "patient", Title: "Patient"},
	},
	Measures: []Column{{Key: "count", Title: "Done", Kind: Count}, {Key: "value", Title: "Value", Kind: Money}},
	Read: func(ctx context.Context, client *ent.Client, f Filter) ([]Record, error) {
		items, err := completedItems(ctx, client, f).All(ctx)
		if err != nil {
			return nil, err
		}
		prices, err := readPriceList(ctx, client)
		if err != nil {
			return nil, err
		}
		ids := make([]int64, len(items))
		for i, item := range items {
			ids[i] = item.PatientID
		}
		patients, err := patientNames(ctx, client, ids)
		if err != nil {
			return nil, err
		}
		practitioners, err := practitionerNames(ctx, client)
		if err != nil {
			return nil, err
		}
		zone := principal.Must(ctx).Zone
		slices.SortFunc(items, func(a, b *ent.TreatmentPlanItem) int {
			return cmp.Or(a.CompletedAt.Compare(*b.CompletedAt), cmp.Compare(a.PatientID, b.PatientID), cmp.Compare(a.ID, b.ID))
		})
		records := make([]Record, len(items))
		for i, item := range items {
			t, plan, category := prices.treatments[item.TreatmentID], prices.plans[item.PaymentPlanID], noCategory
			if c := t.Edges.TreatmentCategory; c != nil {
				category = cmp.Or(c.Name, noCategory)
			}
			records[i] = Record{
				Cells: []any{
					civil.Of(item.CompletedAt.In(zone)), category, t.ID, t.Nomenclature, plan.ID, plan.Name,
					practitioners[item.PractitionerID], item.PatientID, patients[item.PatientID],
				},
				Values: []any{1, item.Price},
			}
		}
		return records, nil
	},
}
