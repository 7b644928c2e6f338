package civil

import "time"

// Offset is a difference from UTC that holds from an instant on.
type Offset struct {
	Since   time.Time
	Seconds int
}

// The first and last year for which Offsets knows when the clocks change.
const firstYear, lastYear = 1970, 2100

// Offsets returns the offsets of a time zone in order of time, each until the next. The first one
// also holds for the years before 1970, the last one for those after 2100. Databases without
// time zones calculate local days with them.
func Offsets(zone *time.Location) []Offset {
	at := time.Date(firstYear, time.January, 1, 0, 0, 0, 0, time.UTC)
	all := []Offset{{Seconds: seconds(at, zone)}}
	for at.Year() <= lastYear {
		_, end := at.In(zone).ZoneBounds()
		if end.IsZero() {
			break
		}
		if !end.After(at) { // in leap years, time returns the beginning of 31 December for that day itself
			end = at.AddDate(0, 0, 1)
		}
		at = end.UTC()
		if offset := seconds(at, zone); offset != all[len(all)-1].Seconds {
			all = append(all, Offset{at, offset})
		}
	}
	return all
}

func seconds(at time.Time, zone *time.Location) int {
	_, offset := at.In(zone).Zone()
	return offset
}
