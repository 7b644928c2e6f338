package api_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"chairside/ent"
	"chairside/internal/test/harness"
	"chairside/ogent"
	"chairside/schema"
)

func TestCreateAppointmentAnswersEveryField(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token, practitioner := e.Token(t, ""), hire(t, e)
		patient := e.Get(t, "/v1/patients?per_page=1", token).Status(t, 200).At(t, "patients.0").(row)
		res := e.Post(t, "/v1/appointments", token, rawBooking(practitioner, "09:30", "10:15", row{
			"patient_id": patient["id"], "notes": "Ring the bell ✓\nthen wait", "metadata": row{"crm": "42", "n": 7, "vip": true},
		})).Status(t, 201)
		got := res.At(t, "appointment").(row)
		want := row{
			"start_time": monday + "T09:30:00.000+01:00", "finish_time": monday + "T10:15:00.000+01:00", "reason": "Exam", "state": "Pending",
			"notes": "Ring the bell ✓\nthen wait", "booked_via_api": true, "patient_name": patient["first_name"].(string) + " " + patient["last_name"].(string),
			"patient_id": patient["id"], "payment_plan_id": patient["payment_plan_id"], "patient_image_url": patient["image_url"],
			"metadata": row{"crm": "42", "n": "7", "vip": "true"}, "pending_at": shown(harness.Now), "created_at": shown(harness.Now), "updated_at": shown(harness.Now),
			"user_id": e.Get(t, "/v1/user", token).At(t, "user.id"), "room_id": nil, "treatment_description": nil,
			"confirmed_at": nil, "arrived_at": nil, "in_surgery_at": nil, "completed_at": nil, "cancelled_at": nil, "did_not_attend_at": nil,
		}
		for name, want := range want {
			if !reflect.DeepEqual(got[name], want) {
				t.Errorf("%s is %#v, want %#v", name, got[name], want)
			}
		}
		if number(got["duration"]) != 45 || number(got["practitioner_id"]) != practitioner {
			t.Errorf("got %s", res.Raw)
		}
		read := e.Get(t, "/v1/appointments"+harness.ID(got["id"]), token).Status(t, 200)
		if string(read.Raw) != string(res.Raw) || read.Header.Get("ETag") != res.Header.Get("ETag") {
			t.Errorf("created %s, read %s", res.Raw, read.Raw)
		}
	})
}

func TestCreateAppointmentWithoutPatientIsABreak(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		c := e.Client(t, token)
		empty := func(a ogent.Appointment) bool {
			return a.PatientID.Null && a.PatientName.Null && a.PatientImageURL.Null && a.PaymentPlanID.Null && a.Notes.Null && string(a.Metadata) == "{}"
		}
		for _, nobody := range []set{func(*ogent.AppointmentInput) {}, func(in *ogent.AppointmentInput) { in.PatientID.SetToNull() }} {
			if a := book(t, c, hire(t, e), "12:00", "12:30", reason("Other"), nobody); !empty(a) {
				t.Errorf("got %+v", a)
			}
		}
		res := e.Post(t, "/v1/appointments", token, rawBooking(hire(t, e), "12:00", "12:30", row{"patient_id": "", "reason": "Other"})).Status(t, 201)
		if a := harness.Call(t, c.GetAppointment, ogent.GetAppointmentParams{ID: number(res.At(t, "appointment.id"))}).Appointment; !empty(a) {
			t.Errorf("of a blank patient: %+v", a)
		}
	})
}

func TestCreateAppointmentTakesTimesAndIDsInEveryForm(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		for _, start := range []string{
			"2026-07-06T09:30:00+01:00", "2026-07-06T08:30:00Z", "2026-07-06T08:30:00.000Z", "2026-07-06T04:30:00-04:00", "2026-07-06T09:30:00", "2026-07-06T09:30", "2026-07-06T08:30:00.0004Z",
		} {
			practitioner := hire(t, e)
			res := e.Post(t, "/v1/appointments", token, rawBooking(text(practitioner), "09:00", "10:00", row{"start_time": start})).Status(t, 201)
			if got := res.Text(t, "appointment.start_time"); got != "2026-07-06T09:30:00.000+01:00" || number(res.At(t, "appointment.practitioner_id")) != practitioner {
				t.Errorf("%s is answered as %s", start, got)
			}
		}
	})
}

// stamps are when an appointment entered each state.
func stamps(a ogent.Appointment) map[string]ogent.NilDateTime {
	return map[string]ogent.NilDateTime{
		"Pending": a.PendingAt, "Confirmed": a.ConfirmedAt, "Arrived": a.ArrivedAt, "In surgery": a.InSurgeryAt,
		"Completed": a.CompletedAt, "Cancelled": a.CancelledAt, "Did not attend": a.DidNotAttendAt,
	}
}

func TestCreateAppointmentInEachState(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		c := e.Client(t, token)
		for entered := range stamps(ogent.Appointment{}) {
			a := book(t, c, hire(t, e), "09:00", "09:30", state(entered))
			if a.State != entered {
				t.Errorf("%s is %s", entered, a.State)
			}
			for other, stamp := range stamps(a) {
				if stamp.Null != (other != entered) || !stamp.Null && !stamp.Value.Equal(harness.Now) {
					t.Errorf("%s: %s since %+v", entered, other, stamp)
				}
			}
		}
		res := e.Post(t, "/v1/appointments", token, rawBooking(hire(t, e), "09:00", "09:30", row{"state": null})).Status(t, 201)
		if res.Text(t, "appointment.state") != "Pending" || res.Text(t, "appointment.pending_at") == "" {
			t.Errorf("without a state: %s", res.Raw)
		}
	})
}

func TestCreateAppointmentReasons(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		own, gone := "Chat über Brücken & Kronen", "Discontinued"
		ctx := e.As(t, "demo")
		e.Tx(t, ctx, func(tx *ent.Client) error {
			if err := tx.AppointmentReason.Create().SetReason(own).SetPosition(90).Exec(ctx); err != nil {
				return err
			}
			return tx.AppointmentReason.Create().SetReason(gone).SetPosition(91).SetDeleted(true).Exec(ctx)
		})
		there := e.As(t, "second")
		e.Tx(t, there, func(tx *ent.Client) error {
			return tx.AppointmentReason.Create().SetReason("Of the second practice").SetPosition(90).Exec(there)
		})
		c := e.Client(t, token)
		for _, good := range append([]string{own}, schema.Reasons...) {
			if got := book(t, c, hire(t, e), "09:00", "09:30", reason(good)).Reason; got != good {
				t.Errorf("%q is answered as %q", good, got)
			}
		}
		for _, bad := range []string{gone, "Of the second practice", "exam", "Exam ", "Check-up at noon", "null", " "} {
			_, err := c.CreateAppointment(t.Context(), booking(hire(t, e), "09:00", "09:30", reason(bad)))
			harness.Refused(t, err, 422, "validation_failed", "reason")
		}
	})
}

// TestCreateAppointmentRefuses names exactly the offending fields, all of them.
func TestCreateAppointmentRefuses(t *testing.T) {
	long := strings.Repeat("é", 70000)
	cases := map[string]struct {
		changes row
		params  []string
	}{
		"nothing but the wrapper":        {row{"practitioner_id": nil, "start_time": nil, "finish_time": nil, "reason": nil}, []string{"practitioner_id", "start_time", "finish_time", "reason"}},
		"required fields that are null":  {row{"practitioner_id": null, "start_time": null, "finish_time": null, "reason": null}, []string{"practitioner_id", "start_time", "finish_time", "reason"}},
		"required fields that are blank": {row{"practitioner_id": "", "start_time": " ", "finish_time": "", "reason": "  "}, []string{"practitioner_id", "start_time", "finish_time", "reason"}},
		"all errors together": {row{
			"practitioner_id": 999999, "patient_id": 999999, "finish_time": at("08:00"), "reason": "Whim", "state": "Lost", "notes": true, "metadata": "x", "force_changes": "maybe",
		}, []string{"practitioner_id", "patient_id", "finish_time", "reason", "state", "notes", "metadata", "force_changes"}},
		"start that is no time":         {row{"start_time": "tomorrow"}, []string{"start_time"}},
		"start that is a date":          {row{"start_time": monday}, []string{"start_time"}},
		"start that is a number":        {row{"start_time": 1783327800}, []string{"start_time"}},
		"times that do not exist":       {row{"start_time": "2026-02-30T09:00:00Z", "finish_time": "2026-07-06T25:00:00Z"}, []string{"start_time", "finish_time"}},
		"finish before start":           {row{"finish_time": at("08:59")}, []string{"finish_time"}},
		"finish at start":               {row{"finish_time": at("09:00")}, []string{"finish_time"}},
		"more than 24 hours":            {row{"finish_time": "2026-07-07T09:01:00+01:00"}, []string{"finish_time"}},
		"practitioner that is a word":   {row{"practitioner_id": "Hetty"}, []string{"practitioner_id"}},
		"practitioner that is negative": {row{"practitioner_id": -1}, []string{"practitioner_id"}},
		"practitioner beyond 64 bits":   {row{"practitioner_id": "99999999999999999999999"}, []string{"practitioner_id"}},
		"patient that is a word":        {row{"patient_id": "Ada"}, []string{"patient_id"}},
		"patient beyond 64 bits":        {row{"patient_id": "99999999999999999999999"}, []string{"patient_id"}},
		"blank state":                   {row{"state": ""}, []string{"state"}},
		"unknown state":                 {row{"state": "Booked"}, []string{"state"}},
		"state in lower case":           {row{"state": "pending"}, []string{"state"}},
		"notes with NUL":                {row{"notes": "a\x00b"}, []string{"notes"}},
		"notes too long":                {row{"notes": long}, []string{"notes"}},
		"reason too long":               {row{"reason": long[:600]}, []string{"reason"}},
		"metadata of four keys":         {row{"metadata": row{"a": "1", "b": "2", "c": "3", "d": "4"}}, []string{"metadata"}},
		"metadata with a long key":      {row{"metadata": row{strings.Repeat("k", 41): "1"}}, []string{"metadata"}},
		"metadata with a long value":    {row{"metadata": row{"k": strings.Repeat("v", 501)}}, []string{"metadata"}},
		"metadata of objects":           {row{"metadata": row{"k": row{}}}, []string{"metadata"}},
		"metadata with NUL":             {row{"metadata": row{"k": "\x00"}}, []string{"metadata"}},
		"metadata that is a list":       {row{"metadata": []string{"k"}}, []string{"metadata"}},
	}
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token, practitioner := e.Token(t, "appointment"), hire(t, e)
		before := systemRows(t, e, "SELECT count(*) FROM appointments")
		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				e.Post(t, "/v1/appointments", token, rawBooking(practitioner, "09:00", "09:30", c.changes)).Error(t, 422, "validation_failed", c.params...)
			})
		}
		if after := systemRows(t, e, "SELECT count(*) FROM appointments"); after != before {
			t.Errorf("%d were booked nevertheless", after-before)
		}
	})
}

func TestCreateAppointmentNeedsItsWrapper(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "appointment")
		for _, body := range []string{`{}`, `{"start_time":"2026-07-06T09:30:00Z"}`, `[]`, `null`, `{"appointment":null}`, `{"appointments":{}}`} {
			res := e.Post(t, "/v1/appointments", token, body).Error(t, 422, "validation_failed", "appointment")
			if got := res.Text(t, "error.params.appointment.0"); got != "is missing" {
				t.Errorf("%s: %s", body, got)
			}
		}
	})
}

func TestCreateAppointmentIgnoresWhatItDoesNotWrite(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "appointment")
		res := e.Post(t, "/v1/appointments", token, rawBooking(hire(t, e), "09:00", "09:30", row{
			"id": 5, "duration": 500, "booked_via_api": false, "user_id": 1, "created_at": "2001-01-01T00:00:00Z", "cancelled_at": at("09:00"), "pending_at": "x",
			"practice_id": "019f3a52-7d1c-7b6e-8c55-0a1b2c3d4e5f", "patient_name": "Nobody", "unheard_of": row{},
		})).Status(t, 201)
		got := res.At(t, "appointment").(row)
		if number(got["duration"]) != 30 || got["booked_via_api"] != true || got["cancelled_at"] != nil || got["created_at"] != shown(harness.Now) || got["patient_name"] != nil || text(got["id"]) == "5" {
			t.Errorf("got %s", res.Raw)
		}
	})
}

// TestAppointmentsThatPracticesRecord are allowed: past ones, outside hours,
// of archived patients, of exactly 24 hours, of a minute.
func TestAppointmentsThatPracticesRecord(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		c := e.Client(t, e.Token(t, ""))
		archived := harness.Call(t, c.ListPatients, ogent.ListPatientsParams{Active: ogent.NewOptBool(false)}).Patients[0].ID
		for name, sets := range map[string][]set{
			"in the past":            {starts(instant("2019-07-06T09:00:00Z")), finishes(instant("2019-07-06T09:30:00Z"))},
			"at night":               {startsAt("02:00"), finishesAt("03:00")},
			"of an archived patient": {ofPatient(archived)},
			"24 hours long":          {finishes(instant("2026-07-07T09:00:00+01:00"))},
			"a minute long":          {finishesAt("09:01")},
			"over the lost hour":     {starts(instant("2027-03-28T00:30:00Z")), finishes(instant("2027-03-28T02:30:00+01:00"))},
		} {
			res, err := c.CreateAppointment(t.Context(), booking(hire(t, e), "09:00", "09:30", sets...))
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if a := res.Appointment; time.Duration(a.Duration)*time.Minute != a.FinishTime.Sub(a.StartTime) {
				t.Errorf("%s: %+v", name, a)
			}
		}
	})
}

func TestAppointmentsNeedAnActivePractitionerOfThePractice(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		c, theirs, left := e.Client(t, e.Token(t, "")), e.Client(t, elsewhere(t, e)), hire(t, e)
		dismiss(t, e, left)
		dentist := harness.Call(t, theirs.ListPractitioners, ogent.ListPractitionersParams{Active: ogent.NewOptBool(true)}).Practitioners[0].ID
		somebody := harness.Call(t, theirs.ListPatients, ogent.ListPatientsParams{}).Patients[0].ID
		for _, who := range []int64{left, dentist, 0, 999999} {
			_, err := c.CreateAppointment(t.Context(), booking(who, "09:00", "09:30"))
			harness.Refused(t, err, 422, "validation_failed", "practitioner_id")
		}
		_, err := c.CreateAppointment(t.Context(), booking(hire(t, e), "09:00", "09:30", ofPatient(somebody)))
		harness.Refused(t, err, 422, "validation_failed", "patient_id")
	})
}
