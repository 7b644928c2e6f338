package web_test

import (
	"encoding/csv"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"entgo.io/ent/dialect/sql"
	"github.com/google/uuid"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"chairside/ent"
	"chairside/ent/appointment"
	"chairside/ent/practitioner"
	"chairside/internal/civil"
	"chairside/internal/seal"
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

// TestWeekHasThePatientsOfItsDays: each day of the page of a week has as many patients of each
// practitioner as the page of that day, without cancelled and missed appointments. Bank holidays are
// closed, and not full.
func TestWeekHasThePatientsOfItsDays(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b, ctx := e.Browser(t).SignIn(seed.DemoAdmin), e.As(t, seed.DemoSlug)
		visit := e.DB.Ent.Appointment.Query().Where(appointment.PatientIDNotNil(), appointment.StateEQ(schema.Completed)).
			Order(appointment.ByStartTime(sql.OrderDesc()), appointment.ByID()).FirstX(ctx)
		e.Tx(t, ctx, func(tx *ent.Client) error { // one of each more
			for i, state := range []schema.AppointmentState{schema.Completed, schema.DidNotAttend, schema.Cancelled} {
				start := visit.StartTime.Add(time.Duration(24*i) * time.Hour)
				if err := tx.Appointment.Create().SetPracticeID(visit.PracticeID).SetPractitionerID(visit.PractitionerID).SetPatientID(*visit.PatientID).
					SetStartTime(start).SetFinishTime(start.Add(time.Hour)).SetReason("Exam").SetState(state).Exec(ctx); err != nil {
					return err
				}
			}
			return nil
		})
		patients := func(hint string) (n int) {
			if _, err := fmt.Sscanf(hint, "%d patient", &n); err != nil {
				return 0
			}
			return n
		}
		total, closed := 0, 0
		for _, monday := range []civil.Date{monday(civil.Of(visit.StartTime)), civil.MustParse("2025-12-22"), civil.MustParse("2026-06-29"), civil.MustParse("2026-03-23")} {
			week := b.Get("/diary/week?to="+monday.String()).Status(t, http.StatusOK)
			for day := range 7 {
				got, want := map[string]int{}, map[string]int{}
				for _, row := range week.All(func(n *html.Node) bool { return n.DataAtom == atom.Tr }) {
					cells := childrenOf(row, atom.Td)
					if len(cells) != 7 {
						continue
					}
					text := textOf(cells[day])
					if _, hint, found := strings.Cut(text, "%"); found {
						text = hint
					}
					if n := patients(strings.TrimPrefix(text, "Outside sessions")); n > 0 {
						got[textOf(childrenOf(row, atom.Th)[0])] = n
						total += n
					}
					if strings.TrimSpace(text) == "Closed" {
						closed++
					}
				}
				page := b.Get("/diary?to="+monday.AddDays(day).String()).Status(t, http.StatusOK)
				for _, person := range page.All(func(n *html.Node) bool { return n.DataAtom == atom.H3 && harness.Attr(n.Parent, "class") == "person" }) {
					hint := textOf(childrenOf(person, atom.Span)[0])
					if n := patients(hint); n > 0 {
						want[strings.TrimSuffix(textOf(person), hint)] += n // at each site
					}
				}
				if !maps.Equal(got, want) {
					t.Errorf("%s: the week has %v, the day %v", monday.AddDays(day), got, want)
				}
			}
		}
		if total == 0 || closed == 0 {
			t.Errorf("%d patients and %d closed days", total, closed)
		}
		christmas := b.Get("/diary?to=2025-12-25").Status(t, http.StatusOK)
		if blocked := entries(christmas, "other"); len(blocked) == 0 || !strings.Contains(blocked[0], "Christmas Day") {
			t.Errorf("the entries of Christmas Day do not say why it is closed: %v", blocked)
		}
	})
}

// monday returns the first day of the day's week.
func monday(day civil.Date) civil.Date {
	for day.Weekday() != time.Monday {
		day = day.AddDays(-1)
	}
	return day
}

// childrenOf returns the children of a kind.
func childrenOf(n *html.Node, kind atom.Atom) (found []*html.Node) {
	for c := range n.ChildNodes() {
		if c.DataAtom == kind {
			found = append(found, c)
		}
	}
	return found
}

// TestDiaryListsAlertsWhole: above the timeline each patient with an alert is listed, and each
// appointment can be opened without a script.
func TestDiaryListsAlertsWhole(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b, ctx := e.Browser(t).SignIn(seed.DemoAdmin), e.As(t, seed.DemoSlug)
		visit := e.DB.Ent.Appointment.Query().Where(appointment.PatientIDNotNil(), appointment.StateEQ(schema.Confirmed), appointment.StartTimeGT(e.Clock.Now())).
			Order(appointment.ByStartTime(), appointment.ByID()).FirstX(ctx)
		alert := strings.TrimSpace(strings.Repeat("Severe allergy to latex. ", 20))
		e.Tx(t, ctx, func(tx *ent.Client) error {
			return tx.Patient.UpdateOneID(*visit.PatientID).SetMedicalAlert(true).SetMedicalAlertText(seal.Plain(alert)).Exec(ctx)
		})
		p := b.Get("/diary?to="+visit.StartTime.Format(time.DateOnly)).Status(t, http.StatusOK)
		checkPage(t, p)
		listed := p.All(func(n *html.Node) bool {
			return n.DataAtom == atom.Li && harness.Attr(n.Parent.Parent, "class") == "alerts"
		})
		if !slices.ContainsFunc(listed, func(n *html.Node) bool { return strings.Contains(textOf(n), alert) }) {
			t.Errorf("%d alerts are listed, without the long one", len(listed))
		}
		flags := p.All(func(n *html.Node) bool { return harness.Attr(n, "class") == "flag" })
		if len(flags) != len(listed) {
			t.Errorf("%d entries have the mark of an alert, and %d are listed", len(flags), len(listed))
		}
		folded := p.All(func(n *html.Node) bool { return n.DataAtom == atom.Details && harness.Attr(n, "class") == "whole" })
		if all, free := len(entries(p, "entry")), len(entries(p, "free")); len(folded) != all-free || len(folded) == 0 {
			t.Errorf("%d entries can be opened, want %d", len(folded), all-free)
		}
	})
}

// TestDiaryMarksDoubleBookings: two appointments at the same time are side by side, and
// adjacent ones are not.
func TestDiaryMarksDoubleBookings(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b, ctx := e.Browser(t).SignIn(seed.DemoAdmin), e.As(t, seed.DemoSlug)
		a, err := e.DB.Ent.Appointment.Query().Where(
			appointment.StateEQ(schema.Confirmed), appointment.PatientIDNotNil(), appointment.RoomIDNotNil(), appointment.StartTimeGT(e.Clock.Now()),
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

		// By room, appointments of two practitioners clash only if they need the same room.
		own, err := e.DB.Ent.Practitioner.Get(ctx, a.PractitionerID)
		if err != nil {
			t.Fatal(err)
		}
		colleague, err := e.DB.Ent.Practitioner.Query().Where(practitioner.IDNEQ(own.ID), practitioner.SiteID(own.SiteID), practitioner.Active(true)).First(ctx)
		if err != nil {
			t.Fatal(err)
		}
		e.Tx(t, ctx, func(tx *ent.Client) error {
			for reason, room := range map[string]*uuid.UUID{"Without a room": nil, "In the same room": a.RoomID} {
				if err := tx.Appointment.Create().SetPracticeID(a.PracticeID).SetPractitionerID(colleague.ID).SetPatientID(*a.PatientID).SetNillableRoomID(room).
					SetStartTime(a.StartTime).SetFinishTime(a.FinishTime).SetReason(reason).SetState(schema.Pending).Exec(ctx); err != nil {
					return err
				}
			}
			return nil
		})
		clashes = entries(b.Get("/diary?by=room&to="+day).Status(t, http.StatusOK).Has(t, "Without a room"), "clash")
		for reason, want := range map[string]bool{"Squeezed in": false, "Without a room": false, "In the same room": true} {
			if got := slices.ContainsFunc(clashes, func(s string) bool { return strings.Contains(s, reason) }); got != want {
				t.Errorf("%q is a double booking by room: %t, want %t: %v", reason, got, want, clashes)
			}
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
