package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	mathrand "math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"chairside/cmd/chairside/deploy/drill/internal/drill"
)

// booking is a booking that was acknowledged.
type booking struct {
	request request // with its key
	slot    int64
	id      int64
}

// appointment is what the drill compares of one.
type appointment struct {
	ID           int64     `json:"id"`
	Start        time.Time `json:"start_time"`
	Practitioner int64     `json:"practitioner_id"`
	State        string    `json:"state"`
}

// slot returns the number of the slot that the appointment is in.
func (a appointment) slot() int64 {
	return 2*int64(a.Start.Sub(firstDay)/slotTime) + a.Practitioner - 1
}

// firstDay is before all bookings of the clients, and after all other appointments.
var firstDay = time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)

const slotTime = 10 * time.Minute

// bookSlot is the body of a booking: each slot has a time and one of two practitioners.
func bookSlot(slot int64) string {
	start := firstDay.Add(time.Duration(slot/2) * slotTime)
	return fmt.Sprintf(`{"appointment": {"start_time": %q, "finish_time": %q, "practitioner_id": %d, "reason": "Exam"}}`,
		start.Format(time.RFC3339), start.Add(slotTime).Format(time.RFC3339), 1+slot%2)
}

// confirmed is the state that each booking gets later.
const confirmed = "Confirmed"

// booker is a client that books slot after slot. Each write has an Idempotency-Key and is sent again until
// it is acknowledged.
type booker struct {
	load                  *load
	base, token, position string
	server                int // that it talks to directly, or -1
}

func (b *booker) run(ctx context.Context) {
	for !b.load.stopped(ctx) {
		if b.book(ctx) != nil {
			return // ctx has ended
		}
		_ = drill.Pause(ctx, pace) // the loop ends with ctx
	}
}

// send sends a request with the position of the last response.
func (b *booker) send(ctx context.Context, q request) (r response, a appointment, sent time.Time, err error) {
	q.base, q.token, q.position = b.base, b.token, b.position
	r, sent, ok := b.load.send(ctx, q)
	if !ok {
		return r, a, sent, ctx.Err()
	}
	if r.position != "" {
		b.position = r.position
	}
	var document struct{ Appointment appointment }
	if r.status < http.StatusMultipleChoices {
		if err := json.Unmarshal(r.body, &document); err != nil {
			b.load.fail(&b.load.other, "%s %s: %v", q.method, q.path, err)
		}
	}
	return r, document.Appointment, sent, nil
}

// book books a slot, reads the booking, confirms it and reads it again.
func (b *booker) book(ctx context.Context) error {
	slot := b.load.slot.Add(1)
	q := request{method: http.MethodPost, path: "/v1/appointments", body: bookSlot(slot), key: rand.Text()}
	r, made, sent, err := b.send(ctx, q)
	if err != nil {
		return err
	}
	if r.status != http.StatusCreated || made.slot() != slot {
		b.load.fail(&b.load.wrong, "booking of slot %d: status %d: %s", slot, r.status, r.body)
		return nil
	}
	q.base, q.token = b.base, b.token
	b.load.acknowledged(&booking{request: q, slot: slot, id: made.ID}, b.server, sent)

	path := "/v1/appointments/" + strconv.FormatInt(made.ID, 10)
	for _, step := range []struct {
		request request
		state   string // "" for any
	}{
		{request: request{path: path}},
		{request: request{method: http.MethodPatch, path: path, body: `{"appointment": {"state": "` + confirmed + `"}}`, key: rand.Text()}, state: confirmed},
		{request: request{path: path}, state: confirmed},
	} {
		r, found, _, err := b.send(ctx, step.request)
		switch {
		case err != nil:
			return err
		case *async && r.status == http.StatusNotFound:
			return nil // lost, which the verdict counts
		case r.status != http.StatusOK || found.slot() != slot || step.state != "" && found.State != step.state && !*async:
			b.load.fail(&b.load.wrong, "after the booking of slot %d: %s %s: status %d: %s", slot, step.request.method, path, r.status, r.body)
			return nil
		}
	}
	return nil
}

func (l *load) acknowledged(b *booking, server int, sent time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.booked = append(l.booked, b)
	if server >= 0 {
		l.acks[server] = append(l.acks[server], ack{sent, time.Now()})
	}
}

// replay sends some acknowledged bookings again, through any server. Each must get its first response. With
// -async one that was lost is booked again.
func (l *load) replay(ctx context.Context) error {
	const sample = 20
	l.mu.Lock()
	var some []*booking
	for range min(sample, len(l.booked)) {
		some = append(some, l.booked[mathrand.IntN(len(l.booked))]) //nolint:gosec // any of them
	}
	l.mu.Unlock()
	for _, b := range some {
		q := b.request
		q.base = l.servers.proxy
		r, _, ok := l.send(ctx, q)
		if !ok {
			return ctx.Err()
		}
		var document struct{ Appointment appointment }
		if err := json.Unmarshal(r.body, &document); err != nil {
			return err
		}
		l.mu.Lock()
		same := r.replayed && document.Appointment.ID == b.id
		if *async && r.status == http.StatusCreated {
			same, b.id = true, document.Appointment.ID
		}
		l.mu.Unlock()
		if r.status != http.StatusCreated || !same {
			l.fail(&l.wrong, "the booking of slot %d sent again: status %d, replayed %t: %s", b.slot, r.status, r.replayed, r.body)
		}
	}
	return nil
}

// listPath lists the clients' bookings.
var listPath = "/v1/appointments?after=" + firstDay.Format(time.DateOnly)

// read reads lists until the load stops. The number of bookings never gets smaller, with one exception: a
// replica shows a booking a moment before it is acknowledged, and if the primary is lost in that moment,
// the booking may be gone.
func (l *load) read(ctx context.Context, token string) {
	position, seen, failedOver := "", int64(0), -1 // the number of the last request before which there was a failover
	for n := 0; !l.stopped(ctx); n++ {
		path := []string{listPath + "&per_page=5", "/v1/patients?per_page=10", listPath + "&per_page=5", "/v1/practitioners"}[n%4]
		r, _, ok := l.send(ctx, request{base: l.servers.proxy, path: path, token: token, position: position})
		if !ok {
			return
		}
		if before, _, _ := strings.Cut(position, ":"); r.position != "" {
			if timeline, _, _ := strings.Cut(r.position, ":"); before != timeline {
				failedOver = n
			}
			position = r.position
		}
		var page struct{ Meta struct{ Total int64 } }
		err := json.Unmarshal(r.body, &page)
		switch total := page.Meta.Total; {
		case err != nil || r.status != http.StatusOK:
			l.fail(&l.wrong, "%s: status %d: %s", path, r.status, r.body)
		case n%2 != 0:
		case n-failedOver <= 4 && total >= seen-bookers || *async:
			seen = total
		case total < seen:
			l.fail(&l.wrong, "the list has %d bookings after %d: a reader went back in time", total, seen)
		default:
			seen = total
		}
		_ = drill.Pause(ctx, pace) // the loop ends with ctx
	}
}
