package transfer

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"
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

// childOf is the id of the row that an import makes of its own accord for a row
// of a file. It is that of no row of a file, which has a legacy id.
func (b *batch) childOf(table string, parent any) string {
	return uuid.NewSHA1(uuid.MustParse(b.practice.id), []byte(table+"\x00"+asText(parent))).String()
}

// makeItems gives each invoice the one item that it consists of, where the
// other system has sent no items, neither now nor before.
func (b *batch) makeItems(known []*record) error {
	if !b.plan.makeItem {
		return nil
	}
	items, err := byTable("invoice_items")
	if err != nil {
		return err
	}
	sent := map[string]bool{} // by invoice: whether it has an item that is not made
	err = b.query("SELECT invoice_id, id FROM invoice_items WHERE practice_id = $1", []any{b.practice.id}, "invoice_id", idsOf(known), func(values []any) {
		if asText(values[1]) != b.childOf(items.table, values[0]) {
			sent[asText(values[0])] = true
		}
	})
	if err != nil {
		return err
	}
	var children []row
	for _, r := range b.records {
		if r.gone || sent[asText(r.id)] {
			continue
		}
		total, message := b.claim(r, "amount")
		if message != "" {
			continue // it is a finding
		}
		children = append(children, row{
			"id": b.childOf(items.table, r.id), "invoice_id": r.id, "name": cmp.Or(r.text("reference"), "Imported"), "quantity": int64(1),
			"item_price": total, "total_price": total, "nhs_charge": false,
		})
	}
	return b.putChildren(items, children, "name", "item_price", "total_price")
}

// unmakeItems takes the items back that were made for invoices whose own ones
// have come now.
func (b *batch) unmakeItems() error {
	ids := map[string]bool{}
	for _, r := range b.records {
		if !r.gone {
			ids[b.childOf(b.plan.entity.table, r.get("invoice_id"))] = true
		}
	}
	var made []any
	err := b.query("SELECT id FROM invoice_items WHERE practice_id = $1", []any{b.practice.id}, "id", keysOf(ids), func(values []any) {
		made = append(made, asText(values[0]))
	})
	if err != nil {
		return err
	}
	return b.remove(b.plan.entity, made)
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

// followPlans gives the items of treatment plans that have changed what they had
// from them: the patient, and what is the plan's where no file says it of items.
func (b *batch) followPlans(known []*record) error {
	items, err := byTable("treatment_plan_items")
	if err != nil {
		return err
	}
	columns := b.ofPlans(items)
	plans := map[string]*record{}
	var changed []any
	for _, r := range known {
		if slices.ContainsFunc(columns, func(name string) bool { return r.get(name) != r.existing[name] }) {
			plans[asText(r.id)] = r
			changed = append(changed, r.id)
		}
	}
	differ := map[int64][]string{}
	var different []row
	query := "SELECT treatment_plan_id, id, " + quoteAll(columns) + " FROM " + quote(items.table) + " WHERE practice_id = $1"
	err = b.query(query, []any{b.practice.id}, "treatment_plan_id", changed, func(values []any) {
		of, id := plans[asText(values[0])], values[1].(int64)
		item := row{"id": id, "updated_at": b.now}
		for i, name := range columns {
			item[name] = values[2+i]
			if item[name] == of.existing[name] && item[name] != of.get(name) {
				item[name] = of.get(name)
				differ[id] = append(differ[id], name)
			}
		}
		if len(differ[id]) > 0 {
			different = append(different, item)
		}
	})
	if err != nil || len(different) == 0 {
		return err
	}
	if err := b.updateRows(items, append(columns, "updated_at"), different); err != nil {
		return err
	}
	changes := make([]change, 0, len(different))
	for _, id := range slices.Sorted(maps.Keys(differ)) {
		changes = append(changes, change{asText(id), "update", b.list(differ[id])})
	}
	return b.recordChanges(items, changes)
}

// ofPlans are the columns that items have from their plans: not those that a file
// says of items, but the patient always.
func (b *batch) ofPlans(items *entity) (columns []string) {
	for i := range items.columns {
		c := &items.columns[i]
		said := func(p *plan) bool { return p.entity == items && p.target(c.name) != nil }
		if !c.nullable && items.settable(c) && slices.ContainsFunc(items.inheritedFrom(c), func(via *column) bool { return via.refers == b.plan.entity.table }) &&
			(c.refers == "patients" || !slices.ContainsFunc(b.plans, said)) {
			columns = append(columns, c.name)
		}
	}
	return columns
}

// remove takes rows back that an import has made.
func (b *batch) remove(e *entity, ids []any) error {
	if len(ids) == 0 {
		return nil
	}
	slices.SortFunc(ids, func(x, y any) int { return strings.Compare(asText(x), asText(y)) }) // as the record of changes is to have them
	condition, list := b.bulk.In("id", 2, ids)
	if _, err := b.tx.ExecContext(b.ctx, "DELETE FROM "+quote(e.table)+" WHERE practice_id = $1 AND "+condition, b.practice.id, list); err != nil {
		return fmt.Errorf("transfer: %w", err)
	}
	changes := make([]change, len(ids))
	for i, id := range ids {
		changes[i] = change{asText(id), "delete", "[]"}
	}
	return b.recordChanges(e, changes)
}

func idsOf(records []*record) []any {
	ids := make([]any, len(records))
	for i, r := range records {
		ids[i] = r.id
	}
	return ids
}
