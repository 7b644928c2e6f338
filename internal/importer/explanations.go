package importer

import (
	"slices"
	"strings"

	"chairside/schema"
)

// explanationTable has a row for each invoice that a payment pays, with the amount. Explained
// amounts must not exceed the payment or the invoice.
const explanationTable = "payment_explanations"

// explainPayments returns the explanations of payments by the invoices that they name: the
// unexplained amount of the payment or of the invoice, whichever is less. It sets the
// unexplained amount of new payments. It deletes the explanations of existing payments that no
// longer hold.
func (b *batch) explainPayments(existing []*record) (explanations []row) {
	earlier := b.recheckExplanations(existing)
	left := b.amountsLeft(earlier.made, invoiceID)
	for _, r := range b.records {
		invoice := r.values[invoiceID]
		if invoice == nil || r.deleted || r.boolean("deleted") {
			continue
		}
		amount, explained := r.integer("amount"), earlier.explained[asText(r.id)]
		rest := amount - explained
		key := amountKey{invoiceID, asText(invoice)}
		switch pays := min(rest, left[key]); {
		case pays > 0:
			left[key] -= pays
			id := b.madeID(explanationTable, r.id)
			delete(earlier.made, id) // it is written again
			explanations = append(explanations, row{"id": id, "payment_id": r.id, invoiceID: invoice, "amount": pays})
			if r.existing == nil {
				r.values["amount_unexplained"] = rest - pays
			}
		case amount < 0:
			r.warn(invoiceID, "a refund pays no invoice; it stays unexplained")
		case explained == 0 || rest != 0: // else a file of explanations has explained all of it
			r.warn(invoiceID, "nothing is left to pay of the invoice; the payment stays unexplained")
		}
	}
	b.deleteRows(entityOf(explanationTable), keysOf(earlier.made))
	return explanations
}

// earlierExplanations are the explanations that payments have from earlier imports.
type earlierExplanations struct {
	explained map[string]int64 // by payment, the amount that a file of explanations has explained
	made      map[string]bool  // IDs of those that explainPayments made; it makes them again
}

// recheckExplanations reads the explanations of existing payments. It withdraws those from
// files if their payment is deleted, is of another patient than an invoice, or is less than
// they add up to.
func (b *batch) recheckExplanations(existing []*record) earlierExplanations {
	result := earlierExplanations{explained: map[string]int64{}, made: map[string]bool{}}
	fromFiles, otherPatient := map[string][]any{}, map[string]bool{} // by payment
	patients := map[string]any{}
	for _, r := range existing {
		patients[asText(r.id)] = r.get("patient_id")
	}
	namesInvoice := b.plan.target(invoiceID) != nil
	const query = "SELECT x.payment_id, x.id, x.amount, i.patient_id FROM payment_explanations AS x JOIN invoices AS i ON i.id = x.invoice_id WHERE x.practice_id = $1"
	b.queryIn(query, "x.payment_id", idsOf(existing), func(v []any) {
		payment, id := asText(v[0]), asText(v[1])
		if namesInvoice && id == b.madeID(explanationTable, payment) {
			result.made[id] = true
			return
		}
		result.explained[payment] += b.integer(v[2])
		fromFiles[payment] = append(fromFiles[payment], id)
		if v[3] != patients[payment] {
			otherPatient[payment] = true
		}
	})
	var withdrawn []any
	for _, r := range existing {
		payment := asText(r.id)
		if r.boolean("deleted") || otherPatient[payment] || result.explained[payment] > r.integer("amount") {
			withdrawn = append(withdrawn, fromFiles[payment]...)
			delete(result.explained, payment)
			if len(fromFiles[payment]) > 0 && !r.boolean("deleted") {
				r.warn("amount", "no longer covers the invoices it paid; it is unexplained unless a file of explanations has it again")
			}
		}
	}
	b.withdraw(withdrawn)
	return result
}

// removeExplanationsOf withdraws the explanations of invoices that are now void or of another
// patient.
func (b *batch) removeExplanationsOf(existing []*record) {
	var invoices, withdrawn []any
	for _, r := range existing {
		if r.text("status") == string(schema.InvoiceVoid) || r.changes("patient_id") {
			invoices = append(invoices, r.id)
		}
	}
	paid := map[string]bool{}
	b.queryIn("SELECT id, invoice_id FROM payment_explanations WHERE practice_id = $1", invoiceID, invoices, func(v []any) {
		withdrawn = append(withdrawn, asText(v[0]))
		paid[asText(v[1])] = true
	})
	for _, r := range existing {
		if paid[asText(r.id)] {
			r.warn("status", "the payments of this invoice are unexplained, because it is now void or of another patient")
		}
	}
	b.withdraw(withdrawn)
}

// withdraw deletes explanations and their legacy IDs. If a file has them again, they are new.
func (b *batch) withdraw(ids []any) {
	if len(ids) == 0 {
		return
	}
	condition, list := b.bulk.In("record_id", 4, ids)
	b.exec("DELETE FROM imported_records WHERE practice_id = $1 AND source = $2 AND resource = $3 AND "+condition, b.practice.id, b.system, explanationTable, list)
	b.deleteRows(entityOf(explanationTable), ids)
}

// checkExplanations rejects explanations in a file that exceed what is left of the payment or the
// invoice. If a rejected one exists from an earlier import, it is withdrawn.
func (b *batch) checkExplanations() {
	open := map[string]bool{} // existing ones that are not accepted again yet
	for _, r := range b.records {
		if r.existing != nil {
			open[asText(r.id)] = true
		}
	}
	columns := []string{"payment_id", invoiceID}
	left := b.amountsLeft(open, columns...)
	for _, r := range b.records {
		amount := r.integer("amount")
		key := func(column string) amountKey { return amountKey{column, asText(r.get(column))} }
		exceeded := slices.IndexFunc(columns, func(column string) bool { return amount > left[key(column)] })
		switch {
		case amount <= 0:
			r.reject("amount", "must be above zero")
		case b.parent(r, "payment_id")["deleted"] == true:
			r.reject("payment_id", "was deleted and pays nothing")
		case b.parent(r, invoiceID)["status"] == string(schema.InvoiceVoid):
			r.reject(invoiceID, "is void and cannot be paid")
		case exceeded >= 0:
			r.reject("amount", "exceeds what is left of the "+strings.TrimSuffix(columns[exceeded], "_id"))
		default:
			for _, column := range columns {
				left[key(column)] -= amount
			}
			delete(open, asText(r.id))
		}
	}
	b.withdraw(keysOf(open))
}

// amountKey identifies a payment or an invoice by the column that refers to it and its ID.
type amountKey struct{ column, id string }

// amountQueries select the amounts of payments and invoices, by the column that refers to them.
var amountQueries = map[string]string{
	"payment_id": "SELECT id, CASE WHEN deleted THEN 0 ELSE amount END FROM payments WHERE practice_id = $1",
	invoiceID: `SELECT i.id, CASE WHEN i.status = 'void' THEN 0
		ELSE (SELECT coalesce(sum(t.total_price), 0) FROM invoice_items AS t WHERE t.practice_id = i.practice_id AND t.invoice_id = i.id)
		END FROM invoices AS i WHERE practice_id = $1`,
}

// fromValidExplanations selects explanations, except those of deleted payments and void invoices.
const fromValidExplanations = ` FROM payment_explanations AS x JOIN payments AS p ON p.id = x.payment_id JOIN invoices AS i ON i.id = x.invoice_id
	WHERE x.practice_id = $1 AND NOT p.deleted AND i.status <> 'void'`

// amountsLeft returns the unexplained amounts of the payments and invoices that columns of the
// records refer to. It does not count the explanations with the ignored IDs.
func (b *batch) amountsLeft(ignored map[string]bool, columns ...string) map[amountKey]int64 {
	left := map[amountKey]int64{}
	for _, column := range columns {
		var ids []any
		for _, parent := range b.parents[column] {
			if parent["id"] != nil {
				ids = append(ids, parent["id"])
			}
		}
		b.queryIn(amountQueries[column], "id", ids, func(v []any) { left[amountKey{column, asText(v[0])}] += b.integer(v[1]) })
		b.queryIn("SELECT x."+column+", x.amount, x.id"+fromValidExplanations, "x."+column, ids, func(v []any) {
			if !ignored[asText(v[2])] {
				left[amountKey{column, asText(v[0])}] -= b.integer(v[1])
			}
		})
	}
	return left
}

// reduceOverpaid reduces the explanations of invoices to the invoices' amounts, those of the
// latest payments first, and reports whether there were any. Invoices become overpaid if files
// lower them without their payments.
func (im *importer) reduceOverpaid() (reduced bool, err error) {
	cause := slices.IndexFunc(im.plans, func(p *plan) bool { return p.entity.Name == "invoices" || p.entity.Name == "invoice_items" })
	if cause < 0 {
		return false, nil
	}
	next := im.checkpoint.clone()
	err = im.inTx(nil, func(b *batch) {
		var lowered updates
		var withdrawn []any
		var findings []finding
		left := map[string]int64{} // by invoice
		b.query(`SELECT x.id, x.payment_id, x.invoice_id, x.amount, i.amount
			FROM invoices AS i JOIN payment_explanations AS x ON x.practice_id = i.practice_id AND x.invoice_id = i.id JOIN payments AS p ON p.id = x.payment_id
			WHERE i.practice_id = $1 AND i.amount_outstanding < 0 AND i.status <> 'void' AND NOT p.deleted ORDER BY i.id, p.id, x.id`, []any{im.practice.id}, func(v []any) {
			id, invoice, paid := asText(v[0]), asText(v[2]), b.integer(v[3])
			if _, known := left[invoice]; !known {
				left[invoice] = max(b.integer(v[4]), 0)
				findings = append(findings, finding{
					file: im.plans[cause].name, kind: warning, field: "amount",
					message: "invoice " + invoice + " is less than what was paid on it; the difference is unexplained",
				})
			}
			switch rest := left[invoice]; {
			case paid <= rest:
				left[invoice] -= paid
			case rest > 0 && id == b.madeID(explanationTable, v[1]):
				left[invoice] = 0
				lowered.add(row{"id": id, "amount": rest}, "amount")
			default: // nothing is left, or it is from a file, whose row would now be rejected
				withdrawn = append(withdrawn, id)
			}
		})
		if reduced = len(findings) > 0; reduced {
			b.withdraw(withdrawn)
			b.apply(entityOf(explanationTable), lowered, "amount")
			b.writeFindings(&next, findings)
			b.saveCheckpoint(next)
		}
	})
	if err == nil {
		im.checkpoint = next
	}
	return reduced, err
}
