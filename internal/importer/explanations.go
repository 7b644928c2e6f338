package importer

import (
	"slices"
	"strings"

	"chairside/schema"
)

const explanationTable = "payment_explanations"

// explainPayments explains payments by the invoices that they name: the smaller of what is left of
// the payment and of the invoice. It sets the unexplained amount of new payments before they are
// written, and removes explanations of known payments that no longer hold.
func (b *batch) explainPayments(known []*record) (explanations []row) {
	kept, open := b.reconsider(known)
	left := b.leftToExplain(open, paysInvoice)
	for _, r := range b.records {
		invoice := r.given[paysInvoice]
		if invoice == nil || r.gone || r.boolean("deleted") {
			continue
		}
		place, id := paysInvoice+asText(invoice), b.childOf(explanationTable, r.id)
		already := kept[asText(r.id)]
		rest := r.integer("amount") - already
		switch pays := min(rest, left[place]); {
		case pays > 0:
			left[place] -= pays
			delete(open, id)
			explanations = append(explanations, row{"id": id, "payment_id": r.id, paysInvoice: invoice, "amount": pays})
			if r.existing == nil {
				r.given["amount_unexplained"] = rest - pays
			}
		case r.integer("amount") < 0:
			r.warn(paysInvoice, "money that is given back pays no invoice; it stays unexplained")
		case already == 0 || rest != 0: // otherwise a file of explanations has already explained all of it
			r.warn(paysInvoice, "nothing is left to pay of the invoice; the payment stays unexplained")
		}
	}
	b.remove(entityOf(explanationTable), keysOf(open))
	return explanations
}

// reconsider reads the explanations of known payments. It returns the explained amount that is kept,
// and the explanations that are open again because the file names the invoice. A payment that is
// deleted, that is not of its invoices' patient, or that is less than what it explains, loses the
// explanations that are not open.
func (b *batch) reconsider(known []*record) (kept map[string]int64, open map[string]bool) {
	kept, open = map[string]int64{}, map[string]bool{}
	others, strange := map[string][]any{}, map[string]bool{}
	patients := map[string]any{}
	for _, r := range known {
		patients[asText(r.id)] = r.get("patient_id")
	}
	names := b.plan.target(paysInvoice) != nil
	const query = "SELECT x.payment_id, x.id, x.amount, i.patient_id FROM payment_explanations AS x JOIN invoices AS i ON i.id = x.invoice_id WHERE x.practice_id = $1"
	b.query(query, "x.payment_id", idsOf(known), func(v []any) {
		payment, id := asText(v[0]), asText(v[1])
		if names && id == b.childOf(explanationTable, payment) {
			open[id] = true
			return
		}
		kept[payment] += b.number(v[2])
		others[payment] = append(others[payment], id)
		strange[payment] = strange[payment] || v[3] != patients[payment]
	})
	var lost []any
	for _, r := range known {
		payment := asText(r.id)
		if r.boolean("deleted") || strange[payment] || kept[payment] > r.integer("amount") {
			lost = append(lost, others[payment]...)
			delete(kept, payment)
			if len(others[payment]) > 0 && !r.boolean("deleted") {
				r.warn("amount", "no longer covers what it paid, which is unexplained unless a file of explanations says it again")
			}
		}
	}
	b.withdraw(lost)
	return kept, open
}

// releasePayments removes the explanations of invoices that are now void or of another patient.
func (b *batch) releasePayments(known []*record) {
	var ids, lost []any
	for _, r := range known {
		if r.text("status") == string(schema.InvoiceVoid) || r.changes("patient_id") {
			ids = append(ids, r.id)
		}
	}
	paid := map[string]bool{}
	b.query("SELECT id, invoice_id FROM payment_explanations WHERE practice_id = $1", paysInvoice, ids, func(v []any) {
		lost = append(lost, asText(v[0]))
		paid[asText(v[1])] = true
	})
	for _, r := range known {
		if paid[asText(r.id)] {
			r.warn("status", "what was paid on it is unexplained, because it is void or of another patient now")
		}
	}
	b.withdraw(lost)
}

// withdraw deletes explanations, whichever file they came from, and their legacy ids. If a later
// file has them again, they are new.
func (b *batch) withdraw(ids []any) {
	if len(ids) == 0 {
		return
	}
	condition, list := b.bulk.In("record_id", 4, ids)
	b.exec("DELETE FROM imported_records WHERE practice_id = $1 AND source = $2 AND resource = $3 AND "+condition, b.practice.id, b.source, explanationTable, list)
	b.remove(entityOf(explanationTable), ids)
}

// explanations refuses an explanation of more than what is left of its payment or invoice. It
// withdraws an earlier explanation that is now refused.
func (b *batch) explanations() {
	open := map[string]bool{}
	for _, r := range b.records {
		if r.existing != nil {
			open[asText(r.id)] = true
		}
	}
	places := []string{"payment_id", paysInvoice}
	left := b.leftToExplain(open, places...)
	for _, r := range b.records {
		sum := r.integer("amount")
		short := slices.IndexFunc(places, func(column string) bool { return sum > left[column+asText(r.get(column))] })
		switch {
		case sum <= 0:
			r.refuse("amount", "must be above zero")
		case b.parent(r, "payment_id")["deleted"] == true:
			r.refuse("payment_id", "was deleted, and pays nothing")
		case b.parent(r, paysInvoice)["status"] == string(schema.InvoiceVoid):
			r.refuse(paysInvoice, "is void, and nothing is to be paid of it")
		case short >= 0:
			r.refuse("amount", "is more than what is left of the "+strings.TrimSuffix(places[short], "_id"))
		default:
			for _, column := range places {
				left[column+asText(r.get(column))] -= sum
			}
			delete(open, asText(r.id))
		}
	}
	b.withdraw(keysOf(open))
}

// leftToExplain returns the unexplained amount of each payment and invoice that the columns of the
// records refer to, by column and id. It ignores open explanations, and those of deleted payments
// or void invoices.
func (b *batch) leftToExplain(open map[string]bool, columns ...string) map[string]int64 {
	left := map[string]int64{}
	for _, column := range columns {
		var ids []any
		for _, parent := range b.parents[column] {
			if parent["id"] != nil {
				ids = append(ids, parent["id"])
			}
		}
		whole := "SELECT id, CASE WHEN deleted THEN 0 ELSE amount END FROM payments"
		if column == paysInvoice {
			whole = "SELECT i.id, CASE WHEN i.status = 'void' THEN 0 ELSE (SELECT coalesce(sum(t.total_price), 0) FROM invoice_items AS t WHERE t.practice_id = i.practice_id AND t.invoice_id = i.id) END FROM invoices AS i"
		}
		b.query(whole+" WHERE practice_id = $1", "id", ids, func(v []any) { left[column+asText(v[0])] += b.number(v[1]) })
		paid := "SELECT x." + column + ", x.amount, x.id FROM payment_explanations AS x JOIN payments AS p ON p.id = x.payment_id JOIN invoices AS i ON i.id = x.invoice_id WHERE x.practice_id = $1 AND NOT p.deleted AND i.status <> 'void'"
		b.query(paid, "x."+column, ids, func(v []any) {
			if !open[asText(v[2])] {
				left[column+asText(v[0])] -= b.number(v[1])
			}
		})
	}
	return left
}

// trim reduces the explanations of invoices to the invoices' amounts, the latest payments first, and
// reports whether there were any to reduce. It is for files that lower invoices without explaining
// their payments again.
func (im *importer) trim() (trimmed bool, err error) {
	lowers := slices.IndexFunc(im.plans, func(p *plan) bool { return p.entity.Name == "invoices" || p.entity.Name == "invoice_items" })
	if lowers < 0 {
		return false, nil
	}
	n := im.note.clone()
	err = im.inTx(nil, func(b *batch) {
		var lowered edits
		var lost []any
		var findings []finding
		left := map[string]int64{}
		b.rows(`SELECT x.id, x.payment_id, x.invoice_id, x.amount, i.amount
			FROM invoices AS i JOIN payment_explanations AS x ON x.practice_id = i.practice_id AND x.invoice_id = i.id JOIN payments AS p ON p.id = x.payment_id
			WHERE i.practice_id = $1 AND i.amount_outstanding < 0 AND i.status <> 'void' AND NOT p.deleted ORDER BY i.id, p.id, x.id`, []any{im.practice.id}, func(v []any) {
			id, invoice, paid := asText(v[0]), asText(v[2]), b.number(v[3])
			if _, known := left[invoice]; !known {
				left[invoice] = max(b.number(v[4]), 0)
				findings = append(findings, finding{
					file: im.plans[lowers].name, kind: warning, field: "amount",
					message: "the invoice " + invoice + " comes to less than what was paid on it; the rest of that is unexplained",
				})
			}
			switch rest := left[invoice]; {
			case paid <= rest:
				left[invoice] -= paid
			case rest > 0 && id == b.childOf(explanationTable, v[1]):
				left[invoice] = 0
				b.edit(&lowered, row{"id": id, "amount": rest}, "amount")
			default: // nothing is left, or a file of explanations has it, whose row would now be refused
				lost = append(lost, id)
			}
		})
		if trimmed = len(findings) > 0; trimmed {
			b.withdraw(lost)
			b.apply(entityOf(explanationTable), lowered, "amount")
			b.found(&n, findings)
			b.save(n)
		}
	})
	if err == nil {
		im.note = n
	}
	return trimmed, err
}
