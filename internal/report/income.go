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

var _ = register(Report{
	Name: "income", Title: "Income",
	Group: GroupMoney, Place: 2, Question: "Invoiced, paid and outstanding amounts by month, practitioner and payment plan, NHS and private.", Reads: scope.Set{"financials:read", "patient:read", "practice:read", "treatments:read"}, Period: twelveMonths, Practitioners: true,
	Records: incomeRecords,
	Definitions: []Definition{
		{Term: "Invoiced", Meaning: "Invoices dated in the period, excluding void ones."},
		{Term: "Paid", Meaning: "Payments dated in the period, excluding deleted ones, whichever invoices they pay."},
		{Term: "Outstanding", Meaning: "The amounts still unpaid today of the invoices dated in the period."},
		{Term: "Practitioner, NHS or private", Meaning: "Taken from each item of the invoice."},
		{Term: "Payment plan", Meaning: "The plan of the treatment charged. Products have none."},
		{Term: "Split", Meaning: "A payment is split over the items of the invoices it is matched with, an outstanding amount over all items of its invoice, in proportion to their prices. Parts are rounded so that they add up to the penny."},
		{Term: "Share of invoiced", Meaning: "The row's part of the amount invoiced in total. " + sharesAddUp},
		{Term: "Not matched", Meaning: "Payments, or parts of payments, that are matched with no invoice or with a void one, and invoices without items."},
		{Term: "Site", Meaning: "The site of the invoice or payment."},
	},
	Run: func(ctx context.Context, client *ent.Client, f Filter) (*Result, error) {
		rows, err := Income(ctx, client, f)
		if err != nil {
			return nil, err
		}
		names, err := readIncomeNames(ctx, client)
		if err != nil {
			return nil, err
		}
		return incomeResult(names, f, rows), nil
	},
	Layout: func(f Filter, _ Locale) *Result { return incomeResult(incomeNames{}, f, nil) },
})

// IncomeKind says who pays.
type IncomeKind string

// The kinds. Unmatched covers payments, or parts of payments, that are matched with no
// invoice or with a void one, and invoices without items.
const (
	NHS       IncomeKind = "NHS"
	Private   IncomeKind = "Private"
	Unmatched IncomeKind = "Not matched"
)

// IncomeRow is the income for one month, practitioner, payment plan and kind. All
// sections of the report add up these rows.
type IncomeRow struct {
	Month          civil.Date // its first day; by the date of the invoice, for Paid of the payment
	PractitionerID int64      // 0 for items without a practitioner and unmatched amounts
	PaymentPlanID  int64      // 0 for items without a treatment and unmatched amounts
	Kind           IncomeKind
	Invoiced       decimal.Decimal
	Paid           decimal.Decimal
	Outstanding    decimal.Decimal
}

// incomeKey identifies an IncomeRow.
type incomeKey struct {
	month              string // YYYY-MM
	practitioner, plan int64
	kind               IncomeKind
}

// incomeSums collects the IncomeRows while they are added up.
type incomeSums map[incomeKey]*IncomeRow

// row returns the row for the key, and creates it if necessary.
func (sums incomeSums) row(k incomeKey) *IncomeRow {
	row := sums[k]
	if row == nil {
		row = &IncomeRow{Month: civil.MustParse(k.month + "-01"), PractitionerID: k.practitioner, PaymentPlanID: k.plan, Kind: k.kind}
		sums[k] = row
	}
	return row
}

// Income returns what was invoiced, paid and is outstanding, sorted by month,
// practitioner, payment plan and kind, without rows that are all zero. A filter with a
// practitioner keeps only the items of that practitioner.
//
// Most invoices are paid at once and in full. The database adds up their items; only the
// items of other invoices are read one by one.
func Income(ctx context.Context, client *ent.Client, f Filter) ([]IncomeRow, error) {
	sums := incomeSums{}
	if err := sums.addItems(ctx, client, f, itemDetail{plans: true}); err != nil {
		return nil, err
	}
	if err := sums.addUnmatched(ctx, client, f); err != nil {
		return nil, err
	}
	return sums.rows(f), nil
}

// practitionerIncome is Income without unmatched amounts and payment plans, which take half of its time.
func practitionerIncome(ctx context.Context, client *ent.Client, f Filter) ([]IncomeRow, error) {
	sums := incomeSums{}
	err := sums.addItems(ctx, client, f, itemDetail{})
	return sums.rows(f), err
}

// rows returns the sorted rows that are not all zero.
func (sums incomeSums) rows(f Filter) (rows []IncomeRow) {
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
	return rows
}

// addItems adds up the items that were invoiced or paid in the period. One query per step for the whole
// period is faster than one per month.
func (sums incomeSums) addItems(ctx context.Context, client *ent.Client, f Filter, d itemDetail) error {
	steps := []func(context.Context, *ent.Client, Filter, itemDetail) error{sums.addInvoiced, sums.addPaid}
	for i, add := range steps {
		progress(ctx, i, len(steps)+1)
		if err := add(ctx, client, f, d); err != nil {
			return err
		}
	}
	progress(ctx, len(steps), len(steps)+1)
	return nil
}

// itemSums is either the sum of the fully paid items with the same incomeKey, or a single
// item. Single items share an amount (see allocate) with the other items of their invoice, or
// are read one by one.
type itemSums struct {
	Month        string          `sql:"month"`
	Practitioner *int64          `sql:"practitioner_id"`
	Plan         *int64          `sql:"payment_plan_id"`
	NHS          bool            `sql:"nhs_charge"`
	Sum          decimal.Decimal `sql:"sum"` // of the prices

	// Of a single item:
	ItemID   *uuid.UUID       `sql:"item"`     // nil for a sum of items
	GroupID  string           `sql:"group_id"` // ID of the invoice or payment explanation whose amount is shared
	Amount   *decimal.Decimal `sql:"shared"`   // the amount shared by all items of the group; nil for none
	Document int64            `sql:"document"` // ID of the invoice or payment, if items are read one by one
}

// key is the group that the sums belong to.
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

// itemDetail says what is read of invoice items.
type itemDetail struct {
	plans bool // their payment plans
	each  bool // all items one by one, with their document
}

// itemGrouping says how groupItems groups invoice items. All but item are SQL expressions.
type itemGrouping struct {
	item    *sql.SelectTable
	date    string // its month is the month of the row
	shared  string // condition: the items share an amount and are returned one by one
	groupID string // of the record that the shared amount belongs to
	amount  string // the shared amount

	document string // ID of the invoice or payment
	itemDetail
}

// groupItems selects itemSums: it adds up items by month, practitioner, plan and kind, and
// returns the items that share an amount one by one.
func groupItems(s *sql.Selector, g itemGrouping) {
	ifShared := func(expression string) string { return "CASE WHEN " + g.shared + " THEN " + expression + " END" }
	keys := []string{g.item.C(invoiceitem.FieldPractitionerID), g.item.C(invoiceitem.FieldNhsCharge)}
	if g.plans {
		t := sql.Table(treatmentplanitem.Table)
		s.LeftJoin(t).On(g.item.C(invoiceitem.FieldTreatmentPlanItemID), t.C(treatmentplanitem.FieldID))
		keys = append(keys, t.C(treatmentplanitem.FieldPaymentPlanID))
	}
	single := []string{ifShared(g.item.C(invoiceitem.FieldID)), ifShared("CAST(" + g.groupID + " AS text)"), ifShared(g.amount)}
	s.Select(keys...)
	if g.each {
		single[0] = g.item.C(invoiceitem.FieldID)
		keys = append(keys, g.document)
		s.AppendSelect(sql.As(g.document, "document"))
	}
	s.AppendSelect(sql.As(monthOf(g.date), "month"), sumOf(g.item.C(invoiceitem.FieldTotalPrice), "sum"),
		sql.As(single[0], "item"), sql.As("COALESCE("+single[1]+", '')", "group_id"), sql.As(single[2], "shared"))
	s.GroupBy(slices.Concat(keys, single, []string{monthOf(g.date)})...)
}

// allocate divides each shared amount among the items of its group, in proportion to
// their prices, and passes each part to add. A part is the rounded share of the running
// total, in the order of the items' IDs, less the parts before it, so that the parts add
// up to the amount exactly. A group whose prices add up to 0 stays unmatched.
func allocate(items []itemSums, add func(*itemSums, decimal.Decimal)) {
	items = slices.DeleteFunc(items, func(r itemSums) bool { return r.Amount == nil })
	slices.SortFunc(items, func(a, b itemSums) int {
		return cmp.Or(cmp.Compare(a.GroupID, b.GroupID), slices.Compare(a.ItemID[:], b.ItemID[:]))
	})
	for len(items) > 0 {
		n := 1
		for n < len(items) && items[n].GroupID == items[0].GroupID {
			n++
		}
		var total int64
		for _, item := range items[:n] {
			total += int64(item.Sum)
		}
		if total != 0 {
			var runningTotal, allocated int64
			for i := range items[:n] {
				item := &items[i]
				runningTotal += int64(item.Sum)
				upToHere := ratio(int64(*item.Amount), runningTotal, total)
				add(item, decimal.Decimal(upToHere-allocated))
				allocated = upToHere
			}
		}
		items = items[n:]
	}
}

// addInvoiced adds up the items of the period's invoices, and allocates the outstanding
// amounts to them.
func (sums incomeSums) addInvoiced(ctx context.Context, client *ent.Client, f Filter, d itemDetail) error {
	rows, err := invoicedItems(ctx, client, f, d)
	for i := range rows {
		sums.row(rows[i].key()).Invoiced += rows[i].Sum
	}
	allocate(rows, func(item *itemSums, part decimal.Decimal) { sums.row(item.key()).Outstanding += part })
	return err
}

// invoicedItems reads the items of the period's invoices, which share the outstanding amounts.
func invoicedItems(ctx context.Context, client *ent.Client, f Filter, d itemDetail) (rows []itemSums, err error) {
	practice := principal.Must(ctx).PracticeID
	return rows, client.InvoiceItem.Query().Modify(func(s *sql.Selector) {
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
		id := i.C(invoice.FieldID)
		groupItems(s, itemGrouping{item: item, date: i.C(invoice.FieldDatedOn), shared: owed + " <> 0", groupID: id, amount: owed, document: id, itemDetail: d})
	}).Scan(ctx, &rows)
}

// addPaid adds up the items of invoices that a single payment of the period paid in
// full, and allocates the amounts of partial payments to the items of their invoices.
func (sums incomeSums) addPaid(ctx context.Context, client *ent.Client, f Filter, d itemDetail) error {
	rows, err := paidItems(ctx, client, f, d)
	for i := range rows {
		if rows[i].Amount == nil {
			sums.row(rows[i].key()).Paid += rows[i].Sum
		}
	}
	allocate(rows, func(item *itemSums, part decimal.Decimal) { sums.row(item.key()).Paid += part })
	return err
}

// paidItems reads the items of the invoices that payments of the period paid; the items of an
// invoice paid in part share the payment.
func paidItems(ctx context.Context, client *ent.Client, f Filter, d itemDetail) (rows []itemSums, err error) {
	practice := principal.Must(ctx).PracticeID
	// A query of explanations would join the invoices twice, once to hide those of void ones.
	return rows, client.Payment.Query().Modify(func(s *sql.Selector) {
		p, e, i, item := s.Table(), sql.Table(paymentexplanation.Table), sql.Table(invoice.Table), sql.Table(invoiceitem.Table)
		s.Join(e).On(p.C(payment.FieldID), e.C(paymentexplanation.FieldPaymentID))
		s.Join(i).On(e.C(paymentexplanation.FieldInvoiceID), i.C(invoice.FieldID))
		s.Join(item).On(i.C(invoice.FieldID), item.C(invoiceitem.FieldInvoiceID))
		s.Where(sql.And(
			sql.EQ(e.C(paymentexplanation.FieldPracticeID), practice), sql.EQ(i.C(invoice.FieldPracticeID), practice), sql.EQ(item.C(invoiceitem.FieldPracticeID), practice),
			sql.EQ(p.C(payment.FieldDeleted), false), sql.NEQ(i.C(invoice.FieldStatus), schema.InvoiceVoid),
			sql.GTE(p.C(payment.FieldDatedOn), f.From), sql.LTE(p.C(payment.FieldDatedOn), f.To),
		))
		if f.SiteID != nil {
			s.Where(sql.EQ(p.C(payment.FieldSiteID), *f.SiteID))
		}
		amount := e.C(paymentexplanation.FieldAmount)
		groupItems(s, itemGrouping{
			item: item, date: p.C(payment.FieldDatedOn),
			shared: amount + " <> " + i.C(invoice.FieldAmount), groupID: e.C(paymentexplanation.FieldID), amount: amount,
			document: p.C(payment.FieldID), itemDetail: d,
		})
	}).Scan(ctx, &rows)
}

// addUnmatched adds, for each month, the difference between all invoices and payments and
// the sums so far: payments without an invoice, and invoices without items. A
// practitioner has no unmatched amounts.
func (sums incomeSums) addUnmatched(ctx context.Context, client *ent.Client, f Filter) error {
	if f.PractitionerID != nil {
		return nil
	}
	rest, err := monthTotals(ctx, client, f)
	if err != nil {
		return err
	}
	for k, row := range sums {
		if rest[k.month] == nil {
			rest[k.month] = &IncomeRow{}
		}
		rest[k.month].Invoiced -= row.Invoiced
		rest[k.month].Paid -= row.Paid
		rest[k.month].Outstanding -= row.Outstanding
	}
	for month, r := range rest {
		row := sums.row(incomeKey{month: month, kind: Unmatched})
		row.Invoiced, row.Paid, row.Outstanding = r.Invoiced, r.Paid, r.Outstanding
	}
	return nil
}

// monthTotals returns the totals of all invoices and payments of the period by month
// (YYYY-MM).
func monthTotals(ctx context.Context, client *ent.Client, f Filter) (map[string]*IncomeRow, error) {
	invoices, payments := incomeDocuments(client, f)
	totals := map[string]*IncomeRow{}
	var invoiced []struct {
		Month            string
		Sum, Outstanding decimal.Decimal
	}
	err := invoices.Modify(func(s *sql.Selector) {
		month := monthOf(s.C(invoice.FieldDatedOn))
		s.Select(sql.As(month, "month"), sumOf(s.C(invoice.FieldAmount), "sum"), sumOf(s.C(invoice.FieldAmountOutstanding), "outstanding")).GroupBy(month)
	}).Scan(ctx, &invoiced)
	if err != nil {
		return nil, err
	}
	for _, r := range invoiced {
		totals[r.Month] = &IncomeRow{Invoiced: r.Sum, Outstanding: r.Outstanding}
	}
	var paid []struct {
		Month string
		Sum   decimal.Decimal
	}
	err = payments.Modify(func(s *sql.Selector) {
		month := monthOf(s.C(payment.FieldDatedOn))
		s.Select(sql.As(month, "month"), sumOf(s.C(payment.FieldAmount), "sum")).GroupBy(month)
	}).Scan(ctx, &paid)
	if err != nil {
		return nil, err
	}
	for _, r := range paid {
		if totals[r.Month] == nil {
			totals[r.Month] = &IncomeRow{}
		}
		totals[r.Month].Paid = r.Sum
	}
	return totals, nil
}

// incomeDocuments queries the invoices and payments of the period.
func incomeDocuments(client *ent.Client, f Filter) (*ent.InvoiceQuery, *ent.PaymentQuery) {
	invoices := client.Invoice.Query().Where(invoice.StatusNEQ(schema.InvoiceVoid), invoice.DatedOnGTE(f.From), invoice.DatedOnLTE(f.To))
	payments := client.Payment.Query().Where(payment.Deleted(false), payment.DatedOnGTE(f.From), payment.DatedOnLTE(f.To))
	if f.SiteID != nil {
		invoices.Where(invoice.SiteID(*f.SiteID))
		payments.Where(payment.SiteID(*f.SiteID))
	}
	return invoices, payments
}
