package report_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"chairside/ent"
	"chairside/internal/civil"
	"chairside/internal/report"
	"chairside/schema"
)

// TestCapacityMatchesMinutes compares the report with a count of single minutes, over the end of
// summer time.
func TestCapacityMatchesMinutes(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		high := p.site(t, "High Street Dental")
		night := p.hire(t, high.ID, schema.RoleDentist, worked{high.ID, time.Sunday, 0, 240}, worked{high.ID, time.Monday, 540, 1020})
		p.book(t, night,
			booked{from: "2026-10-25T00:30Z", to: "2026-10-25T01:30Z"},                             // 1:30 to 1:30: an hour, because the clocks go back
			booked{from: "2026-10-26T09:00Z", to: "2026-10-26T10:00Z"},                             // and
			booked{from: "2026-10-26T09:30Z", to: "2026-10-26T10:30Z"},                             // another that overlaps it
			booked{from: "2026-10-26T16:30Z", to: "2026-10-26T17:30Z", noPatient: true},            // half an hour of it outside the session
			booked{from: "2026-10-26T11:00Z", to: "2026-10-26T12:00Z", state: schema.DidNotAttend}, // free
			booked{from: "2026-10-26T12:00Z", to: "2026-10-26T13:00Z", state: schema.Cancelled},    // free
			booked{from: "2026-11-01T23:30Z", to: "2026-11-02T00:30Z"},                             // over the end of a week
			booked{from: "2026-10-31T23:50Z", to: "2026-11-01T00:20Z", noPatient: true},            // and of a month
			booked{from: "2026-10-26T08:00Z", to: "2026-10-26T08:30Z", state: schema.Cancelled, cancelled: "2026-10-20T08:00Z"},
		)
		gone := p.hire(t, high.ID, schema.RoleDentist, worked{high.ID, time.Monday, 540, 1020})
		p.book(t, gone, booked{from: "2026-10-26T09:00Z", to: "2026-10-26T10:00Z"})
		p.dismiss(t, gone)
		for _, f := range []report.Filter{period("2026-10-21", "2026-11-04"), period("2026-07-01", "2026-08-23"), period("2026-03-27", "2026-03-31")} {
			a := p.ask(t, "capacity", f)
			want := p.minutes(t, f)
			got := map[string][]int64{}
			for _, line := range cells(t, a, "practitioner_weeks", "practitioner_id", "week", "session_minutes", "booked_minutes", "free_minutes", "outside_minutes", "appointments", "blocked_minutes") {
				parts := strings.Split(line, "|")
				key := parts[0] + "|" + parts[1]
				if got[key] == nil {
					got[key] = make([]int64, 6)
				}
				for i, text := range parts[2:] { // all sites
					n, err := strconv.ParseInt(text, 10, 64)
					if err != nil {
						t.Fatal(err)
					}
					got[key][i] += n
				}
			}
			sameRows(t, f.From.String(), flat(got), flat(want))
			if len(want) < 5 {
				t.Errorf("%s: only %d weeks", f.From, len(want))
			}
		}
		a := p.ask(t, "capacity", report.Filter{From: civil.MustParse("2026-10-25"), To: civil.MustParse("2026-10-25"), PractitionerID: &night})
		if session, used := figure(t, a, "free_minutes")+figure(t, a, "booked_minutes"), figure(t, a, "booked_minutes"); session != 300 || used != 60 {
			t.Errorf("the night of the clock change has %d minutes, %d of them booked", session, used)
		}
	})
}

// minutes counts the minutes of each practitioner and week: of sessions, booked ones, free ones
// and those booked outside; the patients booked; and the blocked minutes of sessions.
func (p practice) minutes(t *testing.T, f report.Filter) map[string][]int64 {
	t.Helper()
	busy, blocked, starts := map[int64]map[int64]bool{}, map[int64]map[int64]bool{}, map[int64]map[int64]int64{} // by practitioner and minute
	for _, a := range p.Ent.Appointment.Query().AllX(p.ctx) {
		by := a.PractitionerID
		if busy[by] == nil {
			busy[by], blocked[by], starts[by] = map[int64]bool{}, map[int64]bool{}, map[int64]int64{}
		}
		if a.State == schema.Cancelled || a.State == schema.DidNotAttend {
			continue
		}
		taken := busy[by]
		if a.PatientID == nil {
			taken = blocked[by]
		}
		for at := a.StartTime.Unix() / 60; at < a.FinishTime.Unix()/60; at++ {
			taken[at] = true
		}
		if a.PatientID != nil {
			starts[by][a.StartTime.Unix()/60]++
		}
	}
	open := p.Ent.Practice.Query().OnlyX(p.ctx).OpeningHours
	sums := map[string][]int64{}
	for _, w := range p.Ent.Practitioner.Query().WithWorkingSessions().AllX(p.ctx) {
		works := func(at time.Time) bool {
			minute := at.Hour()*60 + at.Minute()
			if len(w.Edges.WorkingSessions) == 0 {
				h := open[at.Weekday().String()]
				clock := at.Format("15:04")
				return w.Active && h.Open <= clock && clock < h.Close
			}
			return w.Active && slices.ContainsFunc(w.Edges.WorkingSessions, func(s *ent.WorkingSession) bool {
				return s.Weekday == int(at.Weekday()) && s.StartMinute <= minute && minute < s.FinishMinute
			})
		}
		for at := f.From.In(p.zone); at.Before(f.To.AddDays(1).In(p.zone)); at = at.Add(time.Minute) {
			v := make([]int64, 6)
			v[4] = starts[w.ID][at.Unix()/60]
			isBusy, isBlocked := busy[w.ID][at.Unix()/60], blocked[w.ID][at.Unix()/60]
			switch isOpen := works(at); {
			case isOpen && isBlocked:
				v[5] = 1
				if isBusy {
					v[3] = 1
				}
			case isOpen && isBusy:
				v[0], v[1] = 1, 1
			case isOpen:
				v[0], v[2] = 1, 1
			case isBusy:
				v[3] = 1
			}
			if v[0]+v[3]+v[4]+v[5] == 0 {
				continue
			}
			day := civil.Of(at)
			for day.Weekday() != time.Monday {
				day = day.AddDays(-1)
			}
			key := fmt.Sprintf("%d|%s", w.ID, day)
			if sums[key] == nil {
				sums[key] = make([]int64, 6)
			}
			for i := range v {
				sums[key][i] += v[i]
			}
		}
	}
	return sums
}
