package seed

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	entinvoice "chairside/ent/invoice"
	entpayment "chairside/ent/payment"
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

// sundryLines are products sold at reception.
func (g *generator) sundryLines(percent float64) (lines []line) {
	for g.chance(percent) && len(lines) < 3 {
		s := &g.catalogue.sundries[g.IntN(len(g.catalogue.sundries)-1)]
		lines = append(lines, line{name: s.Name, quantity: g.weighted(0, 80, 15, 5), price: s.Price, sundry: &s.ID})
	}
	return lines
}

// invoice invoices a patient at the end of a visit, and pays the invoice if that happens
// before today.
func (g *generator) invoice(p *person, at time.Time, site *site, lines []line) {
	if len(lines) == 0 {
		return
	}
	if g.voided.strikes(15, 85) { // the first invoice was wrong
		wrong := g.writeInvoice(p, at, site, lines, false)
		wrong.Status, wrong.AmountOutstanding = schema.InvoiceVoid, 0
		wrong.Footnote = new("Void: made out in error")
		at = g.past(g.minutesAfter(at, 2, 9))
		wrong.UpdatedAt = at
		g.out.invoices = append(g.out.invoices, *wrong)
	}
	inv := g.writeInvoice(p, at, site, lines, true)
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

// writeInvoice creates an invoice and its items. A void one does not mark the treatments
// as charged.
func (g *generator) writeInvoice(p *person, at time.Time, site *site, lines []line, charges bool) *ent.Invoice {
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
			ID: g.uuid(), PracticeID: g.practice, CreatedAt: at, UpdatedAt: at,
			InvoiceID: inv.ID, Name: l.name, Quantity: l.quantity, ItemPrice: l.price, TotalPrice: l.price * decimal.Decimal(l.quantity),
			NhsCharge: l.nhs, PractitionerID: l.by, SundryID: l.sundry, UserID: &user,
		}
		if l.item != nil && charges {
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
	total := inv.Amount
	day := g.dayOf(inv.CreatedAt)
	later := day + g.between(10, 60)
	soon := g.past(g.minutesAfter(inv.CreatedAt, 1, 8))
	if g.chargedTwice.strikes(20, 100) { // the card was charged twice, and one payment reversed
		g.pay(p, inv, soon, total, 0, true)
	}
	switch g.weighted(77, 6, 8, 3, 6) {
	case 0:
		g.pay(p, inv, soon, total, total, false)
	case 1: // in two parts
		first := total / 2
		if first > 0 {
			g.pay(p, inv, soon, first, first, false)
		}
		if later < g.today && g.chance(70) {
			g.pay(p, inv, g.at(later, g.between(9*hour, 17*hour)), total-first, total-first, false)
		}
	case 2: // late
		if later < g.today {
			g.pay(p, inv, g.at(later, g.between(9*hour, 17*hour)), total, total, false)
		}
	case 3: // too much
		const note = 20_00
		g.pay(p, inv, soon, (total/note+1)*note, total, false)
	}
}

var paymentMethods = []string{"Card", "Cash", "Cheque", "Direct debit", "Bank transfer"}

// pay adds a payment, part of which pays the invoice.
func (g *generator) pay(p *person, inv *ent.Invoice, at time.Time, amount, explained decimal.Decimal, deleted bool) {
	payment := g.receive(p, at, inv.SiteID, amount, deleted)
	payment.AmountUnexplained -= explained
	if explained > 0 {
		g.out.explanations = append(g.out.explanations, ent.PaymentExplanation{
			ID: g.uuid(), PracticeID: g.practice, CreatedAt: at, UpdatedAt: at, PaymentID: payment.ID, InvoiceID: inv.ID, Amount: explained,
		})
		inv.AmountOutstanding -= explained
		inv.UpdatedAt = at
		if inv.AmountOutstanding == 0 {
			inv.PaidOn = new(payment.DatedOn)
		}
	}
	g.out.payments = append(g.out.payments, *payment)
}

// deposit adds a payment for future treatment.
func (g *generator) deposit(p *person, at time.Time, site *site, amount decimal.Decimal) {
	g.out.payments = append(g.out.payments, *g.receive(p, at, site.id, amount, false))
}

func (g *generator) receive(p *person, at time.Time, site uuid.UUID, amount decimal.Decimal, deleted bool) *ent.Payment {
	payment := &ent.Payment{
		ID: g.number(entpayment.Table), PracticeID: g.practice, CreatedAt: at, UpdatedAt: at,
		PatientID: p.row.ID, SiteID: site, Amount: amount, AmountUnexplained: amount,
		DatedOn: civil.Of(at.In(g.zone)), Method: paymentMethods[g.weighted(74, 10, 3, 6, 7)], Deleted: deleted,
	}
	if deleted {
		payment.UpdatedAt = g.past(g.minutesAfter(at, 1, 30))
	} else {
		p.ledger.paid += amount
	}
	p.touch(payment.UpdatedAt)
	return payment
}
