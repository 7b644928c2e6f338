package api

import (
	"context"

	"chairside/ent"
	"chairside/ent/predicate"
	"chairside/ent/treatmentplanitem"
	"chairside/internal/decimal"
	"chairside/internal/entx"
)

// treatmentPlanTotals returns the sum of the items' prices of each treatment plan, in the
// order of ids.
func treatmentPlanTotals(ctx context.Context, c *ent.Client, ids []int64) ([]string, error) {
	all := make([]string, len(ids))
	for i := range all {
		all[i] = total(nil)
	}
	if len(ids) == 0 {
		return all, nil
	}
	var sums []struct {
		TreatmentPlanID int64 `sql:"treatment_plan_id"`
		Sum             *decimal.Decimal
	}
	err := c.TreatmentPlanItem.Query().Where(entx.InArray[predicate.TreatmentPlanItem](treatmentplanitem.FieldTreatmentPlanID, ids)).
		GroupBy(treatmentplanitem.FieldTreatmentPlanID).Aggregate(ent.Sum(treatmentplanitem.FieldPrice)).Scan(ctx, &sums)
	at := positions(ids)
	for _, s := range sums {
		all[at[s.TreatmentPlanID]] = total(s.Sum)
	}
	return all, err
}
