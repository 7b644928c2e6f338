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

// booking is a valid body of an appointment on monday, with changes; a change
// to nil leaves a field out.
func booking(practitioner any, start, finish string, changes ...row) row {
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

// book books on monday and gives the path of the new appointment.
func book(t *testing.T, e *harness.Env, token string, practitioner any, start, finish string, changes ...row) (path string) {
	t.Helper()
	res := e.Post(t, "/v1/appointments", token, booking(practitioner, start, finish, changes...)).Status(t, 201)
	return "/v1/appointments" + harness.ID(res.At(t, "appointment.id"))
}

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
