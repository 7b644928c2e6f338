package transfer

import (
	"fmt"
	"slices"
)

// parentColumns are what rules and inheritance want to know of a record that is
// referred to, where it has them.
var parentColumns = []string{"patient_id", "active", "type", "options", "customizable_type", "status", "amount", "completed", "deleted"}

// findParents reads the records that the records refer to, takes from them what
// the file does not say, and refuses records that would belong to two patients.
func (b *batch) findParents() error {
	e := b.plan.entity
	b.parents = map[string]map[string]map[string]any{}
	if err := b.readParents(); err != nil {
		return err
	}
	for i := range e.columns {
		c := &e.columns[i]
		if c.refers == "practices" || !e.settable(c) {
			continue
		}
		inherited, vias := false, b.plan.inheritedFrom(c)
		for _, r := range b.records {
			// What was taken from one record is taken from another that is named now,
			// and the patient is always theirs.
			changed := func(via *column) bool { return c.refers == "patients" || r.get(via.name) != r.existing[via.name] }
			moved := r.existing != nil && b.plan.target(c.name) == nil && slices.ContainsFunc(vias, changed)
			for _, via := range vias {
				if v := b.parent(r, via.name)[c.name]; v != nil && !c.nullable && (r.get(c.name) == nil || moved && !r.has(c.name)) {
					r.given[c.name] = v
					inherited = true
				}
			}
		}
		if inherited && c.refers != "" {
			if err := b.readParent(c); err != nil {
				return err
			}
		}
	}
	if e.has("account_id") && e.has("patient_id") {
		if err := b.findAccounts(); err != nil {
			return err
		}
	}
	for _, r := range b.records {
		b.checkPatients(r)
		if c := e.column("site_id"); c != nil && !c.nullable && b.practice.site != "" {
			r.fill("site_id", b.practice.site)
		}
	}
	return nil
}

func (b *batch) readParents() error {
	for i := range b.plan.entity.columns {
		if c := &b.plan.entity.columns[i]; c.refers != "" && c.refers != "practices" {
			if err := b.readParent(c); err != nil {
				return err
			}
		}
	}
	if t := b.plan.target(paysInvoice); b.plan.entity.table == "payments" && t != nil {
		return b.readParent(paidInvoice)
	}
	return nil
}

// readParent reads the records that one column refers to.
func (b *batch) readParent(c *column) error {
	parent, err := byTable(c.refers)
	if err != nil {
		return err
	}
	wanted := []string{"id"}
	for _, p := range parent.columns {
		if slices.Contains(parentColumns, p.name) || p.name != "id" && b.plan.entity.has(p.name) && (p.refers != "" && p.refers != "practices" || p.name == "nomenclature") && !slices.Contains(wanted, p.name) {
			wanted = append(wanted, p.name)
		}
	}
	if b.parents[c.name] == nil {
		b.parents[c.name] = map[string]map[string]any{}
	}
	known := b.parents[c.name]
	var ids []any
	for _, r := range b.records {
		if id := r.get(c.name); id != nil && known[asText(id)] == nil {
			known[asText(id)] = map[string]any{}
			ids = append(ids, id)
		}
	}
	var failed error
	err = b.query("SELECT "+quoteAll(wanted)+" FROM "+quote(parent.table)+" WHERE practice_id = $1", []any{b.practice.id}, "id", ids, func(values []any) {
		row := map[string]any{}
		for i, name := range wanted {
			v, err := parent.column(name).kind.stored(values[i])
			if err != nil {
				failed = fmt.Errorf("transfer: %s.%s: %w", parent.table, name, err)
			}
			row[name] = v
		}
		known[asText(row["id"])] = row
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return err
	}
	for _, r := range b.records {
		if id := r.get(c.name); id != nil && known[asText(id)]["id"] == nil {
			r.refuse(c.name, "refers to a record that does not exist, or was deleted")
		}
	}
	return nil
}

// parent is the record that a column refers to, nil for none.
func (b *batch) parent(r *record, column string) map[string]any {
	return b.parents[column][asText(r.get(column))]
}

// findAccounts charges records to the accounts of their patients, where the file
// does not say which account it is.
func (b *batch) findAccounts() error {
	follows := func(r *record) bool {
		return !r.has("account_id") && (r.get("account_id") == nil || r.get("patient_id") != r.existing["patient_id"])
	}
	var patients []any
	for _, r := range b.records {
		if p := r.get("patient_id"); p != nil && follows(r) {
			patients = append(patients, p)
		}
	}
	accounts := map[string]any{}
	err := b.query("SELECT patient_id, id FROM accounts WHERE practice_id = $1", []any{b.practice.id}, "patient_id", patients, func(values []any) {
		accounts[asText(values[0])] = values[1]
	})
	for _, r := range b.records {
		if p := r.get("patient_id"); p != nil && accounts[asText(p)] != nil && follows(r) {
			r.given["account_id"] = accounts[asText(p)]
		}
	}
	return err
}

// checkPatients refuses a record whose references are of different patients.
func (b *batch) checkPatients(r *record) {
	owner := r.get("patient_id")
	for i := range b.plan.entity.columns {
		c := &b.plan.entity.columns[i]
		if c.refers == "" || c.refers == "patients" || c.refers == "practices" {
			continue
		}
		b.checkPatient(r, c.name, &owner)
	}
	if b.plan.entity.table == "payments" {
		b.checkPatient(r, paysInvoice, &owner)
	}
}

func (b *batch) checkPatient(r *record, column string, owner *any) {
	theirs := b.parent(r, column)["patient_id"]
	switch {
	case theirs == nil:
	case *owner == nil:
		*owner = theirs
	case *owner != theirs:
		r.refuse(column, "belongs to another patient")
	}
}
