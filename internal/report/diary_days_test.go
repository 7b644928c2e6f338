package report_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"chairside/ent/practitioner"
	"chairside/internal/civil"
	"chairside/internal/principal"
	"chairside/internal/report"
	"chairside/schema"
)

// TestDiaryDaysAddUp: the days of a week add up to the diary of the week, also in a week in
// which the clocks change. Those who have left had sessions in a period with bookings alone.
func TestDiaryDaysAddUp(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		left := p.Ent.Practitioner.Query().Where(practitioner.Active(false)).IDsX(p.ctx)
		for _, monday := range []string{"2026-06-15", "2026-03-23", "2025-10-20"} {
			first := civil.MustParse(monday)
			f := report.Filter{From: first, To: first.AddDays(6)}
			type key struct {
				practitioner int64
				site         string
			}
			type sum struct{ session, blocked, booked, due, visits, cancelled int }
			want, got := map[key]sum{}, map[key]sum{}
			add := func(to map[key]sum, row report.DiaryRow) {
				k := key{row.PractitionerID, row.Site}
				s := to[k]
				to[k] = sum{s.session + row.Session, s.blocked + row.Blocked, s.booked + row.Booked, s.due + row.Due, s.visits + row.Visits, s.cancelled + row.Cancelled}
			}
			for _, row := range read(t, p, report.Diary, f) {
				add(want, row)
			}
			days := read(t, p, report.DiaryDays, f)
			for i, d := range days {
				if d.Day.Before(f.From) || f.To.Before(d.Day) || i > 0 && d.Day.Before(days[i-1].Day) {
					t.Errorf("%s is out of order", d.Day)
				}
				add(got, d.DiaryRow)
			}
			for k, w := range want {
				if !slices.Contains(left, k.practitioner) && got[k] != w {
					t.Errorf("week of %s: %v adds up to %+v, want %+v", monday, k, got[k], w)
				}
			}
			if len(want) == 0 {
				t.Errorf("week of %s: nothing to compare", monday)
			}
		}
	})
}

// TestDaysOfWeeksAreTheirDaySheets: the days of a week have the patients and the free time of
// their day sheets, at each site: without the missed and cancelled appointments, and with those
// over midnight on the day on which they start. Closed days have no session time.
func TestDaysOfWeeksAreTheirDaySheets(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		high := p.site(t, "High Street Dental").ID
		owl := p.hire(t, high, schema.RoleDentist, worked{high, time.Tuesday, 540, 1020}, worked{high, time.Wednesday, 0, 60}, worked{high, time.Thursday, 540, 1020})
		p.book(t, owl,
			booked{from: "2026-06-30T08:00Z", to: "2026-06-30T08:30Z"},
			booked{from: "2026-06-30T09:00Z", to: "2026-06-30T09:30Z", state: schema.DidNotAttend},
			booked{from: "2026-06-30T10:00Z", to: "2026-06-30T10:30Z", state: schema.Cancelled},
			booked{from: "2026-06-29T22:40Z", to: "2026-06-29T23:00Z"}, // until midnight
			booked{from: "2026-06-30T22:40Z", to: "2026-06-30T23:20Z"}, // until 0:20
			booked{from: "2026-07-01T23:00Z", to: "2026-07-01T23:30Z"}, // from midnight
			booked{from: "2026-07-02T07:00Z", to: "2026-07-02T17:00Z", noPatient: true},
		)
		left := p.Ent.Practitioner.Query().Where(practitioner.Active(false)).IDsX(p.ctx)
		missed, closed := 0, 0
		for _, monday := range []string{"2026-06-29", "2026-03-23", "2025-12-22", "2025-10-20"} {
			first := civil.MustParse(monday)
			for _, site := range []*uuid.UUID{nil, &high} {
				week := read(t, p, report.DiaryDays, report.Filter{From: first, To: first.AddDays(6), SiteID: site})
				for day := first; day.Before(first.AddDays(7)); day = day.AddDays(1) {
					type key struct {
						practitioner int64
						site         uuid.UUID
					}
					type use struct{ visits, free int }
					want, got := map[key]use{}, map[key]use{}
					for _, e := range read(t, p, report.DaySheet, report.Filter{To: day, SiteID: site}).Entries {
						k := key{e.PractitionerID, e.SiteID}
						u := want[k]
						if e.Counts {
							u.visits++
						}
						if e.Kind == report.Gap {
							u.free += e.Minutes
						}
						want[k] = u
					}
					for _, d := range week {
						if d.Day != day {
							continue
						}
						missed += d.DidNotAttend
						if d.Session == 0 && d.Blocked > 0 {
							closed++
							if d.Booked+d.Free > 0 {
								t.Errorf("%s: %+v is closed and has session time", day, d.DiaryRow)
							}
						}
						u := use{d.Visits, d.Free}
						if slices.Contains(left, d.PractitionerID) { // day sheets show no free time of those who have left
							u.free = 0
						}
						got[key{d.PractitionerID, d.SiteID}] = u
					}
					maps.DeleteFunc(want, func(_ key, u use) bool { return u == use{} })
					maps.DeleteFunc(got, func(_ key, u use) bool { return u == use{} })
					if !maps.Equal(got, want) {
						t.Errorf("%s: the week has %v, the day sheet %v", day, got, want)
					}
				}
			}
		}
		if missed == 0 || closed == 0 {
			t.Errorf("%d missed appointments and %d closed days: too few to compare", missed, closed)
		}
	})
}

// TestDaysWithoutMidnight: in Cairo the clocks go forward at midnight, so the day begins at one.
func TestDaysWithoutMidnight(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		cairo, err := time.LoadLocation("Africa/Cairo")
		if err != nil {
			t.Fatal(err)
		}
		caller := *principal.Must(p.ctx)
		caller.Zone = cairo
		p.ctx, p.zone = principal.With(p.ctx, &caller), cairo
		high := p.site(t, "High Street Dental").ID
		owl := p.hire(t, high, schema.RoleDentist, worked{high, time.Thursday, 1380, 1440}, worked{high, time.Friday, 0, 120})
		p.book(t, owl, booked{from: "2026-04-23T21:30Z", to: "2026-04-23T22:30Z"}) // from 23:30 on Thursday to 1:30 on Friday
		var got []string
		for _, d := range read(t, p, report.DiaryDays, report.Filter{From: civil.MustParse("2026-04-23"), To: civil.MustParse("2026-04-25"), PractitionerID: &owl}) {
			got = append(got, fmt.Sprintf("%s: %d of %d minutes, %d visits", d.Day, d.Booked, d.Session, d.Visits))
		}
		if want := []string{"2026-04-23: 30 of 60 minutes, 1 visits", "2026-04-24: 30 of 60 minutes, 0 visits"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}
