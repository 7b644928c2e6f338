package api

import (
	"context"
	"time"

	"chairside/ent"
	"chairside/ent/appointmenthold"
	"chairside/internal/apierror"
	"chairside/internal/clock"
	"chairside/internal/entx"
	"chairside/internal/principal"
	"chairside/ogent"
	"chairside/schema"
)

// holdRule keeps a free slot for the token. It takes the lock of a booking, so that neither a
// booking nor another hold can take the slot at the same time. It deletes the practitioner's
// expired holds.
func (h *Handler) holdRule(ctx context.Context, w *ogent.AppointmentHoldWrite) error {
	b := booking{practitioner: w.In.PractitionerID.Or(0), start: w.In.StartTime.Or(time.Time{}), finish: w.In.FinishTime.Or(time.Time{}), state: schema.Pending}
	b.checkTimes(w.Problems)
	seconds, longest := w.In.Seconds.Or(int(schema.LongestHold.Seconds())), int(schema.LongestHold.Seconds())
	if seconds < 1 || seconds > longest {
		w.Problems.Add("seconds", "must be between 1 and 600")
	}
	if err := w.Lock(ctx, b.locks(ctx, nil)...); err != nil {
		return err
	}
	ctx = clock.Refresh(ctx)
	now := clock.Now(ctx)
	requireFree(ctx, h, w, b)
	if err := w.Check(ctx); err != nil {
		return err
	}
	w.Mutation.SetTokenID(principal.Must(ctx).TokenID)
	w.Mutation.SetExpiresAt(now.Add(time.Duration(seconds) * time.Second))
	_, err := w.Tx.AppointmentHold.Delete().Where(appointmenthold.PractitionerID(b.practitioner), appointmenthold.ExpiresAtLTE(now)).Exec(ctx)
	return err
}

// held returns the query for unexpired holds that overlap the booking, without the one that
// it takes.
func (b booking) held(ctx context.Context, tx *ent.Client) *ent.AppointmentHoldQuery {
	return tx.AppointmentHold.Query().Where(
		appointmenthold.PractitionerID(b.practitioner),
		appointmenthold.StartTimeLT(b.finish), appointmenthold.FinishTimeGT(b.start),
		appointmenthold.ExpiresAtGT(clock.Now(ctx)), appointmenthold.IDNEQ(b.hold),
	)
}

// takeHold books with a hold: it requires that the hold is the token's and covers the booking,
// saves the appointment and deletes the hold.
func takeHold(ctx context.Context, w *ogent.AppointmentWrite, b booking) error {
	w.Require("hold_id", "is not a hold of this token for this practitioner and these times, or has expired",
		entx.Exists(w.Tx.AppointmentHold.Query().Where(
			appointmenthold.ID(b.hold), appointmenthold.TokenID(principal.Must(ctx).TokenID), appointmenthold.PractitionerID(b.practitioner),
			appointmenthold.StartTimeLTE(b.start), appointmenthold.FinishTimeGTE(b.finish), appointmenthold.ExpiresAtGT(clock.Now(ctx)),
		)))
	if err := w.Save(ctx); err != nil {
		return err
	}
	_, err := w.Tx.AppointmentHold.Delete().Where(appointmenthold.ID(b.hold)).Exec(ctx)
	return err
}

// heldSlots returns the first 20 holds that overlap the booking.
func (b booking) heldSlots(ctx context.Context, tx *ent.Client) ([]apierror.Held, error) {
	rows, err := b.held(ctx, tx).Order(appointmenthold.ByStartTime(), appointmenthold.ByID()).Limit(maxConflicts).All(ctx)
	var slots []apierror.Held
	for _, row := range rows {
		slots = append(slots, apierror.Held{StartTime: row.StartTime, FinishTime: row.FinishTime, ExpiresAt: row.ExpiresAt})
	}
	return slots, err
}
