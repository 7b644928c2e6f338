package api_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"chairside/internal/test/harness"
	"chairside/ogent"
	"chairside/schema"
)

// TestConcurrentBookingsNeverOverlap: many clients book, move, hand over, cancel and revive
// appointments of two practitioners through two servers, each with its own connection pool.
func TestConcurrentBookingsNeverOverlap(t *testing.T) {
	for name, database := range map[string]func(testing.TB) string{"sqlite": harness.SQLite, "postgres": harness.Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where := database(t)
			servers := []*harness.Env{harness.Start(t, where, harness.Patient), harness.Start(t, where, harness.Patient)}
			token := servers[0].Token(t, "appointment")
			practitioners := []int64{hire(t, servers[0]), hire(t, servers[0])}
			race(t, servers, token, practitioners)

			var booked []ogent.Appointment
			for _, p := range practitioners {
				booked = append(booked, appointments(t, servers[1].Client(t, token), p).Appointments...)
			}
			if len(booked) < 2 {
				t.Errorf("only %d appointments are booked", len(booked))
			}
			for i, a := range booked {
				for _, b := range booked[:i] {
					if a.PractitionerID == b.PractitionerID && a.StartTime.Before(b.FinishTime) && b.StartTime.Before(a.FinishTime) {
						t.Errorf("%+v overlaps %+v", a, b)
					}
				}
			}
		})
	}
}

// race runs clients that take the same steps in different orders of times and practitioners.
func race(t *testing.T, servers []*harness.Env, token string, practitioners []int64) {
	const clients, rounds, slots = 8, 6, 5
	day := instant(monday).Add(9 * time.Hour)
	states := schema.Pending.Values()
	answers := make([][]int, clients)
	var all sync.WaitGroup
	for client := range clients {
		c := servers[client%2].Client(t, token)
		all.Go(func() {
			did := func(err error) { answers[client] = append(answers[client], harness.Status(t, err)) }
			var mine ogent.OptInt64
			for round := range rounds {
				start := day.Add(time.Duration((round+client)%slots) * 20 * time.Minute)
				times := []set{starts(start), finishes(start.Add(30 * time.Minute))}
				booked, err := c.CreateAppointment(t.Context(), booking(practitioners[(client+round)%2], "09:00", "09:30", times...))
				if did(err); err == nil {
					mine.SetTo(booked.Appointment.ID)
				}
				if !mine.Set {
					continue
				}
				for _, sets := range [][]set{append(times, with(practitioners[round%2])), {state(states[(client+round*3)%len(states)])}, {state("Pending")}} {
					_, err := c.UpdateAppointment(t.Context(), of(sets...), ogent.UpdateAppointmentParams{ID: mine.Value})
					did(err)
				}
				if round == rounds/2 {
					did(c.DeleteAppointment(t.Context(), ogent.DeleteAppointmentParams{ID: mine.Value}))
					mine.Reset()
				}
			}
		})
	}
	all.Wait()
	for _, code := range slices.Concat(answers...) {
		if !slices.Contains([]int{200, 409}, code) {
			t.Errorf("a request was answered with %d", code)
		}
	}
}

// TestOneOfTwoServersBooks: both book the same time again and again. Soon each uses one
// prepared statement, which only its lock keeps apart.
func TestOneOfTwoServersBooks(t *testing.T) {
	t.Parallel()
	where := harness.Postgres(t)
	servers := []*harness.Env{harness.Start(t, where), harness.Start(t, where)}
	token := servers[0].Token(t, "appointment")
	clients := []*ogent.Client{servers[0].Client(t, token), servers[1].Client(t, token)}
	practitioner := hire(t, servers[0])
	for slot := range 150 {
		start := instant(monday).Add(time.Duration(slot) * 24 * time.Hour)
		body := booking(practitioner, "09:00", "09:30", starts(start), finishes(start.Add(30*time.Minute)))
		codes := make([]int, len(servers))
		var both sync.WaitGroup
		for i, c := range clients {
			both.Go(func() {
				_, err := c.CreateAppointment(t.Context(), body)
				codes[i] = harness.Status(t, err)
			})
		}
		both.Wait()
		if slices.Sort(codes); !slices.Equal(codes, []int{200, 409}) {
			t.Fatalf("the servers answered %v", codes)
		}
	}
}

// TestOneOfManyUpdatesOfAVersionWins: on each server the others get 412.
func TestOneOfManyUpdatesOfAVersionWins(t *testing.T) {
	for name, database := range map[string]func(testing.TB) string{"sqlite": harness.SQLite, "postgres": harness.Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where := database(t)
			servers := []*harness.Env{harness.Start(t, where), harness.Start(t, where)}
			token := servers[0].Token(t, "")
			clients := []*ogent.Client{servers[0].Client(t, token), servers[1].Client(t, token)}
			ctx, c := t.Context(), clients[0]
			booked, registered := book(t, c, hire(t, servers[0]), "09:00", "09:30"), register(t, c)
			priced := servers[0].DB.Ent.Fee.Query().FirstX(servers[0].As(t, "demo")).ID
			for name, resource := range map[string]struct {
				read func(tag ogent.RequestOption) error
				edit func(c *ogent.Client, n int, tag ogent.RequestOption) error
			}{
				"appointment": {
					func(tag ogent.RequestOption) error {
						_, err := c.GetAppointment(ctx, ogent.GetAppointmentParams{ID: booked.ID}, tag)
						return err
					},
					func(c *ogent.Client, n int, tag ogent.RequestOption) error {
						_, err := c.UpdateAppointment(ctx, of(notes(fmt.Sprint(n))), ogent.UpdateAppointmentParams{ID: booked.ID}, tag)
						return err
					},
				},
				"patient": {
					func(tag ogent.RequestOption) error {
						_, err := c.GetPatient(ctx, ogent.GetPatientParams{ID: registered.ID}, tag)
						return err
					},
					func(c *ogent.Client, n int, tag ogent.RequestOption) error {
						occupation := func(in *ogent.PatientInput) { in.Occupation.SetTo(fmt.Sprint(n)) }
						_, err := c.UpdatePatient(ctx, person(occupation), ogent.UpdatePatientParams{ID: registered.ID}, tag)
						return err
					},
				},
				"fee": {
					func(tag ogent.RequestOption) error {
						_, err := c.GetFee(ctx, ogent.GetFeeParams{ID: priced}, tag)
						return err
					},
					func(c *ogent.Client, n int, tag ogent.RequestOption) error {
						_, err := c.UpdateFee(ctx, &ogent.FeeInputRequest{Fee: ogent.FeeInput{DurationOne: ogent.NewOptInt(n)}}, ogent.UpdateFeeParams{ID: priced}, tag)
						return err
					},
				},
			} {
				var tag string
				if err := resource.read(harness.ETag(&tag)); err != nil || tag == "" {
					t.Fatalf("%s: %v, tag %q", name, err, tag)
				}
				codes := make([]int, 8)
				var all sync.WaitGroup
				for client := range codes {
					all.Go(func() {
						codes[client] = harness.Status(t, resource.edit(clients[client%2], 1000+client, harness.IfMatch(tag)))
					})
				}
				all.Wait()
				slices.Sort(codes)
				if want := []int{200, 412, 412, 412, 412, 412, 412, 412}; !slices.Equal(codes, want) {
					t.Errorf("%s: answered %v, want %v", name, codes, want)
				}
			}
		})
	}
}
