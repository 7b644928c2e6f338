package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"sync/atomic"
	"testing"
	"time"

	"chairside/ent"
	"chairside/ent/site"
	"chairside/internal/diary"
	"chairside/internal/principal"
	"chairside/internal/test/harness"
	"chairside/ogent"
	"chairside/schema"
)

var hired atomic.Int64 // makes the e-mail addresses of staff different

// hire makes an active practitioner of the demo practice with an empty diary,
// who works in the given sessions.
func hire(t *testing.T, e *harness.Env, sessions ...diary.Hours) (id int64) {
	t.Helper()
	ctx := e.As(t, "demo")
	e.Tx(t, ctx, func(tx *ent.Client) error {
		at, err := tx.Site.Query().Order(site.ByID()).FirstID(ctx)
		if err != nil {
			return err
		}
		u, err := tx.User.Create().SetFirstName("Hetty").SetLastName("Hired").SetEmail(fmt.Sprintf("hired%d@demo.chairside.test", hired.Add(1))).
			SetRole(schema.RoleDentist).Save(ctx)
		if err != nil {
			return err
		}
		p, err := tx.Practitioner.Create().SetUserID(u.ID).SetSiteID(at).Save(ctx)
		if err != nil {
			return err
		}
		id = p.ID
		for _, s := range sessions {
			err := tx.WorkingSession.Create().SetPractitionerID(p.ID).SetSiteID(at).SetWeekday(int(s.Weekday)).SetStartMinute(s.Start).SetFinishMinute(s.Finish).Exec(ctx)
			if err != nil {
				return err
			}
		}
		return nil
	})
	return id
}

// dismiss makes a practitioner inactive.
func dismiss(t *testing.T, e *harness.Env, id int64) {
	t.Helper()
	ctx := e.As(t, "demo")
	e.Tx(t, ctx, func(tx *ent.Client) error { return tx.Practitioner.UpdateOneID(id).SetActive(false).Exec(ctx) })
}

// monday is a day on which the tests book.
const monday = "2026-07-06"

// at is a time on monday as clients send it.
func at(clock string) string { return monday + "T" + clock + ":00+01:00" }

// set changes what is sent about an appointment.
type set = func(*ogent.AppointmentInput)

func state(s string) set                { return func(in *ogent.AppointmentInput) { in.State.SetTo(s) } }
func reason(s string) set               { return func(in *ogent.AppointmentInput) { in.Reason.SetTo(s) } }
func notes(s string) set                { return func(in *ogent.AppointmentInput) { in.Notes.SetTo(s) } }
func ofPatient(id int64) set            { return func(in *ogent.AppointmentInput) { in.PatientID.SetTo(id) } }
func with(id int64) set                 { return func(in *ogent.AppointmentInput) { in.PractitionerID.SetTo(id) } }
func starts(at time.Time) set           { return func(in *ogent.AppointmentInput) { in.StartTime.SetTo(at) } }
func finishes(at time.Time) set         { return func(in *ogent.AppointmentInput) { in.FinishTime.SetTo(at) } }
func forced(in *ogent.AppointmentInput) { in.ForceChanges.SetTo(true) }

// startsAt and finishesAt are times on monday.
func startsAt(clock string) set   { return starts(instant(at(clock))) }
func finishesAt(clock string) set { return finishes(instant(at(clock))) }

// of is a body that has what is set alone.
func of(sets ...set) *ogent.AppointmentInputRequest {
	body := &ogent.AppointmentInputRequest{}
	for _, change := range sets {
		change(&body.Appointment)
	}
	return body
}

// booking is the body of an appointment on monday, with changes.
func booking(who int64, start, finish string, sets ...set) *ogent.AppointmentInputRequest {
	return of(append([]set{with(who), startsAt(start), finishesAt(finish), reason("Exam")}, sets...)...)
}

// book books on monday.
func book(t *testing.T, c *ogent.Client, who int64, start, finish string, sets ...set) ogent.Appointment {
	t.Helper()
	return harness.Call(t, c.CreateAppointment, booking(who, start, finish, sets...)).Appointment
}

// reschedule changes an appointment.
func reschedule(t *testing.T, c *ogent.Client, id int64, sets ...set) ogent.Appointment {
	t.Helper()
	r, err := c.UpdateAppointment(t.Context(), of(sets...), ogent.UpdateAppointmentParams{ID: id})
	if err != nil {
		t.Fatal(err)
	}
	return r.Appointment
}

// appointments are a practitioner's, with changes to what is asked.
func appointments(t *testing.T, c *ogent.Client, who int64, ask ...func(*ogent.ListAppointmentsParams)) *ogent.AppointmentList {
	t.Helper()
	params := ogent.ListAppointmentsParams{PractitionerID: ogent.NewOptInt64(who), PerPage: ogent.NewOptInt(100)}
	for _, change := range ask {
		change(&params)
	}
	return harness.Call(t, c.ListAppointments, params)
}

func withCancelled(p *ogent.ListAppointmentsParams) { p.Cancelled.SetTo(true) }

func appointmentPath(a ogent.Appointment) string { return "/v1/appointments" + harness.ID(a.ID) }

// rawBooking is the body of an appointment on monday as JSON, for values that the client
// cannot send; a change to nil leaves a field out.
func rawBooking(practitioner any, start, finish string, changes ...row) row {
	fields := row{"practitioner_id": practitioner, "start_time": at(start), "finish_time": at(finish), "reason": "Exam"}
	return row{"appointment": change(fields, changes...)}
}

func change(fields row, changes ...row) row {
	for _, c := range changes {
		maps.Copy(fields, c)
	}
	maps.DeleteFunc(fields, func(_ string, v any) bool { return v == nil })
	return fields
}

// null is sent as null, where nil leaves a field out.
var null = struct{ X *int }{}.X

// edit is the body of a change.
func edit(key string, fields row) row { return row{key: fields} }

// shown is how an instant is answered.
func shown(at time.Time) string { return at.In(zone).Format("2006-01-02T15:04:05.000-07:00") }

// first is the first id of a list.
func first(t *testing.T, e *harness.Env, token, list, query string) any {
	t.Helper()
	return e.Get(t, "/v1/"+list+"?per_page=1&"+query, token).Status(t, 200).At(t, list+".0.id")
}

// elsewhere are tokens of the second practice's administrator.
func elsewhere(t *testing.T, e *harness.Env) string {
	t.Helper()
	return e.TokenOf(t, "admin@second.chairside.test", "", nil)
}

// systemRows runs a query past every confinement, to see what is stored.
func systemRows(t *testing.T, e *harness.Env, query string, args ...any) (n int) {
	t.Helper()
	if err := e.DB.SQL.QueryRowContext(principal.AsSystem(t.Context()), query, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// jsonNumber is how a number is decoded.
func jsonNumber(n int) json.Number { return json.Number(fmt.Sprint(n)) }

// everyPage reads a list from its first to its last page and holds that its total is right.
func everyPage[T any](t *testing.T, read func(page, size ogent.OptInt) (rows []T, total int)) (all []T) {
	t.Helper()
	const size = 100
	for page := 1; ; page++ {
		rows, total := read(ogent.NewOptInt(page), ogent.NewOptInt(size))
		all = append(all, rows...)
		if len(rows) == size {
			continue
		}
		if total != len(all) {
			t.Errorf("%T: total %d of %d rows", rows, total, len(all))
		}
		return all
	}
}

// wire is how a value is sent: two answers are the same where this is.
func wire(t *testing.T, v json.Marshaler) string {
	t.Helper()
	text, err := v.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
