package floor

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"chairside/internal/civil"
	"chairside/internal/diary"
)

const (
	hoursOfPractitioners = `SELECT p.id, p.active, w.weekday, w.start_minute, w.finish_minute
		FROM practitioners p LEFT JOIN working_sessions w ON w.practitioner_id = p.id
		WHERE p.practice_id = $1 AND p.id = ANY($2) ORDER BY w.start_minute`
	practiceHours = `SELECT opening_hours, minimum_appointment_duration FROM practices WHERE id = $1`
	bookedTimes   = `SELECT practitioner_id, start_time, finish_time FROM appointments
		WHERE practice_id = $1 AND practitioner_id = ANY($2) AND state NOT IN ('Cancelled', 'Did not attend')
		AND start_time > $3 AND start_time < $4 AND finish_time > $5`
)

const (
	availabilityPage = 20
	longestWindow    = 366 * 24 * time.Hour
)

type slot struct {
	diary.Period
	practitioner int64
}

// availability reads all bookings in the window, computes all slots, and returns a page.
func (s *Server) availability(r *http.Request, c *caller, e *encoder) (int, error) {
	query := r.URL.Query()
	page, err := readPage(query, availabilityPage, availabilityPage)
	if err != nil {
		return 0, err
	}
	start, startErr := time.Parse(time.RFC3339, query.Get("start_time"))
	finish, finishErr := time.Parse(time.RFC3339, query.Get("finish_time"))
	if startErr != nil || finishErr != nil || !start.After(time.Now()) || !finish.After(start) || finish.Sub(start) > longestWindow {
		return 0, invalidParameter
	}
	var ids []int64
	for _, list := range query["practitioner_ids[]"] {
		for text := range strings.SplitSeq(list, ",") {
			id, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return 0, invalidParameter
			}
			ids = append(ids, id)
		}
	}
	hours, shortest, err := s.hours(r, c, ids)
	if err != nil {
		return 0, err
	}
	minutes := max(shortest, 1)
	if query.Has("duration") {
		if minutes, err = strconv.Atoi(query.Get("duration")); err != nil || minutes < 1 {
			return 0, invalidParameter
		}
	}
	busy, err := s.busy(r, c, ids, start, finish)
	if err != nil {
		return 0, err
	}
	var slots []slot
	window := diary.Period{Start: start, Finish: finish}
	for day := civil.Of(start.In(c.zone)); day.In(c.zone).Before(finish); day = day.AddDays(1) {
		for id, weekly := range hours {
			for _, f := range diary.Free(diary.On(day, weekly, c.zone), busy[id], window, minutes) {
				slots = append(slots, slot{f, id})
			}
		}
	}
	slices.SortFunc(slots, func(a, b slot) int {
		return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.practitioner, b.practitioner))
	})
	from, until := min(page.offset(), len(slots)), min(page.offset()+page.size, len(slots))
	e.open('{').key("availability").open('[')
	for _, f := range slots[from:until] {
		e.open('{').key("start_time").time(f.Start).key("finish_time").time(f.Finish)
		e.key("available_duration").int(int64(f.Minutes())).key("practitioner_id").int(f.practitioner).close('}')
	}
	e.close(']').key("meta").open('{').key("page").int(int64(page.number)).key("current_page").int(int64(page.number))
	e.key("per_page").int(int64(page.size)).key("more").bool(until < len(slots)).close('}').close('}')
	return http.StatusOK, nil
}

// hours returns each practitioner's weekly hours, and the shortest slot in minutes.
func (s *Server) hours(r *http.Request, c *caller, ids []int64) (map[int64][]diary.Hours, int, error) {
	var (
		stored   []byte
		shortest int
	)
	if err := s.db.QueryRow(r.Context(), practiceHours, c.practice).Scan(&stored, &shortest); err != nil {
		return nil, 0, err
	}
	rows, err := s.db.Query(r.Context(), hoursOfPractitioners, c.practice, ids)
	if err != nil {
		return nil, 0, err
	}
	hours, known := map[int64][]diary.Hours{}, map[int64]bool{}
	var (
		id                     int64
		active                 bool
		weekday, start, finish *int
	)
	_, err = pgx.ForEachRow(rows, []any{&id, &active, &weekday, &start, &finish}, func() error {
		known[id] = true
		switch {
		case !active:
		case weekday == nil: // no own hours: the practice's
			hours[id], err = openingHours(stored)
			return err
		default:
			hours[id] = append(hours[id], diary.Hours{Weekday: time.Weekday(*weekday), Start: *start, Finish: *finish})
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	for _, id := range ids {
		if !known[id] {
			return nil, 0, invalidParameter
		}
	}
	return hours, shortest, nil
}

// openingHours reads the weekly opening hours from their stored JSON. Days without hours
// are closed.
func openingHours(stored []byte) ([]diary.Hours, error) {
	var open map[string]struct{ Open, Close string }
	if err := json.Unmarshal(stored, &open); err != nil {
		return nil, err
	}
	var weekly []diary.Hours
	for day := time.Sunday; day <= time.Saturday; day++ {
		o := open[day.String()]
		if h, ok := diary.Opening(day, o.Open, o.Close); ok {
			weekly = append(weekly, h)
		}
	}
	return weekly, nil
}

// busy returns each practitioner's bookings in the window, including its whole first day.
func (s *Server) busy(r *http.Request, c *caller, ids []int64, start, finish time.Time) (map[int64][]diary.Period, error) {
	rows, err := s.db.Query(r.Context(), bookedTimes, c.practice, ids, start.Add(-longestAppointment), finish, start)
	if err != nil {
		return nil, err
	}
	busy := map[int64][]diary.Period{}
	var (
		id int64
		p  diary.Period
	)
	_, err = pgx.ForEachRow(rows, []any{&id, &p.Start, &p.Finish}, func() error {
		busy[id] = append(busy[id], p)
		return nil
	})
	return busy, err
}
