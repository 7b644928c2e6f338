package transfer

import (
	"fmt"
	"slices"
	"strings"

	"chairside/schema"
)

const explanationTable = "payment_explanations"

// explainPayments says what of the payments pays the invoices that they name: as
// much as there is left of both. What then is left of a new payment is known
// before it is written. What known ones paid before, and do no longer, is taken
// back.
func (b *batch) explainPayments(known []*record) ([]row, error) {
	kept, open, err := b.reconsider(known)
	if err != nil {
		return nil, err
	}
	left, err := b.leftToExplain(open, paysInvoice)
	if err != nil {
		return nil, err
	}
	var explanations []row
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
			r.warnings = append(r.warnings, finding{field: paysInvoice, message: "money that is given back pays no invoice; it stays unexplained"})
		case already == 0 || rest != 0: // a file of explanations may have said so before
			r.warnings = append(r.warnings, finding{field: paysInvoice, message: "nothing is left to pay of the invoice; the payment stays unexplained"})
		}
	}
	e, err := byTable(explanationTable)
	if err != nil {
		return nil, err
	}
	return explanations, b.remove(e, keysOf(open))
}

func (b *batch) putExplanations(explanations []row) error {
	e, err := byTable(explanationTable)
	if err != nil {
		return err
	}
	return b.putChildren(e, explanations, paysInvoice, "amount")
}

// reconsider looks at what known payments paid before: how much of them is kept,
// and which explanations are open again because the file names the invoice. A
// payment that is deleted, of another patient than its invoices, or less than
// what it paid, loses all of it.
func (b *batch) reconsider(known []*record) (kept map[string]int64, open map[string]bool, err error) {
	kept, open = map[string]int64{}, map[string]bool{}
	others, strange := map[string][]any{}, map[string]bool{}
	patients := map[string]any{}
	for _, r := range known {
		patients[asText(r.id)] = r.get("patient_id")
	}
	names := b.plan.target(paysInvoice) != nil
	const query = "SELECT x.payment_id, x.id, x.amount, i.patient_id FROM payment_explanations AS x JOIN invoices AS i ON i.id = x.invoice_id WHERE x.practice_id = $1"
	err = b.query(query, []any{b.practice.id}, "x.payment_id", idsOf(known), func(values []any) {
		payment, id := asText(values[0]), asText(values[1])
		if names && id == b.childOf(explanationTable, payment) {
			open[id] = true
			return
		}
		sum, _ := values[2].(int64)
		kept[payment] += sum
		others[payment] = append(others[payment], id)
		strange[payment] = strange[payment] || values[3] != patients[payment]
	})
	if err != nil {
		return nil, nil, err
	}
	var lost []any
	for _, r := range known {
		payment := asText(r.id)
		if r.boolean("deleted") || strange[payment] || kept[payment] > r.integer("amount") {
			lost = append(lost, others[payment]...)
			delete(kept, payment)
			if len(others[payment]) > 0 && !r.boolean("deleted") {
				r.warnings = append(r.warnings, finding{field: "amount", message: "no longer covers what it paid, which is unexplained unless a file of explanations says it again"})
			}
		}
	}
	return kept, open, b.withdraw(lost)
}

// releasePayments takes back what was paid on invoices that are void now, or of
// another patient.
func (b *batch) releasePayments(known []*record) error {
	var ids, lost []any
	for _, r := range known {
		if r.text("status") == string(schema.InvoiceVoid) || r.get("patient_id") != r.existing["patient_id"] {
			ids = append(ids, r.id)
		}
	}
	paid := map[string]bool{}
	err := b.query("SELECT id, invoice_id FROM payment_explanations WHERE practice_id = $1", []any{b.practice.id}, paysInvoice, ids, func(values []any) {
		lost = append(lost, asText(values[0]))
		paid[asText(values[1])] = true
	})
	if err != nil {
		return err
	}
	for _, r := range known {
		if paid[asText(r.id)] {
			r.warnings = append(r.warnings, finding{field: "status", message: "what was paid on it is unexplained, because it is void or of another patient now"})
		}
	}
	return b.withdraw(lost)
}

// withdraw takes explanations back, whoever has said so, and forgets them: what
// is said of them later is new.
func (b *batch) withdraw(ids []any) error {
	if len(ids) == 0 {
		return nil
	}
	condition, list := b.bulk.In("record_id", 4, ids)
	forget := "DELETE FROM imported_records WHERE practice_id = $1 AND source = $2 AND resource = $3 AND " + condition
	if _, err := b.tx.ExecContext(b.ctx, forget, b.practice.id, b.source, explanationTable, list); err != nil {
		return fmt.Errorf("transfer: %w", err)
	}
	e, err := byTable(explanationTable)
	if err != nil {
		return err
	}
	return b.remove(e, ids)
}

// explanations bounds what a payment may pay by what is left of it, and of the
// invoice. Where that is not enough any more for what it paid before, it pays
// nothing.
func (b *batch) explanations() error {
	open := map[string]bool{}
	for _, r := range b.records {
		if r.existing != nil {
			open[asText(r.id)] = true
		}
	}
	places := []string{"payment_id", paysInvoice}
	left, err := b.leftToExplain(open, places...)
	if err != nil {
		return err
	}
	for _, r := range b.records {
		sum := r.integer("amount")
		if sum <= 0 {
			r.refuse("amount", "must be above zero")
			continue
		}
		short := slices.IndexFunc(places, func(column string) bool { return sum > left[column+asText(r.get(column))] })
		switch {
		case b.parent(r, "payment_id")["deleted"] == true:
			r.refuse("payment_id", "was deleted, and pays nothing")
			continue
		case b.parent(r, paysInvoice)["status"] == string(schema.InvoiceVoid):
			r.refuse(paysInvoice, "is void, and nothing is to be paid of it")
			continue
		case short >= 0:
			r.refuse("amount", "is more than what is left of the "+strings.TrimSuffix(places[short], "_id"))
			continue
		}
		for _, column := range places {
			left[column+asText(r.get(column))] -= sum
		}
		delete(open, asText(r.id))
	}
	return b.withdraw(keysOf(open))
}

// leftToExplain is what is not explained yet of the payments and invoices that
// columns of the records refer to, by column and id. Explanations that are open
// do not count, nor do those of payments that were deleted.
func (b *batch) leftToExplain(open map[string]bool, columns ...string) (map[string]int64, error) {
	left := map[string]int64{}
	for _, column := range columns {
		var ids []any
		for id := range b.parents[column] {
			ids = append(ids, b.parents[column][id]["id"])
		}
		ids = slices.DeleteFunc(ids, func(id any) bool { return id == nil })
		total := "SELECT id, CASE WHEN deleted THEN 0 ELSE amount END FROM payments"
		if column == paysInvoice {
			total = "SELECT i.id, CASE WHEN i.status = 'void' THEN 0 ELSE (SELECT coalesce(sum(t.total_price), 0) FROM invoice_items AS t WHERE t.practice_id = i.practice_id AND t.invoice_id = i.id) END FROM invoices AS i"
		}
		count := func(sign int64, values []any) {
			if n, err := asInteger(values[1]); err == nil {
				left[column+asText(values[0])] += sign * n
			}
		}
		err := b.query(total+" WHERE practice_id = $1", []any{b.practice.id}, "id", ids, func(values []any) { count(1, values) })
		if err != nil {
			return nil, err
		}
		paid := "SELECT x." + column + ", x.amount, x.id FROM payment_explanations AS x JOIN payments AS p ON p.id = x.payment_id JOIN invoices AS i ON i.id = x.invoice_id WHERE x.practice_id = $1 AND NOT p.deleted AND i.status <> 'void'"
		err = b.query(paid, []any{b.practice.id}, "x."+column, ids, func(values []any) {
			if !open[asText(values[2])] {
				count(-1, values)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return left, nil
}

func keysOf(set map[string]bool) []any {
	keys := make([]any, 0, len(set))
	for key := range set {
		keys = append(keys, key)
	}
	return keys
}
