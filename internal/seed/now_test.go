package seed

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"chairside/ent"
	"chairside/internal/civil"
	"chairside/schema"
)

// starts are minutes at which a demo may be started: at night and in the evening, during surgery and
// lunch, on each day of the week, on a bank holiday, on the first day of a contract year and on the
// days on which clocks change.
var starts = []string{
	"2026-11-30 00:00", "2026-12-01 03:07", "2026-12-02 08:29", "2026-12-03 09:01", "2026-12-04 12:44", "2026-12-05 11:11", "2026-12-06 12:59",
	"2026-11-27 15:47", "2026-12-02 17:30", "2026-12-03 23:59", "2026-12-25 10:00", "2027-03-29 14:20",
	"2027-04-01 00:30", "2027-03-28 00:30", "2027-03-28 11:00", "2026-10-25 00:30", "2026-10-25 11:00", "2028-02-29 16:10",
}

// TestHistoryEndsAtTheMinute checks that at any minute of any day patients with earlier appointments
// have come or not come, that later ones are still expected, and that nothing has happened yet.
func TestHistoryEndsAtTheMinute(t *testing.T) {
	for _, start := range starts {
		t.Run(start, func(t *testing.T) {
			t.Parallel()
			zone := london(t)
			now, err := time.ParseInLocation("2006-01-02 15:04", start, zone)
			if err != nil {
				t.Fatal(err)
			}
			b := generated(t, Options{RandomSeed: 1, Now: now})
			today, seen, expected := civil.Of(now), 0, 0
			for _, a := range b.appointments {
				if a.PatientID == nil {
					continue
				}
				if problem := impossible(a, now); problem != "" {
					t.Errorf("appointment %d from %s to %s is %s: %s", a.ID, a.StartTime, a.FinishTime, a.State, problem)
				}
				switch {
				case civil.Of(a.StartTime.In(zone)) != today || !a.State.Blocks():
				case a.FinishTime.After(now):
					expected++
				default:
					seen++
				}
			}
			const morning = 6 // patients of one dentist
			if isOpen := closed(today) == ""; isOpen != (seen+expected >= morning) {
				t.Errorf("%d patients were seen and %d are expected; the practice is open: %t", seen, expected, isOpen)
			}
			for _, late := range after(b, now) {
				t.Error(late)
			}
		})
	}
}

// impossible returns why an appointment cannot have its state at a time, or "".
func impossible(a ent.Appointment, now time.Time) string {
	const early = 35 * time.Minute
	switch a.State {
	case schema.Completed:
		if a.FinishTime.After(now) {
			return "it has not ended"
		}
	case schema.InSurgery:
		if a.StartTime.After(now) || !a.FinishTime.After(now) {
			return "it is not taking place"
		}
	case schema.Arrived:
		if !a.StartTime.After(now) || a.StartTime.Sub(now) > early {
			return "it is not about to begin"
		}
	case schema.DidNotAttend:
		if a.StartTime.After(now) {
			return "it has not begun"
		}
	case schema.Pending, schema.Confirmed:
		if !a.StartTime.After(now) {
			return "it has begun"
		}
	}
	return ""
}

// after lists what happened after a time: the values of columns named "at" or "…_at".
func after(b *batch, now time.Time) (late []string) {
	for _, table := range b.tables() {
		for i, column := range table.columns {
			if !strings.HasSuffix("_"+column, "_at") {
				continue
			}
			for j := range table.rows.Len() {
				var at time.Time
				switch v := table.rows.Index(j).Field(firstColumn + i).Interface().(type) {
				case time.Time:
					at = v
				case *time.Time:
					if v != nil {
						at = *v
					}
				}
				if at.After(now) {
					late = append(late, fmt.Sprintf("%s %d: %s is %s", table.name, j, column, at))
				}
			}
		}
	}
	return late
}

// TestSecondsDoNotMatter checks that a demo depends on the minute alone.
func TestSecondsDoNotMatter(t *testing.T) {
	now := time.Date(2026, time.December, 3, 15, 47, 0, 0, time.UTC)
	first, again, later := generated(t, Options{RandomSeed: 1, Now: now}), generated(t, Options{RandomSeed: 1, Now: now.Add(59 * time.Second)}), generated(t, Options{RandomSeed: 1, Now: now.Add(time.Hour)})
	if !reflect.DeepEqual(first.appointments, again.appointments) {
		t.Error("another second makes other appointments")
	}
	if reflect.DeepEqual(first.appointments, later.appointments) {
		t.Error("another hour makes the same appointments")
	}
	fixed := generated(t, Options{RandomSeed: 1, Now: morning(london(t), demo.AsOf)})
	if !reflect.DeepEqual(fixed.appointments, generated(t, demo).appointments) {
		t.Error("a date does not mean its ten o'clock")
	}
}
