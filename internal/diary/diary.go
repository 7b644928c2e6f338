// Package diary calculates the working hours of a day, the free slots between bookings, and
// overlaps. Its functions are pure: they use no database and no clock.
//
// All periods are half-open: a booking that ends at 10:00 and one that starts at 10:00 do
// not overlap.
package diary

import (
	"slices"
	"time"

	"chairside/internal/civil"
)

// Period is [Start, Finish).
type Period struct{ Start, Finish time.Time }

// Minutes returns the length in whole minutes.
func (p Period) Minutes() int { return int(p.Finish.Sub(p.Start) / time.Minute) }

// Overlaps reports whether two periods share an instant.
func (p Period) Overlaps(o Period) bool { return p.Start.Before(o.Finish) && o.Start.Before(p.Finish) }

// within returns the part of p inside o, which is empty if they do not overlap.
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

// Hours are opening hours on a weekday, in minutes of local time.
type Hours struct {
	Weekday       time.Weekday
	Start, Finish int // minutes after midnight; 1440 is the next midnight
}

// On returns the periods of weekly hours on one day, sorted, with adjacent and overlapping
// ones joined. Hours are local times: on a day when the clocks change, a period gets an hour
// shorter or longer.
func On(day civil.Date, weekly []Hours, zone *time.Location) []Period {
	var periods []Period
	weekday := day.Weekday()
	for _, h := range weekly {
		if h.Weekday == weekday {
			periods = append(periods, Period{day.FirstAt(h.Start, zone), day.LastAt(h.Finish, zone)})
		}
	}
	return join(periods)
}

// join sorts periods in place, joins adjacent and overlapping ones and removes empty ones.
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

// Free returns the slots of the open periods inside the window that are not busy and last at
// least minutes, sorted.
func Free(open, busy []Period, window Period, minutes int) []Period {
	var free []Period
	busy = join(slices.Clone(busy))
	for _, o := range open {
		free = appendSlots(free, o.within(window), busy, minutes)
	}
	return free
}

// Without returns the parts of the open periods that are not busy, sorted, with adjacent and
// overlapping open periods joined.
func Without(open, busy []Period) []Period {
	var rest []Period
	busy = join(slices.Clone(busy))
	for _, o := range join(slices.Clone(open)) {
		rest = appendSlots(rest, o, busy, 0)
	}
	return rest
}

// appendSlots appends the slots of an open period that last at least minutes. The busy periods
// are joined.
func appendSlots(slots []Period, open Period, busy []Period, minutes int) []Period {
	for _, b := range busy {
		if !open.Overlaps(b) {
			continue
		}
		slots = appendSlot(slots, Period{open.Start, b.Start}, minutes)
		open.Start = b.Finish
	}
	return appendSlot(slots, open, minutes)
}

func appendSlot(periods []Period, p Period, minutes int) []Period {
	if p.empty() || p.Minutes() < minutes {
		return periods
	}
	return append(periods, p)
}

// Length returns the total length of the periods; overlaps count once.
func Length(periods []Period) (length time.Duration) {
	for _, p := range join(slices.Clone(periods)) {
		length += p.Finish.Sub(p.Start)
	}
	return length
}

// Covered returns how long the open periods are busy; overlaps count once. What Free returns
// is the rest of them.
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

// Opening returns the hours of a weekday from texts such as "09:00" and "17:30"; ok is false
// if they are not times.
func Opening(day time.Weekday, from, until string) (h Hours, ok bool) {
	const layout = "15:04"
	start, startErr := time.Parse(layout, from)
	finish, finishErr := time.Parse(layout, until)
	if startErr != nil || finishErr != nil {
		return Hours{}, false
	}
	return Hours{day, start.Hour()*60 + start.Minute(), finish.Hour()*60 + finish.Minute()}, true
}
