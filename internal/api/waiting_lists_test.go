package api_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/uuid"

	"chairside/internal/test/harness"
)

func mustUUID(s string) uuid.UUID { return uuid.MustParse(s) }

// TestWaitingLists: defaults, the weekdays in their order, active=, and DELETE, which removes
// the entry from the list but not the record.
func TestWaitingLists(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		patient := first(t, e, token, "patients", "")
		created := e.Post(t, "/v1/waiting_lists", token, edit("waiting_list", row{"patient_id": patient, "days": []string{"Friday", "Monday", "Friday"}})).Status(t, 201)
		entry := created.At(t, "waiting_list").(row)
		if fmt.Sprint(entry["days"]) != "[Monday Friday]" || entry["mornings"] != true || entry["afternoons"] != true || fmt.Sprint(entry["priority"]) != "0" || entry["removed_at"] != nil {
			t.Errorf("created %s", created.Raw)
		}
		path := "/v1/waiting_lists" + harness.ID(entry["id"])
		has := func(active string, want bool) {
			t.Helper()
			got := slices.Contains(e.Get(t, "/v1/waiting_lists?per_page=100&active="+active+"&patient_id="+fmt.Sprint(patient), token).Status(t, 200).Column(t, "waiting_lists", "id"), fmt.Sprint(entry["id"]))
			if got != want {
				t.Errorf("active=%s has the entry: %v", active, got)
			}
		}
		has("true", true)
		has("false", false)
		e.Delete(t, path, token).Status(t, 204)
		removed := e.Get(t, path, token).Status(t, 200).Text(t, "waiting_list.removed_at")
		e.Clock.Advance(60e9)
		e.Delete(t, path, token).Status(t, 204)
		if again := e.Get(t, path, token).Text(t, "waiting_list.removed_at"); again != removed {
			t.Errorf("removed at %s, then at %s", removed, again)
		}
		has("true", false)
		has("false", true)
		e.Patch(t, path, token, edit("waiting_list", row{"removed_at": nil, "days": nil})).Status(t, 200)
		has("true", true)
		if days := e.Get(t, path, token).List(t, "waiting_list.days"); len(days) != 0 {
			t.Errorf("null days are %v", days)
		}
	})
}

// TestWaitingListRefusals: hostile values, references of others, and another patient's
// appointment.
func TestWaitingListRefusals(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		client := e.Client(t, token)
		patients := e.Get(t, "/v1/patients", token).Status(t, 200).Column(t, "patients", "id")
		theirs := first(t, e, e.TokenOf(t, "admin@second.chairside.test", "", nil), "patients", "")
		dismissed := hire(t, e)
		dismiss(t, e, dismissed)
		other := book(t, client, hire(t, e), "09:00", "09:30", ofPatient(number(patients[1])))
		own := book(t, client, hire(t, e), "09:00", "09:30", ofPatient(number(patients[0])))
		for name, c := range map[string]struct {
			sent  row
			field string
		}{
			"another practice's patient":     {row{"patient_id": theirs}, "patient_id"},
			"days that are no weekdays":      {row{"days": []any{"Monday", "monday"}}, "days"},
			"days that are no strings":       {row{"days": []any{1}}, "days"},
			"days in a text":                 {row{"days": "Monday"}, "days"},
			"days in an object":              {row{"days": row{"Monday": true}}, "days"},
			"days with NUL":                  {row{"days": []any{"Monday\x00"}}, "days"},
			"an unknown reason":              {row{"appointment_reason": "Dancing"}, "appointment_reason"},
			"an end before the start":        {row{"from_date": "2026-08-02", "to_date": "2026-08-01"}, "to_date"},
			"no length":                      {row{"duration": 0}, "duration"},
			"more than a day":                {row{"duration": 1441}, "duration"},
			"too urgent":                     {row{"priority": 10}, "priority"},
			"a practitioner who left":        {row{"practitioner_id": dismissed}, "practitioner_id"},
			"another patient's appointment":  {row{"appointment_id": other.ID}, "appointment_id"},
			"an appointment that is nowhere": {row{"appointment_id": 1 << 40}, "appointment_id"},
		} {
			body := row{"patient_id": patients[0]}
			for field, v := range c.sent {
				body[field] = v
			}
			if res := e.Post(t, "/v1/waiting_lists", token, edit("waiting_list", body)); res.Code != 422 {
				t.Errorf("%s: %d %s", name, res.Code, res.Raw)
			} else {
				res.Error(t, 422, "validation_failed", c.field)
			}
		}
		e.Post(t, "/v1/waiting_lists", token, edit("waiting_list", row{})).Error(t, 422, "validation_failed", "patient_id")

		created := e.Post(t, "/v1/waiting_lists", token, edit("waiting_list", row{"patient_id": patients[0], "appointment_id": own.ID, "from_date": "2026-08-01"})).Status(t, 201)
		path := "/v1/waiting_lists" + harness.ID(created.At(t, "waiting_list.id"))
		e.Patch(t, path, token, edit("waiting_list", row{"to_date": "2026-07-31"})).Error(t, 422, "validation_failed", "to_date")
		// The patient cannot be changed, so the appointment stays the patient's.
		moved := e.Patch(t, path, token, edit("waiting_list", row{"patient_id": patients[1]})).Status(t, 200)
		if got := moved.Text(t, "waiting_list.patient_id"); got != patients[0] {
			t.Errorf("moved to patient %s", got)
		}
		e.Patch(t, path, token, edit("waiting_list", row{"appointment_id": other.ID})).Error(t, 422, "validation_failed", "appointment_id")
		// Deleting the appointment puts the patient back on the list.
		e.Clock.Advance(60e9)
		e.Delete(t, appointmentPath(own), token).Status(t, 204)
		after := e.Get(t, path, token).Status(t, 200)
		if after.At(t, "waiting_list.appointment_id") != nil || after.Text(t, "waiting_list.updated_at") == created.Text(t, "waiting_list.updated_at") {
			t.Errorf("after the appointment was deleted: %s", after.Raw)
		}
	})
}
