package report

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"time"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"

	"chairside/ent"
	"chairside/ent/appointment"
	"chairside/internal/diary"
	"chairside/schema"
)

// booking is the part of an appointment that the diary report needs.
type booking struct {
	diary.Period
	kind bookingKind
}

// bookingKind is the outcome of an appointment.
type bookingKind byte

// The kinds, as encoded in the column that packed reads.
const (
	blocked       bookingKind = '0' + iota // an entry without a patient
	due                                    // a patient's, neither cancelled nor missed
	missed                                 // a patient's, who did not attend
	cancelled                              // a patient's, in time
	cancelledLate                          // a patient's, at short notice
)

// blocks reports whether the booking occupies its time.
func (k bookingKind) blocks() bool { return k == blocked || k == due }

// bookingOf returns an appointment as a booking. All cancellations are of one kind.
func bookingOf(a *ent.Appointment) booking {
	b := booking{diary.Period{Start: a.StartTime, Finish: a.FinishTime}, due}
	switch {
	case a.State == schema.Cancelled:
		b.kind = cancelled
	case a.State == schema.DidNotAttend:
		b.kind = missed
	case a.PatientID == nil:
		b.kind = blocked
	}
	return b
}

// visits reports whether a patient comes, or came, to the booking. The views of a day and of a
// week, and the report on capacity, count these as patients.
func (b booking) visits() bool { return b.kind == due }

// startsIn reports whether the booking counts in a window: in that in which it starts.
func (b booking) startsIn(window diary.Period) bool {
	return !b.Start.Before(window.Start) && b.Start.Before(window.Finish)
}

// readBookings reads the workers' bookings that overlap a period, by practitioner ID.
// PostgreSQL answers the query from the diary index alone. Listing the practitioners
// lets it seek to the period in each diary instead of scanning the whole index.
func readBookings(ctx context.Context, client *ent.Client, workers []*worker, in diary.Period) (map[int64]packed, error) {
	ids := make([]int64, len(workers))
	for i, w := range workers {
		ids[i] = w.id
	}
	start, finish := in.Start.UTC(), in.Finish.UTC()
	var rows []struct {
		PractitionerID int64 `sql:"practitioner_id"`
		Packed         packed
	}
	err := client.Appointment.Query().Where(
		appointment.PractitionerIDIn(ids...),
		appointment.Or(appointment.PatientIDNotNil(), appointment.StateNotIn(schema.Cancelled, schema.DidNotAttend)),
		appointment.StartTimeGT(start.Add(-schema.LongestAppointment)), appointment.StartTimeLT(finish), appointment.FinishTimeGT(start),
	).GroupBy(appointment.FieldPractitionerID).Aggregate(pack).Scan(ctx, &rows)
	if err != nil {
		return nil, err
	}
	found := make(map[int64]packed, len(rows))
	for _, row := range rows {
		found[row.PractitionerID] = row.Packed
	}
	return found, nil
}

// packed holds the bookings of a practitioner, which the database sends as one text.
//
// A large practice has half a million appointments a year. Reading one row for each
// takes 1.4 s, most of it in the driver and in Ent's reflection; reading one text for
// each practitioner takes 0.5 s. Ent has no aggregate for that.
type packed []booking

// pack is the SQL aggregate that packed reads: "START FINISH KIND" for each appointment,
// separated by commas. Times are milliseconds since 1970.
func pack(s *sql.Selector) string {
	join := "group_concat(%s, ',')"
	millis := func(column string) string { return s.C(column) + " / 1000" } // stored as microseconds
	if s.Dialect() == dialect.Postgres {
		join = "string_agg(%s, ',')"
		millis = func(column string) string {
			return "CAST(date_part('epoch', " + s.C(column) + ") * 1000 AS bigint)"
		}
	}
	start := millis(appointment.FieldStartTime)
	kind := fmt.Sprintf("CASE %s WHEN '%s' THEN (CASE WHEN %s > %s - %d THEN '%c' ELSE '%c' END) WHEN '%s' THEN '%c' ELSE (CASE WHEN %s IS NULL THEN '%c' ELSE '%c' END) END",
		s.C(appointment.FieldState),
		schema.Cancelled, millis(appointment.FieldCancelledAt), start, shortNotice.Milliseconds(), cancelledLate, cancelled,
		schema.DidNotAttend, missed,
		s.C(appointment.FieldPatientID), blocked, due)
	one := fmt.Sprintf("(%s) || ' ' || (%s) || ' ' || %s", start, millis(appointment.FieldFinishTime), kind)
	return sql.As(fmt.Sprintf(join, one), "packed")
}

// Scan parses the text that pack makes.
func (p *packed) Scan(src any) error {
	var text []byte
	switch v := src.(type) {
	case string:
		text = []byte(v)
	case []byte:
		text = v
	default:
		return fmt.Errorf("report: cannot read bookings from a %T", src)
	}
	*p = make(packed, 0, bytes.Count(text, []byte{','})+1)
	for len(text) > 0 {
		var one []byte
		one, text, _ = bytes.Cut(text, []byte{','})
		start, rest, _ := bytes.Cut(one, []byte{' '})
		finish, kind, _ := bytes.Cut(rest, []byte{' '})
		from, err := strconv.ParseInt(string(start), 10, 64)
		if err != nil {
			return fmt.Errorf("report: start of a booking: %w", err)
		}
		to, err := strconv.ParseInt(string(finish), 10, 64)
		if err != nil || len(kind) != 1 {
			return fmt.Errorf("report: invalid end and kind of a booking: %q", rest)
		}
		*p = append(*p, booking{diary.Period{Start: time.UnixMilli(from).UTC(), Finish: time.UnixMilli(to).UTC()}, bookingKind(kind[0])})
	}
	return nil
}
