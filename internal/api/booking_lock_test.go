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
	"chairside/ogent"
)

// TestBookingWaitsForAnotherOfThePractitioner: and then sees what the other one has booked.
func TestBookingWaitsForAnotherOfThePractitioner(t *testing.T) {
	for _, test := range []struct {
		name string
		// request is the booking that waits, given a free practitioner and the one who is
		// being booked at 09:00.
		request func(t *testing.T, c *ogent.Client, free, booked int64) func() error
	}{
		{"a new appointment", func(t *testing.T, c *ogent.Client, _, booked int64) func() error {
			return func() error {
				_, err := c.CreateAppointment(t.Context(), booking(booked, "09:15", "09:45"))
				return err
			}
		}},
		{"other times", func(t *testing.T, c *ogent.Client, _, booked int64) func() error {
			return updateOf(t, c, book(t, c, booked, "15:00", "15:30").ID, startsAt("09:15"), finishesAt("09:45"))
		}},
		{"another practitioner", func(t *testing.T, c *ogent.Client, free, booked int64) func() error {
			return updateOf(t, c, book(t, c, free, "09:15", "09:45").ID, with(booked))
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			harness.Each(t, func(t *testing.T, e *harness.Env) {
				ctx, booked := e.As(t, "demo"), hire(t, e)
				request := test.request(t, e.Client(t, e.Token(t, "")), hire(t, e), booked)
				answer := make(chan error, 1)
				e.Tx(t, ctx, func(tx *ent.Client) error {
					if err := store.TakeLocks(ctx, tx, store.LockOf("diary", principal.Must(ctx).PracticeID, booked)); err != nil {
						return err
					}
					start := instant(monday).Add(9 * time.Hour)
					err := tx.Appointment.Create().SetPractitionerID(booked).SetReason("Exam").SetStartTime(start).SetFinishTime(start.Add(30 * time.Minute)).Exec(ctx)
					if err != nil {
						return err
					}
					go func() { answer <- request() }()
					return untilItWaits(t, e, tx, answer)
				})
				harness.Refused(t, <-answer, http.StatusConflict, "double_booking")
			})
		})
	}
}

// updateOf changes an appointment when it is called.
func updateOf(t *testing.T, c *ogent.Client, id int64, sets ...set) func() error {
	return func() error {
		_, err := c.UpdateAppointment(t.Context(), of(sets...), ogent.UpdateAppointmentParams{ID: id})
		return err
	}
}

// untilItWaits returns when a transaction other than tx, the holder's, waits for a row, or
// asks again for locks that it was refused.
// SQLite does not tell; there a second transaction does not even begin.
func untilItWaits(t *testing.T, e *harness.Env, tx *ent.Client, answer <-chan error) error {
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
		c, ctx := e.Client(t, e.Token(t, "")), e.As(t, "demo")
		who := hire(t, e)
		booked := book(t, c, who, "15:00", "15:30") // writes the token's first use, too
		e.Tx(t, ctx, func(tx *ent.Client) error {
			if err := store.TakeLocks(ctx, tx, store.LockOf("diary", principal.Must(ctx).PracticeID, who)); err != nil {
				return err
			}
			_, err := c.CreateAppointment(t.Context(), booking(who, "09:15", "09:00", ofPatient(999999), reason("Whim")))
			harness.Refused(t, err, http.StatusUnprocessableEntity, "validation_failed", "finish_time", "patient_id", "reason")
			if e.DB.Dialect == dialect.Postgres { // on SQLite an edit waits to read its row
				err := updateOf(t, c, booked.ID, startsAt("09:15"), finishesAt("09:00"), reason("Whim"))()
				harness.Refused(t, err, http.StatusUnprocessableEntity, "validation_failed", "finish_time", "reason")
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
		c, ctx := e.Client(t, e.Token(t, "")), e.As(t, "demo")
		who, edited := hire(t, e), e.DB.Ent.Patient.Query().FirstIDX(ctx)
		e.Tx(t, ctx, func(tx *ent.Client) error {
			if _, err := tx.Patient.Query().Where(locked.ID(edited), store.ForUpdate).Only(ctx); err != nil {
				return err
			}
			book(t, c, who, "09:15", "09:45", ofPatient(edited))
			return nil
		})
	})
}
