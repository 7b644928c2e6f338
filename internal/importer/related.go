package importer

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"chairside/internal/entx/table"
	"chairside/internal/store/bulk"
)

// writeAccounts creates the accounts of new patients, and updates the opening balances of
// existing ones that the file gives.
func (b *batch) writeAccounts(created, existing []*record) {
	if b.err != nil {
		return
	}
	accounts := entityOf("accounts")
	ids, err := b.bulk.NextIDs(b.ctx, accounts.Name, len(created))
	if b.fail(err); err != nil {
		return
	}
	rows := make([]row, len(created))
	for i, r := range created {
		opening, _ := r.openingBalance.(int64)
		rows[i] = row{
			"id": ids[i], "created_at": r.values["created_at"], "patient_id": r.id, openingBalance: opening, "current_balance": opening,
			"planned_nhs_treatment_value": int64(0), "planned_private_treatment_value": int64(0),
		}
	}
	b.insert(accounts, rows)
	openings := map[string]any{} // by patient
	var patients []any
	for _, r := range existing {
		if r.openingBalance != nil {
			openings[asText(r.id)] = r.openingBalance
			patients = append(patients, r.id)
		}
	}
	var changed updates
	b.queryIn("SELECT id, patient_id, opening_balance FROM accounts WHERE practice_id = $1", "patient_id", patients, func(v []any) {
		if opening := openings[asText(v[1])]; opening != v[2] {
			changed.add(row{"id": v[0], "patient_id": v[1], openingBalance: opening}, openingBalance)
		}
	})
	b.apply(accounts, changed, openingBalance)
}

// madeID returns the ID of a row that the import makes for a row of a file. Rows of files never
// have it.
func (b *batch) madeID(table string, parent any) string {
	return b.derivedUUID(table + "\x00" + asText(parent))
}

// makeItems makes one item with the whole amount for each invoice, if no file has items and the
// invoice has none from an earlier one.
func (b *batch) makeItems(existing []*record) {
	if !b.plan.makeItems {
		return
	}
	items := entityOf("invoice_items")
	hasItems := map[string]bool{} // by invoice
	b.queryIn("SELECT invoice_id, id FROM invoice_items WHERE practice_id = $1", invoiceID, idsOf(existing), func(v []any) {
		if asText(v[1]) != b.madeID(items.Name, v[0]) {
			hasItems[asText(v[0])] = true
		}
	})
	var made []row
	for _, r := range b.records {
		amount, message := b.amountIn(r, "amount")
		if r.deleted || hasItems[asText(r.id)] || message != "" { // check reports the message
			continue
		}
		made = append(made, row{
			"id": b.madeID(items.Name, r.id), invoiceID: r.id, "name": cmp.Or(r.text("reference"), "Imported"), "quantity": int64(1),
			"item_price": amount, "total_price": amount, "nhs_charge": false,
		})
	}
	b.upsert(items, made, "name", "item_price", "total_price")
}

// removeMadeItems deletes the items that makeItems made for invoices whose real items now arrive.
func (b *batch) removeMadeItems() {
	ids := map[string]bool{}
	for _, r := range b.records {
		if !r.deleted {
			ids[b.madeID(b.plan.entity.Name, r.get(invoiceID))] = true
		}
	}
	var made []any
	b.queryIn("SELECT id FROM invoice_items WHERE practice_id = $1", "id", keysOf(ids), func(v []any) { made = append(made, asText(v[0])) })
	b.deleteRows(b.plan.entity, made)
}

// upsert inserts rows, or updates the named columns of those whose ID exists.
func (b *batch) upsert(e *entity, rows []row, columns ...string) {
	known := map[string]row{}
	if !b.firstImport.Load() {
		ids := make([]any, len(rows))
		for i, r := range rows {
			ids[i] = r["id"]
		}
		b.selectIn(e, append([]string{"id"}, columns...), "id", ids, func(r row) { known[asText(r["id"])] = r })
	}
	var created []row
	var changed updates
	for _, r := range rows {
		if old := known[asText(r["id"])]; old != nil {
			changed.add(r, slices.DeleteFunc(slices.Clone(columns), func(name string) bool { return old[name] == r[name] })...)
			continue
		}
		r["created_at"] = b.now
		created = append(created, r)
	}
	b.insert(e, created)
	b.apply(e, changed, columns...)
}

// updateItemsOfPlans passes changes of treatment plans on to their items. An item that already
// has another value than the plan had keeps it.
func (b *batch) updateItemsOfPlans(existing []*record) {
	items := entityOf("treatment_plan_items")
	columns := b.inheritedByItems(items)
	plans := map[string]*record{}
	var changedPlans []any
	for _, r := range existing {
		if slices.ContainsFunc(columns, r.changes) {
			plans[asText(r.id)] = r
			changedPlans = append(changedPlans, r.id)
		}
	}
	var changed updates
	b.selectIn(items, append([]string{"id", "treatment_plan_id"}, columns...), "treatment_plan_id", changedPlans, func(item row) {
		plan := plans[asText(item["treatment_plan_id"])]
		var differ []string
		for _, name := range columns {
			if item[name] == plan.existing[name] && plan.changes(name) {
				item[name] = plan.get(name)
				differ = append(differ, name)
			}
		}
		changed.add(item, differ...)
	})
	byNumber := func(x, y change) int { return cmp.Or(cmp.Compare(len(x.id), len(y.id)), strings.Compare(x.id, y.id)) }
	slices.SortFunc(changed.changes, byNumber)
	b.apply(items, changed, columns...)
}

// inheritedByItems returns the columns that items take from their treatment plans: the patient,
// and those that no file has for items.
func (b *batch) inheritedByItems(items *entity) (columns []string) {
	for i := range items.Columns {
		c := &items.Columns[i]
		inFile := func(p *plan) bool { return p.entity == items && p.target(c.Name) != nil }
		fromPlan := func(source *table.Column) bool { return source.References == b.plan.entity.Name }
		if !c.Null && !c.ReadOnly && slices.ContainsFunc(items.inheritedFrom(c), fromPlan) &&
			(c.References == "patients" || !slices.ContainsFunc(b.plans, inFile)) {
			columns = append(columns, c.Name)
		}
	}
	return columns
}

// keepNoteTexts stores the texts of notes that change, as the hook of package store does.
func (b *batch) keepNoteTexts(existing []*record) {
	var changed []*record
	for _, r := range existing {
		if r.changes("body") || r.changes("patient_id") {
			changed = append(changed, r)
		}
	}
	if len(changed) == 0 || b.err != nil {
		return
	}
	versions := entityOf("note_versions")
	ids, err := b.bulk.NextIDs(b.ctx, versions.Name, len(changed))
	if b.fail(err); err != nil {
		return
	}
	b.copyRows(versions.Name, []string{"id", "practice_id", "note_id", "patient_id", "body", "at"}, func(w *bulk.RowWriter) error {
		for i, r := range changed {
			if err := w.Row(ids[i], b.practice.id, r.id, r.existing["patient_id"], b.toStore(versions, "body", ids[i], r.existing["body"]), b.now); err != nil {
				return err
			}
		}
		return nil
	})
}

// touchOwnersOfAnswers sets updated_at of the patients and treatments whose answers change. The
// API shows answers as part of them, so that updated_after must find them. The audit log only
// gets the answers.
func (b *batch) touchOwnersOfAnswers() {
	owners := map[string]map[int64]bool{"patients": {}, "treatment_plan_items": {}}
	add := func(patient, item any) {
		if id, ok := item.(int64); ok {
			owners["treatment_plan_items"][id] = true
		} else if id, ok := patient.(int64); ok {
			owners["patients"][id] = true
		}
	}
	for _, r := range b.records {
		if !r.deleted && slices.ContainsFunc([]string{"custom_field_id", "patient_id", "treatment_plan_item_id", "value"}, r.changes) {
			add(r.existing["patient_id"], r.existing["treatment_plan_item_id"]) // the previous owner
			add(r.get("patient_id"), r.get("treatment_plan_item_id"))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(owners)) {
		var rows []row
		for _, id := range slices.Sorted(maps.Keys(owners[name])) {
			rows = append(rows, row{"id": id})
		}
		b.updateRows(entityOf(name), nil, rows)
	}
}
