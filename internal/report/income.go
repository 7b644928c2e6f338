package report

import (
	"cmp"
	"context"
	"slices"

	"entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/invoice"
	"chairside/ent/invoiceitem"
	"chairside/ent/payment"
	"chairside/ent/paymentexplanation"
	"chairside/ent/treatmentplanitem"
	"chairside/internal/civil"
	"chairside/internal/decimal"
	"chairside/internal/principal"
	"chairside/internal/scope"
	"chairside/schema"
)

var income = Report{
	Name: "income", Title: "Income",
	Group: GroupMoney, Question: "Invoiced, paid and outstanding amounts by month, practitioner and payment plan, NHS and private.", Reads: scope.Set{"financials:read", "practice:read", "treatments:read"}, Period: twelveMonths, Practitioners: true,
	Doc: "Invoiced is the amount of the invoices dated in the period, void ones never. " +
		"Paid is the payments dated in the period, deleted ones never, whatever invoices they are for. " +
		"Outstanding is what is still to be paid, now, of the invoices dated in the period. " +
		"Practitioner, payment plan, and NHS or private are those of the invoice's items; the plan is that of the treatment charged, so products have none. " +
		"A payment belongs to the items of the invoices it is matched with, and what is outstanding to all items of the invoice, in proportion to their prices: " +
		"part of an item is its share of the running total, in the order of the items' ids, so that no penny is lost. " +
		"Payments that are not matched with an invoice, or with a void one, are not matched here either. " +
		"A site is that of the invoices and of the payments.",
	Run: func(ctx context.Context, client *ent.Client, f Filter) (*Result, error) {
		rows, err := Income(ctx, client, f)
		if err != nil {
			return nil, err
		}
		return incomeResult(ctx, client, f, rows)
	},
}

// IncomeKind is who pays for something.
type IncomeKind string

// The kinds. Unmatched are payments, or parts of payments, that no invoice
// explains but void ones, and invoices without items.
const (
	NHS       IncomeKind = "NHS"
	Private   IncomeKind = "Private"
	Unmatched IncomeKind = "Not matched"
)

// IncomeRow is the smallest part of the income: all sections of the report are
// sums of these.
type IncomeRow struct {
	Month          civil.Date // first day; of the invoice, for what is paid of the payment
	PractitionerID int64      // 0 for items of no practitioner, and what is not matched
	PaymentPlanID  int64      // 0 for items of no treatment, and what is not matched
	Kind           IncomeKind
	Invoiced       decimal.Decimal
	Paid           decimal.Decimal
	Outstanding    decimal.Decimal
}

// incomeKey is what an IncomeRow is about.
type incomeKey struct {
	month              string // YYYY-MM
	practitioner, plan int64
	kind               IncomeKind
}

// incomeSums are the IncomeRows while they are added up.
type incomeSums map[incomeKey]*IncomeRow

func (sums incomeSums) row(k incomeKey) *IncomeRow {
	row := sums[k]
	if row == nil {
		row = &IncomeRow{Month: civil.MustParse(k.month + "-01"), PractitionerID: k.practitioner, PaymentPlanID: k.plan, Kind: k.kind}
		sums[k] = row
	}
	return row
}

// Income is what was invoiced, paid and is outstanding, for each month,
// practitioner, payment plan and kind that occur, in this order. Where the
// filter names a practitioner, only what belongs to that one's items.
//
// Nearly all invoices are paid at once and in full, so the database adds those
// up by itself; only items of others are read one by one.
func Income(ctx context.Context, client *ent.Client, f Filter) ([]IncomeRow, error) {
	sums := incomeSums{}
	// The whole period at once: month by month reads rows one by one, for longer.
	steps := []func(context.Context, *ent.Client, Filter) error{sums.addInvoiced, sums.addPaid, sums.addUnmatched}
	for i, add := range steps {
		progress(ctx, i, len(steps))
		if err := add(ctx, client, f); err != nil {
			return nil, err
		}
	}
	var rows []IncomeRow
	for _, row := range sums {
		if row.Invoiced == 0 && row.Paid == 0 && row.Outstanding == 0 || f.PractitionerID != nil && row.PractitionerID != *f.PractitionerID {
			continue
		}
		rows = append(rows, *row)
	}
	slices.SortFunc(rows, func(a, b IncomeRow) int {
		return cmp.Or(cmp.Compare(a.Month.String(), b.Month.String()), cmp.Compare(a.PractitionerID, b.PractitionerID),
			cmp.Compare(a.PaymentPlanID, b.PaymentPlanID), cmp.Compare(a.Kind, b.Kind))
	})
	return rows, nil
}

// itemSums are items added up by the four things an IncomeRow is about; or one
// item, which shares an amount with others.
type itemSums struct {
	Month        string          `sql:"month"`
	Practitioner *int64          `sql:"practitioner_id"`
	Plan         *int64          `sql:"payment_plan_id"`
	NHS          bool            `sql:"nhs_charge"`
	Sum          decimal.Decimal `sql:"sum"` // of the prices

	Item   *uuid.UUID       `sql:"item"`   // nil for a sum
	Whole  string           `sql:"whole"`  // what the items share belongs to: an explanation, or an invoice
	Amount *decimal.Decimal `sql:"shared"` // what they share
}

func (r *itemSums) key() incomeKey {
	k := incomeKey{month: r.Month, kind: Private}
	if r.NHS {
		k.kind = NHS
	}
	if r.Practitioner != nil {
		k.practitioner = *r.Practitioner
	}
	if r.Plan != nil {
		k.plan = *r.Plan
	}
	return k
}

// groupItems adds items up by month, practitioner, plan and kind, except where
// they share: there it gives each of them.
func groupItems(s *sql.Selector, date string, item *sql.SelectTable, share, whole, amount string) {
	t := sql.Table(treatmentplanitem.Table)
	s.LeftJoin(t).On(item.C(invoiceitem.FieldTreatmentPlanItemID), t.C(treatmentplanitem.FieldID))
	only := func(expression string) string { return "CASE WHEN " + share + " THEN " + expression + " END" }
	keys := []string{item.C(invoiceitem.FieldPractitionerID), t.C(treatmentplanitem.FieldPaymentPlanID), item.C(invoiceitem.FieldNhsCharge)}
	single := []string{only(item.C(invoiceitem.FieldID)), only("CAST(" + whole + " AS text)"), only(amount)}
	s.Select(keys...).AppendSelect(sql.As(monthOf(date), "month"), sumOf(item.C(invoiceitem.FieldTotalPrice), "sum"),
		sql.As(single[0], "item"), sql.As("COALESCE("+single[1]+", '')", "whole"), sql.As(single[2], "shared"))
	s.GroupBy(slices.Concat(keys, single, []string{monthOf(date)})...)
}

// share divides amounts among the items that share them, in the order of the
// items' ids, and adds each part.
func share(items []itemSums, add func(incomeKey, decimal.Decimal)) {
	items = slices.DeleteFunc(items, func(r itemSums) bool { return r.Item == nil })
	slices.SortFunc(items, func(a, b itemSums) int {
		return cmp.Or(cmp.Compare(a.Whole, b.Whole), slices.Compare(a.Item[:], b.Item[:]))
	})
	for len(items) > 0 {
		n := 1
		for n < len(items) && items[n].Whole == items[0].Whole {
			n++
		}
		var price int64
		for _, item := range items[:n] {
			price += int64(item.Sum)
		}
		if price != 0 { // else it stays unmatched
			var running, shared int64
			for _, item := range items[:n] {
				running += int64(item.Sum)
				upTo := ratio(int64(*item.Amount), running, price)
				add(item.key(), decimal.Decimal(upTo-shared))
				shared = upTo
			}
		}
		items = items[n:]
	}
}

// addInvoiced adds up the items of the period's invoices, and shares out what is
// outstanding of them.
func (sums incomeSums) addInvoiced(ctx context.Context, client *ent.Client, f Filter) error {
	practice := principal.Must(ctx).PracticeID
	var rows []itemSums
	err := client.InvoiceItem.Query().Modify(func(s *sql.Selector) {
		i, item := sql.Table(invoice.Table), s.Table()
		s.Join(i).On(item.C(invoiceitem.FieldInvoiceID), i.C(invoice.FieldID))
		s.Where(sql.And(
			sql.EQ(i.C(invoice.FieldPracticeID), practice), sql.NEQ(i.C(invoice.FieldStatus), schema.InvoiceVoid),
			sql.GTE(i.C(invoice.FieldDatedOn), f.From), sql.LTE(i.C(invoice.FieldDatedOn), f.To),
		))
		if f.SiteID != nil {
			s.Where(sql.EQ(i.C(invoice.FieldSiteID), *f.SiteID))
		}
		owed := i.C(invoice.FieldAmountOutstanding)
		groupItems(s, i.C(invoice.FieldDatedOn), item, owed+" <> 0", i.C(invoice.FieldID), owed)
	}).Scan(ctx, &rows)
	for i := range rows {
		sums.row(rows[i].key()).Invoiced += rows[i].Sum
	}
	share(rows, func(k incomeKey, part decimal.Decimal) { sums.row(k).Outstanding += part })
	return err
}

// addPaid adds up the items of invoices that one of the period's payments paid
// in full, and shares out what payments paid of others.
func (sums incomeSums) addPaid(ctx context.Context, client *ent.Client, f Filter) error {
	practice := principal.Must(ctx).PracticeID
	var rows []itemSums
	err := client.PaymentExplanation.Query().Modify(func(s *sql.Selector) {
		p, i, item := sql.Table(payment.Table), sql.Table(invoice.Table), sql.Table(invoiceitem.Table)
		s.Join(p).On(s.C(paymentexplanation.FieldPaymentID), p.C(payment.FieldID))
		s.Join(i).On(s.C(paymentexplanation.FieldInvoiceID), i.C(invoice.FieldID))
		s.Join(item).On(i.C(invoice.FieldID), item.C(invoiceitem.FieldInvoiceID))
		s.Where(sql.And(
			sql.EQ(p.C(payment.FieldPracticeID), practice), sql.EQ(i.C(invoice.FieldPracticeID), practice), sql.EQ(item.C(invoiceitem.FieldPracticeID), practice),
			sql.EQ(p.C(payment.FieldDeleted), false), sql.NEQ(i.C(invoice.FieldStatus), schema.InvoiceVoid),
			sql.GTE(p.C(payment.FieldDatedOn), f.From), sql.LTE(p.C(payment.FieldDatedOn), f.To),
		))
		if f.SiteID != nil {
			s.Where(sql.EQ(p.C(payment.FieldSiteID), *f.SiteID))
		}
		amount := s.C(paymentexplanation.FieldAmount)
		groupItems(s, p.C(payment.FieldDatedOn), item, amount+" <> "+i.C(invoice.FieldAmount), s.C(paymentexplanation.FieldID), amount)
	}).Scan(ctx, &rows)
	for i := range rows {
		if rows[i].Item == nil {
			sums.row(rows[i].key()).Paid += rows[i].Sum
		}
	}
	share(rows, func(k incomeKey, part decimal.Decimal) { sums.row(k).Paid += part })
	return err
}

// addUnmatched adds what the months lack of all invoices and payments, so that
// nothing is lost of payments without invoices or invoices without items.
func (sums incomeSums) addUnmatched(ctx context.Context, client *ent.Client, f Filter) error {
	if f.PractitionerID != nil {
		return nil // it is nobody's
	}
	invoices := client.Invoice.Query().Where(invoice.StatusNEQ(schema.InvoiceVoid), invoice.DatedOnGTE(f.From), invoice.DatedOnLTE(f.To))
	payments := client.Payment.Query().Where(payment.Deleted(false), payment.DatedOnGTE(f.From), payment.DatedOnLTE(f.To))
	if f.SiteID != nil {
		invoices.Where(invoice.SiteID(*f.SiteID))
		payments.Where(payment.SiteID(*f.SiteID))
	}
	whole := map[string]*IncomeRow{}
	month := func(name string) *IncomeRow {
		if whole[name] == nil {
			whole[name] = &IncomeRow{}
		}
		return whole[name]
	}
	var rows []struct {
		Month            string
		Sum, Outstanding decimal.Decimal
	}
	err := invoices.Modify(func(s *sql.Selector) {
		name := monthOf(s.C(invoice.FieldDatedOn))
		s.Select(sql.As(name, "month"), sumOf(s.C(invoice.FieldAmount), "sum"), sumOf(s.C(invoice.FieldAmountOutstanding), "outstanding")).GroupBy(name)
	}).Scan(ctx, &rows)
	if err != nil {
		return err
	}
	for _, r := range rows {
		month(r.Month).Invoiced, month(r.Month).Outstanding = r.Sum, r.Outstanding
	}
	rows = nil
	err = payments.Modify(func(s *sql.Selector) {
		name := monthOf(s.C(payment.FieldDatedOn))
		s.Select(sql.As(name, "month"), sumOf(s.C(payment.FieldAmount), "sum")).GroupBy(name)
	}).Scan(ctx, &rows)
	if err != nil {
		return err
	}
	for _, r := range rows {
		month(r.Month).Paid = r.Sum
	}
	for k, row := range sums {
		m := month(k.month)
		m.Invoiced -= row.Invoiced
		m.Paid -= row.Paid
		m.Outstanding -= row.Outstanding
	}
	for name, rest := range whole {
		row := sums.row(incomeKey{month: name, kind: Unmatched})
		row.Invoiced, row.Paid, row.Outstanding = rest.Invoiced, rest.Paid, rest.Outstanding
	}
	return nil
}
