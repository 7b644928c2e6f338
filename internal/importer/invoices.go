package importer

import (
	"slices"
	"strings"

	"chairside/internal/civil"
	"chairside/internal/decimal"
	"chairside/schema"
)

func (b *batch) ruleForInvoice(r *record) {
	if !r.sets("due_on") && r.existing["due_on"] == r.existing["dated_on"] { // due_on was set by this rule
		r.values["due_on"] = r.get("dated_on")
	}
	if t := b.plan.target("status"); t != nil {
		b.setInvoiceStatus(r, t)
	}
	if b.plan.makeItems && r.existing == nil {
		amount, message := b.amountIn(r, "amount")
		r.rejectIf("amount", message)
		r.values["amount"], r.values["amount_outstanding"] = amount, amount
	}
	makeConsistent(r)
}

// setInvoiceStatus voids an invoice, or reverses that, as the file says, and dates a sent one.
// Other statuses follow from the payments.
func (b *batch) setInvoiceStatus(r *record, t *target) {
	status := enumValue(t.field.Values, b.plan.text(t, r.cells))
	if status != "" && !slices.Contains(t.field.Values, status) {
		r.reject("status", "must be one of: "+strings.Join(t.field.Values, ", "))
	}
	if day, err := civil.Parse(r.text("dated_on")); err == nil && status == string(schema.InvoiceSent) {
		r.setDefault("sent_at", day.In(b.practice.zone).UTC())
	}
	void := status == string(schema.InvoiceVoid)
	before := r.text("status")
	switch wasVoid := before == string(schema.InvoiceVoid); {
	case before != "" && wasVoid == void:
	case void:
		r.values["status"] = string(schema.InvoiceVoid)
	default:
		r.values["status"] = string(schema.InvoiceNew)
	}
}

// makeConsistent makes the outstanding amount, the status and the payment of an invoice agree,
// which the database requires of every row. updateTotals computes the final values.
func makeConsistent(r *record) {
	amount, outstanding := r.integer("amount"), r.integer("amount_outstanding")
	void := r.text("status") == string(schema.InvoiceVoid)
	switch {
	case void:
		outstanding = 0
	case r.existing["status"] == string(schema.InvoiceVoid):
		outstanding = amount
	}
	status := schema.InvoiceStatusOf(decimal.Decimal(amount), decimal.Decimal(outstanding), r.get("sent_at") != nil, void)
	consistent := row{"amount_outstanding": outstanding, "status": string(status), "paid": status == schema.InvoicePaid}
	if status != schema.InvoicePaid {
		consistent["paid_on"] = nil
	}
	for column, v := range consistent {
		if r.get(column) != v {
			r.values[column] = v
		}
	}
}

// amountIn reads a total from the file, in pence; 0 if it is blank.
func (b *batch) amountIn(r *record, field string) (pence int64, message string) {
	t := b.plan.target(field)
	if t == nil {
		return 0, ""
	}
	s := b.plan.text(t, r.cells)
	if s == "" {
		return 0, ""
	}
	if s, message = t.convert.amount(s); message != "" {
		return 0, message
	}
	d, err := decimal.Parse(t.applySign(s))
	if err != nil {
		message = err.Error()
	}
	return int64(d), message
}

func (b *batch) ruleForInvoiceItem(r *record) {
	r.setDefault("quantity", int64(1))
	quantity := r.integer("quantity")
	t := b.plan.target("total_price")
	switch hasTotal := t != nil && b.plan.text(t, r.cells) != ""; {
	case !hasTotal && r.get("item_price") == nil:
		r.reject("item_price", "is missing")
	case hasTotal && !r.sets("item_price"): // even if there is a price from an earlier import
		b.setPriceFromTotal(r, quantity)
	}
	total := quantity * r.integer("item_price")
	if r.values["total_price"] = total; max(total, -total) > int64(decimal.Max) {
		r.reject("total_price", decimal.ErrRange.Error())
	}
}

func (b *batch) setPriceFromTotal(r *record, quantity int64) {
	switch total, message := b.amountIn(r, "total_price"); {
	case message != "":
		r.reject("total_price", message)
	case quantity == 0 || total%quantity != 0:
		r.reject("item_price", "is missing, and total_price is not a multiple of the quantity")
	default:
		r.values["item_price"] = total / quantity
	}
}

// ruleForPayment leaves new payments unexplained. explainPayments explains them.
func (b *batch) ruleForPayment(r *record) {
	if r.existing == nil {
		r.values["amount_unexplained"] = r.get("amount")
	}
}
