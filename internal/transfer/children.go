package transfer

import (
	"cmp"
)

// openAccounts opens the accounts of new patients, and changes the opening
// balances of known ones where the file says so.
func (b *batch) openAccounts(fresh, known []*record) error {
	accounts, err := byTable("accounts")
	if err != nil {
		return err
	}
	ids, err := b.bulk.NextIDs(b.ctx, accounts.table, len(fresh))
	if err != nil {
		return err
	}
	rows := make([]row, len(fresh))
	for i, r := range fresh {
		opening, _ := r.opening.(int64)
		rows[i] = row{
			"id": ids[i], "created_at": r.given["created_at"], "patient_id": r.id, "opening_balance": opening, "current_balance": opening,
			"planned_nhs_treatment_value": int64(0), "planned_private_treatment_value": int64(0),
		}
	}
	if err := b.insert(accounts, rows); err != nil {
		return err
	}
	wanted := map[string]int64{}
	var patients []any
	for _, r := range known {
		if opening, ok := r.opening.(int64); ok {
			wanted[asText(r.id)] = opening
			patients = append(patients, r.id)
		}
	}
	var different []row
	var changes []change
	err = b.query("SELECT id, patient_id, opening_balance FROM accounts WHERE practice_id = $1", []any{b.practice.id}, "patient_id", patients, func(values []any) {
		if opening := wanted[asText(values[1])]; opening != values[2] {
			different = append(different, row{"id": values[0], "opening_balance": opening, "updated_at": b.now})
			changes = append(changes, change{asText(values[0]), "update", b.list([]string{openingBalance})})
		}
	})
	if err != nil || len(different) == 0 {
		return err
	}
	if err := b.updateRows(accounts, []string{openingBalance, "updated_at"}, different); err != nil {
		return err
	}
	return b.recordChanges(accounts, changes)
}

// makeItems gives each invoice the one item that it consists of, where the
// other system has sent no items.
func (b *batch) makeItems() error {
	if !b.plan.makeItem {
		return nil
	}
	items, err := byTable("invoice_items")
	if err != nil {
		return err
	}
	var children []row
	for _, r := range b.records {
		if r.gone {
			continue
		}
		total, message := b.claim(r, "amount")
		if message != "" {
			continue // it is a finding
		}
		children = append(children, row{
			"id": b.uuidOf(items.table, r), "invoice_id": r.id, "name": cmp.Or(r.text("reference"), "Imported"), "quantity": int64(1),
			"item_price": total, "total_price": total, "nhs_charge": false,
		})
	}
	return b.putChildren(items, children, "item_price", "total_price")
}

// explainPayments says what of the payments pays the invoices that they name: as
// much as there is left of both. What then is left of a new payment is known
// before it is written.
func (b *batch) explainPayments() ([]row, error) {
	if b.plan.target(paysInvoice) == nil {
		return nil, nil
	}
	left, err := b.leftToExplain(paysInvoice)
	if err != nil {
		return nil, err
	}
	ids := make([]any, 0, len(b.records))
	for _, r := range b.records {
		ids = append(ids, b.uuidOf(explanationTable, r))
	}
	was := map[string]int64{}
	if !b.first.Load() {
		err = b.query("SELECT id, amount FROM payment_explanations WHERE practice_id = $1", []any{b.practice.id}, "id", ids, func(values []any) {
			was[asText(values[0])], _ = values[1].(int64)
		})
		if err != nil {
			return nil, err
		}
	}
	var explanations []row
	for i, r := range b.records {
		invoice := r.given[paysInvoice]
		if invoice == nil || r.gone || r.boolean("deleted") {
			continue
		}
		place, id := paysInvoice+asText(invoice), asText(ids[i])
		pays := min(r.integer("amount"), left[place]+was[id])
		if pays <= 0 {
			r.warnings = append(r.warnings, finding{field: paysInvoice, message: "nothing is left to pay of the invoice; the payment stays unexplained"})
			continue
		}
		left[place] -= pays - was[id]
		explanations = append(explanations, row{"id": id, "payment_id": r.id, paysInvoice: invoice, "amount": pays})
		if r.existing == nil {
			r.given["amount_unexplained"] = r.integer("amount") - pays
		}
	}
	return explanations, nil
}

const explanationTable = "payment_explanations"

func (b *batch) putExplanations(explanations []row) error {
	e, err := byTable(explanationTable)
	if err != nil {
		return err
	}
	return b.putChildren(e, explanations, "amount")
}

// putChildren writes rows whose ids follow from those of their parents: new
// ones, and of known ones the columns that may change.
func (b *batch) putChildren(e *entity, children []row, columns ...string) error {
	known := map[string][]any{}
	if !b.first.Load() {
		ids := make([]any, len(children))
		for i, c := range children {
			ids[i] = c["id"]
		}
		err := b.query("SELECT id, "+quoteAll(columns)+" FROM "+quote(e.table)+" WHERE practice_id = $1", []any{b.practice.id}, "id", ids, func(values []any) {
			known[asText(values[0])] = values[1:]
		})
		if err != nil {
			return err
		}
	}
	var fresh, different []row
	var changes []change
	for _, c := range children {
		old, ok := known[asText(c["id"])]
		if !ok {
			c["created_at"] = b.now
			fresh = append(fresh, c)
			continue
		}
		var differ []string
		for i, name := range columns {
			if old[i] != c[name] {
				differ = append(differ, name)
			}
		}
		if len(differ) > 0 {
			c["updated_at"] = b.now
			different = append(different, c)
			changes = append(changes, change{asText(c["id"]), "update", b.list(differ)})
		}
	}
	if err := b.insert(e, fresh); err != nil || len(different) == 0 {
		return err
	}
	if err := b.updateRows(e, append(columns, "updated_at"), different); err != nil {
		return err
	}
	return b.recordChanges(e, changes)
}
