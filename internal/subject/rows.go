package subject

import (
	"strings"

	"chairside/ent"
	"chairside/ent/auditevent"
	"chairside/internal/entx/table"
)

// notAboutPatients are the tables without rows about a patient, with the reason.
var notAboutPatients = map[string]string{
	"access_tokens":                    "of users",
	"acquisition_sources":              "of the practice",
	"applications":                     "of users",
	"analysts":                         "of the practice",
	"appointment_cancellation_reasons": "of the practice",
	"appointment_holds":                "name no patient",
	"appointment_reasons":              "of the practice",
	"audit_blocks":                     "seals of the audit log",
	"audit_cuts":                       "seals of the audit log",
	"audit_reads":                      "an index of the audit log, whose entries are in the file",
	"authorization_codes":              "of users",
	"contracts":                        "of the practice",
	"custom_fields":                    "of the practice; the answers are in the file",
	"feed_changes":                     "positions in the change feed; the audit log has more",
	"feed_state":                       "of the installation",
	"fees":                             "of the practice",
	"idempotency_keys":                 "copies of responses, deleted after a day; they do not name their patient",
	"import_runs":                      "of the installation",
	"logged_requests":                  "routes of requests without ids, deleted after a week",
	"passkeys":                         "of users",
	"passkey_challenges":               "of users",
	"payment_plans":                    "of the practice",
	"practice_deletions":               "of the installation",
	"practices":                        "of the practice",
	"practitioners":                    "of users",
	"rate_buckets":                     "of the installation",
	"refresh_tokens":                   "of users",
	"report_schedules":                 "of users",
	"rooms":                            "of the practice",
	"sessions":                         "of users",
	"sign_in_attempts":                 "of users",
	"sites":                            "of the practice",
	"sundries":                         "of the practice",
	"treatment_categories":             "of the practice",
	"treatments":                       "of the practice",
	"users":                            "of users",
	"webhook_attempts":                 "copies of records for receivers; the deliveries say which and when",
	"webhooks":                         "of the practice",
	"working_sessions":                 "of practitioners",
}

// references are those that the databases do not enforce: table.column → table.
var references = map[string]string{
	"audit_events.patient_id":       "patients",
	"audit_events.user_id":          "users",
	"webhook_deliveries.user_id":    "users",
	"webhook_deliveries.webhook_id": "webhooks",
}

// referenced returns the table that a column references, or "".
func referenced(t *table.Table, c *table.Column) string {
	if to := references[t.Name+"."+c.Name]; to != "" {
		return to
	}
	return c.References
}

// condition returns the SQL condition of the rows of t that are about the patient $2 of the
// practice $1, or "" if t has no such rows. The columns have the name of the table before them.
//
// A row with a reference to a patient is about that patient alone: an invoice is not about the
// person whose account pays it. Any other row is about the patients of the rows that it references.
func condition(t *table.Table) string {
	if notAboutPatients[t.Name] != "" {
		return ""
	}
	var parents []string
	for i := range t.Columns {
		c := &t.Columns[i]
		column := table.Quote(t.Name) + "." + table.Quote(c.Name)
		to := find(referenced(t, c))
		switch {
		case t.Name == "patients" && c.Name == "id", to != nil && to.Name == "patients":
			own := column + " = $2"
			if t.Name == auditevent.Table { // and those that read the patient's records
				return "(" + own + " OR " + table.Quote(t.Name) + ".id IN (SELECT event_id FROM audit_reads WHERE practice_id = $1 AND patient_id = $2))"
			}
			return own
		case to != nil:
			if rows := condition(to); rows != "" {
				name := table.Quote(to.Name)
				parents = append(parents, column+" IN (SELECT "+name+".id FROM "+name+" WHERE "+practiceColumn(to)+" = $1 AND "+rows+")")
			}
		}
	}
	return either(parents)
}

// isLog reports whether the rows of t name records of other tables, and no patient.
func isLog(t *table.Table) bool {
	return t.Has("resource") && t.Has("record_id") && notAboutPatients[t.Name] == "" && condition(t) == ""
}

func either(conditions []string) string {
	if len(conditions) == 0 {
		return ""
	}
	return "(" + strings.Join(conditions, " OR ") + ")"
}

// find returns a table of the schema, or nil.
func find(name string) *table.Table {
	for _, t := range ent.Tables {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// label returns an SQL expression for the name of the row that a column references, so that a
// reader sees "Anna Smith" and not only a number; or "" if it has none.
func label(t *table.Table, c *table.Column) string {
	to := find(referenced(t, c))
	if to == nil || to.Name == "practices" || notAboutPatients[to.Name] == "" {
		return ""
	}
	return name(to, table.Quote(t.Name)+"."+table.Quote(c.Name))
}

// name returns an SQL expression for the name of the row of t with an id, or "".
func name(t *table.Table, id string) string {
	row, text := table.Quote("of_"+t.Name), ""
	switch {
	case t.Has("last_name"):
		text = row + ".first_name || ' ' || " + row + ".last_name"
	case t.Has("name"):
		text = row + ".name"
	case t.Has("reason"):
		text = row + ".reason"
	case t.Has("nomenclature"):
		text = row + ".nomenclature"
	case t.Has("url"): // webhooks; File.value takes its host
		text = row + ".url"
	case t.Has("user_id"): // practitioners
		text = name(find("users"), row+".user_id")
	default:
		return ""
	}
	return "(SELECT " + text + " FROM " + table.Quote(t.Name) + " AS " + row + " WHERE " + row + ".practice_id = $1 AND " + row + ".id = " + id + ")"
}
