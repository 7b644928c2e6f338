package transfer

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"chairside/internal/clock"
	"chairside/internal/store"
)

// TestRowsAreDatedWhenTheyAreWritten: a large import takes longer than clients
// wait before they ask what has changed.
func TestRowsAreDatedWhenTheyAreWritten(t *testing.T) {
	each(t, func(t *testing.T, db *store.DB) {
		bright(t, db)
		var minutes atomic.Int64
		ticking := clock.Clock(func() time.Time { return day.Add(time.Duration(minutes.Add(1)) * time.Minute) })
		_, err := Import(ticking.With(t.Context()), db, "testdata/oldsoft", ImportOptions{Rejects: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		const first, last = "(SELECT max(updated_at) FROM users)", "(SELECT min(updated_at) FROM payments)"
		if n := number(t, db, "SELECT count(*) FROM practices WHERE "+first+" < "+last); n != 1 {
			t.Error("the payments, which are written after the users, are not dated after them")
		}
	})
}

// TestAnswersDateWhoGaveThem: an answer is shown as part of the patient, who has
// changed with it, and nobody else has.
func TestAnswersDateWhoGaveThem(t *testing.T) {
	each(t, func(t *testing.T, db *store.DB) {
		bright(t, db)
		dir := files(t, map[string]string{
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
		importing(t, db, dir, ImportOptions{})
		rewrite(t, dir, "answers.csv", "id,patient_id,custom_field_id,value\n1,7,School,Hill\n2,8,School,Dale\n")
		later := day.Add(time.Hour)
		report, err := Import(clock.With(context.WithoutCancel(t.Context()), later), db, dir, ImportOptions{Rejects: t.TempDir()})
		if err != nil || report.Files[2].Updated != 1 {
			t.Fatalf("%+v, %v", report, err)
		}
		for id, want := range map[string]time.Time{"7": day, "8": later} {
			if n := number(t, db, "SELECT count(*) FROM patients WHERE legacy_id = $1 AND updated_at = $2", id, want); n != 1 {
				t.Errorf("patient %s was not changed at %v", id, want)
			}
		}
	})
}
