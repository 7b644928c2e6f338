package api

import (
	"context"
	"slices"
	"time"

	"entgo.io/ent/dialect/sql"

	"chairside/ent"
	"chairside/ent/appointment"
	"chairside/ent/appointmentreason"
	"chairside/ent/predicate"
	"chairside/internal/apierror"
	"chairside/internal/civil"
	"chairside/internal/entx"
	"chairside/internal/principal"
	"chairside/internal/store"
	"chairside/ogent"
	"chairside/schema"
)

// blocking is schema.AppointmentState.Blocks as a predicate: the appointment occupies the
// practitioner's time. It is two comparisons, because PostgreSQL would build a list of states
// for each row.
var blocking = appointment.And(appointment.StateNEQ(schema.Cancelled), appointment.StateNEQ(schema.DidNotAttend))

// ListAppointments adds the filter of a day, on=, to the generated list. Without
// cancelled=true the list has no cancelled or missed appointments, whatever state= is
// (behaviour.md section 3).
func (h *Handler) ListAppointments(ctx context.Context, p ogent.ListAppointmentsParams) (*ogent.AppointmentList, error) {
	var extra []predicate.Appointment
	if on, ok := p.On.Get(); ok {
		day, zone := civil.Of(on), principal.Must(ctx).Zone
		extra = append(extra,
			entx.OpaqueTime[predicate.Appointment](appointment.FieldStartTime, sql.OpGTE, day.In(zone).UTC()),
			entx.OpaqueTime[predicate.Appointment](appointment.FieldStartTime, sql.OpLT, day.AddDays(1).In(zone).UTC()),
		)
	}
	rows, meta, err := h.ReadAppointments(ctx, p, extra...)
	if err != nil {
		return nil, err
	}
	return &ogent.AppointmentList{Appointments: rows, Meta: meta}, nil
}

// appointmentRule refuses an appointment that lasts more than a day, whose reason is not one
// of the practice's, or that overlaps another of the practitioner (apierror.DoubleBooking)
// unless force_changes is set.
func appointmentRule(ctx context.Context, w *ogent.AppointmentWrite) error {
	b, old := newBooking(w), w.Old
	b.checkTimes(w.Problems)
	if old == nil {
		w.Mutation.SetBookedViaAPI(true)
		w.Mutation.SetUserID(principal.Must(ctx).UserID)
	}
	if r, ok := w.In.Reason.Get(); ok && (old == nil || old.Reason != r) && !slices.Contains(schema.Reasons, r) {
		w.Require("reason", "is not a reason of this practice",
			entx.Exists(w.Tx.AppointmentReason.Query().Where(appointmentreason.Reason(r), appointmentreason.Deleted(false))))
	}
	if old != nil && !b.moves(old) {
		return nil
	}
	if b.state.Blocks() && !b.force {
		w.RequireOr(entx.NotExists(b.conflicting(w.Tx)), func(ctx context.Context) error { return b.refuse(ctx, w.Tx) })
	}
	return w.Lock(ctx, b.locks(ctx, old)...)
}

// booking is an appointment as it will be after a write.
type booking struct {
	id            int64 // 0 for a new appointment
	practitioner  int64
	start, finish time.Time
	state         schema.AppointmentState
	force         bool
}

// newBooking returns the booking of a write: what was sent, else what the row has.
func newBooking(w *ogent.AppointmentWrite) booking {
	old := w.Old
	if old == nil {
		old = &ent.Appointment{State: schema.Pending}
	}
	return booking{
		id:           old.ID,
		practitioner: w.In.PractitionerID.Or(old.PractitionerID),
		start:        w.In.StartTime.Or(old.StartTime),
		finish:       w.In.FinishTime.Or(old.FinishTime),
		state:        schema.AppointmentState(w.In.State.Or(string(old.State))),
		force:        w.In.ForceChanges.Or(false),
	}
}

// checkTimes adds a problem with the length if both times are valid.
func (b booking) checkTimes(problems apierror.Params) {
	if b.start.IsZero() || b.finish.IsZero() || len(problems["start_time"])+len(problems["finish_time"]) > 0 {
		return
	}
	if message := schema.CheckFinish(b.start, b.finish); message != "" {
		problems.Add("finish_time", message)
	}
}

// moves reports whether the booking occupies time that the old appointment did not.
func (b booking) moves(old *ent.Appointment) bool {
	return b.practitioner != old.PractitionerID || !b.start.Equal(old.StartTime) || !b.finish.Equal(old.FinishTime) ||
		b.state.Blocks() && !old.State.Blocks()
}

// locks returns the locks of the practitioner's diary and, for an appointment that changes
// practitioners, of the old one's. Other bookings of the practitioner wait until this
// transaction ends, in this process or another.
func (b booking) locks(ctx context.Context, old *ent.Appointment) []store.Lock {
	practice := principal.Must(ctx).PracticeID
	locks := []store.Lock{store.LockOf("diary", practice, b.practitioner)}
	if old != nil {
		locks = append(locks, store.LockOf("diary", practice, old.PractitionerID))
	}
	return locks
}

// conflicting returns the query for appointments that overlap the booking, forced ones too.
// The conditions that rule out most of the diary come first.
func (b booking) conflicting(tx *ent.Client) *ent.AppointmentQuery {
	return tx.Appointment.Query().Where(
		appointment.PractitionerID(b.practitioner),
		appointment.StartTimeGT(b.start.Add(-schema.LongestAppointment)), appointment.StartTimeLT(b.finish), appointment.FinishTimeGT(b.start),
		appointment.IDNEQ(b.id), blocking,
	)
}

// refuse returns apierror.DoubleBooking with the first 20 conflicts.
func (b booking) refuse(ctx context.Context, tx *ent.Client) error {
	overlapping, err := b.conflicting(tx).Order(appointment.ByStartTime(), appointment.ByID()).Limit(20).
		Select(appointment.FieldID, appointment.FieldStartTime, appointment.FieldFinishTime).All(ctx)
	if err != nil {
		return err
	}
	conflicts := make([]apierror.Conflict, len(overlapping))
	for i, a := range overlapping {
		conflicts[i] = apierror.Conflict{ID: a.ID, StartTime: a.StartTime, FinishTime: a.FinishTime}
	}
	return apierror.DoubleBooking(conflicts)
}
