package subject

import (
	"encoding/json"

	"chairside/ent"
	"chairside/ent/auditevent"
	"chairside/ent/patient"
)

// ConsentChange is a change of the patient's consent to marketing. The audit log is its record.
type ConsentChange struct {
	At   string // in the practice's zone, as RFC 3339
	User string // who made it; "" for the command line
	Old  *int64 // nil for a new patient
	New  int64
}

// Consent returns the changes of the consent to marketing, oldest first, as far as the audit log
// reaches.
func (f *File) Consent() (all []ConsentChange) {
	for _, s := range f.Sections {
		if s.Table.Name != auditevent.Table {
			continue
		}
		column := map[string]int{}
		for i, c := range s.Table.Columns {
			column[c.Name] = i
		}
		for _, row := range s.Rows {
			var details struct{ Old, New map[string]json.RawMessage }
			if row[column[auditevent.FieldResource]].Text != ent.TypePatient || json.Unmarshal([]byte(row[column[auditevent.FieldDetails]].Text), &details) != nil {
				continue
			}
			change := ConsentChange{At: row[column[auditevent.FieldAt]].Text, User: row[column[auditevent.FieldUserID]].Label}
			if json.Unmarshal(details.New[patient.FieldMarketing], &change.New) != nil {
				continue
			}
			if old, ok := details.Old[patient.FieldMarketing]; ok && json.Unmarshal(old, &change.Old) != nil {
				continue
			}
			all = append(all, change)
		}
	}
	return all
}
