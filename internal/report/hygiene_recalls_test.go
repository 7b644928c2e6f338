package report_test

import (
	"fmt"
	"strings"
	"testing"

	"chairside/ent"
	"chairside/ent/recall"
	"chairside/internal/civil"
	"chairside/internal/report"
	"chairside/schema"
)

func TestHygieneRecallsMatchSQL(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		// Some patients have only the date on their row.
		p.tx(t, func(tx *ent.Client) error {
			ids := tx.Recall.Query().Where(recall.RecallTypeEQ(schema.RecallHygiene), recall.StatusIn(schema.RecallDue, schema.RecallBooked)).Order(recall.ByID()).Limit(60).IDsX(p.ctx)
			for _, id := range ids {
				tx.Recall.DeleteOneID(id).ExecX(p.ctx)
			}
			return nil
		})
		for _, f := range []report.Filter{period("2025-07-01", "2026-12-31"), period("2026-06-15", "2026-07-14"), period("2026-03-29", "2026-03-29")} {
			a := p.ask(t, "hygiene-recalls", f)
			due := fmt.Sprintf(`SELECT COALESCE(r.practitioner_id, p.hygienist_id) AS who, s.name AS site, %[1]s AS due,
				CASE WHEN r.status = 'completed' OR a.state = 'Completed' THEN 1
				WHEN a.state NOT IN ('Cancelled', 'Did not attend') OR a.state IS NULL AND r.status = 'booked' THEN 2
				WHEN r.contacted_at IS NOT NULL THEN 3 ELSE 4 END AS outcome, p.active
				FROM recalls r JOIN patients p ON p.id = r.patient_id JOIN sites s ON s.id = p.site_id LEFT JOIN appointments a ON a.id = r.appointment_id
				WHERE r.practice_id = %[2]s AND r.recall_type = 'hygiene' AND r.status <> 'cancelled' AND r.due_on BETWEEN '%[3]s' AND '%[4]s'
				UNION ALL
				SELECT p.hygienist_id, s.name, %[5]s, CASE WHEN EXISTS (SELECT 1 FROM appointments a WHERE a.patient_id = p.id AND a.state NOT IN ('Cancelled', 'Did not attend') AND {day {seconds a.start_time}} >= '2026-07-01') THEN 2 ELSE 4 END, p.active
				FROM patients p JOIN sites s ON s.id = p.site_id
				WHERE p.practice_id = %[2]s AND p.active AND p.hygienist_recall_date BETWEEN '%[3]s' AND '%[4]s'
				AND (SELECT COUNT(*) FROM recalls r WHERE r.patient_id = p.id AND r.recall_type = 'hygiene' AND (r.status NOT IN ('completed', 'cancelled') OR r.due_on >= p.hygienist_recall_date)) = 0`,
				strings.Replace(day("r.due_on"), "10", "7", 1), ours, f.From, f.To, strings.Replace(day("p.hygienist_recall_date"), "10", "7", 1))
			for section, by := range map[string]string{"months": "due", "practitioners": "who", "sites": "site"} {
				want := facts(t, p, `SELECT `+by+`, COUNT(*), SUM(CASE WHEN outcome = 1 THEN 1 ELSE 0 END), SUM(CASE WHEN outcome = 2 THEN 1 ELSE 0 END),
					SUM(CASE WHEN outcome = 3 THEN 1 ELSE 0 END), SUM(CASE WHEN outcome = 4 THEN 1 ELSE 0 END),
					CAST(FLOOR((SUM(CASE WHEN outcome = 1 THEN 1 ELSE 0 END) * 20000.0 / COUNT(*) + 1) / 2) AS bigint) FROM (`+due+`) d WHERE active OR outcome = 1 GROUP BY `+by)
				key := map[string]string{"months": "month", "practitioners": "practitioner_id", "sites": "site"}[section]
				sameRows(t, f.From.String()+" "+section, cells(t, a, section, key, "due", "attended", "booked", "contacted", "not_contacted", "recall_rate"), want)
			}
		}
		a := p.ask(t, "hygiene-recalls", period("2025-07-01", "2026-12-31"))
		for _, key := range []string{"due", "attended", "not_contacted"} {
			if figure(t, a, key) == 0 {
				t.Errorf("no recall is %s: too few to test anything", key)
			}
		}
	})
}

// TestHygieneOutcomes: what became of one recall.
func TestHygieneOutcomes(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		f := period("2031-05-01", "2031-05-31")
		due := civil.MustParse("2031-05-15")
		for _, c := range []struct {
			name    string
			status  schema.RecallStatus
			state   schema.AppointmentState // of its appointment; "" for none
			reached bool
			active  bool
			want    string // of due, attended, booked, contacted, not contacted
		}{
			{"due", schema.RecallDue, "", false, true, "1|0|0|0|1"},
			{"contacted", schema.RecallContacted, "", true, true, "1|0|0|1|0"},
			{"booked", schema.RecallBooked, schema.Confirmed, true, true, "1|0|1|0|0"},
			{"booked without an appointment", schema.RecallBooked, "", true, true, "1|0|1|0|0"},
			{"booked and cancelled", schema.RecallBooked, schema.Cancelled, true, true, "1|0|0|1|0"},
			{"booked and missed, never contacted", schema.RecallBooked, schema.DidNotAttend, false, true, "1|0|0|0|1"},
			{"attended but not marked", schema.RecallBooked, schema.Completed, true, true, "1|1|0|0|0"},
			{"completed", schema.RecallCompleted, "", true, true, "1|1|0|0|0"},
			{"cancelled", schema.RecallCancelled, "", true, true, ""},
			{"of an archived patient", schema.RecallDue, "", false, false, ""},
			{"completed, of an archived patient", schema.RecallCompleted, "", false, false, "1|1|0|0|0"},
		} {
			p.tx(t, func(tx *ent.Client) error {
				for _, id := range tx.Recall.Query().Where(recall.DueOn(due)).IDsX(p.ctx) {
					tx.Recall.DeleteOneID(id).ExecX(p.ctx)
				}
				who := tx.Patient.Query().FirstIDX(p.ctx)
				tx.Patient.UpdateOneID(who).SetActive(c.active).ExecX(p.ctx)
				create := tx.Recall.Create().SetPatientID(who).SetRecallType(schema.RecallHygiene).SetDueOn(due).SetStatus(c.status)
				if c.reached {
					create.SetContactedAt(instant(t, "2026-06-30T09:00Z"))
				}
				if c.state != "" {
					at := tx.Appointment.Create().SetPatientID(who).SetPractitionerID(tx.Practitioner.Query().FirstIDX(p.ctx)).SetReason("Scale").
						SetStartTime(instant(t, "2031-05-20T09:00Z")).SetFinishTime(instant(t, "2031-05-20T09:30Z")).SetState(c.state).SaveX(p.ctx)
					create.SetAppointmentID(at.ID)
				}
				return create.Exec(p.ctx)
			})
			got := strings.Join(cells(t, p.ask(t, "hygiene-recalls", f), "months", "due", "attended", "booked", "contacted", "not_contacted"), " ")
			if got != c.want {
				t.Errorf("%s: %q, want %q", c.name, got, c.want)
			}
		}
	})
}
