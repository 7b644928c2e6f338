package report_test

import (
	"slices"
	"testing"

	"chairside/ent/practitioner"
	"chairside/internal/civil"
	"chairside/internal/report"
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
			type sum struct{ session, booked, due, cancelled int }
			want, got := map[key]sum{}, map[key]sum{}
			add := func(to map[key]sum, row report.DiaryRow) {
				k := key{row.PractitionerID, row.Site}
				s := to[k]
				to[k] = sum{s.session + row.Session, s.booked + row.Booked, s.due + row.Due, s.cancelled + row.Cancelled}
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
