package importer

import (
	"strings"
	"testing"

	"chairside/internal/principal"
	"chairside/internal/store"
)

// Recalls, notes, waiting list entries and reasons of cancellations are imported, and their rules
// hold.
func TestRecallsAndNotesAreImported(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		const notes = "id,patient_id,user_id,body,kind\n"
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": `
source: old
files:
` + patientsByName + `  - {file: diary.csv, entity: appointments, constants: {practitioner_id: ann@bright.test}}
  - {file: recalls.csv, entity: recalls}
  - {file: notes.csv, entity: notes}
  - {file: waiting.csv, entity: waiting_lists}
  - {file: referrals.csv, entity: patient_referrals}
`,
			"patients.csv": "id,first_name,last_name\n1,Al,Ford\n2,Bo,Lee\n",
			"diary.csv": "id,patient_id,start_time,duration,reason,state,appointment_cancellation_reason_id\n" +
				"1,1,2026-05-01T09:00:00Z,15,Exam,Completed,\n2,1,2026-05-02T09:00:00Z,15,Exam,Cancelled,Patient unwell\n" +
				"3,1,2026-05-03T09:00:00Z,15,Exam,Completed,Patient unwell\n",
			"recalls.csv": "id,patient_id,recall_type,due_on,status,created_at,appointment_id\n" +
				"1,1,exam,2026-06-01,contacted,2026-05-20T09:00:00Z,\n2,1,exam,2026-04-01,completed,,1\n3,2,exam,2026-06-01,due,,1\n",
			"notes.csv":     notes + "1,1,ann@bright.test,Before,clinical\n2,1,ann@bright.test," + strings.Repeat("x", 10_001) + ",clinical\n",
			"waiting.csv":   "id,patient_id,days,appointment_reason,from_date,to_date\n1,1,\"Monday, Friday\",exam,,\n2,1,Someday,,,\n3,1,,Dancing,,\n4,1,,,2026-06-02,2026-06-01\n",
			"referrals.csv": "id,patient_id,referrable_type,dated_on\n1,1,Hospital,2026-05-01\n",
		})
		report := runImport(t, db, dir, Options{})
		got := map[string][2]int64{}
		for _, f := range report.Files {
			got[f.Entity] = [2]int64{int64(f.Created), int64(f.Rejected)}
		}
		for entity, want := range map[string][2]int64{
			"appointments": {2, 1}, "recalls": {2, 1}, "notes": {1, 1}, "waiting_lists": {1, 3}, "patient_referrals": {1, 0},
		} {
			if got[entity] != want {
				t.Errorf("%s: %d created and %d rejected, want %d", entity, got[entity][0], got[entity][1], want)
			}
		}
		count := func(query string, want int) {
			t.Helper()
			if got := queryInt(t, db, query); got != want {
				t.Errorf("%s: %d, want %d", query, got, want)
			}
		}
		count("SELECT count(*) FROM recalls WHERE contacted_at = created_at", 1)
		count(`SELECT count(*) FROM waiting_lists WHERE CAST(days AS text) IN ('["Monday","Friday"]', '["Monday", "Friday"]') AND appointment_reason = 'Exam'`, 1)
		count("SELECT count(*) FROM appointments AS a JOIN appointment_cancellation_reasons AS r ON r.id = a.appointment_cancellation_reason_id WHERE r.reason = 'Patient unwell'", 1)
		count("SELECT count(*) FROM note_versions", 0)
		rewrite(t, dir, "notes.csv", notes+"1,1,ann@bright.test,After,clinical\n")
		runImport(t, db, dir, Options{})
		ctx := principal.AsSystem(t.Context())
		if text, err := db.Ent.Note.Query().OnlyX(ctx).OpenBody(db.Keys); text != "After" || err != nil {
			t.Errorf("the note is %q, %v", text, err)
		}
		if text, err := db.Ent.NoteVersion.Query().OnlyX(ctx).OpenBody(db.Keys); text != "Before" || err != nil {
			t.Errorf("the note was %q, %v", text, err)
		}
	})
}
