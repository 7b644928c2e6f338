package api_test

import (
	"context"
	"testing"
	"time"

	"chairside/ent"
	fees "chairside/ent/fee"
	patients "chairside/ent/patient"
	"chairside/internal/principal"
	"chairside/internal/store"
	"chairside/internal/test/harness"
)

// TestUpdateIsDatedAfterTheOneItWaitedFor: or a client that asks for later changes would miss
// it.
func TestUpdateIsDatedAfterTheOneItWaitedFor(t *testing.T) {
	type hold func(ctx context.Context, tx *ent.Client) error
	patient := func(ctx context.Context, tx *ent.Client, id int64) error {
		_, err := tx.Patient.Query().Where(patients.ID(id), store.ForUpdate).Only(ctx)
		return err
	}
	for _, test := range []struct {
		name string
		// request is the write that waits for hold.
		request func(t *testing.T, e *harness.Env, token string) (harness.Request, hold)
	}{
		{"a new appointment", func(t *testing.T, e *harness.Env, token string) (harness.Request, hold) {
			booked := hire(t, e)
			return harness.Request{Method: "POST", Path: "/v1/appointments", Token: token, Body: booking(booked, "09:00", "09:30")},
				func(ctx context.Context, tx *ent.Client) error {
					return store.TakeLocks(ctx, tx, store.LockOf("diary", principal.Must(ctx).PracticeID, booked))
				}
		}},
		{"an appointment that moves", func(t *testing.T, e *harness.Env, token string) (harness.Request, hold) {
			booked := hire(t, e)
			path := book(t, e, token, booked, "09:00", "09:30")
			return harness.Request{Method: "PATCH", Path: path, Token: token, Body: edit("appointment", row{"finish_time": at("09:45")})},
				func(ctx context.Context, tx *ent.Client) error {
					return store.TakeLocks(ctx, tx, store.LockOf("diary", principal.Must(ctx).PracticeID, booked))
				}
		}},
		{"a patient", func(_ *testing.T, _ *harness.Env, token string) (harness.Request, hold) {
			return harness.Request{Method: "PATCH", Path: "/v1/patients/1", Token: token, Body: edit("patient", row{"occupation": "Glazier"})},
				func(ctx context.Context, tx *ent.Client) error { return patient(ctx, tx, 1) }
		}},
		{"archiving a patient", func(_ *testing.T, _ *harness.Env, token string) (harness.Request, hold) {
			return harness.Request{Method: "DELETE", Path: "/v1/patients/1", Token: token},
				func(ctx context.Context, tx *ent.Client) error { return patient(ctx, tx, 1) }
		}},
		{"a fee", func(t *testing.T, e *harness.Env, token string) (harness.Request, hold) {
			fee := e.DB.Ent.Fee.Query().FirstX(e.As(t, "demo"))
			return harness.Request{Method: "PATCH", Path: "/v1/fees/" + fee.ID.String(), Token: token, Body: edit("fee", row{"price_five": "987.65"})},
				func(ctx context.Context, tx *ent.Client) error {
					_, err := tx.Fee.Query().Where(fees.ID(fee.ID), store.ForUpdate).Only(ctx)
					return err
				}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			harness.Each(t, func(t *testing.T, e *harness.Env) {
				token, ctx := e.Token(t, ""), e.As(t, "demo")
				request, hold := test.request(t, e, token)
				answer := make(chan *harness.Response, 1)
				e.Tx(t, ctx, func(tx *ent.Client) error {
					if err := hold(ctx, tx); err != nil {
						return err
					}
					go func() { answer <- e.Do(t, request) }()
					err := untilItWaits(t, e, tx, answer)
					e.Clock.Advance(time.Minute)
					return err
				})
				r := <-answer
				if request.Method == "DELETE" {
					r.Status(t, 204)
					r = e.Get(t, request.Path, token)
				}
				for _, record := range r.JSON {
					got, err := time.Parse(time.RFC3339, record.(map[string]any)["updated_at"].(string))
					if err != nil || !got.Equal(e.Clock.Now()) {
						t.Errorf("changed at %v, want %v: %v", got, e.Clock.Now(), err)
					}
				}
			})
		})
	}
}
