package importer

import (
	"slices"

	"chairside/internal/entx/table"
)

// parentColumns are the columns of referenced records that rules read, if there are such columns.
var parentColumns = []string{"patient_id", "active", "type", "options", "customizable_type", "status", "amount", "completed", "deleted"}

// readParents reads the records that the records refer to. From them it sets columns that the
// file does not have, and it rejects records whose references belong to different patients.
func (b *batch) readParents() {
	e := b.plan.entity
	b.parents = map[string]map[string]row{}
	references := b.references()
	for _, c := range references {
		b.readParent(c)
	}
	for i := range e.Columns {
		if c := &e.Columns[i]; !c.ReadOnly && b.inherit(c) && c.References != "" {
			b.readParent(c)
		}
	}
	if e.Has("account_id") && e.Has("patient_id") {
		b.setAccounts()
	}
	for _, r := range b.records {
		b.checkSamePatient(r, references)
		if c := e.Column("site_id"); c != nil && !c.Null && b.practice.site != "" {
			r.setDefault("site_id", b.practice.site)
		}
	}
}

// references returns the columns that refer to records of the practice, and the paid invoice if
// the file names it.
func (b *batch) references() (references []*table.Column) {
	e := b.plan.entity
	for i := range e.Columns {
		if c := &e.Columns[i]; c.References != "" && c.References != "practices" {
			references = append(references, c)
		}
	}
	if e.Name == "payments" && b.plan.target(invoiceID) != nil {
		references = append(references, paidInvoice)
	}
	return references
}

func (b *batch) checkSamePatient(r *record, references []*table.Column) {
	patient := r.get("patient_id")
	for _, c := range references {
		switch other := b.parent(r, c.Name)["patient_id"]; {
		case other == nil || c.References == "patients":
		case patient == nil:
			patient = other
		case patient != other:
			r.reject(c.Name, "belongs to another patient")
		}
	}
}

// inherit sets a column from the records that the records refer to, and reports whether any
// changed. An existing record inherits again if it now refers to another one, and always inherits
// the patient.
func (b *batch) inherit(c *table.Column) (inherited bool) {
	sources := b.plan.inheritedFrom(c)
	if c.Null || len(sources) == 0 {
		return false
	}
	for _, r := range b.records {
		again := r.existing != nil && b.plan.target(c.Name) == nil &&
			slices.ContainsFunc(sources, func(source *table.Column) bool { return c.References == "patients" || r.changes(source.Name) })
		for _, source := range sources {
			if v := b.parent(r, source.Name)[c.Name]; v != nil && (r.get(c.Name) == nil || again && !r.sets(c.Name)) {
				r.values[c.Name] = v
				inherited = true
			}
		}
	}
	return inherited
}

// readParent reads the records that one column refers to, and rejects records that refer to none.
func (b *batch) readParent(c *table.Column) {
	if b.parents[c.Name] == nil {
		b.parents[c.Name] = map[string]row{}
	}
	known := b.parents[c.Name]
	var ids []any
	for _, r := range b.records {
		if id := r.get(c.Name); id != nil && known[asText(id)] == nil {
			known[asText(id)] = row{} // until it is found
			ids = append(ids, id)
		}
	}
	parent := entityOf(c.References)
	b.selectIn(parent, b.columnsOfParent(parent), "id", ids, func(r row) { known[asText(r["id"])] = r })
	for _, r := range b.records {
		if id := r.get(c.Name); id != nil && known[asText(id)]["id"] == nil {
			r.reject(c.Name, "refers to a record that does not exist, or was deleted")
		}
	}
}

// columnsOfParent returns the columns of a referenced record that rules read or records inherit.
func (b *batch) columnsOfParent(parent *entity) []string {
	return slices.DeleteFunc(parent.Names(), func(name string) bool {
		refers := parent.Column(name).References
		inheritable := b.plan.entity.Has(name) && (refers != "" && refers != "practices" || name == "nomenclature")
		return name != "id" && !slices.Contains(parentColumns, name) && !inheritable
	})
}

// parent returns the record that a column refers to, or nil.
func (b *batch) parent(r *record, column string) row {
	return b.parents[column][asText(r.get(column))]
}

// setAccounts sets the account of records to their patient's, unless the file has another one.
func (b *batch) setAccounts() {
	var following []*record
	var patients []any
	for _, r := range b.records {
		if patient := r.get("patient_id"); patient != nil && !r.sets("account_id") && (r.get("account_id") == nil || r.changes("patient_id")) {
			following, patients = append(following, r), append(patients, patient)
		}
	}
	accounts := map[string]any{}
	b.queryIn("SELECT patient_id, id FROM accounts WHERE practice_id = $1", "patient_id", patients, func(v []any) { accounts[asText(v[0])] = v[1] })
	for _, r := range following {
		if account := accounts[asText(r.get("patient_id"))]; account != nil {
			r.values["account_id"] = account
		}
	}
}
