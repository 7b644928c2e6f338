package web_test

import (
	"encoding/csv"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"chairside/ent"
	"chairside/ent/appointment"
	"chairside/internal/seed"
	"chairside/internal/test/harness"
	"chairside/schema"
)

// entries returns the texts of the timeline's entries with a class.
func entries(p *harness.Page, class string) (texts []string) {
	for _, n := range p.All(func(n *html.Node) bool {
		return n.DataAtom == atom.Li && slices.Contains(strings.Fields(harness.Attr(n, "class")), class)
	}) {
		texts = append(texts, textOf(n))
	}
	return texts
}

// TestDiaryShowsTheDaySheet: the timeline has an entry for each row of the day sheet, by
// practitioner; by room it has the appointments. Reception and practitioners may see it.
func TestDiaryShowsTheDaySheet(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		for _, role := range []schema.Role{schema.RoleReceptionist, schema.RoleDentist} {
			b := e.Browser(t).SignIn(userWithRole(t, e, role).Email)
			p := b.Get("/diary").Status(t, http.StatusOK)
			checkHeaders(t, p, policy)
			checkPage(t, p)
			rows, err := csv.NewReader(strings.NewReader(string(b.Get("/reports/day-sheet.csv").Status(t, http.StatusOK).Raw))).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			free := 0
			kind := slices.Index(rows[0], "entry")
			for _, row := range rows[1:] {
				if row[kind] == "Free" {
					free++
				}
			}
			all := len(rows) - 1
			if got := len(entries(p, "entry")); got != all || all == free || free == 0 {
				t.Errorf("the timeline has %d entries, the day sheet %d", got, all)
			}
			if got := len(entries(p, "free")); got != free {
				t.Errorf("the timeline has %d gaps, the day sheet %d", got, free)
			}
			rooms := b.Get("/diary?by=room").Status(t, http.StatusOK)
			checkPage(t, rooms)
			if got := len(entries(rooms, "entry")); got != all-free {
				t.Errorf("by room the timeline has %d entries, want %d", got, all-free)
			}
			if !slices.Contains(rooms.Links(), "/reports/day-sheet?to=2026-07-01") {
				t.Errorf("no link to the table: %v", rooms.Links())
			}
			week := b.Get("/diary/week").Status(t, http.StatusOK).Has(t, "Mon 29 Jun", "Sun 5 Jul", "%")
			checkPage(t, week)
			if !slices.Contains(week.Links(), "/diary?to=2026-06-29") {
				t.Errorf("the week does not link to its days: %v", week.Links())
			}
		}
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		checkFieldErrors(t, b.Get("/diary?to=yesterday"), map[string]string{"to": "Enter the day"})
		checkFieldErrors(t, b.Get("/diary?site="+unusedID[1:]), map[string]string{"site": "Choose a site"})
		checkFieldErrors(t, b.Get("/diary/week?practitioner=999999"), map[string]string{"practitioner": "Choose a practitioner"})
	})
}

// TestDiaryMarksDoubleBookings: two appointments at the same time are side by side, and
// adjacent ones are not.
func TestDiaryMarksDoubleBookings(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b, ctx := e.Browser(t).SignIn(seed.DemoAdmin), e.As(t, seed.DemoSlug)
		a, err := e.DB.Ent.Appointment.Query().Where(
			appointment.StateEQ(schema.Confirmed), appointment.PatientIDNotNil(), appointment.StartTimeGT(e.Clock.Now()),
		).Order(appointment.ByStartTime(), appointment.ByID()).First(ctx)
		if err != nil {
			t.Fatal(err)
		}
		day := a.StartTime.Format("2006-01-02")
		e.Tx(t, ctx, func(tx *ent.Client) error {
			return tx.Appointment.Create().SetPracticeID(a.PracticeID).SetPractitionerID(a.PractitionerID).SetPatientID(*a.PatientID).
				SetStartTime(a.StartTime).SetFinishTime(a.FinishTime).SetReason("Squeezed in").SetState(schema.Pending).Exec(ctx)
		})
		p := b.Get("/diary?to="+day).Status(t, http.StatusOK)
		clashes := entries(p, "clash")
		for _, reason := range []string{a.Reason, "Squeezed in"} {
			if !slices.ContainsFunc(clashes, func(s string) bool { return strings.Contains(s, reason) && strings.Contains(s, "Double booking") }) {
				t.Errorf("%q is not a double booking in %v", reason, clashes)
			}
		}
		p.Has(t, "Squeezed in", "age ")
		if len(entries(p, "lane-2")) == 0 {
			t.Error("no entry is in a second lane")
		}
	})
}

// TestDiaryOnClockChange: on the day when the clocks go back the axis is an hour longer, so
// the afternoon is where the working sessions are.
func TestDiaryOnClockChange(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b, ctx := e.Browser(t).SignIn(seed.DemoAdmin), e.As(t, seed.DemoSlug)
		a, err := e.DB.Ent.Appointment.Query().Where(appointment.PatientIDNotNil()).First(ctx)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Date(2026, time.October, 24, 23, 0, 0, 0, time.UTC) // midnight in London
		e.Tx(t, ctx, func(tx *ent.Client) error {
			for _, hours := range []int{0, 2, 3} { // 00:00 BST, 01:00 GMT, 02:00 GMT
				at := start.Add(time.Duration(hours) * time.Hour)
				if err := tx.Appointment.Create().SetPracticeID(a.PracticeID).SetPractitionerID(a.PractitionerID).SetPatientID(*a.PatientID).
					SetStartTime(at).SetFinishTime(at.Add(time.Hour)).SetReason("Night").SetState(schema.Confirmed).Exec(ctx); err != nil {
					return err
				}
			}
			return nil
		})
		p := b.Get("/diary?to=2026-10-25").Status(t, http.StatusOK).Has(t, "00:00–01:00", "01:00–02:00", "02:00–03:00")
		checkPage(t, p)
		var marks []string
		for _, n := range p.All(func(n *html.Node) bool { return harness.Attr(n, "class") == "clock" }) {
			marks = append(marks, textOf(n))
		}
		if !slices.ContainsFunc(marks, func(axis string) bool {
			return strings.HasPrefix(strings.Join(strings.Fields(axis), ""), "00:0001:0001:0002:00")
		}) {
			t.Errorf("the axis is %v", marks)
		}
		for _, place := range []string{"at-1", "at-25", "at-37"} {
			if got := entries(p, place); !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "Night") }) {
				t.Errorf("no appointment at %s: %v", place, got)
			}
		}
	})
}
