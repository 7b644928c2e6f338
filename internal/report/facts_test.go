package report_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"entgo.io/ent/dialect"
	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/site"
	"chairside/internal/civil"
	"chairside/internal/clock"
	"chairside/internal/report"
	"chairside/internal/test/harness"
	"chairside/schema"
)

// The tests compare reports with SQL that is written independently of their code, and that
// has its own knowledge of the practice's time zone and opening hours. Rows are compared as
// lines of text.

// facts runs a query and returns its rows (see practice.rows). It translates these macros
// to the SQL of the database:
//
//	{demo}            the ID of the demo practice
//	{seconds X}       a time column, in seconds since 1970
//	{day S}           the local day of a time in seconds, YYYY-MM-DD
//	{month S}         its local month, YYYY-MM
//	{weekday S}       its local day of the week, 0 for Sunday
//	{minute S}        its local minute of the day
//	{plus D N}        a date plus a number of days
func facts(t *testing.T, p practice, query string) []string {
	t.Helper()
	query = strings.ReplaceAll(query, "{demo}", ours)
	for {
		start := strings.LastIndex(query, "{") // macros are nested: the innermost first
		if start < 0 {
			return p.rows(t, query)
		}
		end := start + strings.Index(query[start:], "}")
		query = query[:start] + expand(p.Dialect == dialect.Postgres, query[start+1:end]) + query[end+1:]
	}
}

// expand translates one macro, without its braces.
func expand(postgres bool, macro string) string {
	name, rest, _ := strings.Cut(macro, " ")
	format := map[string]string{"day": "%Y-%m-%d", "month": "%Y-%m", "weekday": "%w"}[name]
	local := "to_timestamp(" + rest + ") AT TIME ZONE 'Europe/London'"
	if !postgres { // SQLite has no time zones: add an hour in summer
		local = fmt.Sprintf("(%[1]s) + CASE WHEN (%[1]s) BETWEEN unixepoch('2025-03-30 01:00') AND unixepoch('2025-10-26 00:59:59') OR (%[1]s) BETWEEN unixepoch('2026-03-29 01:00') AND unixepoch('2026-10-25 00:59:59') THEN 3600 ELSE 0 END", rest)
	}
	switch {
	case name == "seconds" && postgres:
		return "CAST(FLOOR(EXTRACT(EPOCH FROM " + rest + ")) AS bigint)"
	case name == "seconds":
		return "(" + rest + " / 1000000)"
	case name == "minute" && postgres:
		return "CAST(EXTRACT(HOUR FROM " + local + ") * 60 + EXTRACT(MINUTE FROM " + local + ") AS int)"
	case name == "minute":
		return "((" + local + ") / 60 % 1440)"
	case name == "plus":
		day, n, _ := strings.Cut(rest, " ")
		if postgres {
			return "to_char(" + "CAST(" + day + " AS date) + " + n + ", 'YYYY-MM-DD')"
		}
		return "date(" + day + ", '+" + n + " days')"
	case format != "" && postgres:
		format = map[string]string{"day": "YYYY-MM-DD", "month": "YYYY-MM", "weekday": "D"}[name]
		if name == "weekday" { // PostgreSQL counts from 1
			return "CAST(to_char(" + local + ", 'D') AS int) - 1"
		}
		return "to_char(" + local + ", '" + format + "')"
	case name == "weekday":
		return "CAST(strftime('%w', " + local + ", 'unixepoch') AS int)"
	case format != "":
		return "strftime('" + format + "', " + local + ", 'unixepoch')"
	}
	panic("facts: unknown macro " + macro)
}

// line formats a row as facts does.
func line(cells ...any) string {
	var text []string
	for _, c := range cells {
		switch c := c.(type) {
		case *civil.Date:
			if c == nil {
				text = append(text, "")
				continue
			}
			text = append(text, c.String())
		default:
			text = append(text, fmt.Sprint(c))
		}
	}
	return strings.Join(text, "|")
}

// read calls the typed function of a report on one snapshot of the database.
func read[T any](t *testing.T, p practice, typed func(context.Context, *ent.Client, report.Filter) (T, error), f report.Filter) (found T) {
	t.Helper()
	f.Keys = p.Keys
	err := p.View(p.ctx, func(client *ent.Client) (err error) {
		found, err = typed(p.ctx, client, f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func period(from, to string) report.Filter {
	return report.Filter{From: civil.MustParse(from), To: civil.MustParse(to)}
}

// site returns the site with the name.
func (p practice) site(t *testing.T, name string) *ent.Site {
	t.Helper()
	s, err := p.Ent.Site.Query().Where(site.Name(name)).Only(p.ctx)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var hired atomic.Int64 // makes e-mail addresses of staff unique

// worked is a weekly session at a site; start and finish are minutes after midnight.
type worked struct {
	site          uuid.UUID
	weekday       time.Weekday
	start, finish int
}

// hire creates a practitioner with an empty diary.
func (p practice) hire(t *testing.T, at uuid.UUID, role schema.Role, sessions ...worked) (id int64) {
	t.Helper()
	p.tx(t, func(tx *ent.Client) error {
		u, err := tx.User.Create().SetFirstName("Hetty").SetLastName("Hired").SetEmail(fmt.Sprintf("hired%d@report.chairside.test", hired.Add(1))).
			SetRole(role).Save(p.ctx)
		if err != nil {
			return err
		}
		w, err := tx.Practitioner.Create().SetUserID(u.ID).SetSiteID(at).Save(p.ctx)
		if err != nil {
			return err
		}
		id = w.ID
		for _, s := range sessions {
			err := tx.WorkingSession.Create().SetPractitionerID(id).SetSiteID(s.site).SetWeekday(int(s.weekday)).SetStartMinute(s.start).SetFinishMinute(s.finish).Exec(p.ctx)
			if err != nil {
				return err
			}
		}
		return nil
	})
	return id
}

// dismiss makes a practitioner inactive.
func (p practice) dismiss(t *testing.T, id int64) {
	t.Helper()
	p.tx(t, func(tx *ent.Client) error {
		return tx.Practitioner.UpdateOneID(id).SetActive(false).Exec(p.ctx)
	})
}

// booked is an appointment. Times are written as "2026-03-29T00:30Z".
type booked struct {
	from, to  string
	state     schema.AppointmentState // Confirmed for ""
	cancelled string                  // time of the cancellation
	noPatient bool
	patient   int64 // 0 for the first patient
}

// book creates appointments with a practitioner.
func (p practice) book(t *testing.T, by int64, all ...booked) {
	t.Helper()
	p.tx(t, func(tx *ent.Client) error {
		who, err := tx.Patient.Query().Order(ent.Asc("id")).FirstID(p.ctx)
		if err != nil {
			return err
		}
		for _, b := range all {
			if b.state == "" {
				b.state = schema.Confirmed
			}
			at := harness.Now
			if b.cancelled != "" {
				at = instant(t, b.cancelled)
			}
			create := tx.Appointment.Create().SetPractitionerID(by).SetStartTime(instant(t, b.from)).SetFinishTime(instant(t, b.to)).SetReason("Exam").SetState(b.state)
			switch {
			case b.patient != 0:
				create.SetPatientID(b.patient)
			case !b.noPatient:
				create.SetPatientID(who)
			}
			if err := create.Exec(clock.With(p.ctx, at)); err != nil {
				return err
			}
		}
		return nil
	})
}

func instant(t *testing.T, s string) time.Time {
	t.Helper()
	at, err := time.Parse("2006-01-02T15:04Z07:00", s)
	if err != nil {
		t.Fatal(err)
	}
	return at
}
