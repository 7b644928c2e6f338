package api

import (
	"context"
	"slices"

	"chairside/ent"
	"chairside/internal/civil"
	"chairside/ogent"
	"chairside/schema"
)

// waitingListRule refuses a reason that is not one of the practice's, and a period that ends
// before it begins.
func waitingListRule(_ context.Context, w *ogent.WaitingListWrite) error {
	old := w.Old
	if old == nil {
		old = &ent.WaitingList{}
	}
	r, ok := w.In.AppointmentReason.Get()
	if same := old.AppointmentReason != nil && *old.AppointmentReason == r; ok && !same && !slices.Contains(schema.Reasons, r) {
		w.Require("appointment_reason", notAReason, isOwnReason(w.Tx, r))
	}
	from, to := dayAfter(w.In.FromDate, old.FromDate), dayAfter(w.In.ToDate, old.ToDate)
	if from != nil && to != nil && to.Before(*from) {
		w.Problems.Add("to_date", "must not be before from_date")
	}
	return nil
}

// dayAfter returns an optional day as it will be after a write.
func dayAfter(sent ogent.OptNilDate, old *civil.Date) *civil.Date {
	if day, ok := sent.Get(); ok {
		return new(civil.Of(day))
	}
	if sent.IsNull() {
		return nil
	}
	return old
}
