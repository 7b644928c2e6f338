package api_test

import (
	"context"
	"testing"
	"time"

	"chairside/ent"
	fees "chairside/ent/fee"
	stored "chairside/ent/patient"
	"chairside/internal/principal"
	"chairside/internal/store"
	"chairside/internal/test/harness"
	"chairside/ogent"
)

// TestUpdateIsDatedAfterTheOneItWaitedFor: or a client that asks for later changes would miss
// it.
func TestUpdateIsDatedAfterTheOneItWaitedFor(t *testing.T) {
	type hold func(ctx context.Context, tx *ent.Client) error
	// request answers when the record was updated.
	type request func() (time.Time, error)
	patientOne := func(ctx context.Context, tx *ent.Client) error {
		_, err := tx.Patient.Query().Where(stored.ID(1), store.ForUpdate).Only(ctx)
		return err
	}
	diaryOf := func(who int64) hold {
		return func(ctx context.Context, tx *ent.Client) error {
			return store.TakeLocks(ctx, tx, store.LockOf("diary", principal.Must(ctx).PracticeID, who))
		}
	}
	for _, test := range []struct {
		name string
		// request is what waits for hold.
		request func(t *testing.T, e *harness.Env, c *ogent.Client) (request, hold)
	}{
		{"a new appointment", func(t *testing.T, e *harness.Env, c *ogent.Client) (request, hold) {
			who := hire(t, e)
			return func() (time.Time, error) {
				r, err := c.CreateAppointment(t.Context(), booking(who, "09:00", "09:30"))
				if err != nil {
					return time.Time{}, err
				}
				return r.Appointment.UpdatedAt, nil
			}, diaryOf(who)
		}},
		{"an appointment that moves", func(t *testing.T, e *harness.Env, c *ogent.Client) (request, hold) {
			who := hire(t, e)
			id := book(t, c, who, "09:00", "09:30").ID
			return func() (time.Time, error) {
				r, err := c.UpdateAppointment(t.Context(), of(finishesAt("09:45")), ogent.UpdateAppointmentParams{ID: id})
				if err != nil {
					return time.Time{}, err
				}
				return r.Appointment.UpdatedAt, nil
			}, diaryOf(who)
		}},
		{"a patient", func(t *testing.T, _ *harness.Env, c *ogent.Client) (request, hold) {
			return func() (time.Time, error) {
				r, err := c.UpdatePatient(t.Context(), person(func(in *ogent.PatientInput) { in.Occupation.SetTo("Glazier") }), ogent.UpdatePatientParams{ID: 1})
				if err != nil {
					return time.Time{}, err
				}
				return r.Patient.UpdatedAt, nil
			}, patientOne
		}},
		{"a patient who is archived", func(t *testing.T, _ *harness.Env, c *ogent.Client) (request, hold) {
			return func() (time.Time, error) {
				if err := c.DeletePatient(t.Context(), ogent.DeletePatientParams{ID: 1}); err != nil {
					return time.Time{}, err
				}
				r, err := c.GetPatient(t.Context(), ogent.GetPatientParams{ID: 1})
				if err != nil {
					return time.Time{}, err
				}
				return r.Patient.UpdatedAt, nil
			}, patientOne
		}},
		{"a fee", func(t *testing.T, e *harness.Env, c *ogent.Client) (request, hold) {
			id := e.DB.Ent.Fee.Query().FirstX(e.As(t, "demo")).ID
			return func() (time.Time, error) {
					r, err := c.UpdateFee(t.Context(), &ogent.FeeInputRequest{Fee: ogent.FeeInput{PriceFive: ogent.NewOptString("987.65")}}, ogent.UpdateFeeParams{ID: id})
					if err != nil {
						return time.Time{}, err
					}
					return r.Fee.UpdatedAt, nil
				}, func(ctx context.Context, tx *ent.Client) error {
					_, err := tx.Fee.Query().Where(fees.ID(id), store.ForUpdate).Only(ctx)
					return err
				}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			harness.Each(t, func(t *testing.T, e *harness.Env) {
				ctx := e.As(t, "demo")
				request, hold := test.request(t, e, e.Client(t, e.Token(t, "")))
				var updated time.Time
				answer := make(chan error, 1)
				e.Tx(t, ctx, func(tx *ent.Client) error {
					if err := hold(ctx, tx); err != nil {
						return err
					}
					go func() {
						at, err := request()
						updated = at
						answer <- err
					}()
					err := untilItWaits(t, e, tx, answer)
					e.Clock.Advance(time.Minute)
					return err
				})
				if err := <-answer; err != nil || !updated.Equal(e.Clock.Now()) {
					t.Errorf("changed at %v, want %v: %v", updated, e.Clock.Now(), err)
				}
			})
		})
	}
}
