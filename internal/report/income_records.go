package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"chairside/ent"
	"chairside/ent/invoice"
	"chairside/ent/payment"
	"chairside/internal/civil"
	"chairside/internal/decimal"
)

// incomeRecords are the parts of invoices and payments.
var incomeRecords = Records{
	Columns: []Column{
		{Key: "document", Title: "Document"}, {Key: "dated_on", Title: "Dated", Kind: Date},
		{Key: "patient_id", Title: "Patient no.", Kind: ID, Minor: true}, {Key: "patient", Title: "Patient"}, {Key: "month", Title: "Month", Kind: Month, Minor: true},
		hiddenID("practitioner_id", ID), {Key: "practitioner", Title: "Practitioner"},
		hiddenID("payment_plan_id", ID), {Key: "payment_plan", Title: "Payment plan"}, {Key: "kind", Title: "NHS or private"},
	},
	Measures: []Column{{Key: "invoiced", Title: "Invoiced", Kind: Money}, {Key: "paid", Title: "Paid", Kind: Money}, {Key: "outstanding", Title: "Outstanding", Kind: Money}},
	Read:     readIncomeRecords,
}

// document is an invoice or a payment.
type document struct {
	payment bool
	id      int64
}

// String is "Invoice 12".
func (d document) String() string {
	if d.payment {
		return fmt.Sprintf("Payment %d", d.id)
	}
	return fmt.Sprintf("Invoice %d", d.id)
}

// incomePart is the part of a document that counts for one incomeKey.
type incomePart struct {
	document
	incomeKey
}

// incomeParts collects the records of the report. Added up by incomeKey, they are the
// incomeSums: items are split in the same way, and a document's unmatched part is its
// difference from its items.
type incomeParts struct {
	sums map[incomePart]*IncomeRow
	rest map[document]*IncomeRow // of the items of each document
}

// of returns the sums that an item of a document belongs to.
func (p *incomeParts) of(isPayment bool, item *itemSums) (part, all *IncomeRow) {
	d := document{isPayment, item.Document}
	return entry(p.sums, incomePart{d, item.key()}), entry(p.rest, d)
}

// entry returns the row of a key, and creates it if necessary.
func entry[K comparable](rows map[K]*IncomeRow, key K) *IncomeRow {
	if rows[key] == nil {
		rows[key] = &IncomeRow{}
	}
	return rows[key]
}

// readIncomeRecords reads the parts of the period's invoices and payments.
func readIncomeRecords(ctx context.Context, client *ent.Client, f Filter) ([]Record, error) {
	parts := incomeParts{map[incomePart]*IncomeRow{}, map[document]*IncomeRow{}}
	perItem := itemDetail{plans: true, each: true}
	invoiced, err := invoicedItems(ctx, client, f, perItem)
	if err != nil {
		return nil, err
	}
	for i := range invoiced {
		part, all := parts.of(false, &invoiced[i])
		part.Invoiced += invoiced[i].Sum
		all.Invoiced += invoiced[i].Sum
	}
	allocate(invoiced, func(item *itemSums, amount decimal.Decimal) {
		part, all := parts.of(false, item)
		part.Outstanding += amount
		all.Outstanding += amount
	})
	paid, err := paidItems(ctx, client, f, perItem)
	if err != nil {
		return nil, err
	}
	addPaid := func(item *itemSums, amount decimal.Decimal) {
		part, all := parts.of(true, item)
		part.Paid += amount
		all.Paid += amount
	}
	for i := range paid {
		if paid[i].Amount == nil {
			addPaid(&paid[i], paid[i].Sum)
		}
	}
	allocate(paid, addPaid)
	return parts.records(ctx, client, f)
}

// dated is what a record says about its document.
type dated struct {
	on      civil.Date
	patient int64
}

// addDocuments reads the documents, and adds the parts of them that no item accounts for.
func (p *incomeParts) addDocuments(ctx context.Context, client *ent.Client, f Filter) (map[document]dated, error) {
	invoices, payments := incomeDocuments(client, f)
	found := map[document]dated{}
	add := func(d document, on civil.Date, patient int64, whole IncomeRow) {
		found[d] = dated{on, patient}
		if f.PractitionerID != nil {
			return
		}
		items := entry(p.rest, d)
		unmatched := entry(p.sums, incomePart{d, incomeKey{month: Month.Plain(on), kind: Unmatched}})
		unmatched.Invoiced = whole.Invoiced - items.Invoiced
		unmatched.Paid = whole.Paid - items.Paid
		unmatched.Outstanding = whole.Outstanding - items.Outstanding
	}
	bills, err := invoices.Select(invoice.FieldID, invoice.FieldPatientID, invoice.FieldDatedOn, invoice.FieldAmount, invoice.FieldAmountOutstanding).All(ctx)
	if err != nil {
		return nil, err
	}
	for _, i := range bills {
		add(document{false, i.ID}, i.DatedOn, i.PatientID, IncomeRow{Invoiced: i.Amount, Outstanding: i.AmountOutstanding})
	}
	receipts, err := payments.Select(payment.FieldID, payment.FieldPatientID, payment.FieldDatedOn, payment.FieldAmount).All(ctx)
	for _, r := range receipts {
		add(document{true, r.ID}, r.DatedOn, r.PatientID, IncomeRow{Paid: r.Amount})
	}
	return found, err
}

// records lists the parts in order of date and document.
func (p *incomeParts) records(ctx context.Context, client *ent.Client, f Filter) ([]Record, error) {
	documents, err := p.addDocuments(ctx, client, f)
	if err != nil {
		return nil, err
	}
	var patients []int64
	var keys []incomePart
	for k, sum := range p.sums {
		if sum.Invoiced == 0 && sum.Paid == 0 && sum.Outstanding == 0 || f.PractitionerID != nil && k.practitioner != *f.PractitionerID {
			continue
		}
		keys = append(keys, k)
		patients = append(patients, documents[k.document].patient)
	}
	slices.SortFunc(keys, func(a, b incomePart) int {
		return cmp.Or(
			documents[a.document].on.Time().Compare(documents[b.document].on.Time()), cmp.Compare(a.String(), b.String()),
			cmp.Compare(a.kind, b.kind), cmp.Compare(a.practitioner, b.practitioner), cmp.Compare(a.plan, b.plan))
	})
	names, err := patientNames(ctx, client, patients)
	if err != nil {
		return nil, err
	}
	practitioners, err := practitionerNames(ctx, client)
	if err != nil {
		return nil, err
	}
	plans, err := planNames(ctx, client)
	if err != nil {
		return nil, err
	}
	records := make([]Record, len(keys))
	for i, k := range keys {
		d, sum := documents[k.document], p.sums[k]
		practitioner, plan := string(Unmatched), string(Unmatched)
		if k.kind != Unmatched {
			practitioner = nameOr(practitioners, k.practitioner, "No practitioner", "Practitioner")
			plan = nameOr(plans, k.plan, "No plan", "Plan")
		}
		records[i] = Record{
			Cells: []any{
				k.document.String(), d.on, d.patient, names[d.patient], monthStart(d.on),
				optionalID(k.practitioner), practitioner, optionalID(k.plan), plan, string(k.kind),
			},
			Values: []any{sum.Invoiced, sum.Paid, sum.Outstanding},
		}
	}
	return records, nil
}

// optionalID returns the value for a cell: nil for no ID.
func optionalID(id int64) any {
	if id == 0 {
		return nil
	}
	return id
}
