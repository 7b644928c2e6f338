package api_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"entgo.io/ent/dialect"

	"chairside/ent"
	locked "chairside/ent/patient"
	"chairside/internal/principal"
	"chairside/internal/store"
	"chairside/internal/test/harness"
)

// TestBookingWaitsForAnotherOfThePractitioner: and then sees what the other one has booked.
func TestBookingWaitsForAnotherOfThePractitioner(t *testing.T) {
	for _, test := range []struct {
		name string
		// request is the booking that waits, given a free practitioner and the one who is
		// being booked at 09:00.
		request func(t *testing.T, e *harness.Env, token string, free, booked int64) harness.Request
	}{
		{"a new appointment", func(_ *testing.T, _ *harness.Env, token string, _, booked int64) harness.Request {
			return harness.Request{Method: "POST", Path: "/v1/appointments", Token: token, Body: booking(booked, "09:15", "09:45")}
		}},
		{"other times", func(t *testing.T, e *harness.Env, token string, _, booked int64) harness.Request {
			path := book(t, e, token, booked, "15:00", "15:30")
			return harness.Request{Method: "PATCH", Path: path, Token: token, Body: edit("appointment", row{"start_time": at("09:15"), "finish_time": at("09:45")})}
		}},
		{"another practitioner", func(t *testing.T, e *harness.Env, token string, free, booked int64) harness.Request {
			path := book(t, e, token, free, "09:15", "09:45")
			return harness.Request{Method: "PATCH", Path: path, Token: token, Body: edit("appointment", row{"practitioner_id": booked})}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			harness.Each(t, func(t *testing.T, e *harness.Env) {
				token, ctx := e.Token(t, ""), e.As(t, "demo")
				booked := hire(t, e)
				request := test.request(t, e, token, hire(t, e), booked)
				answer := make(chan *harness.Response, 1)
				e.Tx(t, ctx, func(tx *ent.Client) error {
					if err := store.TakeLocks(ctx, tx, store.LockOf("diary", principal.Must(ctx).PracticeID, booked)); err != nil {
						return err
					}
					start := instant(monday).Add(9 * time.Hour)
					err := tx.Appointment.Create().SetPractitionerID(booked).SetReason("Exam").SetStartTime(start).SetFinishTime(start.Add(30 * time.Minute)).Exec(ctx)
					if err != nil {
						return err
					}
					go func() { answer <- e.Do(t, request) }()
					return untilItWaits(t, e, tx, answer)
				})
				if code := (<-answer).Code; code != http.StatusConflict {
					t.Errorf("got status %d", code)
				}
			})
		})
	}
}

// untilItWaits returns when another transaction than tx, the holder's, waits for a row or
// retries locks. On SQLite it cannot know: there a second transaction does not even begin.
func untilItWaits(t *testing.T, e *harness.Env, tx *ent.Client, answer <-chan *harness.Response) error {
	t.Helper()
	if e.DB.Dialect != dialect.Postgres {
		return nil
	}
	// The holder's last statement must not be the one that takes locks, or it would be mistaken for the waiter.
	if _, err := tx.Practice.Query().Exist(e.As(t, "demo")); err != nil {
		return err
	}
	for deadline := time.Now().Add(8 * time.Second); time.Now().Before(deadline) && len(answer) == 0; {
		if systemRows(t, e, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND (state = 'idle in transaction' AND query LIKE 'SELECT CASE WHEN NOT pg_try_advisory_xact_lock%' OR wait_event_type = 'Lock') AND clock_timestamp() - xact_start > interval '50 ms'") > 0 {
			return nil
		}
	}
	return errors.New("no transaction waits")
}

// TestInvalidBookingTakesNoLock: it is refused at once, with all its problems.
func TestInvalidBookingTakesNoLock(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token, ctx := e.Token(t, ""), e.As(t, "demo")
		practitioner := hire(t, e)
		booked := book(t, e, token, practitioner, "15:00", "15:30") // also writes the token's first use
		e.Tx(t, ctx, func(tx *ent.Client) error {
			if err := store.TakeLocks(ctx, tx, store.LockOf("diary", principal.Must(ctx).PracticeID, practitioner)); err != nil {
				return err
			}
			e.Post(t, "/v1/appointments", token, booking(practitioner, "09:15", "09:00", row{"patient_id": 999999, "reason": "Whim"})).
				Error(t, http.StatusUnprocessableEntity, "validation_failed", "finish_time", "patient_id", "reason")
			if e.DB.Dialect == dialect.Postgres { // on SQLite an update waits to read its row
				changes := row{"start_time": at("09:15"), "finish_time": at("09:00"), "reason": "Whim"}
				e.Do(t, harness.Request{Method: "PATCH", Path: booked, Token: token, Body: edit("appointment", changes)}).
					Error(t, http.StatusUnprocessableEntity, "validation_failed", "finish_time", "reason")
			}
			return nil
		})
	})
}

// TestBookingDoesNotWaitForAnUpdateOfItsPatient: or all bookings of the practitioner would
// wait. (SQLite has one writer at a time.)
func TestBookingDoesNotWaitForAnUpdateOfItsPatient(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		if e.DB.Dialect != dialect.Postgres {
			return
		}
		token, ctx := e.Token(t, ""), e.As(t, "demo")
		practitioner, patient := hire(t, e), e.DB.Ent.Patient.Query().FirstIDX(ctx)
		e.Tx(t, ctx, func(tx *ent.Client) error {
			if _, err := tx.Patient.Query().Where(locked.ID(patient), store.ForUpdate).Only(ctx); err != nil {
				return err
			}
			e.Post(t, "/v1/appointments", token, booking(practitioner, "09:15", "09:45", row{"patient_id": patient})).Status(t, http.StatusCreated)
			return nil
		})
	})
}
