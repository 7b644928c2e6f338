package api_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"chairside/internal/diary"
	"chairside/internal/test/harness"
	"chairside/ogent"
)

// hold is the body of a hold on monday.
func hold(who int64, start, finish string) *ogent.AppointmentHoldInputRequest {
	return &ogent.AppointmentHoldInputRequest{Hold: ogent.AppointmentHoldInput{
		PractitionerID: ogent.NewOptInt64(who), StartTime: ogent.NewOptDateTime(instant(at(start))), FinishTime: ogent.NewOptDateTime(instant(at(finish))),
	}}
}

// taking books with a hold.
func taking(h ogent.AppointmentHold) set {
	return func(in *ogent.AppointmentInput) { in.HoldID.SetTo(h.ID) }
}

// availableOn returns the practitioner's free slots on monday.
func availableOn(t *testing.T, c *ogent.Client, who int64) (slots []string) {
	t.Helper()
	list := harness.Call(t, c.ListAvailability, ogent.ListAvailabilityParams{PractitionerIds: []int64{who},
		StartTime: ogent.NewOptDateTime(instant(at("00:00"))), FinishTime: ogent.NewOptDateTime(instant(at("23:59")))})
	for _, s := range list.Availability {
		slots = append(slots, s.StartTime.In(zone).Format("15:04")+"-"+s.FinishTime.In(zone).Format("15:04"))
	}
	return slots
}

func TestHoldKeepsASlotForItsToken(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		who := hire(t, e, diary.Hours{Weekday: time.Monday, Start: 540, Finish: 720})
		token := e.Token(t, "appointment")
		c, other := e.Client(t, token), e.Client(t, e.Token(t, "appointment"))
		held := harness.Call(t, c.CreateAppointmentHold, hold(who, "10:00", "10:30")).Hold
		if held.PractitionerID != who || !held.StartTime.Equal(instant(at("10:00"))) || !held.ExpiresAt.Equal(e.Clock.Now().Add(10*time.Minute)) {
			t.Errorf("%+v", held)
		}
		if got := fmt.Sprint(availableOn(t, other, who)); got != "[09:00-10:00 10:30-12:00]" {
			t.Errorf("available: %v", got)
		}

		_, err := other.CreateAppointment(t.Context(), booking(who, "10:15", "10:45"))
		refused := harness.Refused(t, err, 409, "double_booking")
		if len(refused.Conflicts) != 0 || len(refused.Holds) != 1 || !refused.Holds[0].ExpiresAt.Equal(held.ExpiresAt) || !refused.Holds[0].StartTime.Equal(held.StartTime) {
			t.Errorf("%+v", refused)
		}
		_, err = c.CreateAppointment(t.Context(), booking(who, "10:15", "10:45")) // its own token, without the hold
		harness.Refused(t, err, 409, "double_booking")
		_, err = other.CreateAppointmentHold(t.Context(), hold(who, "10:29", "11:00"))
		harness.Refused(t, err, 409, "double_booking")
		harness.Call(t, other.CreateAppointmentHold, hold(who, "10:30", "11:00")) // touches
		forcedBooking := book(t, other, who, "10:00", "10:15", forced)
		if err := other.DeleteAppointment(t.Context(), ogent.DeleteAppointmentParams{ID: forcedBooking.ID}); err != nil {
			t.Fatal(err)
		}

		for name, sets := range map[string][]set{
			"another practitioner": {with(hire(t, e))},
			"earlier":              {startsAt("09:55")},
			"later":                {finishesAt("10:35")},
		} {
			_, err := c.CreateAppointment(t.Context(), booking(who, "10:00", "10:30", append(sets, taking(held))...))
			if got := harness.Status(t, err); got != 422 {
				t.Errorf("%s: status %d", name, got)
			}
		}
		_, err = other.CreateAppointment(t.Context(), booking(who, "10:00", "10:30", taking(held)))
		harness.Refused(t, err, 422, "validation_failed", "hold_id")
		book(t, c, who, "10:05", "10:30", taking(held)) // within the hold
		_, err = c.CreateAppointment(t.Context(), booking(who, "10:00", "10:05", taking(held)))
		harness.Refused(t, err, 422, "validation_failed", "hold_id")
		if n := systemRows(t, e, "SELECT count(*) FROM appointment_holds"); n != 1 {
			t.Errorf("%d holds are left, want the other one", n)
		}
	})
}

func TestHoldsAreReleasedAndExpire(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		who := hire(t, e, diary.Hours{Weekday: time.Monday, Start: 540, Finish: 600})
		creator := e.Token(t, "appointment:create appointment:read") // releasing needs no appointment:delete
		c, other := e.Client(t, creator), e.Client(t, e.Token(t, "appointment"))
		released := harness.Call(t, c.CreateAppointmentHold, hold(who, "09:00", "09:30")).Hold
		if err := c.DeleteAppointmentHold(t.Context(), ogent.DeleteAppointmentHoldParams{ID: released.ID}); err != nil {
			t.Fatal(err)
		}
		_, err := c.CreateAppointment(t.Context(), booking(who, "09:00", "09:30", taking(released)))
		harness.Refused(t, err, 422, "validation_failed", "hold_id")

		body := hold(who, "09:00", "09:30")
		body.Hold.Seconds.SetTo(60)
		short := harness.Call(t, c.CreateAppointmentHold, body).Hold
		e.Clock.Set(short.ExpiresAt.Add(-time.Millisecond))
		_, err = other.CreateAppointment(t.Context(), booking(who, "09:00", "09:30"))
		harness.Refused(t, err, 409, "double_booking")
		e.Clock.Set(short.ExpiresAt)
		_, err = c.CreateAppointment(t.Context(), booking(who, "09:00", "09:30", taking(short)))
		harness.Refused(t, err, 422, "validation_failed", "hold_id")
		if got := fmt.Sprint(availableOn(t, c, who)); got != "[09:00-10:00]" {
			t.Errorf("available: %v", got)
		}
		harness.Call(t, other.CreateAppointmentHold, hold(who, "09:00", "09:30"))
		if n := systemRows(t, e, "SELECT count(*) FROM appointment_holds"); n != 1 {
			t.Errorf("%d holds: the expired one was not deleted", n)
		}
		for _, seconds := range []int{0, -1, 601} {
			body.Hold.Seconds.SetTo(seconds)
			_, err := c.CreateAppointmentHold(t.Context(), body)
			harness.Refused(t, err, 422, "validation_failed", "seconds")
		}
		_, err = c.CreateAppointmentHold(t.Context(), hold(who, "09:30", "09:00"))
		harness.Refused(t, err, 422, "validation_failed", "finish_time")
		_, err = e.Client(t, elsewhere(t, e)).CreateAppointmentHold(t.Context(), hold(who, "09:30", "10:00"))
		harness.Refused(t, err, 422, "validation_failed", "practitioner_id")
	})
}

// TestHoldsAndBookingsNeverOverlap: clients of two servers hold and book the same slots.
func TestHoldsAndBookingsNeverOverlap(t *testing.T) {
	for name, database := range map[string]func(testing.TB) string{"sqlite": harness.SQLite, "postgres": harness.Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where := database(t)
			servers := []*harness.Env{harness.Start(t, where, harness.Patient), harness.Start(t, where, harness.Patient)}
			who := hire(t, servers[0])
			tokens := make([]string, 6)
			for i := range tokens {
				tokens[i] = servers[0].Token(t, "appointment")
			}
			const slots = 20
			day := instant(monday).Add(9 * time.Hour)
			winners := make([]map[string]int, len(tokens))
			var all sync.WaitGroup
			for n, token := range tokens {
				winners[n] = map[string]int{}
				c := servers[n%2].Client(t, token)
				all.Go(func() {
					for s := range slots {
						start := day.Add(time.Duration((s*7+n)%slots) * 15 * time.Minute)
						body := hold(who, "09:00", "09:30")
						body.Hold.StartTime.SetTo(start)
						body.Hold.FinishTime.SetTo(start.Add(20 * time.Minute))
						sets := []set{starts(start), finishes(start.Add(20 * time.Minute))}
						if n%2 == 0 {
							held, err := c.CreateAppointmentHold(t.Context(), body)
							winners[n][fmt.Sprint("hold ", harness.Status(t, err))]++
							if err != nil {
								continue
							}
							sets = append(sets, taking(held.Hold))
						}
						_, err := c.CreateAppointment(t.Context(), booking(who, "09:00", "09:30", sets...))
						if status := harness.Status(t, err); n%2 == 0 && status != http.StatusOK {
							t.Errorf("a held slot could not be booked: %v", err)
						}
					}
				})
			}
			all.Wait()
			booked := appointments(t, servers[1].Client(t, tokens[0]), who).Appointments
			for i, a := range booked {
				for _, b := range booked[:i] {
					if a.StartTime.Before(b.FinishTime) && b.StartTime.Before(a.FinishTime) {
						t.Errorf("%v overlaps %v", a.StartTime, b.StartTime)
					}
				}
			}
			if n := systemRows(t, servers[0], "SELECT count(*) FROM appointment_holds"); n != 0 || len(booked) < 5 {
				t.Errorf("%d holds are left, %d bookings: %v", n, len(booked), winners)
			}
		})
	}
}

// TestRefusalsOfferAlternatives: the practitioner's next free slots of the same length.
func TestRefusalsOfferAlternatives(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		who := hire(t, e, diary.Hours{Weekday: time.Monday, Start: 540, Finish: 660}, diary.Hours{Weekday: time.Wednesday, Start: 540, Finish: 570})
		token := e.Token(t, "appointment")
		c := e.Client(t, token)
		book(t, c, who, "09:00", "09:40")
		harness.Call(t, c.CreateAppointmentHold, hold(who, "10:00", "10:30"))
		alternatives := func(start, finish string, sets ...set) (got []string) {
			t.Helper()
			_, err := c.CreateAppointment(t.Context(), booking(who, start, finish, sets...))
			for _, a := range harness.Refused(t, err, 409, "double_booking").Alternatives {
				if a.PractitionerID != who {
					t.Errorf("practitioner %d", a.PractitionerID)
				}
				got = append(got, a.StartTime.In(zone).Format("Mon 2 15:04")+"-"+a.FinishTime.In(zone).Format("15:04"))
			}
			return got
		}
		for _, tc := range []struct{ start, finish, want string }{
			{"09:00", "09:20", "[Mon 6 09:40-10:00 Mon 6 10:30-10:50 Wed 8 09:00-09:20]"},
			{"09:00", "09:30", "[Mon 6 10:30-11:00 Wed 8 09:00-09:30 Mon 13 09:00-09:30]"},
			{"09:30", "09:40", "[Mon 6 09:40-09:50 Mon 6 09:50-10:00 Mon 6 10:30-10:40]"},
			{"09:00", "12:00", "[]"},
			{"09:00", "11:00", "[Mon 13 09:00-11:00]"}, // 14 days end as the next one begins
		} {
			if got := fmt.Sprint(alternatives(tc.start, tc.finish)); got != tc.want {
				t.Errorf("%s to %s: %s, want %s", tc.start, tc.finish, got, tc.want)
			}
		}
		// Alternatives of a booking in the past begin now.
		past := e.Clock.Now().Add(-48 * time.Hour)
		book(t, c, who, "00:00", "00:10", starts(past), finishes(past.Add(10*time.Minute)))
		if got := alternatives("00:00", "00:10", starts(past), finishes(past.Add(10*time.Minute))); len(got) != 3 || got[0] != "Mon 6 09:40-09:50" {
			t.Errorf("alternatives of a booking in the past: %v", got)
		}
		raw := e.Post(t, "/v1/appointments", token, rawBooking(who, "09:00", "12:00")).Error(t, 409, "double_booking")
		if len(raw.List(t, "error.alternatives")) != 0 {
			t.Errorf("%s", raw.Raw)
		}
		// An edit that is refused offers alternatives too.
		other := book(t, c, who, "10:40", "10:50")
		_, err := c.UpdateAppointment(t.Context(), of(startsAt("09:00"), finishesAt("09:10")), ogent.UpdateAppointmentParams{ID: other.ID})
		if got := harness.Refused(t, err, 409, "double_booking").Alternatives; len(got) != 3 {
			t.Errorf("%+v", got)
		}
	})
}
