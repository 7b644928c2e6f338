package seed

import (
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	entinvoice "chairside/ent/invoice"
	"chairside/ent/invoiceitem"
	entpayment "chairside/ent/payment"
	"chairside/ent/paymentexplanation"
	"chairside/internal/civil"
	"chairside/internal/decimal"
	"chairside/schema"
)

// ledger sums a patient's payments and invoices.
type ledger struct {
	account                    int64
	opening                    decimal.Decimal
	paid                       decimal.Decimal // payments, without deleted ones
	invoiced                   decimal.Decimal // invoices, without void ones
	plannedNHS, plannedPrivate decimal.Decimal
}

// line is a line of an invoice.
type line struct {
	name     string
	quantity int
	price    decimal.Decimal
	nhs      bool
	by       *int64                 // the practitioner
	item     *ent.TreatmentPlanItem // the treatment, or
	sundry   *uuid.UUID             // the product
}

// money returns an amount of whole pounds with some pence.
func money(r random, low, high int) decimal.Decimal {
	return decimal.Decimal(r.between(low, high)*100 + []int{0, 0, 50, 95}[r.IntN(4)])
}

// sundryLines are products sold to a patient at reception.
func (g *generator) sundryLines(percent float64, w who) (lines []line) {
	for g.chance(percent) && len(lines) < 3 {
		sold, _ := pickSuitable(g.random, g.catalogue.sundries, func(p product) audience { return p.of }, w)
		lines = append(lines, line{name: sold.row.Name, quantity: g.weighted(0, 80, 15, 5), price: sold.row.Price, sundry: &sold.row.ID})
	}
	return lines
}

// invoice invoices a patient at the end of a visit, and pays the invoice if that happens
// before today.
func (g *generator) invoice(p *person, at time.Time, site *site, lines []line) {
	if len(lines) == 0 {
		return
	}
	if g.voided.next(15, 85) { // the first invoice was wrong
		wrong := g.writeInvoice(p, at, site, withoutTreatments(lines))
		wrong.Status, wrong.AmountOutstanding = schema.InvoiceVoid, 0
		wrong.Footnote = new("Void: made out in error")
		at = g.notAfterNow(g.minutesAfter(at, 2, 9))
		wrong.UpdatedAt = at
		g.out.invoices = append(g.out.invoices, *wrong)
	}
	inv := g.writeInvoice(p, at, site, lines)
	p.ledger.invoiced += inv.Amount
	g.settle(p, inv)

	inv.Paid = inv.AmountOutstanding == 0
	day := g.dayOf(at)
	if g.chance(pickIf(inv.Paid, 20.0, 85)) && day+3 < g.today {
		inv.SentAt = new(g.timeBetween(g.at(day+1, 9*hour), g.at(day+3, 17*hour)))
	}
	inv.Status = schema.InvoiceStatusOf(inv.Amount, inv.AmountOutstanding, inv.SentAt != nil, false)
	if inv.SentAt != nil && inv.SentAt.After(inv.UpdatedAt) {
		inv.UpdatedAt = *inv.SentAt
	}
	p.touch(inv.UpdatedAt)
	g.out.invoices = append(g.out.invoices, *inv)
}

// withoutTreatments returns the lines for an invoice that is void: their treatments are
// not marked as charged.
func withoutTreatments(lines []line) []line {
	void := slices.Clone(lines)
	for i := range void {
		void[i].item = nil
	}
	return void
}

// writeInvoice creates an invoice and its items, and marks the treatments as charged. The
// caller adds the invoice to the batch.
func (g *generator) writeInvoice(p *person, at time.Time, site *site, lines []line) *ent.Invoice {
	date := civil.Of(at.In(g.zone))
	user := pick(g.random, g.staff.reception)
	inv := &ent.Invoice{
		ID: g.number(entinvoice.Table), PracticeID: g.practice, CreatedAt: at, UpdatedAt: at,
		AccountID: p.ledger.account, PatientID: p.row.ID, SiteID: site.id, UserID: &user,
		DatedOn: date, DueOn: date.AddDays(pickIf(g.chance(80), 14, 30)),
		PaymentTerms: new("Please pay within 14 days."),
		Footnote:     optional(g.random, 5, "Thank you for your visit."),
	}
	inv.Reference = new(fmt.Sprintf("INV-%d", 1000+inv.ID))
	for _, l := range lines {
		item := ent.InvoiceItem{
			ID: g.uuid(invoiceitem.Table), PracticeID: g.practice, CreatedAt: at, UpdatedAt: at,
			InvoiceID: inv.ID, Name: l.name, Quantity: l.quantity, ItemPrice: l.price, TotalPrice: l.price * decimal.Decimal(l.quantity),
			NhsCharge: l.nhs, PractitionerID: l.by, SundryID: l.sundry, UserID: &user,
		}
		if l.item != nil {
			item.TreatmentPlanID, item.TreatmentPlanItemID = &l.item.TreatmentPlanID, &l.item.ID
			l.item.Charged, l.item.InvoiceID = true, &inv.ID
		}
		inv.Amount += item.TotalPrice
		g.out.invoiceItems = append(g.out.invoiceItems, item)
	}
	inv.AmountOutstanding = inv.Amount
	return inv
}

// settle pays an invoice in one of several ways.
func (g *generator) settle(p *person, inv *ent.Invoice) {
	if p.owes {
		return
	}
	total := inv.Amount
	day := g.dayOf(inv.CreatedAt)
	later := g.workday(day + g.between(10, 60))
	soon := g.notAfterNow(g.minutesAfter(inv.CreatedAt, 1, 8))
	if g.chargedTwice.next(20, 100) { // the card was charged twice, and one payment reversed
		g.reversePayment(p, inv, soon)
	}
	switch g.weighted(77, 6, 8, 3, 6) {
	case 0:
		g.pay(p, inv, soon, total, total)
	case 1: // in two parts
		first := total / 2
		if first > 0 {
			g.pay(p, inv, soon, first, first)
		}
		if later < g.today && g.chance(70) {
			g.pay(p, inv, g.at(later, g.between(9*hour, 17*hour)), total-first, total-first)
		}
	case 2: // late
		if later < g.today {
			g.pay(p, inv, g.at(later, g.between(9*hour, 17*hour)), total, total)
		}
	case 3: // too much
		const note = 20_00
		g.pay(p, inv, soon, (total/note+1)*note, total)
	}
}

var paymentMethods = []string{"Card", "Cash", "Cheque", "Direct debit", "Bank transfer"}

// pay adds a payment. The explained part of its amount pays the invoice.
func (g *generator) pay(p *person, inv *ent.Invoice, at time.Time, amount, explained decimal.Decimal) {
	payment := g.newPayment(p, at, inv.SiteID, amount)
	payment.AmountUnexplained -= explained
	if explained > 0 {
		g.out.explanations = append(g.out.explanations, ent.PaymentExplanation{
			ID: g.uuid(paymentexplanation.Table), PracticeID: g.practice, CreatedAt: at, UpdatedAt: at, PaymentID: payment.ID, InvoiceID: inv.ID, Amount: explained,
		})
		inv.AmountOutstanding -= explained
		inv.UpdatedAt = at
		if inv.AmountOutstanding == 0 {
			inv.PaidOn = new(payment.DatedOn)
		}
	}
	p.ledger.paid += amount
	g.writePayment(p, payment)
}

// deposit adds a payment for future treatment.
func (g *generator) deposit(p *person, at time.Time, site *site, amount decimal.Decimal) {
	p.ledger.paid += amount
	g.writePayment(p, g.newPayment(p, at, site.id, amount))
}

// reversePayment adds a payment of the invoice's amount that was deleted soon after.
func (g *generator) reversePayment(p *person, inv *ent.Invoice, at time.Time) {
	payment := g.newPayment(p, at, inv.SiteID, inv.Amount)
	payment.Deleted = true
	payment.UpdatedAt = g.notAfterNow(g.minutesAfter(at, 1, 30))
	g.writePayment(p, payment)
}

// newPayment returns a payment that does not pay an invoice yet.
func (g *generator) newPayment(p *person, at time.Time, site uuid.UUID, amount decimal.Decimal) *ent.Payment {
	return &ent.Payment{
		ID: g.number(entpayment.Table), PracticeID: g.practice, CreatedAt: at, UpdatedAt: at,
		PatientID: p.row.ID, SiteID: site, Amount: amount, AmountUnexplained: amount,
		DatedOn: civil.Of(at.In(g.zone)), Method: paymentMethods[g.weighted(74, 10, 3, 6, 7)],
	}
}

// writePayment adds the payment to the batch.
func (g *generator) writePayment(p *person, payment *ent.Payment) {
	p.touch(payment.UpdatedAt)
	g.out.payments = append(g.out.payments, *payment)
}
