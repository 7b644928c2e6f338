package importer

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"chairside/internal/entx/table"
	"chairside/schema"
)

// findReferences finds what the records refer to.
func (b *batch) findReferences() {
	for _, t := range b.plan.targets {
		if t.role != reference {
			continue
		}
		var keys []string
		wanted := map[string]bool{"": true}
		for _, r := range b.records {
			if key := r.keys[t.name]; !wanted[key] {
				wanted[key] = true
				keys = append(keys, key)
			}
		}
		found, by := b.resolve(t, keys)
		needed := t.column != nil && b.plan.needs(t.column)
		for _, r := range b.records {
			key := r.keys[t.name]
			switch ids := found[key]; {
			case key == "" && needed:
				r.refuse(t.name, cantBeBlank)
			case key == "":
				r.given[t.name] = nil
			case len(ids) == 1:
				r.given[t.name] = t.refers.id(ids[0])
			case len(ids) > 1:
				r.refuse(t.name, fmt.Sprintf("is the %s of more than one of the %s", by, t.refers.Name))
			case t.blank:
				r.given[t.name] = nil
				r.warnings = append(r.warnings, finding{field: t.name, claimed: key, message: "left empty: there is no such record"})
			default:
				r.refuse(t.name, fmt.Sprintf("is the %s of none of the %s: not in the files, or refused", by, t.refers.Name))
			}
		}
	}
}

// resolve gives the ids behind the keys of a reference, and what the keys are. Where the mapping
// does not say what they are, they are legacy ids, and where there is no such legacy id the name
// by which people know such a record.
func (b *batch) resolve(t *target, keys []string) (found map[string][]string, by string) {
	found = map[string][]string{}
	if t.by == "id" {
		for _, key := range keys {
			if _, err := t.refers.Columns[0].Stored.Parse(key); err == nil {
				found[key] = []string{key}
			}
		}
		return found, "id"
	}
	name := cmp.Or(t.by, t.refers.commonName())
	if by = t.by; t.by == "" || t.by == legacyID {
		for key, list := range b.imported(t.refers, false, keys) {
			for _, l := range list {
				found[key] = append(found[key], l.id)
			}
		}
		if by = legacyName; t.by == legacyID || name == "" {
			return found, by
		}
		by += " or " + name
	}
	var named map[string][]string
	for _, key := range keys {
		if len(found[key]) == 0 {
			if named == nil {
				named = b.byName(t.refers, name)
			}
			found[key] = named[fold(key)]
		}
	}
	return found, by
}

// legacyName is what messages call an id of the other system.
const legacyName = "legacy id"

// fold is a name for comparison: case and spaces do not matter.
func fold(s string) string { return schema.Fold(strings.Join(strings.Fields(s), " ")) }

// mostNamed is how many records can be found by a name: it is for the lists of a practice, which
// are held in memory, not for its patients.
const mostNamed = 20_000

// byName are the ids of an entity's records by a column of theirs, of their user's, or by the
// first and last name.
func (b *batch) byName(e *entity, by string) map[string][]string {
	if known := b.named[e.Name+"."+by]; known != nil {
		return known
	}
	from, owner := table.Quote(e.Name)+" AS t", "t."
	if !e.Has(by) && !(by == fullName && e.Has("first_name")) {
		from, owner = from+" JOIN users AS u ON u.id = t.user_id", "u."
	}
	name := owner + table.Quote(by)
	if by == fullName {
		name = owner + "first_name || ' ' || " + owner + "last_name"
	}
	named, n := map[string][]string{}, 0
	b.rows("SELECT "+name+", t.id FROM "+from+" WHERE t.practice_id = $1 LIMIT "+strconv.Itoa(mostNamed+1), []any{b.practice.id}, func(v []any) {
		if n++; v[0] != nil {
			key := fold(asText(v[0]))
			named[key] = append(named[key], asText(v[1]))
		}
	})
	if n > mostNamed {
		b.fail(fmt.Errorf("there are too many %s to find them by %s; refer to them by their legacy ids", e.Name, by))
	}
	b.named[e.Name+"."+by] = named
	return named
}

// parentColumns are what rules and inheritance want to know of a record that is referred to,
// where it has them.
var parentColumns = []string{"patient_id", "active", "type", "options", "customizable_type", "status", "amount", "completed", "deleted"}

// findParents reads the records that the records refer to, takes from them what the file does not
// say, and refuses records that would belong to two patients.
func (b *batch) findParents() {
	e := b.plan.entity
	b.parents = map[string]map[string]row{}
	var references []*table.Column
	for i := range e.Columns {
		if c := &e.Columns[i]; c.References != "" && c.References != "practices" {
			references = append(references, c)
		}
	}
	if e.Name == "payments" && b.plan.target(paysInvoice) != nil {
		references = append(references, paidInvoice)
	}
	for _, c := range references {
		b.readParent(c)
	}
	for i := range e.Columns {
		if c := &e.Columns[i]; !c.ReadOnly && b.inherit(c) && c.References != "" {
			b.readParent(c)
		}
	}
	if e.Has("account_id") && e.Has("patient_id") {
		b.findAccounts()
	}
	for _, r := range b.records {
		// A record whose references are of different patients is refused.
		owner := r.get("patient_id")
		for _, c := range references {
			switch theirs := b.parent(r, c.Name)["patient_id"]; {
			case theirs == nil || c.References == "patients":
			case owner == nil:
				owner = theirs
			case owner != theirs:
				r.refuse(c.Name, "belongs to another patient")
			}
		}
		if c := e.Column("site_id"); c != nil && !c.Null && b.practice.site != "" {
			r.fill("site_id", b.practice.site)
		}
	}
}

// inherit gives the records a column from those they refer to, and reports whether any got it.
// What was taken from one record is taken from another that is named now, and the patient is
// always theirs.
func (b *batch) inherit(c *table.Column) (inherited bool) {
	vias := b.plan.inheritedFrom(c)
	if c.Null || len(vias) == 0 {
		return false
	}
	for _, r := range b.records {
		moved := r.existing != nil && b.plan.target(c.Name) == nil &&
			slices.ContainsFunc(vias, func(via *table.Column) bool { return c.References == "patients" || r.changes(via.Name) })
		for _, via := range vias {
			if v := b.parent(r, via.Name)[c.Name]; v != nil && (r.get(c.Name) == nil || moved && !r.has(c.Name)) {
				r.given[c.Name] = v
				inherited = true
			}
		}
	}
	return inherited
}

// readParent reads the records that one column refers to.
func (b *batch) readParent(c *table.Column) {
	parent := entityOf(c.References)
	wanted := slices.DeleteFunc(parent.Names(), func(name string) bool {
		p := parent.Column(name)
		return name != "id" && !slices.Contains(parentColumns, name) &&
			(!b.plan.entity.Has(name) || (p.References == "" || p.References == "practices") && name != "nomenclature")
	})
	if b.parents[c.Name] == nil {
		b.parents[c.Name] = map[string]row{}
	}
	known := b.parents[c.Name]
	var ids []any
	for _, r := range b.records {
		if id := r.get(c.Name); id != nil && known[asText(id)] == nil {
			known[asText(id)] = row{}
			ids = append(ids, id)
		}
	}
	b.selected(parent, wanted, "id", ids, func(r row) { known[asText(r["id"])] = r })
	for _, r := range b.records {
		if id := r.get(c.Name); id != nil && known[asText(id)]["id"] == nil {
			r.refuse(c.Name, "refers to a record that does not exist, or was deleted")
		}
	}
}

// parent is the record that a column refers to, nil for none.
func (b *batch) parent(r *record, column string) row {
	return b.parents[column][asText(r.get(column))]
}

// findAccounts charges records to the accounts of their patients, where the file does not say
// which account it is.
func (b *batch) findAccounts() {
	var following []*record
	for _, r := range b.records {
		if !r.has("account_id") && r.get("patient_id") != nil && (r.get("account_id") == nil || r.changes("patient_id")) {
			following = append(following, r)
		}
	}
	patients := make([]any, len(following))
	for i, r := range following {
		patients[i] = r.get("patient_id")
	}
	accounts := map[string]any{}
	b.query("SELECT patient_id, id FROM accounts WHERE practice_id = $1", "patient_id", patients, func(v []any) { accounts[asText(v[0])] = v[1] })
	for _, r := range following {
		if account := accounts[asText(r.get("patient_id"))]; account != nil {
			r.given["account_id"] = account
		}
	}
}
