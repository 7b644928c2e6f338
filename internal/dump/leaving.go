package dump

import (
	"slices"

	"chairside/ent"
	"chairside/ent/application"
	"chairside/ent/practice"
	"chairside/internal/entx/table"
)

// leftBehind are the tables that an export of one practice leaves out, with the reason. notExported are left out, too.
var leftBehind = map[string]string{
	"access_tokens":      "another installation must not accept the same tokens: create new ones there",
	"practice_deletions": "only the operator of an installation deletes practices there",
	"applications":       "their secrets and redirect URIs belong to this installation: register them again there",
	"passkeys":           "they belong to this installation's address: users add new ones there",
	"refresh_tokens":     "another installation must not accept the same tokens",
}

// withheld are the columns that an export of one practice leaves empty, with the reason.
var withheld = map[string]string{
	"practices.closes_at":  "the other installation does not delete the practice",
	"users.password_hash":  "whoever gets the file could guess passwords: set new ones with \"chairside user reset-password\"",
	"users.totp_secret":    "whoever gets the file could make codes: users set up two-factor authentication again",
	"users.recovery_codes": "whoever gets the file could guess codes",
	"users.totp_step":      "it belongs to the authenticator secret",
	"users.known_browsers": "browsers keep the cookie of this installation",
}

// evidence are the tables of the audit log. A practice has its own chain of hashes, so its rows
// leave. The hashes cover IDs: an import loads them only where no ID changes.
var evidence = []string{"audit_blocks", "audit_cuts", "audit_events", "audit_reads"}

func isEvidence(t *table.Table) bool { return slices.Contains(evidence, t.Name) }

// Where a column without a foreign key gets its IDs from, besides the name of a table.
const (
	byResource = "*" // the table that the row's column resource names
	notAnID    = ""  // it names no row, or only its users know what it names
)

// looseReferences are the columns of leaving tables that could hold IDs and have no foreign key:
// numbers, UUIDs, texts called _id, and JSON.
var looseReferences = map[string]string{
	"contracts.nhs_location_id":               notAnID, // the NHS's
	"contracts.nhs_site_id":                   notAnID,
	"custom_fields.options":                   notAnID, // texts
	"imported_records.legacy_id":              notAnID, // in the system that the practice came from
	"imported_records.record_id":              byResource,
	"note_versions.note_id":                   "notes",
	"patients.doctor_id":                      notAnID, // no table has doctors
	"patients.family_id":                      notAnID, // patients with the same value are a family
	"patients.legacy_id":                      notAnID,
	"patients.metadata":                       notAnID, // API clients' own
	"appointments.metadata":                   notAnID,
	"patient_referrals.referrable_attributes": notAnID, // names and addresses
	"practices.opening_hours":                 notAnID,
	"sites.opening_hours":                     notAnID,
	"treatment_plan_items.teeth":              notAnID,
	"treatment_plan_items.surfaces":           notAnID,
	"users.known_browsers":                    notAnID, // withheld
	"users.recovery_codes":                    notAnID, // withheld
	"users.totp_step":                         notAnID, // withheld
	"waiting_lists.days":                      notAnID,
}

// practiceColumn returns the column with the practice that owns a row, or "" for a table of the
// installation.
func practiceColumn(t *table.Table) string {
	switch {
	case t.Name == practice.Table:
		return practice.FieldID
	case t.Name == application.Table:
		return application.FieldOwnerID
	case t.Has("practice_id"):
		return "practice_id"
	}
	return ""
}

// leaving returns the tables of an export of one practice, in the order of its files.
func leaving() []*table.Table {
	return slices.DeleteFunc(exported(), func(t *table.Table) bool { return leftBehind[t.Name] != "" })
}

// LeftOut is a table or a column that an export of one practice leaves out.
type LeftOut struct{ Name, Reason string }

// PracticeLeavesOut lists what an export of one practice leaves out of the practice's rows.
func PracticeLeavesOut() (all []LeftOut) {
	for _, t := range ent.Tables {
		if practiceColumn(t) == "" {
			continue
		}
		if reason := notExported[t.Name] + leftBehind[t.Name]; reason != "" {
			all = append(all, LeftOut{t.Name, reason})
		}
		for _, c := range t.Columns {
			if reason := withheld[t.Name+"."+c.Name]; reason != "" {
				all = append(all, LeftOut{t.Name + "." + c.Name, reason})
			}
		}
	}
	return all
}

// withhold empties the withheld columns of a row.
func withhold(t *table.Table) func(values []any) {
	empty := map[int]any{}
	for i, c := range t.Columns {
		if withheld[t.Name+"."+c.Name] != "" {
			if empty[i] = c.Initial; c.Null {
				empty[i] = nil
			}
		}
	}
	return func(values []any) {
		for i, v := range empty {
			values[i] = v
		}
	}
}
