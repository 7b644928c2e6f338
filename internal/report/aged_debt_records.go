package report

import (
	"cmp"
	"context"
	"slices"

	"chairside/ent"
	"chairside/internal/decimal"
)

// debtRecords are the invoices that were not fully paid, and the payments with credit.
var debtRecords = Records{
	Columns: []Column{
		{Key: "document", Title: "Document"}, {Key: "dated_on", Title: "Dated", Kind: Date}, {Key: "due_on", Title: "Due", Kind: Date},
		{Key: "patient_id", Title: "Patient no.", Kind: ID}, {Key: "patient", Title: "Patient"}, {Key: "amount", Title: "Amount", Kind: Money},
	},
	Measures: []Column{
		{Key: "total", Title: "Owed", Kind: Money}, {Key: "current", Title: "Current", Kind: Money}, {Key: "days_31_60", Title: "31–60 days", Kind: Money},
		{Key: "days_61_90", Title: "61–90 days", Kind: Money}, {Key: "over_90", Title: "Over 90 days", Kind: Money}, {Key: "credit", Title: "Credit", Kind: Money},
	},
	Read: func(ctx context.Context, client *ent.Client, f Filter) ([]Record, error) {
		invoices, err := openInvoices(ctx, client, f)
		if err != nil {
			return nil, err
		}
		payments, err := openPayments(ctx, client, f)
		if err != nil {
			return nil, err
		}
		ids := make([]int64, 0, len(invoices)+len(payments))
		for i := range invoices {
			ids = append(ids, invoices[i].PatientID)
		}
		for i := range payments {
			ids = append(ids, payments[i].PatientID)
		}
		names, err := patientNames(ctx, client, ids)
		if err != nil {
			return nil, err
		}
		slices.SortFunc(invoices, func(a, b openInvoice) int {
			return cmp.Or(a.DueOn.Time().Compare(b.DueOn.Time()), cmp.Compare(a.ID, b.ID))
		})
		slices.SortFunc(payments, func(a, b openPayment) int {
			return cmp.Or(a.DatedOn.Time().Compare(b.DatedOn.Time()), cmp.Compare(a.ID, b.ID))
		})
		records := make([]Record, 0, len(ids))
		for i := range invoices {
			bill := &invoices[i]
			var d Debt
			d.add(bill.owed(), bill.DueOn, f.To)
			records = append(records, Record{
				Cells:  []any{document{false, bill.ID}.String(), bill.DatedOn, bill.DueOn, bill.PatientID, names[bill.PatientID], bill.Amount},
				Values: []any{d.Total(), d.Current, d.To60, d.To90, d.Older, decimal.Decimal(0)},
			})
		}
		zero := decimal.Decimal(0)
		for i := range payments {
			p := &payments[i]
			records = append(records, Record{
				Cells:  []any{document{true, p.ID}.String(), p.DatedOn, nil, p.PatientID, names[p.PatientID], p.Amount},
				Values: []any{zero, zero, zero, zero, zero, p.unused()},
			})
		}
		return records, nil
	},
}
