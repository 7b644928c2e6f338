package seed

const (
	opensAt     = 7 * 60 // minute of the day at which the first slot begins
	slotMinutes = 5
	daySlots    = 14 * 60 / slotMinutes
)

// slots are a day's slots of five minutes, one bit each.
type slots [(daySlots + 63) / 64]uint64

func (s *slots) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

// fill sets the slots of [start, finish), in minutes of the day.
func (s *slots) fill(start, finish int) {
	for i := (start - opensAt) / slotMinutes; i < (finish-opensAt)/slotMinutes; i++ {
		s[i/64] |= 1 << (i % 64)
	}
}

// minutes returns the total length of the slots.
func (s *slots) minutes() (n int) {
	for i := range daySlots {
		if s.has(i) {
			n += slotMinutes
		}
	}
	return n
}

// diary is one practitioner's working hours and bookings.
type diary struct {
	work   [7]slots // per weekday
	busy   []slots  // per day
	booked []int    // minutes per day, double-booked time twice
}

// free finds a free period within working hours: the first from the preferred minute on,
// or else the first of the day.
func (d *diary) free(day, weekday, preferred, length int) (start int, ok bool) {
	var open slots
	for i := range open {
		open[i] = d.work[weekday][i] &^ d.busy[day][i]
	}
	if open == (slots{}) {
		return 0, false
	}
	from := min(max(0, (preferred-opensAt)/slotMinutes), daySlots-1)
	if start, ok = open.run(from, daySlots, length/slotMinutes); !ok {
		start, ok = open.run(0, daySlots, length/slotMinutes)
	}
	return opensAt + start*slotMinutes, ok
}

// run finds n slots in a row within [from, to).
func (s *slots) run(from, to, n int) (start int, ok bool) {
	start = from
	for i := from; i < to; i++ {
		if !s.has(i) {
			start = i + 1
		} else if i-start+1 == n {
			return start, true
		}
	}
	return 0, false
}

// taken finds a period that begins during another booking, for a double booking.
func (d *diary) taken(day, preferred int) (start int, ok bool) {
	from := min(max(0, (preferred-opensAt)/slotMinutes), daySlots-1)
	for i := range daySlots {
		if at := (from + i) % daySlots; d.busy[day].has(at) {
			return opensAt + at*slotMinutes, true
		}
	}
	return 0, false
}

// book marks [start, finish) of a day as busy.
func (d *diary) book(day, start, finish int) {
	d.busy[day].fill(start, finish)
	d.booked[day] += finish - start
}

// gapStart returns the start of the free time around a free minute of a day.
func (d *diary) gapStart(day, weekday, minute int) int {
	for minute > opensAt {
		slot := (minute-opensAt)/slotMinutes - 1
		if !d.work[weekday].has(slot) || d.busy[day].has(slot) {
			break
		}
		minute -= slotMinutes
	}
	return minute
}
