package importer

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"chairside/internal/clock"
	"chairside/internal/store"
)

// Rows have the time of their batch, not of the whole import: clients that poll for changes
// during a long import would miss rows with an earlier time.
func TestRowsHaveTheTimeOfTheirBatch(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		var minutes atomic.Int64
		ticking := clock.Clock(func() time.Time { return now.Add(time.Duration(minutes.Add(1)) * time.Minute) })
		_, err := Import(ticking.With(t.Context()), db, "testdata/oldsoft", Options{Rejects: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		const first, last = "(SELECT max(updated_at) FROM users)", "(SELECT min(updated_at) FROM payments)"
		if n := queryInt(t, db, "SELECT count(*) FROM practices WHERE "+first+" < "+last); n != 1 {
			t.Error("payments, which are written after users, do not have a later time")
		}
	})
}

// A changed answer updates its patient, because the API shows it as part of the patient. Other
// patients stay the same.
func TestChangedAnswerUpdatesItsPatient(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": `source: questions
files:
  - {file: questions.csv, entity: custom_fields}
  - {file: patients.csv, entity: patients, constants: {payment_plan_id: Private, ethnicity: "99", gender: female, title: Ms, address_line_1: 1 Road, postcode: X1 1XX}}
  - {file: answers.csv, entity: custom_field_answers}
`,
			"questions.csv": "id,name,type,customizable_type,position\n1,School,text,Patient,1\n",
			"patients.csv":  "id,first_name,last_name,date_of_birth\n7,Al,Ford,1990-01-02\n8,Bo,Ford,1990-01-03\n",
			"answers.csv":   "id,patient_id,custom_field_id,value\n1,7,School,Hill\n2,8,School,Hill\n",
		})
		runImport(t, db, dir, Options{})
		rewrite(t, dir, "answers.csv", "id,patient_id,custom_field_id,value\n1,7,School,Hill\n2,8,School,Dale\n")
		later := now.Add(time.Hour)
		report, err := Import(clock.With(context.WithoutCancel(t.Context()), later), db, dir, Options{Rejects: t.TempDir()})
		if err != nil || report.Files[2].Updated != 1 {
			t.Fatalf("%+v, %v", report, err)
		}
		for id, want := range map[string]time.Time{"7": now, "8": later} {
			if n := queryInt(t, db, "SELECT count(*) FROM patients WHERE legacy_id = $1 AND updated_at = $2", id, want); n != 1 {
				t.Errorf("patient %s was not updated at %v", id, want)
			}
		}
	})
}

// Unlikely years, and times that a change of the clocks skips or repeats, are imported with a
// warning.
func TestWarningsAboutTimes(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": "source: old\ndates: [DD/MM/YYYY]\nfiles:\n" + strings.Replace(patientsByName, `, date_of_birth: "1990-01-02"`, "", 1) + `  - {file: diary.csv, entity: appointments, columns: {made: created_at}, constants: {practitioner_id: ann@bright.test, reason: Exam}}
`,
			"patients.csv": "id,first_name,last_name,date_of_birth,dentist_recall_date\n1,Al,Ford,01/01/0001,\n2,Bo,Ford,01/01/1910,31/12/9999\n",
			"diary.csv": "id,start_time,duration,made\n1,29/03/2026 01:30,30,25/10/2026\n2,25/10/2026 01:30,30,\n3,25/10/2026 02:00,30,2025-10-26T01:30:00Z\n" +
				"4,25/10/2026 00:59,30,2025-10-26 01:30:00\n5,29/03/2026 02:00,30,29/03/2026\n6,29/03/2026 00:59,30,2026-03-29T01:30:00+01:00\n7,03/06/2126 09:00,30,\n",
		})
		out := t.TempDir()
		report := runImport(t, db, dir, Options{Rejects: out})
		const want = `file,line,legacy_id,kind,field,claimed,computed,message
patients.csv,2,1,warning,date_of_birth,01/01/0001,0001-01-01,is more than 125 years ago
patients.csv,3,2,warning,dentist_recall_date,31/12/9999,9999-12-31,is more than 50 years ahead
diary.csv,2,1,warning,start_time,29/03/2026 01:30,2026-03-29T02:30:00+01:00,is in the hour that is skipped when the clocks go forward
diary.csv,3,2,warning,start_time,25/10/2026 01:30,2026-10-25T01:30:00+01:00,is in the hour that is repeated when the clocks go back
diary.csv,5,4,warning,created_at,2025-10-26 01:30:00,2025-10-26T01:30:00+01:00,is in the hour that is repeated when the clocks go back
diary.csv,8,7,warning,start_time,03/06/2126 09:00,2126-06-03T09:00:00+01:00,is more than 50 years ahead
`
		if found := readFiles(t, out)[Findings]; report.Rejected() > 0 || found != want {
			t.Errorf("%+v\n%s", report, found)
		}
	})
}
