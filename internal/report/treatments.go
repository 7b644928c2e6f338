package report

import (
	"cmp"
	"context"
	"slices"

	"chairside/ent"
	"chairside/ent/fee"
	"chairside/ent/patient"
	"chairside/ent/paymentplan"
	"chairside/ent/treatment"
	"chairside/ent/treatmentcategory"
	"chairside/ent/treatmentplanitem"
	"chairside/internal/decimal"
	"chairside/internal/entx/rowscan"
	"chairside/internal/principal"
	"chairside/internal/scope"
)

var _ = register(Report{
	Name: "treatments", Title: "Treatment mix",
	Group: GroupMoney, Place: 5, Question: "The most frequent treatments, and whether they earn the fee that the payment plan sets.",
	Definitions: []Definition{
		{Term: "Treatments done", Meaning: "Treatment plan items completed in the period."},
		{Term: "Value", Meaning: "The sum of their prices."},
		{Term: "Share of value", Meaning: "The category's value as a share of the value of all. " + sharesAddUp},
		{Term: "Average price", Meaning: "The value divided by the number done, half a penny rounded up."},
		{Term: "Fee", Meaning: "The payment plan's current fee for one tooth or surface."},
		{Term: "Difference from fee", Meaning: "The average price less the fee. Work on several teeth or surfaces, and NHS charges, which count once per course of treatment, differ from the fee."},
		{Term: "Site", Meaning: "The patient's site."},
		{Term: "Practitioner", Meaning: "Who carried out the treatment."},
	},
	Reads: scope.Set{"financials:read", "patient:read", "practice:read", "treatments:read"}, Period: twelveMonths, Practitioners: true,
	Records: treatmentRecords,
	Run: func(ctx context.Context, client *ent.Client, f Filter) (*Result, error) {
		rows, err := Treatments(ctx, client, f)
		if err != nil {
			return nil, err
		}
		return treatmentsResult(rows), nil
	},
	Layout: func(Filter, Locale) *Result { return treatmentsResult(nil) },
})

// TreatmentRow adds up one treatment under one payment plan.
type TreatmentRow struct {
	TreatmentID   int64
	Treatment     string // its nomenclature, the name for practitioners
	Category      string // "" for none
	PaymentPlanID int64
	PaymentPlan   string
	Count         int
	Value         decimal.Decimal
	Average       decimal.Decimal  // Value/Count, half a penny rounded up
	Fee           *decimal.Decimal // nil if the plan has no fee for the treatment
	Difference    *decimal.Decimal // Average - Fee
}

// Treatments adds up the treatment plan items completed in the period, sorted by category
// (no category last), treatment and payment plan. The day of an item is that of
// completed_at in the practice's time zone. f.SiteID is the patient's site,
// f.PractitionerID the practitioner of the item. The fee is the current price_one of the
// plan's fee for the treatment.
func Treatments(ctx context.Context, client *ent.Client, f Filter) ([]TreatmentRow, error) {
	q := completedItems(ctx, client, f)
	var sums []struct {
		TreatmentID   int64 `sql:"treatment_id"`
		PaymentPlanID int64 `sql:"payment_plan_id"`
		Count         int
		Sum           decimal.Decimal
	}
	err := q.GroupBy(treatmentplanitem.FieldTreatmentID, treatmentplanitem.FieldPaymentPlanID).
		Aggregate(ent.Count(), ent.Sum(treatmentplanitem.FieldPrice)).Scan(ctx, &sums)
	if err != nil {
		return nil, err
	}
	prices, err := readPriceList(ctx, client)
	if err != nil {
		return nil, err
	}
	rows := make([]TreatmentRow, len(sums))
	for i, s := range sums {
		t, plan := prices.treatments[s.TreatmentID], prices.plans[s.PaymentPlanID]
		rows[i] = TreatmentRow{
			TreatmentID: t.ID, Treatment: t.Nomenclature, PaymentPlanID: plan.ID, PaymentPlan: plan.Name,
			Count: s.Count, Value: s.Sum, Average: decimal.Decimal(ratio(int64(s.Sum), 1, int64(s.Count))),
			Fee: prices.fees[planTreatment{plan.ID, t.ID}],
		}
		row := &rows[i]
		if c := t.Edges.TreatmentCategory; c != nil {
			row.Category = c.Name
		}
		if row.Fee != nil {
			row.Difference = new(row.Average - *row.Fee)
		}
	}
	slices.SortFunc(rows, func(a, b TreatmentRow) int {
		if (a.Category == "") != (b.Category == "") {
			return -compareNames(a.Category, b.Category)
		}
		return cmp.Or(
			compareNames(a.Category, b.Category), compareNames(a.Treatment, b.Treatment), cmp.Compare(a.TreatmentID, b.TreatmentID),
			compareNames(a.PaymentPlan, b.PaymentPlan), cmp.Compare(a.PaymentPlanID, b.PaymentPlanID))
	})
	return rows, nil
}

// completedItems queries the treatment plan items completed in the period.
func completedItems(ctx context.Context, client *ent.Client, f Filter) *ent.TreatmentPlanItemQuery {
	zone := principal.Must(ctx).Zone
	q := client.TreatmentPlanItem.Query().Where(
		treatmentplanitem.Completed(true),
		treatmentplanitem.CompletedAtGTE(f.From.In(zone).UTC()), treatmentplanitem.CompletedAtLT(f.To.AddDays(1).In(zone).UTC()),
	)
	if f.SiteID != nil {
		q.Where(treatmentplanitem.HasPatientWith(patient.SiteID(*f.SiteID)))
	}
	if f.PractitionerID != nil {
		q.Where(treatmentplanitem.PractitionerID(*f.PractitionerID))
	}
	return q
}

// noCategory is shown for treatments without a category.
const noCategory = "No category"

// treatmentsResult lays the report out: a table by treatment and plan with a chart of the
// treatments, the highest value first, and a table by category below.
func treatmentsResult(rows []TreatmentRow) *Result {
	main := Section{
		Key: "treatments", Title: "By treatment and payment plan", Keys: []string{"treatment_id", "payment_plan_id"},
		Columns: []Column{
			{Key: "category", Title: "Category", Group: true}, hiddenID("treatment_id", ID), {Key: "treatment", Title: "Treatment"},
			hiddenID("payment_plan_id", ID), {Key: "payment_plan", Title: "Payment plan"},
			{Key: "count", Title: "Done", Kind: Count}, {Key: "value", Title: "Value", Kind: Money}, {Key: "average_price", Title: "Average price", Kind: Money},
			{Key: "fee", Title: "Fee", Kind: Money}, {Key: "difference", Title: "Difference from fee", Kind: Money},
		},
		Empty: "No treatment was completed in this period. Treatment plan items count once they are marked as completed.",
	}
	var all TreatmentRow
	var byTreatment, byCategory []TreatmentRow // sums
	add := func(sum *TreatmentRow, row *TreatmentRow) {
		sum.Count += row.Count
		sum.Value += row.Value
	}
	for i := range rows {
		row := &rows[i]
		main.Rows = append(main.Rows, []any{row.Category, row.TreatmentID, row.Treatment, row.PaymentPlanID, row.PaymentPlan, row.Count, row.Value, row.Average, optional(row.Fee), optional(row.Difference)})
		if i == 0 || rows[i-1].TreatmentID != row.TreatmentID {
			byTreatment = append(byTreatment, TreatmentRow{Treatment: row.Treatment})
		}
		if i == 0 || rows[i-1].Category != row.Category {
			byCategory = append(byCategory, TreatmentRow{Category: row.Category})
		}
		add(&byTreatment[len(byTreatment)-1], row)
		add(&byCategory[len(byCategory)-1], row)
		add(&all, row)
	}
	slices.SortStableFunc(byTreatment, func(a, b TreatmentRow) int { return cmp.Compare(b.Value, a.Value) })
	main.Chart = &Chart{Form: HorizontalBars, Title: "Value by treatment", Kind: Money, Series: []Series{{Name: "Value"}}}
	for _, t := range byTreatment {
		main.Chart.Add(t.Treatment, int64(t.Value))
	}

	categories := Section{
		Key: "categories", Title: "By category", Keys: []string{"category"},
		Columns: []Column{
			{Key: "category", Title: "Category"}, {Key: "count", Title: "Done", Kind: Count}, {Key: "value", Title: "Value", Kind: Money},
			{Key: "share", Title: "Share of value", Kind: Percent}, {Key: "average_price", Title: "Average price", Kind: Money},
		},
		Empty: "No category has a treatment that was completed in this period.",
	}
	if len(rows) > 0 {
		main.Total = []any{"All treatments", nil, nil, nil, nil, all.Count, all.Value, average(&all), nil, nil}
		categories.Total = []any{"All", all.Count, all.Value, percent(int64(all.Value), int64(all.Value)), average(&all)}
	}
	values := make([]int64, len(byCategory))
	for i := range byCategory {
		values[i] = int64(byCategory[i].Value)
	}
	shares := shares(values)
	for i := range byCategory {
		c := &byCategory[i]
		categories.Rows = append(categories.Rows, []any{cmp.Or(c.Category, noCategory), c.Count, c.Value, shares[i], average(c)})
	}
	return &Result{
		Summary: []Figure{
			{Key: "count", Label: "Treatments done", Kind: Count, Value: all.Count},
			{Key: "value", Label: "Value", Kind: Money, Value: all.Value},
			{Key: "average_price", Label: "Average price", Kind: Money, Value: average(&all)},
		},
		Sections: []Section{main, categories},
	}
}

// average returns the average price, half a penny rounded up, nil for no treatments.
func average(row *TreatmentRow) any {
	if row.Count == 0 {
		return nil
	}
	return decimal.Decimal(ratio(int64(row.Value), 1, int64(row.Count)))
}

// priceList holds the practice's treatments, payment plans and fees by id.
type priceList struct {
	treatments map[int64]*ent.Treatment // with their categories
	plans      map[int64]*ent.PaymentPlan
	fees       map[planTreatment]*decimal.Decimal // price_one
}

// planTreatment identifies a fee.
type planTreatment struct{ plan, treatment int64 }

// readPriceList reads the price list.
func readPriceList(ctx context.Context, client *ent.Client) (*priceList, error) {
	treatments, err := client.Treatment.Query().Select(treatment.FieldNomenclature, treatment.FieldTreatmentCategoryID).
		WithTreatmentCategory(func(q *ent.TreatmentCategoryQuery) { q.Select(treatmentcategory.FieldName) }).All(ctx)
	if err != nil {
		return nil, err
	}
	plans, err := client.PaymentPlan.Query().Select(paymentplan.FieldName).All(ctx)
	if err != nil {
		return nil, err
	}
	fees, err := client.Fee.Query().Rows(ctx, rowscan.Columns(fee.Table, fee.FieldPaymentPlanID, fee.FieldTreatmentID, fee.FieldPriceOne))
	if err != nil {
		return nil, err
	}
	list := &priceList{treatments: map[int64]*ent.Treatment{}, plans: map[int64]*ent.PaymentPlan{}, fees: map[planTreatment]*decimal.Decimal{}}
	for _, t := range treatments {
		list.treatments[t.ID] = t
	}
	for _, p := range plans {
		list.plans[p.ID] = p
	}
	return list, rowscan.ForEach(fees, 3, func(r *rowscan.Scanner) {
		list.fees[planTreatment{r.Int64(0), r.Int64(1)}] = new(r.Decimal(2))
	})
}
