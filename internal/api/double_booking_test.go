package api_test

import (
	"slices"
	"testing"

	"chairside/internal/test/harness"
	"chairside/ogent"
)

// TestDoubleBookingMatrix books beside an appointment from 10:00 to 11:00.
func TestDoubleBookingMatrix(t *testing.T) {
	cases := map[string]struct {
		start, finish string
		there, sent   []set // of the existing and of the new appointment
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
		"beside a break":                     {start: "10:30", finish: "11:30", there: []set{reason("Other")}},
		"a break":                            {start: "10:30", finish: "11:30", sent: []set{reason("Other")}},
		"beside a confirmed one":             {start: "10:30", finish: "11:30", there: []set{state("Confirmed")}},
		"beside an arrived one":              {start: "10:30", finish: "11:30", there: []set{state("Arrived")}},
		"beside one in surgery":              {start: "10:30", finish: "11:30", there: []set{state("In surgery")}},
		"beside a completed one":             {start: "10:30", finish: "11:30", there: []set{state("Completed")}},
		"beside a cancelled one":             {start: "10:30", finish: "11:30", there: []set{state("Cancelled")}, free: true},
		"beside one that was not attended":   {start: "10:30", finish: "11:30", there: []set{state("Did not attend")}, free: true},
		"a cancelled one":                    {start: "10:30", finish: "11:30", sent: []set{state("Cancelled")}, free: true},
		"one that was not attended":          {start: "10:30", finish: "11:30", sent: []set{state("Did not attend")}, free: true},
		"a completed one":                    {start: "10:30", finish: "11:30", sent: []set{state("Completed")}},
		"forced":                             {start: "10:30", finish: "11:30", sent: []set{forced}, free: true},
		"force_changes that is false":        {start: "10:30", finish: "11:30", sent: []set{func(in *ogent.AppointmentInput) { in.ForceChanges.SetTo(false) }}},
		"beside a forced one":                {start: "10:30", finish: "11:30", there: []set{forced}},
		"all day long":                       {start: "00:00", finish: "23:59"},
		"the same instant in another offset": {start: "10:00", finish: "10:30", sent: []set{starts(instant("2026-07-06T14:30:00+05:30")), finishes(instant("2026-07-06T09:30:00Z"))}},
	}
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		c := e.Client(t, e.Token(t, "appointment"))
		for name, test := range cases {
			t.Run(name, func(t *testing.T) {
				who := hire(t, e)
				existing := book(t, c, who, "10:00", "11:00", test.there...)
				_, err := c.CreateAppointment(t.Context(), booking(who, test.start, test.finish, test.sent...))
				switch {
				case test.free && err != nil:
					t.Error(err)
				case !test.free:
					if got := harness.Refused(t, err, 409, "double_booking").Conflicts; len(got) != 1 || got[0].ID != existing.ID {
						t.Errorf("the conflicts are %v, want %d", got, existing.ID)
					}
				}
				// Another practitioner has the time in any case.
				book(t, c, hire(t, e), test.start, test.finish, test.sent...)
			})
		}
	})
}

// TestForceChangesIsReadLeniently: strings are booleans, and null is false.
func TestForceChangesIsReadLeniently(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token, who := e.Token(t, "appointment"), hire(t, e)
		existing := book(t, e.Client(t, token), who, "10:00", "11:00")
		e.Post(t, "/v1/appointments", token, rawBooking(who, "10:30", "11:30", row{"force_changes": "true"})).Status(t, 201)
		res := e.Post(t, "/v1/appointments", token, rawBooking(who, "10:00", "10:15", row{"force_changes": null})).Error(t, 409, "double_booking")
		if got := number(res.At(t, "error.conflicts.0.id")); got != existing.ID {
			t.Errorf("the conflict is %d, want %d", got, existing.ID)
		}
		mine := appointmentPath(book(t, e.Client(t, token), who, "12:00", "12:30"))
		e.Patch(t, mine, token, edit("appointment", row{"start_time": at("10:30"), "finish_time": at("11:30"), "force_changes": null})).Error(t, 409, "double_booking")
		e.Patch(t, mine, token, edit("appointment", row{"start_time": at("11:30"), "finish_time": at("12:00"), "force_changes": null})).Status(t, 200)
		e.Post(t, "/v1/appointments", token, rawBooking(hire(t, e), "10:30", "11:30", row{"force_changes": null})).Status(t, 201)
	})
}

// TestDoubleBookingOfTheLongestAppointment: one that began 24 hours before its
// end still stands in the way in its last minute.
func TestDoubleBookingOfTheLongestAppointment(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		c, who := e.Client(t, e.Token(t, "appointment")), hire(t, e)
		end := instant("2026-07-07T09:00:00+01:00")
		book(t, c, who, "09:00", "10:00", finishes(end))
		next := func(start string) error {
			_, err := c.CreateAppointment(t.Context(), booking(who, "09:00", "10:00", starts(instant(start)), finishes(instant("2026-07-07T09:30:00+01:00"))))
			return err
		}
		harness.Refused(t, next("2026-07-07T08:59:00+01:00"), 409, "double_booking")
		if err := next("2026-07-07T09:00:00+01:00"); err != nil {
			t.Error(err)
		}
	})
}

// TestDoubleBookingOnEdit edits an appointment at 12:00 beside one from 10:00 to 11:00.
func TestDoubleBookingOnEdit(t *testing.T) {
	early, onto := startsAt("10:30"), []set{startsAt("10:30"), finishesAt("11:30")}
	cases := map[string]struct {
		mine, sent []set // what it is at first, and what is sent
		busyOnly   bool
		status     int
	}{
		"moved onto it":                                {sent: onto, status: 409},
		"moved beside it":                              {sent: []set{startsAt("11:00"), finishesAt("11:30")}, status: 200},
		"made longer over it":                          {sent: []set{startsAt("10:59")}, status: 409},
		"made longer up to it":                         {sent: []set{startsAt("11:00")}, status: 200},
		"moved onto it by force":                       {sent: append(onto, forced), status: 200},
		"moved onto it while cancelled":                {mine: []set{state("Cancelled")}, sent: onto, status: 200},
		"moved onto it and cancelled":                  {sent: append(onto, state("Cancelled")), status: 200},
		"moved within its own time":                    {sent: []set{startsAt("12:10")}, status: 200},
		"double booked already, notes":                 {mine: []set{early, forced}, sent: []set{notes("x")}, status: 200},
		"double booked already, same times":            {mine: []set{early, forced}, sent: []set{early, finishesAt("12:30")}, status: 200},
		"double booked already, confirmed":             {mine: []set{early, forced}, sent: []set{state("Confirmed")}, status: 200},
		"double booked already, shorter but still so":  {mine: []set{early, forced}, sent: []set{finishesAt("12:00")}, status: 409},
		"double booked already, moved away":            {mine: []set{early, forced}, sent: []set{startsAt("11:00")}, status: 200},
		"back from cancelled onto it":                  {mine: []set{early, state("Cancelled")}, sent: []set{state("Pending")}, status: 409},
		"back from not attended onto it":               {mine: []set{early, state("Did not attend")}, sent: []set{state("Arrived")}, status: 409},
		"back from cancelled onto it by force":         {mine: []set{early, state("Cancelled")}, sent: []set{state("Pending"), forced}, status: 200},
		"back from cancelled beside it":                {mine: []set{state("Cancelled")}, sent: []set{state("Pending")}, status: 200},
		"from cancelled to not attended":               {mine: []set{early, state("Cancelled")}, sent: []set{state("Did not attend")}, status: 200},
		"back from cancelled onto it and away at once": {mine: []set{early, state("Cancelled")}, sent: []set{state("Pending"), startsAt("11:15")}, status: 200},
		"handed to the busy practitioner":              {busyOnly: true, mine: []set{early}, status: 409},
		"handed to the busy practitioner by force":     {busyOnly: true, mine: []set{early}, sent: []set{forced}, status: 200},
		"handed over and moved":                        {busyOnly: true, mine: []set{early}, sent: []set{startsAt("11:00")}, status: 200},
		"handed over while cancelled":                  {busyOnly: true, mine: []set{early, state("Cancelled")}, status: 200},
	}
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		c := e.Client(t, e.Token(t, "appointment"))
		for name, test := range cases {
			t.Run(name, func(t *testing.T) {
				busy := hire(t, e)
				existing := book(t, c, busy, "10:00", "11:00")
				who, sent := busy, test.sent
				if test.busyOnly { // it is with another one and is handed over
					who, sent = hire(t, e), append([]set{with(busy)}, sent...)
				}
				id := book(t, c, who, "12:00", "12:30", test.mine...).ID
				old := harness.Call(t, c.GetAppointment, ogent.GetAppointmentParams{ID: id})
				_, err := c.UpdateAppointment(t.Context(), of(sent...), ogent.UpdateAppointmentParams{ID: id})
				if test.status != 409 {
					if err != nil {
						t.Error(err)
					}
					return
				}
				if got := harness.Refused(t, err, 409, "double_booking").Conflicts; len(got) != 1 || got[0].ID != existing.ID {
					t.Errorf("the conflicts are %v, want %d", got, existing.ID)
				}
				if now := harness.Call(t, c.GetAppointment, ogent.GetAppointmentParams{ID: id}); wire(t, now) != wire(t, old) {
					t.Errorf("it was changed nevertheless: %v", now)
				}
			})
		}
	})
}

// TestDoubleBookingBody tells of each conflict in the order of time.
func TestDoubleBookingBody(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token, who := e.Token(t, "appointment"), hire(t, e)
		c := e.Client(t, token)
		late := book(t, c, who, "11:00", "11:30")
		early := book(t, c, who, "10:00", "10:30")
		between := book(t, c, who, "10:15", "10:45", forced)
		book(t, c, who, "10:20", "10:25", state("Cancelled"))
		book(t, c, who, "12:00", "12:30")
		_, err := c.CreateAppointment(t.Context(), booking(who, "10:00", "12:00"))
		refused := harness.Refused(t, err, 409, "double_booking")
		var got []int64
		for _, conflict := range refused.Conflicts {
			got = append(got, conflict.ID)
		}
		if want := []int64{early.ID, between.ID, late.ID}; !slices.Equal(got, want) || refused.Type != "conflict_error" {
			t.Errorf("conflicts %v of a %s, want %v", got, refused.Type, want)
		}
		res := e.Post(t, "/v1/appointments", token, rawBooking(who, "10:00", "12:00")).Error(t, 409, "double_booking")
		for _, conflict := range res.List(t, "error.conflicts") {
			checkFields(t, e, map[string]string{"id": "int", "start_time": "datetime", "finish_time": "datetime"}, conflict.(row))
		}
		if res.Text(t, "error.conflicts.0.start_time") != shownAt("10:00") || res.Text(t, "error.conflicts.0.finish_time") != shownAt("10:30") {
			t.Errorf("got %s", res.Raw)
		}
	})
}

// TestFieldErrorsComeBeforeConflicts: 422 first, then 409.
func TestFieldErrorsComeBeforeConflicts(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token, who := e.Token(t, "appointment"), hire(t, e)
		c := e.Client(t, token)
		book(t, c, who, "10:00", "11:00")
		_, err := c.CreateAppointment(t.Context(), booking(who, "10:00", "11:00", reason("Whim")))
		harness.Refused(t, err, 422, "validation_failed", "reason")
		e.Post(t, "/v1/appointments", token, rawBooking(who, "10:00", "11:00", row{"force_changes": "perhaps"})).Error(t, 422, "validation_failed", "force_changes")
	})
}
