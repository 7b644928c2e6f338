package importer

import (
	"slices"
	"strconv"
	"strings"

	"chairside/ent"
	"chairside/internal/codec"
	"chairside/internal/entx/table"
	"chairside/schema"
)

// entity is a table that files may have rows for.
type entity struct {
	*table.Table
	derived []string // the columns that schema.Derive sets
}

// entities are all tables, each after those that its rows point at.
var entities = func() (all []*entity) {
	for _, t := range ent.Tables {
		all = append(all, &entity{t, schema.Derived(t.Names())})
	}
	return all
}()

// entityOf returns the entity of a table, nil for none.
func entityOf(table string) *entity {
	i := slices.IndexFunc(entities, func(e *entity) bool { return e.Name == table })
	if i < 0 {
		return nil
	}
	return entities[i]
}

// ourOwn are the tables that another system cannot have rows for.
var ourOwn = map[string]string{
	"practices":           "make the practice first: chairside practice create",
	"access_tokens":       "tokens are made with: chairside token create",
	"applications":        "applications are registered with: chairside app create",
	"changes":             "the record of changes is written by this program alone",
	"imported_records":    "it is the memory of imports",
	"sessions":            "nobody signs in by import",
	"authorization_codes": "nobody signs in by import",
	"sign_in_attempts":    "nobody signs in by import",
	"import_runs":         "it is the memory of imports",
}

// Fields of a file that are not columns of its entity.
const (
	legacyID       = "legacy_id"
	openingBalance = "opening_balance" // of a patient: stored on the account
	claimed        = "claimed_"        // before the name of a total
	claimedBalance = "claimed_balance" // of a patient: the account's current_balance
	paysInvoice    = "invoice_id"      // of a payment: the invoice it pays
	metadataKey    = "metadata."       // before a key
	fullName       = "full_name"       // what a reference may be found by: first and last name
)

// totals are columns that follow from other rows. What a file says of them is never stored, but
// compared with what they come to.
var totals = func() map[string][]string {
	all := map[string][]string{"invoices": {"paid", "paid_on", "status"}, "invoice_items": {"total_price"}}
	for _, t := range schema.Totals {
		all[t.Table] = append(all[t.Table], t.Column)
	}
	return all
}()

// isTotal reports whether a column follows from other rows.
func (e *entity) isTotal(column string) bool { return slices.Contains(totals[e.Name], column) }

// fields are the fields that a file of the entity may give.
func (e *entity) fields() []string {
	list := []string{legacyID}
	for i := range e.Columns {
		if c := &e.Columns[i]; !c.ReadOnly && c.Name != legacyID {
			list = append(list, c.Name)
		}
	}
	switch e.Name {
	case "patients":
		list = append(list, openingBalance, claimedBalance)
	case "payments":
		list = append(list, paysInvoice)
	}
	return list
}

// field is how a field is read: as the API reads it, or would.
func (e *entity) field(name string) codec.Field {
	c := e.Column(name)
	if c == nil { // openingBalance, claimedBalance
		return codec.Field{Name: name, Kind: codec.Decimal, Nullable: true}
	}
	f := c.Field
	switch f.Required = f.Required && name != "created_at" && !e.supplies(name); e.Name + "." + name {
	case "payments.amount": // nothing was paid: not what an empty cell means
		f.Required = true
	case "appointments.duration": // of nothing else does the end follow
		f.Min = new(int64(1))
	}
	return f
}

// needs reports whether every new row needs a value for the column from its file.
func (e *entity) needs(c *table.Column) bool {
	return !c.Null && c.Initial == nil && c.Stored != table.JSON && !c.ReadOnly && c.Name != "created_at" && !e.isTotal(c.Name) && !e.supplies(c.Name)
}

// supplies reports whether a column follows from others where a file does not give it. A site is
// the patient's, or the practice's first.
func (e *entity) supplies(column string) bool {
	c := e.Column(column)
	return c != nil && c.References == "sites" || supplied[e.Name+"."+column]
}

var supplied = map[string]bool{
	"appointments.finish_time": true, "appointments.duration": true,
	"invoices.account_id": true, "invoices.due_on": true,
	"invoice_items.item_price": true, "invoice_items.quantity": true,
}

// inheritedFrom are the references of the entity whose records have the same column: where a file
// does not say who the patient of a treatment is, it is the patient of the plan.
func (e *entity) inheritedFrom(c *table.Column) (list []*table.Column) {
	if c.References == "" && c.Name != "nomenclature" { // the name of a treatment when it was planned
		return nil
	}
	for i := range e.Columns {
		r := &e.Columns[i]
		if r.References == "" || r.References == "practices" || r.Name == c.Name {
			continue
		}
		if theirs := entityOf(r.References).Column(c.Name); theirs != nil && theirs.Stored == c.Stored && theirs.References == c.References {
			list = append(list, r)
		}
	}
	return list
}

// commonName is the column by which people know the records of a list, "" where there is none.
func (e *entity) commonName() string {
	if e.Name == "users" || e.Name == "practitioners" {
		return "email"
	}
	for _, name := range []string{"name", "nomenclature", "reason"} {
		if e.Has(name) && !e.Has("patient_id") && !e.Has("invoice_id") {
			return name
		}
	}
	return ""
}

// findableBy reports whether references can find the entity's records by a column, or by one of
// their users'.
func (e *entity) findableBy(by string) bool {
	if by == "" || by == "id" || by == legacyID || by == fullName && e.Has("first_name") && e.Has("last_name") {
		return true
	}
	if c := e.Column(by); c != nil {
		return c.Stored == table.Text && !c.ReadOnly
	}
	return e.Has("user_id") && entityOf("users").findableBy(by)
}

// id is the id of a row from its text.
func (e *entity) id(text string) any {
	if !e.Numbered() {
		return text
	}
	n, _ := strconv.ParseInt(text, 10, 64) // 0 is the id of nothing
	return n
}

// plain is a name without what separates its words: nhs_number, NhsNumber.
func plain(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }
