// Package diary is the arithmetic of time in a diary: weekly hours laid onto a
// calendar, what is left of them beside bookings, and whether bookings overlap.
// It knows no database.
//
// All periods are half-open: a booking that ends at 10:00 and one that starts
// at 10:00 do not overlap.
package diary

import (
	"slices"
	"time"

	"chairside/internal/civil"
)

// Period is [Start, Finish).
type Period struct{ Start, Finish time.Time }

// Minutes is the length in whole minutes.
func (p Period) Minutes() int { return int(p.Finish.Sub(p.Start) / time.Minute) }

// Overlaps reports whether two periods have an instant in common.
func (p Period) Overlaps(o Period) bool { return p.Start.Before(o.Finish) && o.Start.Before(p.Finish) }

// within cuts p to o; the result is empty where they have nothing in common.
func (p Period) within(o Period) Period {
	if p.Start.Before(o.Start) {
		p.Start = o.Start
	}
	if p.Finish.After(o.Finish) {
		p.Finish = o.Finish
	}
	return p
}

func (p Period) empty() bool { return !p.Start.Before(p.Finish) }

// Hours are a stretch of a weekday, in minutes on the local clocks.
type Hours struct {
	Weekday       time.Weekday
	Start, Finish int // minutes after midnight; a finish of 1440 is the next midnight
}

// On lays weekly hours onto a day: in order of time, touching and overlapping
// ones joined. Where the clocks skip or repeat an hour, the hours keep to what
// the clocks show.
func On(day civil.Date, weekly []Hours, zone *time.Location) []Period {
	var on []Period
	weekday := day.Weekday()
	for _, h := range weekly {
		if h.Weekday == weekday {
			on = append(on, Period{day.At(h.Start, zone, false), day.At(h.Finish, zone, true)})
		}
	}
	return join(on)
}

// join sorts periods and joins those that touch or overlap; empty ones go. It
// works in place.
func join(periods []Period) []Period {
	periods = slices.DeleteFunc(periods, Period.empty)
	slices.SortFunc(periods, func(a, b Period) int { return a.Start.Compare(b.Start) })
	joined := periods[:0]
	for _, p := range periods {
		if n := len(joined); n > 0 && !joined[n-1].Finish.Before(p.Start) {
			if p.Finish.After(joined[n-1].Finish) {
				joined[n-1].Finish = p.Finish
			}
			continue
		}
		joined = append(joined, p)
	}
	return joined
}

// Free is what is left of the open periods inside the window beside what is
// busy, in order of time: only pieces of at least the given minutes.
func Free(open, busy []Period, window Period, minutes int) []Period {
	var free []Period
	busy = join(slices.Clone(busy))
	for _, o := range open {
		rest := o.within(window)
		for _, b := range busy {
			if !rest.Overlaps(b) {
				continue
			}
			free = keep(free, Period{rest.Start, b.Start}, minutes)
			rest.Start = b.Finish
		}
		free = keep(free, rest, minutes)
	}
	return free
}

func keep(periods []Period, p Period, minutes int) []Period {
	if p.empty() || p.Minutes() < minutes {
		return periods
	}
	return append(periods, p)
}

// Length is how long the periods last together; what overlaps counts once.
func Length(periods []Period) (length time.Duration) {
	for _, p := range join(slices.Clone(periods)) {
		length += p.Finish.Sub(p.Start)
	}
	return length
}

// Covered is how much of the open periods is busy; what overlaps counts once.
// Together with the length of what is Free it is the length of what is open.
func Covered(open, busy []Period) (covered time.Duration) {
	open, busy = join(slices.Clone(open)), join(slices.Clone(busy))
	for len(open) > 0 && len(busy) > 0 {
		if both := open[0].within(busy[0]); !both.empty() {
			covered += both.Finish.Sub(both.Start)
		}
		if open[0].Finish.Before(busy[0].Finish) {
			open = open[1:]
		} else {
			busy = busy[1:]
		}
	}
	return covered
}

// Opening is the stretch of a weekday between two times on the local clocks,
// "09:00" and "17:30"; ok is false where these are no times.
func Opening(day time.Weekday, from, until string) (h Hours, ok bool) {
	const layout = "15:04"
	start, startErr := time.Parse(layout, from)
	finish, finishErr := time.Parse(layout, until)
	if startErr != nil || finishErr != nil {
		return Hours{}, false
	}
	return Hours{day, start.Hour()*60 + start.Minute(), finish.Hour()*60 + finish.Minute()}, true
}
