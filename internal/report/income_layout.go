package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"chairside/ent"
	"chairside/ent/paymentplan"
	"chairside/internal/decimal"
)

// incomeSum is a line of a table: the sum of some IncomeRows.
type incomeSum struct {
	id                          any // int64, or nil
	label                       any // a value of the kind Month or Text
	invoiced, paid, outstanding decimal.Decimal
}

func (s *incomeSum) add(r IncomeRow) {
	s.invoiced += r.Invoiced
	s.paid += r.Paid
	s.outstanding += r.Outstanding
}

// incomeResult lays the report out: four tables that add up the same rows by month,
// practitioner, payment plan and kind.
func incomeResult(names incomeNames, f Filter, rows []IncomeRow) *Result {
	var total incomeSum
	for _, r := range rows {
		total.add(r)
	}

	var byMonth []incomeSum
	for _, m := range months(f) {
		sum := incomeSum{label: m}
		for _, r := range rows {
			if r.Month == m {
				sum.add(r)
			}
		}
		byMonth = append(byMonth, sum)
	}
	if len(rows) == 0 {
		byMonth = nil
	}
	byPractitioner := incomeBy(rows, func(r IncomeRow) (int64, string) {
		return r.PractitionerID, nameOr(names.practitioners, r.PractitionerID, "No practitioner", "Practitioner")
	})
	byPlan := incomeBy(rows, func(r IncomeRow) (int64, string) {
		return r.PaymentPlanID, nameOr(names.plans, r.PaymentPlanID, "No plan", "Plan")
	})
	byKind := incomeBy(rows, func(r IncomeRow) (int64, string) { return 0, string(r.Kind) })

	return &Result{
		Summary: []Figure{
			{Key: "invoiced", Label: "Invoiced", Kind: Money, Value: total.invoiced},
			{Key: "paid", Label: "Paid", Kind: Money, Value: total.paid, Note: "received in the period"},
			{Key: "outstanding", Label: "Outstanding", Kind: Money, Value: total.outstanding, Note: "of the amount invoiced"},
		},
		Sections: []Section{
			incomeSection("months", "By month", VerticalBars, byMonth, total, Column{Key: "month", Title: "Month", Kind: Month}),
			incomeSection("practitioners", "By practitioner", HorizontalBars, byPractitioner, total, idColumn("practitioner_id"), Column{Key: "practitioner", Title: "Practitioner"}),
			incomeSection("payment_plans", "By payment plan", HorizontalBars, byPlan, total, idColumn("payment_plan_id"), Column{Key: "payment_plan", Title: "Payment plan"}),
			incomeSection("nhs_and_private", "NHS and private", HorizontalBars, byKind, total, Column{Key: "kind", Title: "NHS or private"}),
		},
	}
}

// nameOr returns the name of the record with the ID, none if the ID is 0, or "Plan 7" if
// the caller may not see the record.
func nameOr(names map[int64]string, id int64, none, noun string) string {
	if id == 0 {
		return none
	}
	return cmp.Or(names[id], fmt.Sprintf("%s %d", noun, id))
}

// incomeBy adds up rows by the ID and label that name returns, the largest sum first and
// unmatched amounts last.
func incomeBy(rows []IncomeRow, name func(IncomeRow) (id int64, label string)) (sums []incomeSum) {
	rest := incomeSum{label: string(Unmatched)}
	for _, r := range rows {
		if r.Kind == Unmatched {
			rest.add(r)
			continue
		}
		sum := incomeSum{}
		if id, label := name(r); id != 0 {
			sum.id, sum.label = id, label
		} else {
			sum.label = label
		}
		i := slices.IndexFunc(sums, func(s incomeSum) bool { return s.id == sum.id && s.label == sum.label })
		if i < 0 {
			i = len(sums)
			sums = append(sums, sum)
		}
		sums[i].add(r)
	}
	slices.SortFunc(sums, func(a, b incomeSum) int {
		return cmp.Or(cmp.Compare(b.invoiced, a.invoiced), cmp.Compare(b.paid, a.paid), compareNames(a.label.(string), b.label.(string)))
	})
	if slices.ContainsFunc(rows, func(r IncomeRow) bool { return r.Kind == Unmatched }) {
		sums = append(sums, rest)
	}
	return sums
}

// idColumn is a column for programs; pages hide it.
func idColumn(key string) Column { return Column{Key: key, Title: "ID", Kind: ID, Minor: true} }

// incomeSection lays out one table. first holds its label column, after an ID column if
// there is one.
func incomeSection(key, title string, form Form, sums []incomeSum, total incomeSum, first ...Column) Section {
	label := first[len(first)-1]
	s := Section{
		Key: key, Title: title, Keys: []string{first[0].Key},
		Columns: append(first,
			Column{Key: "invoiced", Title: "Invoiced", Kind: Money}, Column{Key: "paid", Title: "Paid", Kind: Money},
			Column{Key: "outstanding", Title: "Outstanding", Kind: Money}, Column{Key: "share", Title: "Share of invoiced", Kind: Percent, Minor: true}),
		Chart: &Chart{Form: form, Title: "Invoiced, paid and outstanding", Kind: Money, Series: []Series{{Name: "Invoiced"}, {Name: "Paid"}, {Name: "Outstanding"}}},
		Empty: "Nothing was invoiced or paid in this period. Choose a longer period, or all sites and practitioners.",
	}
	line := func(id, name any, sum incomeSum, share any) []any {
		values := []any{name, sum.invoiced, sum.paid, sum.outstanding, share}
		if len(first) > 1 {
			values = append([]any{id}, values...)
		}
		return values
	}
	invoiced := make([]int64, len(sums))
	for i := range sums {
		invoiced[i] = int64(sums[i].invoiced)
	}
	shares := shares(invoiced)
	for i, sum := range sums {
		s.Rows = append(s.Rows, line(sum.id, sum.label, sum, shares[i]))
		s.Chart.Add(English.Format(label.Kind, sum.label), int64(sum.invoiced), int64(sum.paid), int64(sum.outstanding))
	}
	s.Total = line(nil, "All", total, nil)
	return s
}

// incomeNames are the names of practitioners and payment plans, by ID.
type incomeNames struct{ practitioners, plans map[int64]string }

func readIncomeNames(ctx context.Context, client *ent.Client) (names incomeNames, err error) {
	if names.practitioners, err = practitionerNames(ctx, client); err != nil {
		return names, err
	}
	names.plans, err = planNames(ctx, client)
	return names, err
}

// planNames returns the names of the practice's payment plans, by ID.
func planNames(ctx context.Context, client *ent.Client) (map[int64]string, error) {
	rows, err := client.PaymentPlan.Query().Select(paymentplan.FieldID, paymentplan.FieldName).All(ctx)
	names := make(map[int64]string, len(rows))
	for _, r := range rows {
		names[r.ID] = r.Name
	}
	return names, err
}
