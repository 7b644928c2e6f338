package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"chairside/internal/seed"
	"chairside/internal/test/harness"
)

// ofPractice returns the first value of a query over the rows of a practice.
func ofPractice(t *testing.T, e *harness.Env, slug, query string) (id int64) {
	t.Helper()
	query += " AND practice_id = (SELECT id FROM practices WHERE slug = '" + slug + "') ORDER BY id LIMIT 1"
	if err := e.DB.SQL.QueryRowContext(t.Context(), query).Scan(&id); err != nil {
		t.Fatal(err)
	}
	return id
}

// booked returns an appointment of the demo, and its patient.
func booked(t *testing.T, e *harness.Env) (appointment, patient int64) {
	t.Helper()
	appointment = ofPractice(t, e, "demo", "SELECT id FROM appointments WHERE patient_id IS NOT NULL AND state = 'Pending'")
	if err := e.DB.SQL.QueryRowContext(t.Context(), "SELECT patient_id FROM appointments WHERE id = $1", appointment).Scan(&patient); err != nil {
		t.Fatal(err)
	}
	return appointment, patient
}

func recallPath(t *testing.T, r *harness.Response) string {
	return "/v1/recalls/" + r.Text(t, "recall.id")
}

func TestRecallsAreStampedWhenContacted(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		_, patient := booked(t, e)
		res := e.Post(t, "/v1/recalls", token, edit("recall", row{"patient_id": patient, "recall_type": "exam", "due_on": "2026-08-01"})).Status(t, 201)
		if res.At(t, "recall.status") != "due" || res.At(t, "recall.contacted_at") != nil || res.At(t, "recall.method") != nil {
			t.Errorf("a new recall is %s", res.Raw)
		}
		path := recallPath(t, res)
		patch := func(body row) *harness.Response {
			e.Clock.Advance(time.Minute)
			return e.Patch(t, path, token, edit("recall", body))
		}
		if got := patch(row{"status": "contacted", "method": "SMS"}).Status(t, 200).At(t, "recall.contacted_at"); got != shown(e.Clock.Now()) {
			t.Errorf("contacted_at is %v, want %s", got, shown(e.Clock.Now()))
		}
		first := shown(e.Clock.Now())
		if got := patch(row{"status": "contacted"}).Status(t, 200).At(t, "recall.contacted_at"); got != first {
			t.Errorf("contacted again: %v, want %s", got, first)
		}
		patch(row{"contacted_at": nil}).Error(t, 422, "validation_failed", "contacted_at")
		if got := patch(row{"status": "due"}).Status(t, 200).At(t, "recall.contacted_at"); got != first {
			t.Errorf("due again: %v, want %s", got, first)
		}
		if got := patch(row{"status": "contacted", "contacted_at": nil}).Status(t, 200).At(t, "recall.contacted_at"); got != shown(e.Clock.Now()) {
			t.Errorf("null means now: %v", got)
		}
		patch(row{"status": "due", "contacted_at": nil}).Status(t, 200)
		const sent = "2026-06-30T10:00:00.000+01:00"
		if got := patch(row{"status": "contacted", "contacted_at": sent}).Status(t, 200).At(t, "recall.contacted_at"); got != sent {
			t.Errorf("contacted_at is %v, want %s", got, sent)
		}
		made := e.Post(t, "/v1/recalls", token, edit("recall", row{"patient_id": patient, "recall_type": "hygiene", "due_on": "2026-08-01", "status": "contacted"})).Status(t, 201)
		if got := made.At(t, "recall.contacted_at"); got != shown(e.Clock.Now()) {
			t.Errorf("created as contacted: %v", got)
		}
		e.Delete(t, path, token).Status(t, 204)
		e.Get(t, path, token).Error(t, 404, "not_found")
	})
}

func TestRecallsRefuseInvalidValues(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		_, patient := booked(t, e)
		valid := row{"patient_id": patient, "recall_type": "exam", "due_on": "2026-08-01"}
		path := recallPath(t, e.Post(t, "/v1/recalls", token, edit("recall", valid)).Status(t, 201))
		e.Post(t, "/v1/recalls", token, edit("recall", row{})).Error(t, 422, "validation_failed", "patient_id", "recall_type", "due_on")
		for field, values := range map[string][]any{
			"patient_id":      {nil, "", "x", -1, 1 << 62, ofPractice(t, e, "second", "SELECT id FROM patients WHERE 1 = 1")},
			"practitioner_id": {"x", 1 << 62, ofPractice(t, e, "second", "SELECT id FROM practitioners WHERE 1 = 1")},
			"appointment_id":  {"x", 1 << 62, ofPractice(t, e, "second", "SELECT id FROM appointments WHERE patient_id IS NOT NULL"), ofPractice(t, e, "demo", "SELECT id FROM appointments WHERE patient_id IS NULL")},
			"recall_type":     {nil, "Exam", "dental", 1, "exam\x00"},
			"due_on":          {nil, "2026-02-30", "2026-08-01T00:00:00Z", "tomorrow"},
			"method":          {"letter", "fax"},
			"status":          {"open", "", 0},
			"contacted_at":    {"yesterday", "2026-03-29T01:30:00"}, // skipped by the change of clocks
		} {
			for _, v := range values {
				if field != "patient_id" { // which cannot be changed
					e.Patch(t, path, token, edit("recall", row{field: v})).Error(t, 422, "validation_failed", field)
				}
				body := row{field: v}
				for name, other := range valid {
					if name != field {
						body[name] = other
					}
				}
				if v == nil || field != "status" || v != "" {
					e.Post(t, "/v1/recalls", token, edit("recall", body)).Error(t, 422, "validation_failed", field)
				}
			}
		}
	})
}

func TestRecallsNameAppointmentsOfTheirPatient(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		appointment, patient := booked(t, e)
		other := ofPractice(t, e, "demo", "SELECT id FROM patients WHERE id <> "+fmt.Sprint(patient))
		body := row{"patient_id": other, "recall_type": "exam", "due_on": "2026-08-01", "appointment_id": appointment}
		e.Post(t, "/v1/recalls", token, edit("recall", body)).Error(t, 422, "validation_failed", "appointment_id")
		body["patient_id"] = patient
		path := recallPath(t, e.Post(t, "/v1/recalls", token, edit("recall", body)).Status(t, 201))
		// The patient cannot be changed, so the appointment stays the patient's.
		if got := e.Patch(t, path, token, edit("recall", row{"patient_id": other, "status": "booked"})).Status(t, 200); number(got.At(t, "recall.patient_id")) != patient {
			t.Errorf("moved: %s", got.Raw)
		}
		theirs := ofPractice(t, e, "demo", "SELECT id FROM appointments WHERE patient_id = "+fmt.Sprint(other))
		e.Patch(t, path, token, edit("recall", row{"appointment_id": theirs})).Error(t, 422, "validation_failed", "appointment_id")

		e.Clock.Advance(time.Minute)
		e.Delete(t, "/v1/appointments/"+fmt.Sprint(appointment), token).Status(t, 204)
		after := e.Get(t, path, token).Status(t, 200)
		if after.At(t, "recall.appointment_id") != nil || after.At(t, "recall.updated_at") != shown(e.Clock.Now()) {
			t.Errorf("after the appointment was deleted: %s", after.Raw)
		}
	})
}

// TestSiteLimitedDeleteClearsEveryReference: an appointment at one site of a patient of another.
func TestSiteLimitedDeleteClearsEveryReference(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		w := newWorld(t, e)
		appointment, patient := booked(t, e)
		id := fmt.Sprint(appointment)
		practitioner := e.Get(t, "/v1/appointments/"+id, token).Status(t, 200).Text(t, "appointment.practitioner_id")
		path := recallPath(t, e.Post(t, "/v1/recalls", token, edit("recall", row{"patient_id": patient, "recall_type": "exam", "due_on": "2026-08-01", "appointment_id": appointment})).Status(t, 201))
		here := w.sites[practitioner]
		for _, s := range e.Get(t, "/v1/sites", token).Column(t, "sites", "id") {
			if s != here {
				e.Patch(t, "/v1/patients/"+fmt.Sprint(patient), token, edit("patient", row{"site_id": s})).Status(t, 200)
				break
			}
		}
		site := uuid.MustParse(here)
		limited := e.TokenOf(t, seed.DemoAdmin, "", &site)
		for _, q := range []*harness.Response{
			e.Get(t, path, limited), e.Patch(t, path, limited, edit("recall", row{"status": "due"})), e.Delete(t, path, limited),
		} {
			q.Error(t, 404, "not_found")
		}
		e.Post(t, "/v1/recalls", limited, edit("recall", row{"patient_id": patient, "recall_type": "exam", "due_on": "2026-08-01"})).Error(t, 422, "validation_failed", "patient_id")
		e.Delete(t, "/v1/appointments/"+id, limited).Status(t, 204)
		if after := e.Get(t, path, token).Status(t, 200); after.At(t, "recall.appointment_id") != nil {
			t.Errorf("after the appointment was deleted: %s", after.Raw)
		}
	})
}

func TestRecallsAndNotesAreOfOnePractice(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		second := e.TokenOf(t, seed.SecondAdmin, "", nil)
		for _, table := range []string{"recalls", "notes", "patient_referrals"} {
			id := ofPractice(t, e, "demo", "SELECT id FROM "+table+" WHERE 1 = 1")
			path := "/v1/" + table + "/" + fmt.Sprint(id)
			e.Get(t, path, second).Error(t, 404, "not_found")
			if one := strings.TrimSuffix(table, "s"); table != "patient_referrals" {
				e.Patch(t, path, second, edit(one, row{})).Error(t, 404, "not_found")
				e.Delete(t, path, second).Error(t, 404, "not_found")
			}
		}
	})
}
