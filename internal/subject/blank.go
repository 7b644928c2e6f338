package subject

import (
	"strings"
	"time"

	"chairside/ent"
	"chairside/ent/auditevent"
	"chairside/internal/civil"
	"chairside/internal/entx/table"
	"chairside/schema"
)

// keptTables are the tables whose rows stay when their patient is erased, with the reason. All
// other rows about the patient are removed. The audit log stays as it is; of the others, columns
// that are sensitive (schema.AuditHashed) are blanked, and references to removed rows cleared.
var keptTables = map[string]string{
	auditevent.Table:       "its entries are chained by hashes, so removing one would break the evidence. They hold ids, times, names of columns and values that do not identify a person; names, texts and health data appear only as keyed hashes",
	"accounts":             "amounts",
	"invoice_items":        "amounts, without the description",
	"invoices":             "amounts, dates and numbers, without the footnote",
	"nhs_claims":           "amounts, dates and the state, without comments",
	"patients":             "the id, to which the money refers, the site, the payment plan and the day of registration",
	"payment_explanations": "amounts",
	"payments":             "amounts, dates and methods",
}

// patientKeeps are the columns of the patient that are not blanked.
var patientKeeps = map[string]bool{"id": true, "practice_id": true, "created_at": true, "site_id": true, "payment_plan_id": true}

// The name and the other texts of an erased patient.
const erasedFirst, erasedLast, erasedText = "Erased", "patient", "Erased"

// erasedValues are the values of columns that cannot be null and have no neutral default.
var erasedValues = map[string]any{
	"patients.title":             schema.Title("").Values()[0],
	"patients.first_name":        erasedFirst,
	"patients.last_name":         erasedLast,
	"patients.first_name_folded": schema.Fold(erasedFirst),
	"patients.last_name_folded":  schema.Fold(erasedLast),
	"patients.search_text":       schema.SearchText([]string{erasedFirst, erasedLast}, erasedText, "", "", "", nil),
	"patients.date_of_birth":     civil.Date{Year: 1900, Month: time.January, Day: 1},
	"patients.gender":            false,
	"patients.ethnicity":         "99", // the NHS's code for not known
	"patients.address_line_1":    erasedText,
	"patients.postcode":          erasedText,
	"patients.active":            false,
	"patients.use_email":         false,
	"patients.use_sms":           false,
	"invoice_items.name":         erasedText,
}

// removes reports whether rows of t about an erased patient are removed.
func removes(t *table.Table) bool { return condition(t) != "" && keptTables[t.Name] == "" }

// blanks reports whether a column of a kept row is blanked.
func blanks(t *table.Table, c *table.Column) bool {
	switch {
	case t.Name == auditevent.Table:
		return false
	case t.Name == "patients":
		return !patientKeeps[c.Name]
	}
	return schema.AuditValueOf(t.Type, c.Name, false) == schema.AuditHashed
}

// blank returns the value that replaces a column of an erased patient. ok is false if it has no such value.
func blank(t *table.Table, c *table.Column, now time.Time) (value any, ok bool) {
	own, named := erasedValues[t.Name+"."+c.Name]
	switch {
	case c.Name == "updated_at", c.Name == "erased_at":
		return now, true
	case named:
		return own, true
	case c.Null:
		return nil, true
	case c.Stored == table.JSON:
		return "{}", true
	}
	return c.Initial, c.Initial != nil
}

// blanked returns the blanked columns of a table.
func blanked(t *table.Table) (all []*table.Column) {
	if keptTables[t.Name] == "" {
		return nil
	}
	for i := range t.Columns {
		if blanks(t, &t.Columns[i]) {
			all = append(all, &t.Columns[i])
		}
	}
	if len(all) > 0 && t.Name != "patients" {
		all = append(all, t.Column("updated_at"))
	}
	return all
}

// cleared returns the columns of t that refer to removed rows and are set to null.
func cleared(t *table.Table) (all []*table.Column) {
	for i := range t.Columns {
		if to := find(t.Columns[i].References); to != nil && removes(to) && t.Columns[i].Null {
			all = append(all, &t.Columns[i])
		}
	}
	return all
}

// removalOrder returns the tables with removed rows, each before those that it refers to.
func removalOrder() (all []*table.Table) {
	for i := len(ent.Tables) - 1; i >= 0; i-- {
		if removes(ent.Tables[i]) {
			all = append(all, ent.Tables[i])
		}
	}
	return all
}

// one returns the name of a row of a table: "appointment", "NHS claim".
func one(t *table.Table) string {
	name := strings.TrimSuffix(table.Title(t.Name), "s")
	if strings.HasPrefix(name, "NHS") {
		return name
	}
	return strings.ToLower(name[:1]) + name[1:]
}
