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

// entity is a table as the importer sees it.
type entity struct {
	*table.Table
	derived []string // columns that schema.Derive sets
}

// entities are all tables, each after those that it refers to.
var entities = func() (all []*entity) {
	for _, t := range ent.Tables {
		all = append(all, &entity{t, schema.Derived(t.Names())})
	}
	return all
}()

// entityOf returns the entity of a table, or nil.
func entityOf(table string) *entity {
	i := slices.IndexFunc(entities, func(e *entity) bool { return e.Name == table })
	if i < 0 {
		return nil
	}
	return entities[i]
}

// notImportable are the tables that files cannot have rows for, with the reason.
var notImportable = map[string]string{
	"practices":           "create the practice first: chairside practice create",
	"access_tokens":       "create tokens with: chairside token create",
	"analysts":            "create analysts with: chairside analyst create",
	"applications":        "register applications with: chairside app create",
	"audit_events":        "only this program writes the audit log",
	"audit_reads":         "only this program writes the audit log",
	"audit_blocks":        "only this program writes the audit log",
	"audit_cuts":          "only this program writes the audit log",
	"note_versions":       "only this program writes the earlier texts of notes",
	"imported_records":    "imports write it themselves",
	"sessions":            "users sign in again",
	"authorization_codes": "users sign in again",
	"passkeys":            "users add them again",
	"passkey_challenges":  "only this program writes them",
	"refresh_tokens":      "users authorise applications again",
	"practice_deletions":  "the command line writes them",
	"rate_buckets":        "only this program writes them",
	"report_schedules":    "create schedules with: chairside report schedule add",
	"sign_in_attempts":    "only this program writes them",
	"webhooks":            "create webhooks with: chairside webhook create",
	"webhook_deliveries":  "only this program writes them",
	"webhook_attempts":    "only this program writes them",
	"import_runs":         "imports write it themselves",
}

// Fields that are not columns of their entity, and other names of the mapping.
const (
	legacyID       = "legacy_id"
	invoiceID      = "invoice_id"      // of a payment: the invoice that it pays
	openingBalance = "opening_balance" // of a patient: stored in the account
	claimedBalance = "claimed_balance" // of a patient: the account's current_balance
	claimedPrefix  = "claimed_"        // before the name of a total
	metadataPrefix = "metadata."       // before a key
	fullName       = "full_name"       // finds a reference by first and last name
)

// totals are the computed columns of each table. A file's value is only compared with them.
var totals = func() map[string][]string {
	all := map[string][]string{"invoices": {"paid", "paid_on", "status"}, "invoice_items": {"total_price"}}
	for _, t := range schema.Totals {
		all[t.Table] = append(all[t.Table], t.Column)
	}
	return all
}()

// isTotal reports whether a column is computed from other rows.
func (e *entity) isTotal(column string) bool { return slices.Contains(totals[e.Name], column) }

// fields returns the fields that a file can map columns to.
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
		list = append(list, invoiceID)
	}
	return list
}

// field describes how the API reads a field, or would read it.
func (e *entity) field(name string) codec.Field {
	c := e.Column(name)
	if c == nil { // openingBalance, claimedBalance
		return codec.Field{Name: name, Kind: codec.Decimal, Nullable: true}
	}
	f := c.Field
	switch f.Required = f.Required && name != "created_at" && !e.supplies(name); e.Name + "." + name {
	case "payments.amount": // a blank cell does not mean zero
		f.Required = true
	case "appointments.duration":
		f.Min = new(int64(1))
	}
	return f
}

// requires reports whether a new row needs a value for the column that nothing else supplies.
func (e *entity) requires(c *table.Column) bool {
	return !c.Null && c.Initial == nil && c.Stored != table.JSON && !c.ReadOnly && c.Name != "created_at" && !e.isTotal(c.Name) && !e.supplies(c.Name)
}

// supplies reports whether a rule sets the column if the file does not. A site is the patient's,
// or the first of the practice.
func (e *entity) supplies(column string) bool {
	c := e.Column(column)
	return c != nil && c.References == "sites" || supplied[e.Name+"."+column]
}

// supplied are the columns that a rule sets if the file does not.
var supplied = map[string]bool{
	"appointments.finish_time": true, "appointments.duration": true,
	"invoices.account_id": true, "invoices.due_on": true,
	"invoice_items.item_price": true, "invoice_items.quantity": true,
}

// inheritedFrom returns the references of the entity whose records can supply a column because
// they have the same one: a treatment can get its patient from its plan.
func (e *entity) inheritedFrom(c *table.Column) (list []*table.Column) {
	if c.References == "" && c.Name != "nomenclature" { // a treatment keeps its name when it was planned
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

// commonName returns the column by which users know a record, or "".
func (e *entity) commonName() string {
	if e.Name == "users" || e.Name == "practitioners" {
		return "email"
	}
	for _, name := range []string{"name", "nomenclature", "reason"} {
		if e.Has(name) && !e.Has("patient_id") && !e.Has(invoiceID) {
			return name
		}
	}
	return ""
}

// findableBy reports whether a reference can find a record by a column of the record or of its
// user.
func (e *entity) findableBy(by string) bool {
	if by == "" || by == "id" || by == legacyID || by == fullName && e.Has("first_name") && e.Has("last_name") {
		return true
	}
	if c := e.Column(by); c != nil {
		return c.Stored == table.Text && !c.ReadOnly
	}
	return e.Has("user_id") && entityOf("users").findableBy(by)
}

// id converts the text of an ID to the stored form.
func (e *entity) id(text string) any {
	if !e.Numbered() {
		return text
	}
	n, _ := strconv.ParseInt(text, 10, 64) // 0, which no row has, if it is invalid
	return n
}

// joinedName returns a name for comparison: nhs_claims and NhsClaims are nhsclaims.
func joinedName(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }
