package api_test

import (
	"maps"
	"reflect"
	"testing"
	"time"

	"chairside/ent"
	"chairside/internal/test/harness"
)

func TestEditAppointmentChangesOnlyWhatIsSent(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		patient, elsewhere := first(t, e, token, "patients", ""), hire(t, e)
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
				path := book(t, e, token, hire(t, e), "09:00", "09:30", row{"patient_id": patient, "notes": "before", "metadata": row{"a": "1", "b": "2"}})
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
		path := book(t, e, token, hire(t, e), "09:00", "09:30", row{"state": "Confirmed"})
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
		token := e.Token(t, "appointment")
		path := book(t, e, token, hire(t, e), "09:00", "09:30")
		stamps := map[string]any{
			"pending_at": shown(e.Clock.Now()), "confirmed_at": nil, "arrived_at": nil, "in_surgery_at": nil, "completed_at": nil, "cancelled_at": nil, "did_not_attend_at": nil,
		}
		for _, step := range []struct {
			state, set, clear string // the columns that change
		}{
			{"Pending", "", ""}, {"Confirmed", "confirmed_at", ""}, {"Confirmed", "", ""}, {"Arrived", "arrived_at", ""}, {"In surgery", "in_surgery_at", ""},
			{"Completed", "completed_at", ""}, {"Confirmed", "confirmed_at", ""}, {"Cancelled", "cancelled_at", ""}, {"Cancelled", "", ""},
			{"Did not attend", "did_not_attend_at", "cancelled_at"}, {"Did not attend", "", ""}, {"Cancelled", "cancelled_at", "did_not_attend_at"},
			{"Pending", "pending_at", "cancelled_at"}, {"Did not attend", "did_not_attend_at", ""}, {"Arrived", "arrived_at", "did_not_attend_at"},
		} {
			e.Clock.Advance(90*time.Second + 7*time.Millisecond)
			if step.set != "" {
				stamps[step.set] = shown(e.Clock.Now())
			}
			if step.clear != "" {
				stamps[step.clear] = nil
			}
			res := e.Patch(t, path, token, edit("appointment", row{"state": step.state})).Status(t, 200)
			for column, want := range stamps {
				if got := res.At(t, "appointment."+column); got != want {
					t.Errorf("after %s: %s is %v, want %v", step.state, column, got, want)
				}
			}
			if got := res.Text(t, "appointment.state"); got != step.state {
				t.Errorf("state is %s, want %s", got, step.state)
			}
			if step.set == "" && res.Text(t, "appointment.updated_at") == shown(e.Clock.Now()) {
				t.Errorf("the same state, %s, is a change", step.state)
			}
		}
	})
}

// TestLeavingCancelledShowsTheAppointmentAgain in lists.
func TestLeavingCancelledShowsTheAppointmentAgain(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token, practitioner := e.Token(t, "appointment"), hire(t, e)
		path := book(t, e, token, practitioner, "09:00", "09:30")
		list := "/v1/appointments?practitioner_id=" + text(practitioner)
		for _, step := range []struct {
			state       string
			shown, with int // rows without and with cancelled=true
		}{{"Cancelled", 0, 1}, {"Confirmed", 1, 1}, {"Did not attend", 0, 1}, {"Pending", 1, 1}} {
			e.Patch(t, path, token, edit("appointment", row{"state": step.state})).Status(t, 200)
			shown, with := len(e.Get(t, list, token).List(t, "appointments")), len(e.Get(t, list+"&cancelled=true", token).List(t, "appointments"))
			if shown != step.shown || with != step.with {
				t.Errorf("%s: %d and with cancelled %d rows", step.state, shown, with)
			}
			byState := "&state=" + map[string]string{"Did not attend": "Did+not+attend"}[step.state]
			if byState == "&state=" {
				byState += step.state
			}
			if got := len(e.Get(t, list+byState, token).Status(t, 200).List(t, "appointments")); got != step.shown {
				t.Errorf("state=%s lifts the rule: %d rows", step.state, got)
			}
			if got := len(e.Get(t, list+byState+"&cancelled=true", token).List(t, "appointments")); got != 1 {
				t.Errorf("state=%s with cancelled: %d rows", step.state, got)
			}
		}
	})
}

// TestADidNotAttendDateHides also where the state has gone on, as imported
// records may have it.
func TestADidNotAttendDateHides(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token, practitioner := e.Token(t, "appointment"), hire(t, e)
		id := e.Post(t, "/v1/appointments", token, booking(practitioner, "09:00", "09:30")).Status(t, 201).At(t, "appointment.id")
		ctx := e.As(t, "demo")
		e.Tx(t, ctx, func(tx *ent.Client) error {
			return tx.Appointment.UpdateOneID(number(id)).SetDidNotAttendAt(harness.Now).Exec(ctx)
		})
		list := "/v1/appointments?practitioner_id=" + text(practitioner)
		if got := e.Get(t, list, token).Text(t, "meta.total"); got != "0" {
			t.Errorf("%s rows", got)
		}
		if got := e.Get(t, list+"&cancelled=true", token).Text(t, "meta.total"); got != "1" {
			t.Errorf("%s rows with cancelled=true", got)
		}
	})
}

// TestWhatAnAppointmentHasMayStay: a practitioner who left, a reason that was
// deleted and an own reason hinder no change of something else.
func TestWhatAnAppointmentHasMayStay(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token, practitioner := e.Token(t, "appointment"), hire(t, e)
		ctx := e.As(t, "demo")
		var reason *ent.AppointmentReason
		e.Tx(t, ctx, func(tx *ent.Client) (err error) {
			reason, err = tx.AppointmentReason.Create().SetReason("Short-lived").SetPosition(90).Save(ctx)
			return err
		})
		path := book(t, e, token, practitioner, "09:00", "09:30", row{"reason": "Short-lived"})
		dismiss(t, e, practitioner)
		e.Tx(t, ctx, func(tx *ent.Client) error { return tx.AppointmentReason.UpdateOne(reason).SetDeleted(true).Exec(ctx) })
		e.Patch(t, path, token, edit("appointment", row{"notes": "x", "reason": "Short-lived", "practitioner_id": practitioner, "state": "Cancelled"})).Status(t, 200)
		e.Patch(t, path, token, edit("appointment", row{"reason": "Exam"})).Status(t, 200)
		e.Patch(t, path, token, edit("appointment", row{"reason": "Short-lived"})).Error(t, 422, "validation_failed", "reason")
	})
}

// TestDeleteAppointmentRemovesIt: 204, then 404; its time is free; the record
// of changes keeps that it was there.
func TestDeleteAppointmentRemovesIt(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token, practitioner := e.Token(t, "appointment"), hire(t, e)
		path := book(t, e, token, practitioner, "09:00", "09:30")
		res := e.Delete(t, path, token).Status(t, 204)
		if len(res.Raw) != 0 {
			t.Errorf("got %s", res.Raw)
		}
		e.Get(t, path, token).Error(t, 404, "not_found")
		e.Patch(t, path, token, edit("appointment", row{})).Error(t, 404, "not_found")
		e.Delete(t, path, token).Error(t, 404, "not_found")
		if got := e.Get(t, "/v1/appointments?cancelled=true&practitioner_id="+text(practitioner), token).Text(t, "meta.total"); got != "0" {
			t.Errorf("the list still has %s", got)
		}
		again := book(t, e, token, practitioner, "09:00", "09:30")
		if again == path {
			t.Error("the id was given out again")
		}
		if n := systemRows(t, e, "SELECT count(*) FROM changes WHERE action = 'delete' AND record_id = '"+path[len("/v1/appointments/"):]+"'"); n != 1 {
			t.Errorf("%d tombstones", n)
		}
	})
}
