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

// The reports are held against SQL that is written another way, and knows the
// practice's zone and opening hours by itself. What it gives is a line of text
// for each row, and so is what is compared with it.

// facts are the rows of a query (practice.rows), in which these words in braces
// become what the database understands:
//
//	{demo}            the id of the practice
//	{seconds X}       a column of times, in seconds since 1970
//	{day S}           the local day of such seconds, YYYY-MM-DD
//	{month S}         the local month of such seconds, YYYY-MM
//	{weekday S}       the local day of the week, 0 is Sunday
//	{minute S}        the local minute of the day
//	{plus D N}        a date and a number of days
func facts(t *testing.T, p practice, query string) []string {
	t.Helper()
	query = strings.ReplaceAll(query, "{demo}", ours)
	for {
		start := strings.LastIndex(query, "{") // the innermost first
		if start < 0 {
			return p.rows(t, query)
		}
		end := start + strings.Index(query[start:], "}")
		query = query[:start] + say(p.Dialect == dialect.Postgres, query[start+1:end]) + query[end+1:]
	}
}

func say(postgres bool, words string) string {
	word, rest, _ := strings.Cut(words, " ")
	format := map[string]string{"day": "%Y-%m-%d", "month": "%Y-%m", "weekday": "%w"}[word]
	local := "to_timestamp(" + rest + ") AT TIME ZONE 'Europe/London'"
	if !postgres { // it knows no zones: an hour more in summer
		local = fmt.Sprintf("(%[1]s) + CASE WHEN (%[1]s) BETWEEN unixepoch('2025-03-30 01:00') AND unixepoch('2025-10-26 00:59:59') OR (%[1]s) BETWEEN unixepoch('2026-03-29 01:00') AND unixepoch('2026-10-25 00:59:59') THEN 3600 ELSE 0 END", rest)
	}
	switch {
	case word == "seconds" && postgres:
		return "CAST(FLOOR(EXTRACT(EPOCH FROM " + rest + ")) AS bigint)"
	case word == "seconds":
		return "(" + rest + " / 1000000)"
	case word == "minute" && postgres:
		return "CAST(EXTRACT(HOUR FROM " + local + ") * 60 + EXTRACT(MINUTE FROM " + local + ") AS int)"
	case word == "minute":
		return "((" + local + ") / 60 % 1440)"
	case word == "plus":
		day, n, _ := strings.Cut(rest, " ")
		if postgres {
			return "to_char(" + "CAST(" + day + " AS date) + " + n + ", 'YYYY-MM-DD')"
		}
		return "date(" + day + ", '+" + n + " days')"
	case format != "" && postgres:
		format = map[string]string{"day": "YYYY-MM-DD", "month": "YYYY-MM", "weekday": "D"}[word]
		if word == "weekday" { // from 1
			return "CAST(to_char(" + local + ", 'D') AS int) - 1"
		}
		return "to_char(" + local + ", '" + format + "')"
	case word == "weekday":
		return "CAST(strftime('%w', " + local + ", 'unixepoch') AS int)"
	case format != "":
		return "strftime('" + format + "', " + local + ", 'unixepoch')"
	}
	panic("facts: " + words)
}

// line joins the cells of a row as facts does.
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

// read asks a report's typed function, on one state of the database.
func read[T any](t *testing.T, p practice, typed func(context.Context, *ent.Client, report.Filter) (T, error), f report.Filter) (found T) {
	t.Helper()
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

// site is a site of the practice.
func (p practice) site(t *testing.T, name string) *ent.Site {
	t.Helper()
	s, err := p.Ent.Site.Query().Where(site.Name(name)).Only(p.ctx)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var hired atomic.Int64 // makes the e-mail addresses of staff different

// worked is a stretch of a weekday in minutes, at a site.
type worked struct {
	site          uuid.UUID
	weekday       time.Weekday
	start, finish int
}

// hire makes a practitioner of a site, with an empty diary.
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

// dismiss makes a practitioner one who cannot be booked.
func (p practice) dismiss(t *testing.T, id int64) {
	t.Helper()
	p.tx(t, func(tx *ent.Client) error {
		return tx.Practitioner.UpdateOneID(id).SetActive(false).Exec(p.ctx)
	})
}

// booked is an appointment; from and to are as in "2026-03-29T00:30Z".
type booked struct {
	from, to  string
	state     schema.AppointmentState // Confirmed for ""
	cancelled string                  // when it was
	noPatient bool
	patient   int64 // 0 for any
}

// book fills a diary.
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
