package api_test

import (
	"fmt"
	"slices"
	"testing"

	"chairside/internal/test/harness"
)

// TestDoubleBookingMatrix books beside an appointment from 10:00 to 11:00.
func TestDoubleBookingMatrix(t *testing.T) {
	cases := map[string]struct {
		start, finish string
		there, sent   row // of the existing and of the new appointment
		free          bool
	}{
		"touching before":                    {start: "09:30", finish: "10:00", free: true},
		"touching after":                     {start: "11:00", finish: "11:30", free: true},
		"far away":                           {start: "14:00", finish: "14:30", free: true},
		"the same":                           {start: "10:00", finish: "11:00"},
		"over the start":                     {start: "09:45", finish: "10:01"},
		"over the end":                       {start: "10:59", finish: "11:30"},
		"inside":                             {start: "10:15", finish: "10:30"},
		"around":                             {start: "09:00", finish: "12:00"},
		"same start":                         {start: "10:00", finish: "10:15"},
		"same finish":                        {start: "10:45", finish: "11:00"},
		"beside a break":                     {start: "10:30", finish: "11:30", there: row{"reason": "Other"}},
		"a break":                            {start: "10:30", finish: "11:30", sent: row{"reason": "Other"}},
		"beside a confirmed one":             {start: "10:30", finish: "11:30", there: row{"state": "Confirmed"}},
		"beside an arrived one":              {start: "10:30", finish: "11:30", there: row{"state": "Arrived"}},
		"beside one in surgery":              {start: "10:30", finish: "11:30", there: row{"state": "In surgery"}},
		"beside a completed one":             {start: "10:30", finish: "11:30", there: row{"state": "Completed"}},
		"beside a cancelled one":             {start: "10:30", finish: "11:30", there: row{"state": "Cancelled"}, free: true},
		"beside one that was not attended":   {start: "10:30", finish: "11:30", there: row{"state": "Did not attend"}, free: true},
		"a cancelled one":                    {start: "10:30", finish: "11:30", sent: row{"state": "Cancelled"}, free: true},
		"one that was not attended":          {start: "10:30", finish: "11:30", sent: row{"state": "Did not attend"}, free: true},
		"a completed one":                    {start: "10:30", finish: "11:30", sent: row{"state": "Completed"}},
		"forced":                             {start: "10:30", finish: "11:30", sent: row{"force_changes": true}, free: true},
		"forced in a string":                 {start: "10:30", finish: "11:30", sent: row{"force_changes": "true"}, free: true},
		"force_changes that is false":        {start: "10:30", finish: "11:30", sent: row{"force_changes": false}},
		"force_changes that is null":         {start: "10:30", finish: "11:30", sent: row{"force_changes": null}},
		"beside a forced one":                {start: "10:30", finish: "11:30", there: row{"force_changes": true}},
		"all day long":                       {start: "00:00", finish: "23:59"},
		"the same instant in another offset": {start: "10:00", finish: "10:30", sent: row{"start_time": "2026-07-06T14:30:00+05:30", "finish_time": "2026-07-06T09:30:00Z"}},
	}
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "appointment")
		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				practitioner := hire(t, e)
				existing := book(t, e, token, practitioner, "10:00", "11:00", c.there)
				res := e.Post(t, "/v1/appointments", token, booking(practitioner, c.start, c.finish, c.sent))
				if c.free {
					res.Status(t, 201)
				} else {
					res.Error(t, 409, "double_booking")
					if got := "/v1/appointments/" + res.Text(t, "error.conflicts.0.id"); got != existing {
						t.Errorf("the conflict is %s, want %s", got, existing)
					}
				}
				// Another practitioner has the time in any case.
				book(t, e, token, hire(t, e), c.start, c.finish, c.sent)
			})
		}
	})
}

// TestDoubleBookingOfTheLongestAppointment: one that began 24 hours before its
// end still stands in the way in its last minute.
func TestDoubleBookingOfTheLongestAppointment(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token, practitioner := e.Token(t, "appointment"), hire(t, e)
		book(t, e, token, practitioner, "09:00", "", row{"finish_time": "2026-07-07T09:00:00+01:00"})
		for start, status := range map[string]int{"2026-07-07T08:59:00+01:00": 409, "2026-07-07T09:00:00+01:00": 201} {
			e.Post(t, "/v1/appointments", token, booking(practitioner, "", "", row{"start_time": start, "finish_time": "2026-07-07T09:30:00+01:00"})).Status(t, status)
		}
	})
}

// TestDoubleBookingOnEdit edits an appointment at 12:00 beside one from 10:00 to 11:00.
func TestDoubleBookingOnEdit(t *testing.T) {
	cases := map[string]struct {
		mine, sent row // what it is at first, and what is sent
		busyOnly   bool
		status     int
	}{
		"moved onto it":                                {sent: row{"start_time": at("10:30"), "finish_time": at("11:30")}, status: 409},
		"moved onto it, force_changes null":            {sent: row{"start_time": at("10:30"), "finish_time": at("11:30"), "force_changes": null}, status: 409},
		"moved beside it, force_changes null":          {sent: row{"start_time": at("11:00"), "finish_time": at("11:30"), "force_changes": null}, status: 200},
		"moved beside it":                              {sent: row{"start_time": at("11:00"), "finish_time": at("11:30")}, status: 200},
		"made longer over it":                          {sent: row{"start_time": at("10:59")}, status: 409},
		"made longer up to it":                         {sent: row{"start_time": at("11:00")}, status: 200},
		"moved onto it by force":                       {sent: row{"start_time": at("10:30"), "finish_time": at("11:30"), "force_changes": true}, status: 200},
		"moved onto it while cancelled":                {mine: row{"state": "Cancelled"}, sent: row{"start_time": at("10:30"), "finish_time": at("11:30")}, status: 200},
		"moved onto it and cancelled":                  {sent: row{"start_time": at("10:30"), "finish_time": at("11:30"), "state": "Cancelled"}, status: 200},
		"moved within its own time":                    {sent: row{"start_time": at("12:10")}, status: 200},
		"double booked already, notes":                 {mine: row{"start_time": at("10:30"), "force_changes": true}, sent: row{"notes": "x"}, status: 200},
		"double booked already, same times":            {mine: row{"start_time": at("10:30"), "force_changes": true}, sent: row{"start_time": at("10:30"), "finish_time": at("12:30")}, status: 200},
		"double booked already, confirmed":             {mine: row{"start_time": at("10:30"), "force_changes": true}, sent: row{"state": "Confirmed"}, status: 200},
		"double booked already, shorter but still so":  {mine: row{"start_time": at("10:30"), "force_changes": true}, sent: row{"finish_time": at("12:00")}, status: 409},
		"double booked already, moved away":            {mine: row{"start_time": at("10:30"), "force_changes": true}, sent: row{"start_time": at("11:00")}, status: 200},
		"back from cancelled onto it":                  {mine: row{"start_time": at("10:30"), "state": "Cancelled"}, sent: row{"state": "Pending"}, status: 409},
		"back from not attended onto it":               {mine: row{"start_time": at("10:30"), "state": "Did not attend"}, sent: row{"state": "Arrived"}, status: 409},
		"back from cancelled onto it by force":         {mine: row{"start_time": at("10:30"), "state": "Cancelled"}, sent: row{"state": "Pending", "force_changes": true}, status: 200},
		"back from cancelled beside it":                {mine: row{"state": "Cancelled"}, sent: row{"state": "Pending"}, status: 200},
		"from cancelled to not attended":               {mine: row{"start_time": at("10:30"), "state": "Cancelled"}, sent: row{"state": "Did not attend"}, status: 200},
		"back from cancelled onto it and away at once": {mine: row{"start_time": at("10:30"), "state": "Cancelled"}, sent: row{"state": "Pending", "start_time": at("11:15")}, status: 200},
		"handed to the busy practitioner":              {busyOnly: true, mine: row{"start_time": at("10:30")}, sent: row{}, status: 409},
		"handed to the busy practitioner by force":     {busyOnly: true, mine: row{"start_time": at("10:30")}, sent: row{"force_changes": true}, status: 200},
		"handed over and moved":                        {busyOnly: true, mine: row{"start_time": at("10:30")}, sent: row{"start_time": at("11:00")}, status: 200},
		"handed over while cancelled":                  {busyOnly: true, mine: row{"start_time": at("10:30"), "state": "Cancelled"}, sent: row{}, status: 200},
	}
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "appointment")
		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				busy := hire(t, e)
				existing := book(t, e, token, busy, "10:00", "11:00")
				practitioner := busy
				if c.busyOnly { // it is with another one and is handed over
					practitioner = hire(t, e)
					c.sent = change(row{"practitioner_id": busy}, c.sent)
				}
				path := book(t, e, token, practitioner, "12:00", "12:30", c.mine)
				old := e.Get(t, path, token)
				res := e.Patch(t, path, token, edit("appointment", c.sent)).Status(t, c.status)
				if c.status != 409 {
					return
				}
				if got := "/v1/appointments/" + res.Text(t, "error.conflicts.0.id"); got != existing || res.Text(t, "error.code") != "double_booking" {
					t.Errorf("got %s", res.Raw)
				}
				if now := e.Get(t, path, token); string(now.Raw) != string(old.Raw) {
					t.Errorf("it was changed nevertheless: %s", now.Raw)
				}
			})
		}
	})
}

// TestDoubleBookingBody tells of each conflict in the order of time.
func TestDoubleBookingBody(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token, practitioner := e.Token(t, "appointment"), hire(t, e)
		late := book(t, e, token, practitioner, "11:00", "11:30")
		early := book(t, e, token, practitioner, "10:00", "10:30")
		forced := book(t, e, token, practitioner, "10:15", "10:45", row{"force_changes": true})
		book(t, e, token, practitioner, "10:20", "10:25", row{"state": "Cancelled"})
		book(t, e, token, practitioner, "12:00", "12:30")
		res := e.Post(t, "/v1/appointments", token, booking(practitioner, "10:00", "12:00")).Error(t, 409, "double_booking")
		if res.Text(t, "error.type") != "conflict_error" {
			t.Errorf("got %s", res.Raw)
		}
		var got []string
		for i := range res.List(t, "error.conflicts") {
			got = append(got, "/v1/appointments/"+res.Text(t, fmt.Sprintf("error.conflicts.%d.id", i)))
			checkFields(t, e, map[string]string{"id": "int", "start_time": "datetime", "finish_time": "datetime"}, res.At(t, fmt.Sprintf("error.conflicts.%d", i)).(row))
		}
		if want := []string{early, forced, late}; !slices.Equal(got, want) {
			t.Errorf("conflicts %v, want %v", got, want)
		}
		if res.Text(t, "error.conflicts.0.start_time") != shownAt("10:00") || res.Text(t, "error.conflicts.0.finish_time") != shownAt("10:30") {
			t.Errorf("got %s", res.Raw)
		}
	})
}

// TestFieldErrorsComeBeforeConflicts: 422 first, then 409.
func TestFieldErrorsComeBeforeConflicts(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token, practitioner := e.Token(t, "appointment"), hire(t, e)
		book(t, e, token, practitioner, "10:00", "11:00")
		e.Post(t, "/v1/appointments", token, booking(practitioner, "10:00", "11:00", row{"reason": "Whim"})).Error(t, 422, "validation_failed", "reason")
		e.Post(t, "/v1/appointments", token, booking(practitioner, "10:00", "11:00", row{"force_changes": "perhaps"})).Error(t, 422, "validation_failed", "force_changes")
	})
}
