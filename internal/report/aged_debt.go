package report

import (
	"cmp"
	"context"
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

var _ = register(Report{
	Name: "aged-debt", Title: "Aged debt",
	Group: GroupMoney, Place: 3, Question: "Who owes money, how much and for how long.", Reads: scope.Set{"financials:read", "patient:read", "practice:read"}, Period: contractYear, AsAt: true, Records: debtRecords,
	Definitions: []Definition{
		{Term: "Owed", Meaning: "Invoices dated on or before the day of the report, less the payments dated on or before it that are matched with them. Void invoices and deleted payments are excluded. An invoice marked as paid counts as paid, unless a matched payment is later or deleted."},
		{Term: "Age", Meaning: "The number of days from the due date to the day of the report."},
		{Term: "Current", Meaning: "Not yet due, or at most 30 days overdue."},
		{Term: "Shares", Meaning: "Below the amounts: the part of the amount owed in total. " + sharesAddUp},
		{Term: "Credit", Meaning: "Payments, or parts of payments, that are not matched with one of these invoices. Credit is shown beside the debt, not deducted from it."},
		{Term: "Opening balances", Meaning: "Balances brought forward when accounts were opened have no due date and are excluded."},
		{Term: "Site", Meaning: "The site of the invoices and payments."},
	},
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
		return agedDebtResult(debts, credits, localeOf(ctx)), nil
	},
	Layout: func(_ Filter, l Locale) *Result { return agedDebtResult(nil, nil, l) },
})

// Debt is the amount that a patient owes, by days after the due date.
type Debt struct {
	PatientID int64
	Patient   string          // name
	Current   decimal.Decimal // not yet due, or up to 30 days overdue
	To60      decimal.Decimal // 31–60 days
	To90      decimal.Decimal // 61–90 days
	Older     decimal.Decimal // over 90 days
	Oldest    civil.Date      // the earliest due date

	folded string // name for sorting
}

// Total is the whole amount that the patient owes.
func (d *Debt) Total() decimal.Decimal { return d.Current + d.To60 + d.To90 + d.Older }

// openInvoice is an invoice that was not fully paid on the day of the report.
type openInvoice struct {
	ID        int64           `sql:"id"`
	PatientID int64           `sql:"patient_id"`
	DatedOn   civil.Date      `sql:"dated_on"`
	DueOn     civil.Date      `sql:"due_on"`
	Amount    decimal.Decimal `sql:"amount"`
	Paid      decimal.Decimal `sql:"paid"`
}

// owed is the amount that was open.
func (i *openInvoice) owed() decimal.Decimal { return i.Amount - i.Paid }

// openInvoices reads the invoices that were not fully paid at the end of f.To.
func openInvoices(ctx context.Context, client *ent.Client, f Filter) ([]openInvoice, error) {
	q := client.Invoice.Query().Where(invoice.StatusNEQ(schema.InvoiceVoid), invoice.DatedOnLTE(f.To))
	if f.SiteID != nil {
		q.Where(invoice.SiteID(*f.SiteID))
	}
	practice := principal.Must(ctx).PracticeID
	var rows []openInvoice
	q.Modify(func(s *sql.Selector) {
		s.Select(s.C(invoice.FieldID), s.C(invoice.FieldPatientID), s.C(invoice.FieldDatedOn), s.C(invoice.FieldDueOn), s.C(invoice.FieldAmount))
		m := matches{own: paymentexplanation.FieldInvoiceID, other: paymentexplanation.FieldPaymentID, table: payment.Table, practice: practice}
		m.where = func(p *sql.SelectTable) *sql.Predicate {
			return sql.And(sql.EQ(p.C(payment.FieldDeleted), false), sql.LTE(p.C(payment.FieldDatedOn), f.To))
		}
		m.appendSum(s, s.C(invoice.FieldID), "paid")
	})
	changed := matches{own: paymentexplanation.FieldInvoiceID, other: paymentexplanation.FieldPaymentID, table: payment.Table, practice: practice}
	deleted := func(p *sql.SelectTable) *sql.Predicate { return sql.IsTrue(p.C(payment.FieldDeleted)) }
	later := func(p *sql.SelectTable) *sql.Predicate { return sql.GT(p.C(payment.FieldDatedOn), f.To) }
	for _, part := range unsettled(invoice.FieldAmountOutstanding, changed.ids(deleted, later)) {
		if err := q.Clone().Modify(part).Scan(ctx, &rows); err != nil { // appends to rows
			return nil, err
		}
	}
	return slices.DeleteFunc(rows, func(i openInvoice) bool { return i.owed() == 0 }), nil
}

// AgedDebt returns the debt of each patient at the end of f.To, the largest first. It
// uses only f.To and f.SiteID, the site of the invoices. Payments reduce a debt whichever
// site took them.
func AgedDebt(ctx context.Context, client *ent.Client, f Filter) ([]Debt, error) {
	rows, err := openInvoices(ctx, client, f)
	if err != nil {
		return nil, err
	}
	byPatient := map[int64]*Debt{}
	for i := range rows {
		r := &rows[i]
		d := byPatient[r.PatientID]
		if d == nil {
			d = &Debt{PatientID: r.PatientID, Oldest: r.DueOn}
			byPatient[r.PatientID] = d
		}
		d.add(r.owed(), r.DueOn, f.To)
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

// add adds an invoice's debt to the column for its age at the end of the day to.
func (d *Debt) add(owed decimal.Decimal, due, to civil.Date) {
	if due.Before(d.Oldest) {
		d.Oldest = due
	}
	switch age := days(due, to); {
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

// Credit is the amount that a patient has paid beyond the invoices matched with it.
type Credit struct {
	PatientID int64
	Patient   string // name
	Amount    decimal.Decimal
	Since     civil.Date // date of the earliest payment with credit

	folded string // name for sorting
}

// openPayment is a payment that was not fully matched with invoices on the day of the report.
type openPayment struct {
	ID        int64           `sql:"id"`
	PatientID int64           `sql:"patient_id"`
	DatedOn   civil.Date      `sql:"dated_on"`
	Amount    decimal.Decimal `sql:"amount"`
	Used      decimal.Decimal `sql:"used"`
}

// unused is the amount without an invoice.
func (p *openPayment) unused() decimal.Decimal { return p.Amount - p.Used }

// openPayments reads the payments that were not fully matched at the end of f.To.
func openPayments(ctx context.Context, client *ent.Client, f Filter) ([]openPayment, error) {
	q := client.Payment.Query().Where(payment.Deleted(false), payment.DatedOnLTE(f.To))
	if f.SiteID != nil {
		q.Where(payment.SiteID(*f.SiteID))
	}
	practice := principal.Must(ctx).PracticeID
	var rows []openPayment
	q.Modify(func(s *sql.Selector) {
		s.Select(s.C(payment.FieldID), s.C(payment.FieldPatientID), s.C(payment.FieldDatedOn), s.C(payment.FieldAmount))
		m := matches{own: paymentexplanation.FieldPaymentID, other: paymentexplanation.FieldInvoiceID, table: invoice.Table, practice: practice}
		m.where = func(i *sql.SelectTable) *sql.Predicate {
			return sql.And(sql.NEQ(i.C(invoice.FieldStatus), schema.InvoiceVoid), sql.LTE(i.C(invoice.FieldDatedOn), f.To))
		}
		m.appendSum(s, s.C(payment.FieldID), "used")
	})
	changed := matches{own: paymentexplanation.FieldPaymentID, other: paymentexplanation.FieldInvoiceID, table: invoice.Table, practice: practice}
	void := func(i *sql.SelectTable) *sql.Predicate { return sql.EQ(i.C(invoice.FieldStatus), schema.InvoiceVoid) }
	later := func(i *sql.SelectTable) *sql.Predicate { return sql.GT(i.C(invoice.FieldDatedOn), f.To) }
	for _, part := range unsettled(payment.FieldAmountUnexplained, changed.ids(void, later)) {
		if err := q.Clone().Modify(part).Scan(ctx, &rows); err != nil { // appends to rows
			return nil, err
		}
	}
	return slices.DeleteFunc(rows, func(p openPayment) bool { return p.unused() == 0 }), nil
}

// UnexplainedCredit returns the credit of each patient at the end of f.To, the largest
// first: payments less the parts matched with invoices that AgedDebt counts. f.SiteID is
// the site of the payments.
func UnexplainedCredit(ctx context.Context, client *ent.Client, f Filter) ([]Credit, error) {
	rows, err := openPayments(ctx, client, f)
	if err != nil {
		return nil, err
	}
	byPatient := map[int64]*Credit{}
	for i := range rows {
		r := &rows[i]
		c := byPatient[r.PatientID]
		if c == nil {
			c = &Credit{PatientID: r.PatientID, Since: r.DatedOn}
			byPatient[r.PatientID] = c
		}
		if r.DatedOn.Before(c.Since) {
			c.Since = r.DatedOn
		}
		c.Amount += r.unused()
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

// unsettled returns two conditions that together select the invoices (or payments) that may
// have been open on the day of the report: those with an open amount now, and those
// without one whose IDs are in changed. The report runs one query for each, because each
// then uses an index; with an OR or a UNION, PostgreSQL reads the whole table. The first
// condition contains a literal 0 because the planner uses a partial index only if the
// query repeats the index's condition.
func unsettled(openAmount string, changed *sql.Selector) []func(*sql.Selector) {
	return []func(*sql.Selector){
		func(s *sql.Selector) { s.Where(sql.NEQ(s.C(openAmount), sql.Raw("0"))) },
		func(s *sql.Selector) { s.Where(sql.And(sql.EQ(s.C(openAmount), 0), sql.In(s.C("id"), changed))) },
	}
}

// matches selects payment explanations, which match payments with invoices. The report
// uses them in both directions: the payments matched with an invoice, and the invoices
// matched with a payment.
type matches struct {
	own, other string // columns of payment_explanations: the side that the query lists, the opposite side
	table      string // the table of the opposite side
	practice   uuid.UUID
	where      func(opposite *sql.SelectTable) *sql.Predicate // which rows of the opposite side count
}

// appendSum adds a column to s: the sum of the matches of the row with the ID. A subquery
// lets PostgreSQL look up the matches of the few selected rows; with Ent's joins it would
// hash all payments.
func (m matches) appendSum(s *sql.Selector, id, alias string) {
	e, o := sql.Table(paymentexplanation.Table), sql.Table(m.table)
	sum := sql.Select(sql.Sum(e.C(paymentexplanation.FieldAmount))).From(e).Join(o).On(e.C(m.other), o.C("id")).
		Where(sql.And(sql.ColumnsEQ(e.C(m.own), id), sql.EQ(e.C(paymentexplanation.FieldPracticeID), m.practice), m.where(o)))
	s.AppendSelectExprAs(sql.ExprFunc(func(b *sql.Builder) {
		b.WriteString("CAST(COALESCE(").Wrap(func(b *sql.Builder) { b.Join(sum) }).WriteString(", 0) AS bigint)")
	}), alias)
}

// ids selects the IDs of the rows that have a match for which one of the conditions holds. For
// unsettled, these are the rows that are settled now but may not have been on the day of the report.
// They are few: a query for each condition finds them in an index, one with OR would read all rows
// of the opposite side.
func (m matches) ids(either ...func(opposite *sql.SelectTable) *sql.Predicate) (all *sql.Selector) {
	for _, holds := range either {
		e, o := sql.Table(paymentexplanation.Table), sql.Table(m.table)
		some := sql.Select(e.C(m.own)).From(e).Join(o).On(e.C(m.other), o.C("id")).
			Where(sql.And(sql.EQ(e.C(paymentexplanation.FieldPracticeID), m.practice), sql.EQ(o.C("practice_id"), m.practice), holds(o)))
		if all == nil {
			all = some
		} else {
			all.UnionAll(some)
		}
	}
	return all
}
