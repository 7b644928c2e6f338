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
	"chairside/internal/caller"
	"chairside/internal/civil"
	"chairside/internal/clock"
	"chairside/internal/fault"
	"chairside/internal/store"
	"chairside/internal/wire"
	"chairside/ogent"
	"chairside/schema"
)

// blocking is AppointmentState.Blocks as a predicate: it holds of appointments that keep
// the practitioner's time. Two comparisons and not one with a list, which PostgreSQL
// would build anew for each row.
var blocking = appointment.And(appointment.StateNEQ(schema.Cancelled), appointment.StateNEQ(schema.DidNotAttend))

// ListAppointments is the generated list and the filter of a day. The schema holds
// back cancelled and not attended appointments unless cancelled=true; state= combines
// with that rule (behaviour.md section 3).
func (h *Handler) ListAppointments(ctx context.Context, p ogent.ListAppointmentsParams) (*ogent.AppointmentList, error) {
	var extra []predicate.Appointment
	if on, ok := p.On.Get(); ok {
		day, zone := civil.Of(on), caller.Must(ctx).Zone
		extra = append(extra,
			ent.Unseen[predicate.Appointment](appointment.FieldStartTime, sql.OpGTE, day.In(zone).UTC()),
			ent.Unseen[predicate.Appointment](appointment.FieldStartTime, sql.OpLT, day.AddDays(1).In(zone).UTC()),
		)
	}
	shown, meta, err := h.ReadAppointments(ctx, p, extra...)
	if err != nil {
		return nil, err
	}
	return &ogent.AppointmentList{Appointments: shown, Meta: meta}, nil
}

// CreateAppointment books, unless the practitioner is booked already and
// force_changes is not set (fault.DoubleBooking). In nearly every case it is try alone,
// on PostgreSQL one statement, which writes the row if every rule holds. If that has
// written nothing, otherwise goes the way of an edit: check, tell what is wrong, write.
func (h *Handler) CreateAppointment(ctx context.Context, req *ogent.AppointmentInputRequest) (*ogent.AppointmentResponse, error) {
	in, problems := &req.Appointment, wire.Problems(ctx)
	wanted := booking{
		practitioner: in.PractitionerID.Or(0),
		start:        in.StartTime.Or(time.Time{}),
		finish:       in.FinishTime.Or(time.Time{}),
		state:        schema.AppointmentState(in.State.Or(string(schema.Pending))),
		force:        in.ForceChanges.Or(false),
	}
	wanted.checkTimes(problems)
	if len(problems) > 0 { // refused in any case: what else is wrong needs no lock to be told
		return nil, checkAppointment(ctx, h.Client, in, nil, wanted, problems)
	}
	var booked *ogent.AppointmentResponse
	// add writes the row where the conditions hold, or gives ent.ErrUnmet.
	add := func(ctx context.Context, tx *ent.Client, conditions ...ent.Condition) (err error) {
		create := tx.Appointment.Create().SetBookedViaAPI(true).SetUserID(caller.Must(ctx).UserID)
		ogent.SetAppointment(create.Mutation(), in, nil)
		booked, err = h.In(tx).AddAppointment(ctx, create, conditions...)
		return err
	}
	try := func(tx *ent.Client) error { // perhaps twice (TxSingleStatement), so it makes everything anew
		diary, reason := wanted.rules(tx, in, nil)
		return add(clock.Again(ctx), tx, slices.Concat(ogent.AppointmentReferences(tx, in, nil).Hold(), diary, reason)...)
	}
	otherwise := func(tx *ent.Client) error {
		ctx := clock.Again(ctx)
		if err := checkAppointment(ctx, tx, in, nil, wanted, problems); err != nil {
			return err
		}
		return add(ctx, tx) // what was in the way has gone since
	}
	err := h.db.TxSingleStatement(ctx, wanted.locks(ctx, nil), try, otherwise)
	return booked, err
}

// UpdateAppointment changes what is sent. The row is locked before it is read,
// so that what is checked is what is changed.
func (h *Handler) UpdateAppointment(ctx context.Context, req *ogent.AppointmentInputRequest, p ogent.UpdateAppointmentParams) (*ogent.AppointmentResponse, error) {
	in, problems := &req.Appointment, wire.Problems(ctx)
	var changed *ogent.AppointmentResponse
	err := h.db.Tx(ctx, func(tx *ent.Client) error {
		old, err := ogent.FindAppointment(ctx, tx, p.ID, store.ForUpdate)
		if err != nil {
			return err
		}
		if err := ifMatch(ctx, h.In(tx).ShowAppointment, old.ID); err != nil {
			return err
		}
		wanted := booking{
			id:           old.ID,
			practitioner: in.PractitionerID.Or(old.PractitionerID),
			start:        in.StartTime.Or(old.StartTime),
			finish:       in.FinishTime.Or(old.FinishTime),
			state:        schema.AppointmentState(in.State.Or(string(old.State))),
			force:        in.ForceChanges.Or(false),
		}
		wanted.checkTimes(problems)
		if len(problems) == 0 && wanted.moves(old) { // as when booking, what is refused in any case needs no lock
			if err := store.TakeLocks(ctx, tx, wanted.locks(ctx, old)...); err != nil {
				return err
			}
		}
		ctx := clock.Again(ctx)
		if err := checkAppointment(ctx, tx, in, old, wanted, problems); err != nil {
			return err
		}
		update := tx.Appointment.UpdateOne(old)
		ogent.SetAppointment(update.Mutation(), in, old)
		changed, err = h.In(tx).ChangeAppointment(ctx, update)
		return err
	})
	return changed, err
}

// DeleteAppointment removes the appointment; the record of changes keeps that
// it was there.
func (h *Handler) DeleteAppointment(ctx context.Context, p ogent.DeleteAppointmentParams) error {
	return h.db.Tx(ctx, func(tx *ent.Client) error {
		old, err := ogent.FindAppointment(ctx, tx, p.ID, store.ForUpdate)
		if err != nil {
			return err
		}
		if err := ifMatch(ctx, h.In(tx).ShowAppointment, old.ID); err != nil {
			return err
		}
		return tx.Appointment.DeleteOne(old).Exec(clock.Again(ctx))
	})
}

// checkAppointment adds the rules that take the database to the problems found
// so far, and refuses with all of them, or else with fault.DoubleBooking. Where it
// may let the appointment pass, the practitioners are locked: what it finds of their
// diaries stays so.
func checkAppointment(ctx context.Context, c *ent.Client, in *ogent.AppointmentInput, old *ent.Appointment, wanted booking, problems fault.Params) error {
	diary, reason := wanted.rules(c, in, old)
	unmet, err := ogent.AppointmentReferences(c, in, old).Check(ctx, c, problems, slices.Concat(diary, reason)...)
	if err != nil {
		return err
	}
	if slices.Contains(unmet[len(diary):], true) {
		problems.Add("reason", "is not a reason of this practice")
	}
	if len(problems) > 0 {
		return fault.ValidationFailed(problems)
	}
	if slices.Contains(unmet[:len(diary)], true) {
		return wanted.refuse(ctx, c)
	}
	return nil
}

// booking is an appointment as it is to be.
type booking struct {
	id            int64 // 0 for a new one
	practitioner  int64
	start, finish time.Time
	state         schema.AppointmentState
	force         bool
}

// checkTimes notes what is wrong with the length, where both times could be read.
func (b booking) checkTimes(problems fault.Params) {
	if b.start.IsZero() || b.finish.IsZero() || len(problems["start_time"])+len(problems["finish_time"]) > 0 {
		return
	}
	switch length := b.finish.Sub(b.start); {
	case length <= 0:
		problems.Add("finish_time", "must be after start_time")
	case length > schema.LongestAppointment:
		problems.Add("finish_time", "must be at most 24 hours after start_time")
	}
}

// rules are the conditions, beside the references, that take the database: that
// nobody else has the time, and that the reason is one of the practice's own
// where all practices have it not. Each is empty where there is nothing to ask.
func (b booking) rules(tx *ent.Client, in *ogent.AppointmentInput, old *ent.Appointment) (diary, reason []ent.Condition) {
	if (old == nil || b.moves(old)) && !b.force && b.state.Blocks() {
		diary = append(diary, ent.None(b.conflicting(tx)))
	}
	if r, ok := in.Reason.Get(); ok && (old == nil || old.Reason != r) && !slices.Contains(schema.Reasons, r) {
		reason = append(reason, ent.Some(tx.AppointmentReason.Query().Where(appointmentreason.Reason(r), appointmentreason.Deleted(false))))
	}
	return diary, reason
}

// moves reports whether the change takes time that the appointment did not have.
func (b booking) moves(old *ent.Appointment) bool {
	return b.practitioner != old.PractitionerID || !b.start.Equal(old.StartTime) || !b.finish.Equal(old.FinishTime) ||
		b.state.Blocks() && !old.State.Blocks()
}

// locks are the diaries that the change may take time from: the appointment's
// practitioner's, and that of the one it is moved away from, so that nobody else
// moves the same appointments meanwhile. Whoever books the same practitioner
// waits for this transaction, in this process or another.
func (b booking) locks(ctx context.Context, old *ent.Appointment) []store.Lock {
	practice := caller.Must(ctx).PracticeID
	locks := []store.Lock{store.LockOf("diary", practice, b.practitioner)}
	if old != nil {
		locks = append(locks, store.LockOf("diary", practice, old.PractitionerID))
	}
	return locks
}

// conflicting finds what the time is taken by, forced appointments too. What rules
// most of the diary out is asked first.
func (b booking) conflicting(tx *ent.Client) *ent.AppointmentQuery {
	return tx.Appointment.Query().Where(
		appointment.PractitionerID(b.practitioner),
		appointment.StartTimeGT(b.start.Add(-schema.LongestAppointment)), appointment.StartTimeLT(b.finish), appointment.FinishTimeGT(b.start),
		appointment.IDNEQ(b.id), blocking,
	)
}

// refuse gives fault.DoubleBooking with the first 20 conflicts.
func (b booking) refuse(ctx context.Context, tx *ent.Client) error {
	taken, err := b.conflicting(tx).Order(appointment.ByStartTime(), appointment.ByID()).Limit(20).
		Select(appointment.FieldID, appointment.FieldStartTime, appointment.FieldFinishTime).All(ctx)
	if err != nil {
		return err
	}
	conflicts := make([]fault.Conflict, len(taken))
	for i, a := range taken {
		conflicts[i] = fault.Conflict{ID: a.ID, StartTime: a.StartTime, FinishTime: a.FinishTime}
	}
	return fault.DoubleBooking(conflicts)
}
