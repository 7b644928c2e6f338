package api_test

import (
	"testing"

	"chairside/internal/test/harness"
	"chairside/ogent"
)

// TestCancellationReasons: a reason is for cancelled appointments, of the practice, and not
// archived; leaving Cancelled clears it.
func TestCancellationReasons(t *testing.T) {
	const field = "appointment_cancellation_reason_id"
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		client := e.Client(t, token)
		active := e.Get(t, "/v1/appointment_cancellation_reasons?archived=false", token).Status(t, 200).Text(t, "appointment_cancellation_reasons.0.id")
		archived := e.Get(t, "/v1/appointment_cancellation_reasons?archived=true", token).Status(t, 200).Text(t, "appointment_cancellation_reasons.0.id")
		elsewhere := e.Get(t, "/v1/appointment_cancellation_reasons", e.TokenOf(t, "admin@second.chairside.test", "", nil)).Status(t, 200).Text(t, "appointment_cancellation_reasons.0.id")
		path := appointmentPath(book(t, client, hire(t, e), "09:00", "09:30"))
		refused := func(changes row) {
			t.Helper()
			e.Patch(t, path, token, edit("appointment", changes)).Error(t, 422, "validation_failed", field)
		}
		refused(row{field: active})
		refused(row{field: active, "state": "Confirmed"})
		refused(row{field: archived, "state": "Cancelled"})
		refused(row{field: elsewhere, "state": "Cancelled"})
		refused(row{field: "0198f2a4-c1d0-7b3e-9a51-3f6f0c9d2e10", "state": "Cancelled"})
		refused(row{field: "x", "state": "Cancelled"})
		e.Patch(t, path, token, edit("appointment", row{field: active, "state": "Nowhere"})).Error(t, 422, "validation_failed", "state")

		got := e.Patch(t, path, token, edit("appointment", row{field: active, "state": "Cancelled"})).Status(t, 200)
		if got.Text(t, "appointment."+field) != active {
			t.Errorf("%s", got.Raw)
		}
		e.Patch(t, path, token, edit("appointment", row{field: nil})).Status(t, 200)
		e.Patch(t, path, token, edit("appointment", row{field: active})).Status(t, 200)
		// A client that sends back the whole record with another state.
		left := e.Patch(t, path, token, edit("appointment", row{field: active, "state": "Pending"})).Status(t, 200)
		if left.At(t, "appointment."+field) != nil || left.At(t, "appointment.cancelled_at") != nil {
			t.Errorf("after leaving Cancelled: %s", left.Raw)
		}
		created := book(t, client, hire(t, e), "09:00", "09:30", state("Cancelled"), func(in *ogent.AppointmentInput) { in.AppointmentCancellationReasonID.SetTo(mustUUID(active)) })
		if created.AppointmentCancellationReasonID.Or(mustUUID(elsewhere)) != mustUUID(active) {
			t.Errorf("created: %v", created.AppointmentCancellationReasonID)
		}
	})
}
