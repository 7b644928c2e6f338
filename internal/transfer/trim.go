package transfer

import (
	"database/sql"
	"slices"

	"chairside/internal/store/bulk"
)

// trim takes back what was paid on invoices above what they come to now, of the
// last payments first, and then settles the invoices again. It is for files that
// lower invoices and do not say anew what pays them.
func (im *importer) trim(settle func() error) error {
	lowers := slices.IndexFunc(im.plans, func(p *plan) bool { return p.entity.table == "invoices" || p.entity.table == "invoice_items" })
	if lowers < 0 {
		return nil
	}
	e, err := byTable(explanationTable)
	if err != nil {
		return err
	}
	n := im.note.clone()
	err = im.inTx(func(tx *sql.Tx, bulk *bulk.Tx) error {
		b := &batch{importer: im, tx: tx, bulk: bulk, now: im.clock()}
		var lowered []row
		var changes []change
		var lost []any
		var findings [][]string
		left := map[string]int64{}
		err := b.rows(`SELECT x.id, x.payment_id, x.invoice_id, x.amount, i.amount
			FROM invoices AS i JOIN payment_explanations AS x ON x.practice_id = i.practice_id AND x.invoice_id = i.id JOIN payments AS p ON p.id = x.payment_id
			WHERE i.practice_id = $1 AND i.amount_outstanding < 0 AND i.status <> 'void' AND NOT p.deleted ORDER BY i.id, p.id, x.id`, []any{im.practice.id}, func(values []any) {
			id, invoice := asText(values[0]), asText(values[2])
			paid, _ := values[3].(int64)
			total, _ := values[4].(int64)
			if _, known := left[invoice]; !known {
				left[invoice] = max(total, 0)
				f := finding{file: im.plans[lowers].name, kind: warning, field: "amount", message: "the invoice " + invoice + " comes to less than what was paid on it; the rest of that is unexplained"}
				findings = append(findings, f.record())
			}
			switch rest := left[invoice]; {
			case paid <= rest:
				left[invoice] -= paid
			case rest > 0 && id == b.childOf(explanationTable, values[1]):
				left[invoice] = 0
				lowered = append(lowered, row{"id": id, "amount": rest, "updated_at": b.now})
				changes = append(changes, change{id, "update", b.list([]string{"amount"})})
			default: // a file said so, and its row would be refused now
				lost = append(lost, id)
			}
		})
		if err != nil || len(findings) == 0 {
			return err
		}
		if err := b.withdraw(lost); err != nil {
			return err
		}
		if len(lowered) > 0 {
			if err := b.updateRows(e, []string{"amount", "updated_at"}, lowered); err != nil {
				return err
			}
			if err := b.recordChanges(e, changes); err != nil {
				return err
			}
		}
		n.Warnings += len(findings)
		if n.Findings, err = im.findings.write(findings...); err != nil {
			return err
		}
		return im.save(tx, n)
	})
	if err != nil || n.Warnings == im.note.Warnings {
		return err
	}
	im.note = n
	return settle()
}
