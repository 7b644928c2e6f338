package api

import (
	"context"
	"slices"
	"time"

	"entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/appointment"
	"chairside/ent/appointmentreason"
	"chairside/ent/predicate"
	"chairside/internal/apierror"
	"chairside/internal/civil"
	"chairside/internal/clock"
	"chairside/internal/diary"
	"chairside/internal/entx"
	"chairside/internal/principal"
	"chairside/internal/store"
	"chairside/internal/write"
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
// of the practice's, or that overlaps another of the practitioner or a slot that another client
// holds (apierror.DoubleBooking) unless force_changes is set.
func (h *Handler) appointmentRule(ctx context.Context, w *ogent.AppointmentWrite) error {
	b, old := newBooking(w), w.Old
	b.checkTimes(w.Problems)
	b.checkCancellationReason(w)
	if old == nil {
		w.Mutation.SetBookedViaAPI(true)
		w.Mutation.SetUserID(principal.Must(ctx).UserID)
	}
	if r, ok := w.In.Reason.Get(); ok && (old == nil || old.Reason != r) && !slices.Contains(schema.Reasons, r) {
		w.Require("reason", notAReason, isOwnReason(w.Tx, r))
	}
	if old != nil && !b.moves(old) && b.hold == uuid.Nil {
		return nil
	}
	if b.state.Blocks() && !b.force {
		requireFree(ctx, h, w, b)
	}
	if err := w.Lock(ctx, b.locks(ctx, old)...); err != nil || b.hold == uuid.Nil {
		return err
	}
	return takeHold(ctx, w, b)
}

// requireFree refuses the write of a booking or hold unless the practitioner is free.
func requireFree[E any, M ent.Mutation, I, R any](ctx context.Context, h *Handler, w *write.Write[E, M, I, R], b booking) {
	refuse := func(ctx context.Context) error { return h.refuse(ctx, w.Tx, b) }
	w.RequireOr(entx.NotExists(b.conflicting(w.Tx)), refuse)
	w.RequireOr(entx.NotExists(b.held(ctx, w.Tx)), refuse)
}

// notAReason is the message for a text that is no reason of the practice.
const notAReason = "is not a reason of this practice"

// isOwnReason holds if the practice has a reason of its own with this name.
func isOwnReason(tx *ent.Client, name string) entx.Condition {
	return entx.Exists(tx.AppointmentReason.Query().Where(appointmentreason.Reason(name), appointmentreason.Deleted(false)))
}

// booking is an appointment as it will be after a write.
type booking struct {
	id            int64 // 0 for a new appointment
	practitioner  int64
	start, finish time.Time
	state         schema.AppointmentState
	force         bool
	hold          uuid.UUID // the hold that it takes, or uuid.Nil
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
		hold:         w.In.HoldID.Or(uuid.Nil),
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

// checkCancellationReason adds a problem if a new cancellation reason is sent for an appointment
// that will not be cancelled. Sending back the stored reason is not an error: leaving Cancelled
// clears it.
func (b booking) checkCancellationReason(w *ogent.AppointmentWrite) {
	id, sent := w.In.AppointmentCancellationReasonID.Get()
	same := w.Old != nil && w.Old.AppointmentCancellationReasonID != nil && *w.Old.AppointmentCancellationReasonID == id
	if sent && !same && b.state != schema.Cancelled && len(w.Problems["state"]) == 0 {
		w.Problems.Add("appointment_cancellation_reason_id", "is only for cancelled appointments: set state to Cancelled")
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

const (
	maxConflicts    = 20 // named in a refusal, and as many holds
	maxAlternatives = 3
	// alternativeWindow is how far ahead alternatives are searched.
	alternativeWindow = 14 * 24 * time.Hour
)

// refuse returns apierror.DoubleBooking with the first conflicts and some alternatives.
func (h *Handler) refuse(ctx context.Context, tx *ent.Client, b booking) error {
	overlapping, err := b.conflicting(tx).Order(appointment.ByStartTime(), appointment.ByID()).Limit(maxConflicts).
		Select(appointment.FieldID, appointment.FieldStartTime, appointment.FieldFinishTime).All(ctx)
	if err != nil {
		return err
	}
	conflicts := make([]apierror.Conflict, len(overlapping))
	for i, a := range overlapping {
		conflicts[i] = apierror.Conflict{ID: a.ID, StartTime: a.StartTime, FinishTime: a.FinishTime}
	}
	held, err := b.heldSlots(ctx, tx)
	if err != nil {
		return err
	}
	free, err := h.alternatives(ctx, tx, b)
	if err != nil {
		return err
	}
	return apierror.DoubleBooking(conflicts, held, free)
}

// alternatives returns the practitioner's next free slots of the booking's length, from its
// start and from now on. It reads through tx, because the transaction has a connection already.
func (h *Handler) alternatives(ctx context.Context, tx *ent.Client, b booking) ([]apierror.Slot, error) {
	within := *h
	within.Client = tx
	ids := []int64{b.practitioner}
	hours, _, err := within.workingHours(ctx, ids)
	if err != nil {
		return nil, err
	}
	from := b.start
	if now := clock.Now(ctx); from.Before(now) {
		from = now.Truncate(time.Minute).Add(time.Minute)
	}
	window, length := diary.Period{Start: from, Finish: from.Add(alternativeWindow)}, b.finish.Sub(b.start)
	gaps, err := within.freeSlots(ctx, ids, hours, window, int(length/time.Minute), maxAlternatives)
	if err != nil {
		return nil, err
	}
	free := []apierror.Slot{}
	for _, gap := range gaps {
		for start := gap.Start; len(free) < maxAlternatives && !start.Add(length).After(gap.Finish); start = start.Add(length) {
			free = append(free, apierror.Slot{StartTime: start, FinishTime: start.Add(length), PractitionerID: b.practitioner})
		}
	}
	return free, nil
}
