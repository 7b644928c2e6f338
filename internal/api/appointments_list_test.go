package api_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"chairside/ent/appointment"
	"chairside/internal/civil"
	"chairside/internal/principal"
	"chairside/internal/test/harness"
	"chairside/ogent"
)

// TestOnIsTheLocalDay also where it has 23 or 25 hours.
func TestOnIsTheLocalDay(t *testing.T) {
	cases := map[string]struct {
		on      []string // several ways to name the day
		in, out []string // starts of appointments on the day, and beside it
	}{
		"24 hours": {
			[]string{"2026-07-06", "2026-07-06T12:00:00", "2026-07-06T22:59:59Z", "2026-07-05T23:00:00Z", "2026-07-06T23:59:59+01:00", "2026-07-07T04:00:00+05:30"},
			[]string{"2026-07-05T23:00:00Z", "2026-07-06T12:00:00Z", "2026-07-06T22:59:00Z"}, []string{"2026-07-05T22:59:00Z", "2026-07-06T23:00:00Z"},
		},
		"23 hours": {
			[]string{"2026-03-29", "2026-03-29T00:00:00Z", "2026-03-29T22:59:59Z", "2026-03-29T02:30:00"},
			[]string{"2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z", "2026-03-29T22:59:00Z"}, []string{"2026-03-28T23:59:00Z", "2026-03-29T23:00:00Z"},
		},
		"25 hours": {
			[]string{"2026-10-25", "2026-10-24T23:00:00Z", "2026-10-25T23:59:59Z", "2026-10-25T01:30:00"},
			[]string{"2026-10-24T23:00:00Z", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "2026-10-25T23:59:00Z"}, []string{"2026-10-24T22:59:00Z", "2026-10-26T00:00:00Z"},
		},
	}
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "appointment")
		client := e.Client(t, token)
		for name, c := range cases {
			who := hire(t, e)
			var want []string
			for i, start := range append(slices.Clone(c.in), c.out...) {
				a := book(t, client, who, "09:00", "09:30", starts(instant(start)), finishes(instant(start).Add(time.Minute)))
				if i < len(c.in) {
					want = append(want, text(a.ID))
				}
			}
			for _, on := range c.on {
				query := url.Values{"practitioner_id": {text(who)}, "on": {on}}
				if got := e.Get(t, "/v1/appointments?"+query.Encode(), token).Status(t, 200).Column(t, "appointments", "id"); !slices.Equal(got, want) {
					t.Errorf("%s: on=%s: got %v, want %v", name, on, got, want)
				}
			}
		}
	})
}

// TestBeforeAndAfterCompareTheStart: after is inclusive, before is exclusive,
// and neither looks at when an appointment ends.
func TestBeforeAndAfterCompareTheStart(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token, practitioner := e.Token(t, "appointment"), hire(t, e)
		book(t, e.Client(t, token), practitioner, "10:00", "11:00")
		for query, want := range map[string]string{
			"after=2026-07-06T10:00:00": "1", "after=2026-07-06T10:00:00.001": "0", "after=2026-07-06T09:00:00Z": "1", "after=2026-07-06": "1", "after=2026-07-07": "0", "after=2026-07-06T10:30:00": "0",
			"before=2026-07-06T10:00:00": "0", "before=2026-07-06T10:00:00.001": "1", "before=2026-07-06": "0", "before=2026-07-07": "1",
			"after=2026-07-06T10:00:00&before=2026-07-06T10:00:00": "0", "after=2026-07-06T09:00:00&before=2026-07-06T10:01:00": "1", "after=2026-07-06T10:00:00&before=2026-07-06T10:01:00": "1", "after=2026-07-06T09:00:00&before=2026-07-06T10:00:00": "0",
			"after=2026-07-06T10:00:00&before=2026-07-06T10:01:00&updated_after=2026-01-01": "1", "after=2026-07-06T09:00:00&before=2026-07-06T10:00:00&updated_after=2026-01-01": "0", "on=2026-07-06&before=2026-07-06T10:00:00": "0",
		} {
			if got := e.Get(t, "/v1/appointments?practitioner_id="+text(practitioner)+"&"+query, token).Status(t, 200).Text(t, "meta.total"); got != want {
				t.Errorf("%s: %s rows, want %s", query, got, want)
			}
		}
	})
}

// TestUpdatedAfterFindsChanges at the very instant, not before, and not what
// changed nothing.
func TestUpdatedAfterFindsChanges(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		c, who := e.Client(t, e.Token(t, "appointment")), hire(t, e)
		id := book(t, c, who, "10:00", "11:00").ID
		e.Clock.Advance(time.Second)
		since := func(p *ogent.ListAppointmentsParams) { p.UpdatedAfter.SetTo(e.Clock.Now()) }
		expect := func(when string, want int) {
			t.Helper()
			if got := appointments(t, c, who, withCancelled, since).Meta.Total; got != want {
				t.Errorf("%s: %d rows, want %d", when, got, want)
			}
		}
		expect("before the change", 0)
		reschedule(t, c, id, state("Pending"), func(in *ogent.AppointmentInput) { in.Notes.SetToNull() })
		expect("after what changes nothing", 0)
		reschedule(t, c, id, state("Cancelled"))
		expect("after the change", 1)
		e.Clock.Advance(time.Millisecond)
		expect("a millisecond later", 0)
	})
}

// TestTimesThatArePlannedFor: PostgreSQL sees a list's times while it plans, except
// those of a range that an index has in order for one record (decision 8).
func TestTimesThatArePlannedFor(t *testing.T) {
	t.Parallel()
	times := func(p *ogent.ListAppointmentsParams) { p.After.SetTo(time.Now()); p.Before.SetTo(time.Now()) }
	for name, c := range map[string]struct {
		ask    func(*ogent.ListAppointmentsParams)
		unseen int
	}{
		"a practitioner's": {func(p *ogent.ListAppointmentsParams) { times(p); p.PractitionerID.SetTo(1) }, 2},
		"a room's":         {func(p *ogent.ListAppointmentsParams) { times(p); p.RoomID.SetTo(uuid.New()) }, 2},
		"a patient's":      {func(p *ogent.ListAppointmentsParams) { times(p); p.PatientID.SetTo(1) }, 2},
		"with a state":     {func(p *ogent.ListAppointmentsParams) { times(p); p.RoomID.SetTo(uuid.New()); p.State.SetTo("Pending") }, 2},
		"everybody's":      {times, 0},
		"in a state":       {func(p *ogent.ListAppointmentsParams) { times(p); p.State.SetTo("Pending") }, 0},
		"of a site":        {func(p *ogent.ListAppointmentsParams) { times(p); p.SiteID.SetTo(uuid.New()) }, 0},
		"what changed": {func(p *ogent.ListAppointmentsParams) {
			times(p)
			p.RoomID.SetTo(uuid.New())
			p.UpdatedAfter.SetTo(time.Now())
		}, 0},
		"from one time on":    {func(p *ogent.ListAppointmentsParams) { p.PatientID.SetTo(1); p.After.SetTo(time.Now()) }, 0},
		"until one time only": {func(p *ogent.ListAppointmentsParams) { p.PatientID.SetTo(1); p.Before.SetTo(time.Now()) }, 0},
	} {
		var p ogent.ListAppointmentsParams
		c.ask(&p)
		s := sql.Dialect(dialect.Postgres).Select().From(sql.Table(appointment.Table))
		for _, where := range ogent.AppointmentsRequest(p).Where {
			where(s)
		}
		if text, _ := s.Query(); strings.Count(text, "(SELECT CAST(") != c.unseen {
			t.Errorf("%s: %d times should be unseen: %s", name, c.unseen, text)
		}
	}
}

// TestADiaryIsPlannedForAnyDay: PostgreSQL plans the first five executions of a
// statement for what they ask; those of a diary it does not plan from then on.
func TestADiaryIsPlannedForAnyDay(t *testing.T) {
	e := harness.Start(t, harness.Postgres(t))
	e.DB.SQL.SetMaxOpenConns(1) // statements are those of a connection
	ctx, token := principal.AsSystem(t.Context()), e.Token(t, "")
	// With few appointments, planning costs more than any plan.
	const years = `INSERT INTO appointments SELECT (jsonb_populate_record(a, jsonb_build_object('id', 1000000 + row_number() OVER (),
			'start_time', start_time + week * interval '7 days', 'finish_time', finish_time + week * interval '7 days'))).*
		FROM appointments a, generate_series(100, 300) AS week WHERE id % 10 = 3`
	for _, statement := range []string{years, "ANALYZE"} {
		if _, err := e.DB.SQL.ExecContext(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	var room string
	if err := e.DB.SQL.QueryRowContext(ctx, "SELECT room_id FROM appointments WHERE room_id IS NOT NULL AND practice_id = (SELECT id FROM practices WHERE slug = 'demo') LIMIT 1").Scan(&room); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"/v1/appointments?practitioner_id=3&after=FROM&before=UNTIL",
		"/v1/appointments?room_id=" + room + "&after=FROM&before=UNTIL",
		"/v1/appointments?patient_id=7&after=FROM&before=UNTIL",
		"/v1/appointments?practitioner_id=3&on=FROM",
		"/v1/appointments?on=FROM",
		"/v1/appointments/availability?practitioner_ids%5B%5D=3&start_time=FROM&finish_time=UNTIL",
	} {
		if _, err := e.DB.SQL.ExecContext(ctx, "DEALLOCATE ALL"); err != nil {
			t.Fatal(err)
		}
		for day := range 12 { // the first is not prepared, the next five are planned
			from := civil.Of(e.Clock.Now()).AddDays(day + 1)
			e.Get(t, strings.NewReplacer("FROM", from.String(), "UNTIL", from.AddDays(1).String()).Replace(path), token).Status(t, 200)
		}
		var statements, forAny, forOne int
		const plans = `SELECT count(*), coalesce(sum(generic_plans), 0), coalesce(sum(custom_plans), 0) FROM pg_prepared_statements WHERE statement LIKE '%"appointments"."start_time" >%'`
		if err := e.DB.SQL.QueryRowContext(ctx, plans).Scan(&statements, &forAny, &forOne); err != nil {
			t.Fatal(err)
		}
		if statements == 0 || forAny < forOne {
			t.Errorf("%s: %d statements were planned for any day %d times, for one %d times", path, statements, forAny, forOne)
		}
	}
}
