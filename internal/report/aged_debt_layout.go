package report

import (
	"fmt"

	"chairside/internal/decimal"
)

// agedDebtResult lays the report out: a table of debts and a table of credits.
func agedDebtResult(debts []Debt, credits []Credit, l Locale) *Result {
	var sum Debt
	var credit decimal.Decimal
	creditOf := make(map[int64]decimal.Decimal, len(credits))
	creditors := Section{
		Key: "credit", Title: "Unexplained credit", Keys: []string{"patient_id"}, Note: "Payments not matched with an invoice: deposits, overpayments, and payments still to be matched.",
		Columns: []Column{
			{Key: "patient", Title: "Patient"}, {Key: "patient_id", Title: "ID", Kind: ID},
			{Key: "credit", Title: "Credit", Kind: Money}, {Key: "since", Title: "Since", Kind: Date},
		},
		Empty: "Every payment is matched with invoices.",
	}
	for _, c := range credits {
		credit += c.Amount
		creditOf[c.PatientID] = c.Amount
		creditors.Rows = append(creditors.Rows, []any{c.Patient, c.PatientID, c.Amount, c.Since})
	}
	creditors.Total = []any{"All patients", nil, credit, nil}
	debtors := Section{
		Key: "patients", Title: "Owed by patients", Keys: []string{"patient_id"},
		Columns: []Column{
			{Key: "patient", Title: "Patient"}, {Key: "patient_id", Title: "ID", Kind: ID},
			{Key: "current", Title: "Current", Kind: Money}, {Key: "days_31_60", Title: "31–60 days", Kind: Money},
			{Key: "days_61_90", Title: "61–90 days", Kind: Money}, {Key: "over_90", Title: "Over 90 days", Kind: Money},
			{Key: "total", Title: "Total owed", Kind: Money}, {Key: "credit", Title: "Credit", Kind: Money, Spare: true, Measure: "-"},
			{Key: "oldest_due_on", Title: "Oldest due on", Kind: Date, Spare: true},
		},
		Empty: "No one owed anything on this day: all invoices dated by then were paid.",
	}
	var debtorsCredit decimal.Decimal
	for _, d := range debts {
		debtors.Rows = append(debtors.Rows, []any{d.Patient, d.PatientID, d.Current, d.To60, d.To90, d.Older, d.Total(), creditOf[d.PatientID], d.Oldest})
		sum.Current += d.Current
		sum.To60 += d.To60
		sum.To90 += d.To90
		sum.Older += d.Older
		debtorsCredit += creditOf[d.PatientID]
	}
	debtors.Total = []any{"All patients", nil, sum.Current, sum.To60, sum.To90, sum.Older, sum.Total(), debtorsCredit, nil}
	debtors.Chart = &Chart{
		Form: HorizontalBars, Title: "Owed by days after the due date", Kind: Money, Labels: []string{"Current", "31–60 days", "61–90 days", "Over 90 days"},
		Series: []Series{{"Owed", []int64{int64(sum.Current), int64(sum.To60), int64(sum.To90), int64(sum.Older)}}},
	}
	var notes [4]string
	if sum.Total() != 0 {
		for i, share := range shares(debtors.Chart.Series[0].Values) {
			notes[i] = l.Format(Percent, share)
		}
	}
	people := fmt.Sprintf("by %s patients", l.Format(Count, len(debts)))
	if len(debts) == 1 {
		people = "by one patient"
	}
	return &Result{
		Summary: []Figure{
			{Key: "total", Label: "Owed in total", Kind: Money, Value: sum.Total(), Note: people, Term: "Owed"},
			{Key: "current", Label: "Current", Kind: Money, Value: sum.Current, Note: notes[0]},
			{Key: "days_31_60", Label: "31–60 days", Kind: Money, Value: sum.To60, Note: notes[1], Term: "Age"},
			{Key: "days_61_90", Label: "61–90 days", Kind: Money, Value: sum.To90, Note: notes[2], Term: "Age"},
			{Key: "over_90", Label: "Over 90 days", Kind: Money, Value: sum.Older, Note: notes[3], Term: "Age"},
			{Key: "credit", Label: "Unexplained credit", Kind: Money, Value: credit, Note: "not deducted from the debt", Term: "Credit"},
		},
		Sections: []Section{debtors, creditors},
	}
}
