package importer

import (
	"time"

	"chairside/schema"
)

// readReasons reads the practice's own appointment reasons, once for each file.
func (b *batch) readReasons() {
	if b.reasons != nil {
		return
	}
	reasons := map[string]string{}
	for _, reason := range schema.Reasons {
		reasons[foldName(reason)] = reason
	}
	b.query("SELECT reason FROM appointment_reasons WHERE practice_id = $1 AND NOT deleted", []any{b.practice.id}, func(v []any) {
		reasons[foldName(asText(v[0]))] = asText(v[0])
	})
	b.reasons = reasons
}

func (b *batch) ruleForAppointment(r *record) {
	start := r.time("start_time")
	if r.sets("duration") && !r.sets("finish_time") {
		r.values["finish_time"] = start.Add(time.Duration(r.integer("duration")) * time.Minute)
	}
	finish := r.time("finish_time")
	if finish.IsZero() {
		r.reject("finish_time", "is missing, and so is the duration")
	} else {
		r.rejectIf("finish_time", schema.CheckFinish(start, finish))
	}
	// A duration outside the limits would be a second problem beside that of finish_time.
	r.values["duration"] = min(max(int64(schema.Minutes(start, finish)), 0), int64(schema.LongestAppointment/time.Minute))
	b.checkReason(r, "reason")
	setState(r)
	checkCancellationReason(r)
	b.setStateTime(r)
	practitioner := b.parent(r, "practitioner_id")
	if state := schema.AppointmentState(r.text("state")); practitioner["active"] == false && start.After(b.now) && state.Blocks() {
		r.reject("practitioner_id", "is not active, and the appointment is in the future")
	}
}

// checkReason sets a column to the reason of that name, and rejects a new text that is no reason.
func (b *batch) checkReason(r *record, column string) {
	switch reason, ok := b.reasons[foldName(r.text(column))]; {
	case r.get(column) == nil:
	case ok:
		r.values[column] = reason
	case r.changes(column):
		r.reject(column, "is not a reason of this practice")
	}
}

// checkCancellationReason rejects a cancellation reason of an appointment that is not cancelled,
// and clears that of one that no longer is.
func checkCancellationReason(r *record) {
	const column = "appointment_cancellation_reason_id"
	switch {
	case r.text("state") == string(schema.Cancelled):
	case r.sets(column):
		r.reject(column, "must be blank, because the state is "+r.text("state"))
	case r.existing[column] != nil:
		r.values[column] = nil
	}
}

// endStates are the states of appointments that do not take place. Their times are null in any
// other state.
var endStates = []schema.AppointmentState{schema.Cancelled, schema.DidNotAttend}

// setState sets the state of an appointment without one, by the times in the file.
func setState(r *record) {
	if r.get("state") != nil {
		return
	}
	r.values["state"] = string(schema.Pending)
	for _, state := range endStates {
		if r.sets(state.Stamp()) {
			r.values["state"] = string(state)
			return
		}
	}
}

// setStateTime sets when an appointment got its state. If the file does not say so, it is
// estimated: see stateTime. An estimate is never in the future, and does not replace a known
// time.
func (b *batch) setStateTime(r *record) {
	state := schema.AppointmentState(r.text("state"))
	for _, other := range endStates {
		switch {
		case other == state:
		case r.sets(other.Stamp()):
			r.reject(other.Stamp(), "must be blank, because the state is "+string(state))
		case r.existing[other.Stamp()] != nil:
			r.values[other.Stamp()] = nil
		}
	}
	column := state.Stamp()
	if column == "" || r.sets(column) {
		return
	}
	created := r.time("created_at")
	if before, ok := r.existing[column].(time.Time); ok && r.existing["state"] == string(state) {
		start, _ := r.existing["start_time"].(time.Time)
		finish, _ := r.existing["finish_time"].(time.Time)
		if !before.Equal(stateTime(state, created, start, finish)) { // it is not an estimate
			delete(r.values, column)
			return
		}
	}
	at := stateTime(state, created, r.time("start_time"), r.time("finish_time"))
	if at.After(b.now) {
		at = b.now
	}
	r.values[column] = at
}

// stateTime estimates when an appointment got its state: when it finished, was booked, or
// started.
func stateTime(state schema.AppointmentState, created, start, finish time.Time) time.Time {
	switch {
	case state == schema.Completed:
		return finish
	case (state == schema.Pending || state == schema.Confirmed) && !created.IsZero():
		return created
	}
	return start
}
