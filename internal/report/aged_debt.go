package report

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/invoice"
	"chairside/ent/payment"
	"chairside/ent/paymentexplanation"
	"chairside/internal/civil"
	"chairside/internal/decimal"
	"chairside/internal/principal"
	"chairside/internal/scope"
	"chairside/schema"
)

var agedDebt = Report{
	Name: "aged-debt", Title: "Aged debt",
	Group: GroupMoney, Question: "Who owes money, how much and for how long.", Reads: scope.Set{"financials:read", "patient:read", "practice:read"}, Period: contractYear, AsAt: true,
	Doc: "What patients owed at the end of the day of the report. Owed is the amount of each invoice dated on or before that day, " +
		"less what payments dated on or before it are matched with; an invoice that is marked as paid is so, unless such a payment is later or deleted. Void invoices and deleted payments never count. " +
		"The age is the days from the due date to the day of the report; current is all that is not yet due or at most 30 days over. " +
		"Payments, or parts of them, that are not matched with one of these invoices are credit: it is shown beside what is owed and not taken off. " +
		"Balances brought forward when accounts were opened have no due date and are not part of this. " +
		"A site means the invoices and payments of that site.",
	Run: func(ctx context.Context, client *ent.Client, f Filter) (*Result, error) {
		progress(ctx, 0, 2)
		debts, err := AgedDebt(ctx, client, f)
		if err != nil {
			return nil, err
		}
		progress(ctx, 1, 2)
		credits, err := UnexplainedCredit(ctx, client, f)
		if err != nil {
			return nil, err
		}
		return agedDebtResult(debts, credits), nil
	},
}

// Debt is what a patient owes, by days after the due date.
type Debt struct {
	PatientID int64
	Patient   string          // name
	Current   decimal.Decimal // not yet due, or up to 30 days over
	To60      decimal.Decimal // 31–60
	To90      decimal.Decimal // 61–90
	Older     decimal.Decimal // over 90
	Oldest    civil.Date      // the earliest due date

	folded string // the name, to sort by
}

// Total is all the patient owes.
func (d *Debt) Total() decimal.Decimal { return d.Current + d.To60 + d.To90 + d.Older }

// AgedDebt is what each patient who owed something owed at the end of f.To, the
// largest debt first. Only f.To and f.SiteID, the site of the invoices, matter.
// What is paid of an invoice counts wherever the payment was taken.
func AgedDebt(ctx context.Context, client *ent.Client, f Filter) ([]Debt, error) {
	q := client.Invoice.Query().Where(invoice.StatusNEQ(schema.InvoiceVoid), invoice.DatedOnLTE(f.To))
	if f.SiteID != nil {
		q.Where(invoice.SiteID(*f.SiteID))
	}
	practice := principal.Must(ctx).PracticeID
	var rows []struct {
		PatientID int64           `sql:"patient_id"`
		DueOn     civil.Date      `sql:"due_on"`
		Amount    decimal.Decimal `sql:"amount"`
		Paid      decimal.Decimal `sql:"paid"`
	}
	q.Modify(func(s *sql.Selector) {
		s.Select(s.C(invoice.FieldPatientID), s.C(invoice.FieldDueOn), s.C(invoice.FieldAmount))
		appendMatches(s, "paid", s.C(invoice.FieldID), paymentexplanation.FieldInvoiceID, practice, payment.Table, paymentexplanation.FieldPaymentID, func(p *sql.SelectTable) *sql.Predicate {
			return sql.And(sql.EQ(p.C(payment.FieldDeleted), false), sql.LTE(p.C(payment.FieldDatedOn), f.To))
		})
	})
	for _, part := range unsettled(invoice.FieldAmountOutstanding, matched(paymentexplanation.FieldInvoiceID, practice, payment.Table, paymentexplanation.FieldPaymentID, func(p *sql.SelectTable) *sql.Predicate {
		return sql.Or(sql.EQ(p.C(payment.FieldDeleted), true), sql.GT(p.C(payment.FieldDatedOn), f.To))
	})) {
		if err := q.Clone().Modify(part).Scan(ctx, &rows); err != nil { // appends
			return nil, err
		}
	}
	byPatient := map[int64]*Debt{}
	for _, r := range rows {
		owed := r.Amount - r.Paid
		if owed == 0 {
			continue
		}
		d := byPatient[r.PatientID]
		if d == nil {
			d = &Debt{PatientID: r.PatientID, Oldest: r.DueOn}
			byPatient[r.PatientID] = d
		}
		if r.DueOn.Before(d.Oldest) {
			d.Oldest = r.DueOn
		}
		switch age := days(r.DueOn, f.To); {
		case age <= 30:
			d.Current += owed
		case age <= 60:
			d.To60 += owed
		case age <= 90:
			d.To90 += owed
		default:
			d.Older += owed
		}
	}
	names, err := patientNames(ctx, client, slices.Collect(maps.Keys(byPatient)))
	debts := make([]Debt, 0, len(byPatient))
	for _, d := range byPatient {
		d.Patient = names[d.PatientID]
		d.folded = schema.Fold(d.Patient)
		debts = append(debts, *d)
	}
	slices.SortFunc(debts, func(a, b Debt) int {
		return cmp.Or(cmp.Compare(b.Total(), a.Total()), strings.Compare(a.folded, b.folded), cmp.Compare(a.PatientID, b.PatientID))
	})
	return debts, err
}

// Credit is what a patient has paid that no invoice explains.
type Credit struct {
	PatientID int64
	Patient   string // name
	Amount    decimal.Decimal
	Since     civil.Date // date of the earliest such payment

	folded string // the name, to sort by
}

// UnexplainedCredit is what each patient had paid by the end of f.To, but for
// what is matched with invoices that AgedDebt counts; the largest first. The
// site is that of the payments.
func UnexplainedCredit(ctx context.Context, client *ent.Client, f Filter) ([]Credit, error) {
	q := client.Payment.Query().Where(payment.Deleted(false), payment.DatedOnLTE(f.To))
	if f.SiteID != nil {
		q.Where(payment.SiteID(*f.SiteID))
	}
	practice := principal.Must(ctx).PracticeID
	var rows []struct {
		PatientID int64           `sql:"patient_id"`
		DatedOn   civil.Date      `sql:"dated_on"`
		Amount    decimal.Decimal `sql:"amount"`
		Used      decimal.Decimal `sql:"used"`
	}
	q.Modify(func(s *sql.Selector) {
		s.Select(s.C(payment.FieldPatientID), s.C(payment.FieldDatedOn), s.C(payment.FieldAmount))
		appendMatches(s, "used", s.C(payment.FieldID), paymentexplanation.FieldPaymentID, practice, invoice.Table, paymentexplanation.FieldInvoiceID, func(i *sql.SelectTable) *sql.Predicate {
			return sql.And(sql.NEQ(i.C(invoice.FieldStatus), schema.InvoiceVoid), sql.LTE(i.C(invoice.FieldDatedOn), f.To))
		})
	})
	for _, part := range unsettled(payment.FieldAmountUnexplained, matched(paymentexplanation.FieldPaymentID, practice, invoice.Table, paymentexplanation.FieldInvoiceID, func(i *sql.SelectTable) *sql.Predicate {
		return sql.Or(sql.EQ(i.C(invoice.FieldStatus), schema.InvoiceVoid), sql.GT(i.C(invoice.FieldDatedOn), f.To))
	})) {
		if err := q.Clone().Modify(part).Scan(ctx, &rows); err != nil { // appends
			return nil, err
		}
	}
	byPatient := map[int64]*Credit{}
	for _, r := range rows {
		rest := r.Amount - r.Used
		if rest == 0 {
			continue
		}
		c := byPatient[r.PatientID]
		if c == nil {
			c = &Credit{PatientID: r.PatientID, Since: r.DatedOn}
			byPatient[r.PatientID] = c
		}
		if r.DatedOn.Before(c.Since) {
			c.Since = r.DatedOn
		}
		c.Amount += rest
	}
	names, err := patientNames(ctx, client, slices.Collect(maps.Keys(byPatient)))
	credits := make([]Credit, 0, len(byPatient))
	for _, c := range byPatient {
		c.Patient = names[c.PatientID]
		c.folded = schema.Fold(c.Patient)
		credits = append(credits, *c)
	}
	slices.SortFunc(credits, func(a, b Credit) int {
		return cmp.Or(cmp.Compare(b.Amount, a.Amount), strings.Compare(a.folded, b.folded), cmp.Compare(a.PatientID, b.PatientID))
	})
	return credits, err
}

// unsettled are, in two parts, the invoices (or payments) to be added up: those
// of which something rests now, and those that are matched and of which nothing
// does. As two queries, each finds its rows by an index; either's OR, or union
// with the other, has PostgreSQL read the whole table.
// The zero stands in the text for the planner to know the index by it.
func unsettled(rest string, matched *sql.Selector) []func(*sql.Selector) {
	return []func(*sql.Selector){
		func(s *sql.Selector) { s.Where(sql.NEQ(s.C(rest), sql.Raw("0"))) },
		func(s *sql.Selector) { s.Where(sql.And(sql.EQ(s.C(rest), 0), sql.In(s.C("id"), matched))) },
	}
}

// appendMatches selects, beside what is selected of invoices (or payments), what
// payments (or invoices) of which something is true are matched with each of
// them. Ent's joins would have PostgreSQL hash every payment there is; it looks
// the matches of the few rows up where the sum is a subquery.
func appendMatches(s *sql.Selector, alias, id, own string, practice uuid.UUID, table, other string, is func(*sql.SelectTable) *sql.Predicate) {
	e, o := sql.Table(paymentexplanation.Table), sql.Table(table)
	sum := sql.Select(sql.Sum(e.C(paymentexplanation.FieldAmount))).From(e).Join(o).On(e.C(other), o.C("id")).
		Where(sql.And(sql.ColumnsEQ(e.C(own), id), sql.EQ(e.C(paymentexplanation.FieldPracticeID), practice), is(o)))
	s.AppendSelectExprAs(sql.ExprFunc(func(b *sql.Builder) {
		b.WriteString("CAST(COALESCE(").Wrap(func(b *sql.Builder) { b.Join(sum) }).WriteString(", 0) AS bigint)")
	}), alias)
}

// matched asks for the invoices (or payments) that are matched with a payment
// (or an invoice) of which something is true. Few of those that are settled now
// were not settled at another day, or are so no more; only they, and what is
// not settled, need to be added up.
func matched(own string, practice uuid.UUID, table, other string, is func(*sql.SelectTable) *sql.Predicate) *sql.Selector {
	e, o := sql.Table(paymentexplanation.Table), sql.Table(table)
	return sql.Select(e.C(own)).From(e).Join(o).On(e.C(other), o.C("id")).
		Where(sql.And(sql.EQ(e.C(paymentexplanation.FieldPracticeID), practice), sql.EQ(o.C("practice_id"), practice), is(o)))
}

// agedDebtResult lays the report out.
func agedDebtResult(debts []Debt, credits []Credit) *Result {
	var sum Debt
	var credit decimal.Decimal
	of := make(map[int64]decimal.Decimal, len(credits))
	creditors := Section{
		Key: "credit", Title: "Unexplained credit", Note: "Paid, but not matched with an invoice: deposits, overpayments, and payments still to be matched.",
		Columns: []Column{
			{Key: "patient", Title: "Patient"}, {Key: "patient_id", Title: "Id", Kind: ID},
			{Key: "credit", Title: "Credit", Kind: Money}, {Key: "since", Title: "Since", Kind: Date},
		},
		Empty: "Every payment is matched with invoices.",
	}
	for _, c := range credits {
		credit += c.Amount
		of[c.PatientID] = c.Amount
		creditors.Rows = append(creditors.Rows, []any{c.Patient, c.PatientID, c.Amount, c.Since})
	}
	creditors.Total = []any{"All patients", nil, credit, nil}
	debtors := Section{
		Key: "patients", Title: "Owed by patients",
		Columns: []Column{
			{Key: "patient", Title: "Patient"}, {Key: "patient_id", Title: "Id", Kind: ID},
			{Key: "current", Title: "Current", Kind: Money}, {Key: "days_31_60", Title: "31–60 days", Kind: Money},
			{Key: "days_61_90", Title: "61–90 days", Kind: Money}, {Key: "over_90", Title: "Over 90 days", Kind: Money},
			{Key: "total", Title: "Total owed", Kind: Money}, {Key: "credit", Title: "Credit", Kind: Money, Spare: true},
			{Key: "oldest_due_on", Title: "Oldest due on", Kind: Date, Spare: true},
		},
		Empty: "Nobody owed anything on this day: every invoice dated by then was paid.",
	}
	var beside decimal.Decimal
	for _, d := range debts {
		debtors.Rows = append(debtors.Rows, []any{d.Patient, d.PatientID, d.Current, d.To60, d.To90, d.Older, d.Total(), of[d.PatientID], d.Oldest})
		sum.Current += d.Current
		sum.To60 += d.To60
		sum.To90 += d.To90
		sum.Older += d.Older
		beside += of[d.PatientID]
	}
	debtors.Total = []any{"All of these", nil, sum.Current, sum.To60, sum.To90, sum.Older, sum.Total(), beside, nil}
	debtors.Chart = &Chart{
		Form: Rows, Title: "Owed by days after the due date", Kind: Money, Labels: []string{"Current", "31–60 days", "61–90 days", "Over 90 days"},
		Series: []Series{{"Owed", []int64{int64(sum.Current), int64(sum.To60), int64(sum.To90), int64(sum.Older)}}},
	}
	part := func(d decimal.Decimal) string {
		if sum.Total() == 0 {
			return ""
		}
		return Percent.Format(percent(int64(d), int64(sum.Total())))
	}
	return &Result{
		Summary: []Figure{
			{Key: "total", Label: "Owed in total", Kind: Money, Value: sum.Total(), Note: fmt.Sprintf("by %s patients", Count.Format(len(debts)))},
			{Key: "current", Label: "Current", Kind: Money, Value: sum.Current, Note: part(sum.Current)},
			{Key: "days_31_60", Label: "31–60 days", Kind: Money, Value: sum.To60, Note: part(sum.To60)},
			{Key: "days_61_90", Label: "61–90 days", Kind: Money, Value: sum.To90, Note: part(sum.To90)},
			{Key: "over_90", Label: "Over 90 days", Kind: Money, Value: sum.Older, Note: part(sum.Older)},
			{Key: "credit", Label: "Unexplained credit", Kind: Money, Value: credit, Note: "not taken off what is owed"},
		},
		Sections: []Section{debtors, creditors},
	}
}
