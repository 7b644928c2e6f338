package api_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"chairside/internal/test/harness"
	"chairside/schema"
)

// TestConcurrentBookingsNeverOverlap: many clients book, move, hand over, cancel and revive
// appointments of two practitioners through two servers, each with its own connection pool.
func TestConcurrentBookingsNeverOverlap(t *testing.T) {
	for name, database := range map[string]func(testing.TB) string{"sqlite": harness.SQLite, "postgres": harness.Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where := database(t)
			servers := []*harness.Env{harness.Start(t, where), harness.Start(t, where)}
			token := servers[0].Token(t, "appointment")
			practitioners := []int64{hire(t, servers[0]), hire(t, servers[0])}
			race(t, servers, token, practitioners)

			var booked []row
			for _, p := range practitioners {
				for _, a := range servers[1].Get(t, fmt.Sprintf("/v1/appointments?per_page=100&practitioner_id=%d", p), token).Status(t, 200).List(t, "appointments") {
					booked = append(booked, a.(row))
				}
			}
			if len(booked) < 2 {
				t.Errorf("only %d appointments are booked", len(booked))
			}
			for i, a := range booked {
				for _, b := range booked[:i] {
					if a["practitioner_id"] == b["practitioner_id"] && instant(text(a["start_time"])).Before(instant(text(b["finish_time"]))) && instant(text(b["start_time"])).Before(instant(text(a["finish_time"]))) {
						t.Errorf("%v overlaps %v", a, b)
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
		all.Go(func() {
			e, path := servers[client%2], ""
			did := func(r *harness.Response) *harness.Response {
				answers[client] = append(answers[client], r.Code)
				return r
			}
			for round := range rounds {
				start := day.Add(time.Duration((round+client)%slots) * 20 * time.Minute)
				times := row{"start_time": shown(start), "finish_time": shown(start.Add(30 * time.Minute))}
				res := did(e.Post(t, "/v1/appointments", token, booking(practitioners[(client+round)%2], "", "", times)))
				if res.Code == 201 {
					path = "/v1/appointments" + harness.ID(res.At(t, "appointment.id"))
				}
				if path == "" {
					continue
				}
				did(e.Patch(t, path, token, edit("appointment", change(times, row{"practitioner_id": practitioners[round%2]}))))
				did(e.Patch(t, path, token, edit("appointment", row{"state": states[(client+round*3)%len(states)]})))
				did(e.Patch(t, path, token, edit("appointment", row{"state": "Pending"})))
				if round == rounds/2 {
					did(e.Delete(t, path, token))
					path = ""
				}
			}
		})
	}
	all.Wait()
	for _, code := range slices.Concat(answers...) {
		if !slices.Contains([]int{200, 201, 204, 409}, code) {
			t.Errorf("got status %d", code)
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
	practitioner := hire(t, servers[0])
	for slot := range 150 {
		start := instant(monday).Add(time.Duration(slot) * 24 * time.Hour)
		times := row{"start_time": shown(start), "finish_time": shown(start.Add(30 * time.Minute))}
		codes := make([]int, len(servers))
		var both sync.WaitGroup
		for i, e := range servers {
			both.Go(func() { codes[i] = e.Post(t, "/v1/appointments", token, booking(practitioner, "", "", times)).Code })
		}
		both.Wait()
		if slices.Sort(codes); !slices.Equal(codes, []int{201, 409}) {
			t.Fatalf("the servers responded %v", codes)
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
			paths := map[string]string{
				"appointment": book(t, servers[0], token, hire(t, servers[0]), "09:00", "09:30"),
				"patient":     patientPath(t, register(t, servers[0], token).Status(t, 201)),
				"fee":         fee(t, servers[0], token),
			}
			fields := map[string]string{"appointment": "notes", "patient": "occupation", "fee": "duration_one"}
			for key, path := range paths {
				tag := servers[0].Get(t, path, token).Status(t, 200).Header.Get("ETag")
				codes := make([]int, 8)
				var all sync.WaitGroup
				for client := range codes {
					all.Go(func() {
						codes[client] = servers[client%2].Do(t, harness.Request{
							Method: "PATCH", Path: path, Token: token, Header: map[string]string{"If-Match": tag}, Body: edit(key, row{fields[key]: fmt.Sprint(1000 + client)}),
						}).Code
					})
				}
				all.Wait()
				slices.Sort(codes)
				if want := []int{200, 412, 412, 412, 412, 412, 412, 412}; !slices.Equal(codes, want) {
					t.Errorf("%s: got %v, want %v", key, codes, want)
				}
			}
		})
	}
}
