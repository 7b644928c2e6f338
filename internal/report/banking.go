package report

import (
	"cmp"
	"context"
	"slices"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/payment"
	"chairside/internal/civil"
	"chairside/internal/decimal"
	"chairside/internal/scope"
	"chairside/schema/ask"
)

var _ = register(Report{
	Name: "banking", Title: "Banking",
	Group: GroupMoney, Place: 1, Question: "What was taken each day by payment method, to compare with the till, the card terminal and the bank.",
	Definitions: []Definition{
		{Term: "Taken", Meaning: "Payments dated in the period less refunds, whichever invoices they pay. Deleted payments do not count."},
		{Term: "Received", Meaning: "Payments above zero."},
		{Term: "Refunded", Meaning: "Payments below zero."},
		{Term: "Payments", Meaning: "The number of payments and refunds."},
		{Term: "Deleted", Meaning: "The amount of the payments dated in the period that were reversed. It is part of no other figure."},
		{Term: "Day", Meaning: "The date of the payment. A payment that is entered later, with an earlier date, changes the figures of that day."},
		{Term: "Method", Meaning: "As recorded with the payment."},
		{Term: "Share of taken", Meaning: "The method's part of the amount taken. " + sharesAddUp},
		{Term: "Site", Meaning: "The site of the payment."},
	},
	Reads: scope.Set{"financials:read", "patient:read", "practice:read"}, Period: oneDay,
	Records: bankingRecords,
}.adding(readTakings, bankingResult))

// bankingRecords are the payments of the period, deleted ones included.
var bankingRecords = Records{
	Columns: []Column{
		{Key: "day", Title: "Day", Kind: Date}, {Key: "month", Title: "Month", Kind: Month, Minor: true}, hiddenID("site_id", Text), {Key: "site", Title: "Site"}, {Key: "method", Title: "Method"},
		{Key: "payment_id", Title: "Payment no.", Kind: ID}, {Key: "patient_id", Title: "Patient no.", Kind: ID, Minor: true}, {Key: "patient", Title: "Patient"},
	},
	Measures: []Column{
		{Key: "payments", Title: "Payments", Kind: Count}, {Key: "received", Title: "Received", Kind: Money}, {Key: "refunded", Title: "Refunded", Kind: Money},
		{Key: "taken", Title: "Taken", Kind: Money}, {Key: "deleted", Title: "Deleted", Kind: Money},
	},
	Read: func(ctx context.Context, client *ent.Client, f Filter) ([]Record, error) {
		found, err := paymentsOf(client, f).Order(payment.ByDatedOn(), payment.ByID()).All(ctx)
		if err != nil {
			return nil, err
		}
		sites, err := siteNames(ctx, client)
		records := make([]Record, len(found))
		for i, p := range found {
			t := takings{Day: p.DatedOn, Site: p.SiteID, Method: p.Method, Deleted: p.Deleted, Payments: 1, Received: max(p.Amount, 0), Refunded: min(p.Amount, 0)}
			records[i] = t.record(sites, p.ID, p.PatientID)
		}
		return records, err
	},
}.namingPatients()

// takings are the payments of one day, site and method, deleted ones apart.
type takings struct {
	Day      civil.Date
	Site     uuid.UUID
	Method   string
	Deleted  bool
	Payments int
	Received decimal.Decimal
	Refunded decimal.Decimal // not above zero
}

// record returns the takings as a record, which has the IDs of a payment and its patient, or
// nil for several.
func (t *takings) record(sites map[uuid.UUID]string, payment, patient any) Record {
	r := Record{Cells: []any{t.Day, monthStart(t.Day), t.Site.String(), sites[t.Site], t.Method, payment, patient, nil}}
	if taken := t.Received + t.Refunded; t.Deleted {
		r.Values = []any{0, decimal.Decimal(0), decimal.Decimal(0), decimal.Decimal(0), taken}
	} else {
		r.Values = []any{t.Payments, t.Received, t.Refunded, taken, decimal.Decimal(0)}
	}
	return r
}

// readTakings adds up the period's payments by day, site and method.
func readTakings(ctx context.Context, client *ent.Client, f Filter) ([]Record, error) {
	rows, err := ask.Group[takings](ctx, paymentsOf(client, f),
		ask.By(payment.FieldDatedOn), ask.By(payment.FieldSiteID), ask.By(payment.FieldMethod), ask.By(payment.FieldDeleted),
		ask.Count(), ask.Sum(payment.FieldAmount, payment.AmountGT(0)), ask.Sum(payment.FieldAmount, payment.AmountLT(0)))
	if err != nil {
		return nil, err
	}
	sites, err := siteNames(ctx, client)
	records := make([]Record, len(rows))
	for i := range rows {
		records[i] = rows[i].record(sites, nil, nil)
	}
	return records, err
}

// paymentsOf queries the period's payments, deleted ones included.
func paymentsOf(client *ent.Client, f Filter) *ent.PaymentQuery {
	q := client.Payment.Query().Where(payment.DatedOnGTE(f.From), payment.DatedOnLTE(f.To))
	if f.SiteID != nil {
		q.Where(payment.SiteID(*f.SiteID))
	}
	return q
}

// daysDrawn is the most days for which the chart has a bar each; longer periods have one for
// each month.
const daysDrawn = 31

// bankingResult lays the report out: by day, site and method, by method, and by day.
func bankingResult(records []Record, f Filter) *Result {
	r, total := &bankingRecords, bankingRecords.sum(records)
	columns := r.measures("payments", "received", "refunded", "taken", "deleted")
	const empty = "No payment is dated in this period. Choose other days, or all sites."
	main := r.breakDown(breakdown{
		key: "days", title: "By day, site and method", empty: empty, all: "All days",
		by: []string{"day", "site_id", "site", "method"}, group: "day", columns: columns,
	}, records)
	methods := r.breakDown(breakdown{
		key: "methods", title: "By method", empty: empty, all: "All methods", by: []string{"method"},
		columns: append(slices.Clone(columns), summed{Column: Column{Key: "share", Title: "Share of taken", Kind: Percent}, shareOf: "taken"}),
	}, records)
	methods.draw(HorizontalBars, "Taken by method", "method", nil, "taken")
	byDay := r.breakDown(breakdown{key: "totals", title: "Totals of each day", empty: empty, all: "All days", by: []string{"day"}, columns: columns}, records)
	main.Chart = takingsChart(records, f)
	return &Result{
		Summary: []Figure{
			{Key: "taken", Label: "Taken", Kind: Money, Value: total.value("taken")},
			{Key: "received", Label: "Received", Kind: Money, Value: total.value("received")},
			{Key: "refunded", Label: "Refunded", Kind: Money, Value: total.value("refunded")},
			{Key: "payments", Label: "Payments", Kind: Count, Value: total.value("payments")},
			{Key: "deleted", Label: "Deleted", Kind: Money, Value: total.value("deleted"), Note: "not included"},
		},
		Sections: []Section{main, methods, byDay},
	}
}

// takingsChart draws each method by day, or by month for long periods.
func takingsChart(records []Record, f Filter) *Chart {
	c := &Chart{Form: VerticalBars, Title: "Taken by method and day", Kind: Money}
	column, labels := bankingRecords.column("day"), []civil.Date{}
	if days(f.From, f.To) < daysDrawn {
		for day := f.From; !f.To.Before(day); day = day.AddDays(1) {
			labels = append(labels, day)
		}
	} else {
		c.Title, column, labels = "Taken by method and month", bankingRecords.column("month"), months(f)
	}
	for _, day := range labels {
		c.Labels = append(c.Labels, English.Format(bankingRecords.Columns[column].Kind, day))
	}
	method, taken := bankingRecords.column("method"), bankingRecords.measured("taken")
	for _, r := range records {
		name := r.Cells[method].(string)
		at := slices.IndexFunc(c.Series, func(s Series) bool { return s.Name == name })
		if at < 0 {
			at = len(c.Series)
			c.Series = append(c.Series, Series{name, make([]int64, len(labels))})
		}
		n, _ := number64(r.Values[taken])
		c.Series[at].Values[slices.Index(labels, r.Cells[column].(civil.Date))] += n
	}
	slices.SortFunc(c.Series, func(a, b Series) int { return cmp.Compare(a.Name, b.Name) })
	if len(c.Series) > 0 {
		c.Series = mergeSmallest(c.Series)
	}
	return c
}
