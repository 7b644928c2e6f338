package importer

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"chairside/internal/entx/table"
)

// edits are changes to rows of one table that are written together.
type edits struct {
	rows    []row
	changes []change
}

// edit adds a row, and the columns in which it differs, unless there are none.
func (b *batch) edit(all *edits, r row, differ ...string) {
	if len(differ) > 0 {
		all.rows = append(all.rows, r)
		all.changes = append(all.changes, change{asText(r["id"]), "update", list(differ)})
	}
}

// apply writes columns of the rows.
func (b *batch) apply(e *entity, list edits, columns ...string) {
	b.updateRows(e, columns, list.rows)
	b.recordChanges(e, list.changes)
}

// openAccounts opens the accounts of new patients, and changes the opening balances of known ones
// where the file says so.
func (b *batch) openAccounts(fresh, known []*record) {
	if b.err != nil {
		return
	}
	accounts := entityOf("accounts")
	ids, err := b.bulk.NextIDs(b.ctx, accounts.Name, len(fresh))
	if b.fail(err); err != nil {
		return
	}
	rows := make([]row, len(fresh))
	for i, r := range fresh {
		opening, _ := r.opening.(int64)
		rows[i] = row{
			"id": ids[i], "created_at": r.given["created_at"], "patient_id": r.id, openingBalance: opening, "current_balance": opening,
			"planned_nhs_treatment_value": int64(0), "planned_private_treatment_value": int64(0),
		}
	}
	b.insert(accounts, rows)
	wanted := map[string]any{}
	var patients []any
	for _, r := range known {
		if r.opening != nil {
			wanted[asText(r.id)] = r.opening
			patients = append(patients, r.id)
		}
	}
	var different edits
	b.query("SELECT id, patient_id, opening_balance FROM accounts WHERE practice_id = $1", "patient_id", patients, func(v []any) {
		if opening := wanted[asText(v[1])]; opening != v[2] {
			b.edit(&different, row{"id": v[0], openingBalance: opening}, openingBalance)
		}
	})
	b.apply(accounts, different, openingBalance)
}

// childOf is the id of the row that an import makes of its own accord for a row of a file. It is
// that of no row of a file, which has a legacy id.
func (b *batch) childOf(child string, parent any) string {
	return b.uuidOf(child + "\x00" + asText(parent))
}

// makeItems gives each invoice the one item that it consists of, where the other system has sent
// no items, neither now nor before.
func (b *batch) makeItems(known []*record) {
	if !b.plan.makeItem {
		return
	}
	items := entityOf("invoice_items")
	sent := map[string]bool{} // by invoice: whether it has an item that is not made
	b.query("SELECT invoice_id, id FROM invoice_items WHERE practice_id = $1", paysInvoice, idsOf(known), func(v []any) {
		if asText(v[1]) != b.childOf(items.Name, v[0]) {
			sent[asText(v[0])] = true
		}
	})
	var children []row
	for _, r := range b.records {
		total, message := b.claim(r, "amount")
		if r.gone || sent[asText(r.id)] || message != "" { // the message is a finding
			continue
		}
		children = append(children, row{
			"id": b.childOf(items.Name, r.id), paysInvoice: r.id, "name": cmp.Or(r.text("reference"), "Imported"), "quantity": int64(1),
			"item_price": total, "total_price": total, "nhs_charge": false,
		})
	}
	b.putChildren(items, children, "name", "item_price", "total_price")
}

// unmakeItems takes the items back that were made for invoices whose own ones have come now.
func (b *batch) unmakeItems() {
	ids := map[string]bool{}
	for _, r := range b.records {
		if !r.gone {
			ids[b.childOf(b.plan.entity.Name, r.get(paysInvoice))] = true
		}
	}
	var made []any
	b.query("SELECT id FROM invoice_items WHERE practice_id = $1", "id", keysOf(ids), func(v []any) { made = append(made, asText(v[0])) })
	b.remove(b.plan.entity, made)
}

// putChildren writes rows whose ids follow from those of their parents: new ones, and of known
// ones the columns that may change.
func (b *batch) putChildren(e *entity, children []row, columns ...string) {
	known := map[string]row{}
	if !b.first.Load() {
		ids := make([]any, len(children))
		for i, c := range children {
			ids[i] = c["id"]
		}
		b.selected(e, append([]string{"id"}, columns...), "id", ids, func(r row) { known[asText(r["id"])] = r })
	}
	var fresh []row
	var different edits
	for _, c := range children {
		if old := known[asText(c["id"])]; old != nil {
			b.edit(&different, c, slices.DeleteFunc(slices.Clone(columns), func(name string) bool { return old[name] == c[name] })...)
			continue
		}
		c["created_at"] = b.now
		fresh = append(fresh, c)
	}
	b.insert(e, fresh)
	b.apply(e, different, columns...)
}

// followPlans gives the items of treatment plans that have changed what they had from them: the
// patient, and what is the plan's where no file says it of items.
func (b *batch) followPlans(known []*record) {
	items := entityOf("treatment_plan_items")
	columns := b.ofPlans(items)
	plans := map[string]*record{}
	var changed []any
	for _, r := range known {
		if slices.ContainsFunc(columns, r.changes) {
			plans[asText(r.id)] = r
			changed = append(changed, r.id)
		}
	}
	var different edits
	b.selected(items, append([]string{"id", "treatment_plan_id"}, columns...), "treatment_plan_id", changed, func(item row) {
		of := plans[asText(item["treatment_plan_id"])]
		var differ []string
		for _, name := range columns {
			if item[name] == of.existing[name] && of.changes(name) {
				item[name] = of.get(name)
				differ = append(differ, name)
			}
		}
		b.edit(&different, item, differ...)
	})
	slices.SortFunc(different.changes, func(x, y change) int { return cmp.Or(cmp.Compare(len(x.id), len(y.id)), strings.Compare(x.id, y.id)) })
	b.apply(items, different, columns...)
}

// ofPlans are the columns that items have from their plans: not those that a file says of items,
// but the patient always.
func (b *batch) ofPlans(items *entity) (columns []string) {
	for i := range items.Columns {
		c := &items.Columns[i]
		said := func(p *plan) bool { return p.entity == items && p.target(c.Name) != nil }
		if !c.Null && !c.ReadOnly && slices.ContainsFunc(items.inheritedFrom(c), func(via *table.Column) bool { return via.References == b.plan.entity.Name }) &&
			(c.References == "patients" || !slices.ContainsFunc(b.plans, said)) {
			columns = append(columns, c.Name)
		}
	}
	return columns
}

// dateAnswered dates the patients and treatments whose answers have changed: an answer is shown
// as part of them, and updated_after must find it. The audit log has the answers alone.
func (b *batch) dateAnswered() {
	answered := map[string]map[int64]bool{"patients": {}, "treatment_plan_items": {}}
	note := func(patient, item any) {
		if id, ok := item.(int64); ok {
			answered["treatment_plan_items"][id] = true
		} else if id, ok := patient.(int64); ok {
			answered["patients"][id] = true
		}
	}
	for _, r := range b.records {
		if !r.gone && slices.ContainsFunc([]string{"custom_field_id", "patient_id", "treatment_plan_item_id", "value"}, r.changes) {
			note(r.existing["patient_id"], r.existing["treatment_plan_item_id"]) // whose it was
			note(r.get("patient_id"), r.get("treatment_plan_item_id"))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(answered)) {
		var rows []row
		for _, id := range slices.Sorted(maps.Keys(answered[name])) {
			rows = append(rows, row{"id": id})
		}
		b.updateRows(entityOf(name), nil, rows)
	}
}

// remove takes rows back that an import has made.
func (b *batch) remove(e *entity, ids []any) {
	if len(ids) == 0 {
		return
	}
	slices.SortFunc(ids, func(x, y any) int { return strings.Compare(asText(x), asText(y)) }) // the order of the audit log
	condition, list := b.bulk.In("id", 2, ids)
	b.exec("DELETE FROM "+table.Quote(e.Name)+" WHERE practice_id = $1 AND "+condition, b.practice.id, list)
	changes := make([]change, len(ids))
	for i, id := range ids {
		changes[i] = change{asText(id), "delete", "[]"}
	}
	b.recordChanges(e, changes)
}

func idsOf(records []*record) []any {
	ids := make([]any, len(records))
	for i, r := range records {
		ids[i] = r.id
	}
	return ids
}
