package api_test

import (
	"maps"
	"reflect"
	"testing"
	"time"

	"chairside/ent"
	"chairside/internal/test/harness"
	"chairside/ogent"
)

func TestEditAppointmentChangesOnlyWhatIsSent(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		client, somebody, elsewhere := e.Client(t, token), number(first(t, e, token, "patients", "")), hire(t, e)
		for _, method := range []string{"PUT", "PATCH"} {
			for name, c := range map[string]struct{ sent, changed row }{
				"nothing":             {row{}, row{}},
				"notes":               {row{"notes": method}, row{"notes": method}},
				"notes cleared":       {row{"notes": null}, row{"notes": nil}},
				"metadata replaced":   {row{"metadata": row{"c": "3"}}, row{"metadata": row{"c": "3"}}},
				"metadata cleared":    {row{"metadata": null}, row{"metadata": row{}}},
				"reason":              {row{"reason": "Review"}, row{"reason": "Review"}},
				"finish and duration": {row{"finish_time": at("10:15")}, row{"finish_time": shownAt("10:15"), "duration": 75}},
				"both times":          {row{"start_time": at("11:00"), "finish_time": at("11:20")}, row{"start_time": shownAt("11:00"), "finish_time": shownAt("11:20"), "duration": 20}},
				"practitioner":        {row{"practitioner_id": elsewhere, "force_changes": true}, row{"practitioner_id": elsewhere}},
				"patient cleared":     {row{"patient_id": null}, row{"patient_id": nil, "patient_name": nil, "patient_image_url": nil, "payment_plan_id": nil}},
				"read-only fields":    {row{"duration": 5, "created_at": "2001-01-01T00:00:00Z", "booked_via_api": false, "cancelled_at": at("09:00"), "room_id": "x"}, row{}},
				"only force_changes":  {row{"force_changes": true}, row{}},
			} {
				path := appointmentPath(book(t, client, hire(t, e), "09:00", "09:30", ofPatient(somebody), notes("before"), func(in *ogent.AppointmentInput) {
					in.Metadata.SetTo(ogent.AppointmentInputMetadata{"a": "1", "b": "2"})
				}))
				e.Clock.Advance(time.Minute)
				old := e.Get(t, path, token).Status(t, 200)
				res := e.Do(t, harness.Request{Method: method, Path: path, Token: token, Body: edit("appointment", c.sent)}).Status(t, 200)
				want := maps.Clone(old.At(t, "appointment").(row))
				for field, v := range c.changed {
					want[field] = v
					if n, isNumber := v.(int); isNumber {
						want[field] = jsonNumber(n)
					} else if n, isID := v.(int64); isID {
						want[field] = jsonNumber(int(n))
					}
				}
				if !reflect.DeepEqual(want, old.At(t, "appointment")) {
					want["updated_at"] = shown(e.Clock.Now())
				}
				if got := res.At(t, "appointment"); !reflect.DeepEqual(got, want) {
					t.Errorf("%s of %s: got %v, want %v", method, name, got, want)
				}
				if read := e.Get(t, path, token); string(read.Raw) != string(res.Raw) {
					t.Errorf("%s of %s: answered %s, read %s", method, name, res.Raw, read.Raw)
				}
			}
		}
	})
}

func shownAt(clock string) string { return monday + "T" + clock + ":00.000+01:00" }

func TestEditAppointmentRefuses(t *testing.T) {
	cases := map[string]struct {
		sent   row
		params []string
	}{
		"required fields that are null":  {row{"practitioner_id": null, "start_time": null, "finish_time": null, "reason": null}, []string{"practitioner_id", "start_time", "finish_time", "reason"}},
		"a state that is null":           {row{"state": null, "notes": "x"}, []string{"state"}},
		"required fields that are blank": {row{"reason": " ", "start_time": ""}, []string{"start_time", "reason"}},
		"start after the old finish":     {row{"start_time": at("09:30")}, []string{"finish_time"}},
		"finish before the old start":    {row{"finish_time": at("08:59")}, []string{"finish_time"}},
		"more than 24 hours":             {row{"start_time": "2026-07-05T09:00:00+01:00"}, []string{"finish_time"}},
		"unknown references":             {row{"practitioner_id": 999999, "patient_id": 999999}, []string{"practitioner_id", "patient_id"}},
		"ids of nothing":                 {row{"practitioner_id": 0, "patient_id": 0}, []string{"practitioner_id", "patient_id"}},
		"all errors together":            {row{"start_time": "x", "finish_time": 5, "state": "Lost", "reason": "Whim", "notes": []int{}, "metadata": 5, "force_changes": 2}, []string{"start_time", "finish_time", "state", "reason", "notes", "metadata", "force_changes"}},
	}
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "appointment")
		path := appointmentPath(book(t, e.Client(t, token), hire(t, e), "09:00", "09:30", state("Confirmed")))
		old := e.Get(t, path, token)
		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				e.Patch(t, path, token, edit("appointment", c.sent)).Error(t, 422, "validation_failed", c.params...)
			})
		}
		e.Patch(t, path, token, `{"patient":{}}`).Error(t, 422, "validation_failed", "appointment")
		if now := e.Get(t, path, token); string(now.Raw) != string(old.Raw) {
			t.Errorf("it changed from %s to %s", old.Raw, now.Raw)
		}
	})
}

// TestTheRecordIsLookedForBeforeItsFields: a missing record is 404 whatever
// the body, except that the body must be JSON.
func TestTheRecordIsLookedForBeforeItsFields(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		for path, key := range map[string]string{"/v1/appointments/999999": "appointment", "/v1/patients/999999": "patient", "/v1/fees/019f3a52-7d1c-7b6e-8c55-0a1b2c3d4e5f": "fee"} {
			e.Patch(t, path, token, edit(key, row{"state": "Lost", "price_one": "x", "gender": "x"})).Error(t, 404, "not_found")
			e.Patch(t, path, token, `{}`).Error(t, 404, "not_found")
			e.Patch(t, path, token, `{`).Error(t, 400, "malformed_json")
			if key != "fee" {
				e.Delete(t, path, token).Error(t, 404, "not_found")
			}
		}
	})
}

// TestStatesStampTheirTimes walks through the states of spec.md in an order
// with returns.
func TestStatesStampTheirTimes(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		c := e.Client(t, e.Token(t, "appointment"))
		id := book(t, c, hire(t, e), "09:00", "09:30").ID
		want := map[string]time.Time{"Pending": e.Clock.Now()}
		for _, step := range []struct {
			state   string
			entered bool   // or it was in the state already
			clears  string // the state whose time is cleared
		}{
			{"Pending", false, ""}, {"Confirmed", true, ""}, {"Confirmed", false, ""}, {"Arrived", true, ""}, {"In surgery", true, ""},
			{"Completed", true, ""}, {"Confirmed", true, ""}, {"Cancelled", true, ""}, {"Cancelled", false, ""},
			{"Did not attend", true, "Cancelled"}, {"Did not attend", false, ""}, {"Cancelled", true, "Did not attend"},
			{"Pending", true, "Cancelled"}, {"Did not attend", true, ""}, {"Arrived", true, "Did not attend"},
		} {
			e.Clock.Advance(90*time.Second + 7*time.Millisecond)
			if step.entered {
				want[step.state] = e.Clock.Now()
			}
			delete(want, step.clears)
			a := reschedule(t, c, id, state(step.state))
			for entered, stamp := range stamps(a) {
				if at, is := want[entered]; is == stamp.Null || is && !stamp.Value.Equal(at) {
					t.Errorf("after %s: %s since %+v, want %v", step.state, entered, stamp, at)
				}
			}
			if a.State != step.state {
				t.Errorf("state is %s, want %s", a.State, step.state)
			}
			if !step.entered && a.UpdatedAt.Equal(e.Clock.Now()) {
				t.Errorf("the same state, %s, is a change", step.state)
			}
		}
	})
}

// TestLeavingCancelledShowsTheAppointmentAgain in lists.
func TestLeavingCancelledShowsTheAppointmentAgain(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		c, who := e.Client(t, e.Token(t, "appointment")), hire(t, e)
		id := book(t, c, who, "09:00", "09:30").ID
		for _, step := range []struct {
			state string
			shown int // rows without cancelled=true
		}{{"Cancelled", 0}, {"Confirmed", 1}, {"Did not attend", 0}, {"Pending", 1}} {
			reschedule(t, c, id, state(step.state))
			byState := func(p *ogent.ListAppointmentsParams) { p.State.SetTo(step.state) }
			shown, with := len(appointments(t, c, who).Appointments), len(appointments(t, c, who, withCancelled).Appointments)
			if shown != step.shown || with != 1 {
				t.Errorf("%s: %d and with cancelled %d rows", step.state, shown, with)
			}
			if got := len(appointments(t, c, who, byState).Appointments); got != step.shown {
				t.Errorf("state=%s lifts the rule: %d rows", step.state, got)
			}
			if got := len(appointments(t, c, who, byState, withCancelled).Appointments); got != 1 {
				t.Errorf("state=%s with cancelled: %d rows", step.state, got)
			}
		}
	})
}

// TestADidNotAttendDateHides also where the state has gone on, as imported
// records may have it.
func TestADidNotAttendDateHides(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		c, who := e.Client(t, e.Token(t, "appointment")), hire(t, e)
		id := book(t, c, who, "09:00", "09:30").ID
		ctx := e.As(t, "demo")
		e.Tx(t, ctx, func(tx *ent.Client) error {
			return tx.Appointment.UpdateOneID(id).SetDidNotAttendAt(harness.Now).Exec(ctx)
		})
		if got := appointments(t, c, who).Meta.Total; got != 0 {
			t.Errorf("%d rows", got)
		}
		if got := appointments(t, c, who, withCancelled).Meta.Total; got != 1 {
			t.Errorf("%d rows with cancelled=true", got)
		}
	})
}

// TestWhatAnAppointmentHasMayStay: a practitioner who left, a reason that was
// deleted and an own reason hinder no change of something else.
func TestWhatAnAppointmentHasMayStay(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		c, who := e.Client(t, e.Token(t, "appointment")), hire(t, e)
		ctx := e.As(t, "demo")
		var own *ent.AppointmentReason
		e.Tx(t, ctx, func(tx *ent.Client) (err error) {
			own, err = tx.AppointmentReason.Create().SetReason("Short-lived").SetPosition(90).Save(ctx)
			return err
		})
		id := book(t, c, who, "09:00", "09:30", reason("Short-lived")).ID
		dismiss(t, e, who)
		e.Tx(t, ctx, func(tx *ent.Client) error { return tx.AppointmentReason.UpdateOne(own).SetDeleted(true).Exec(ctx) })
		reschedule(t, c, id, notes("x"), reason("Short-lived"), with(who), state("Cancelled"))
		reschedule(t, c, id, reason("Exam"))
		_, err := c.UpdateAppointment(t.Context(), of(reason("Short-lived")), ogent.UpdateAppointmentParams{ID: id})
		harness.Refused(t, err, 422, "validation_failed", "reason")
	})
}

// TestDeleteAppointmentRemovesIt: 204, then 404; its time is free; the record
// of changes keeps that it was there.
func TestDeleteAppointmentRemovesIt(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token, who := e.Token(t, "appointment"), hire(t, e)
		c := e.Client(t, token)
		a := book(t, c, who, "09:00", "09:30")
		res := e.Delete(t, appointmentPath(a), token).Status(t, 204)
		if len(res.Raw) != 0 {
			t.Errorf("got %s", res.Raw)
		}
		_, err := c.GetAppointment(t.Context(), ogent.GetAppointmentParams{ID: a.ID})
		harness.Refused(t, err, 404, "not_found")
		_, err = c.UpdateAppointment(t.Context(), of(), ogent.UpdateAppointmentParams{ID: a.ID})
		harness.Refused(t, err, 404, "not_found")
		harness.Refused(t, c.DeleteAppointment(t.Context(), ogent.DeleteAppointmentParams{ID: a.ID}), 404, "not_found")
		if got := appointments(t, c, who, withCancelled).Meta.Total; got != 0 {
			t.Errorf("the list still has %d", got)
		}
		if again := book(t, c, who, "09:00", "09:30"); again.ID == a.ID {
			t.Error("the id was given out again")
		}
		if n := systemRows(t, e, "SELECT count(*) FROM audit_events WHERE action = 'delete' AND record_id = '"+text(a.ID)+"'"); n != 1 {
			t.Errorf("%d tombstones", n)
		}
	})
}
