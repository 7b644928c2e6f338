package report

import (
	"context"

	"chairside/ent"
	"chairside/internal/civil"
	"chairside/internal/diary"
)

// DiaryDay is the use of a practitioner's time at one site on one day.
type DiaryDay struct {
	Day civil.Date
	DiaryRow
}

// DiaryDays returns how the working time of each day from f.From to f.To was used, in order
// of day and the practitioner's last name. Diary describes the numbers. The bookings of the
// whole period are read at once, so it must be short.
func DiaryDays(ctx context.Context, client *ent.Client, f Filter) ([]DiaryDay, error) {
	r, err := readRota(ctx, client, f)
	if err != nil {
		return nil, err
	}
	booked, err := readBookings(ctx, client, r.workers, diary.Period{Start: f.From.In(r.zone), Finish: f.To.AddDays(1).In(r.zone)})
	if err != nil {
		return nil, err
	}
	var days []DiaryDay
	for day := f.From; !f.To.Before(day); day = day.AddDays(1) {
		window := diary.Period{Start: day.In(r.zone), Finish: day.AddDays(1).In(r.zone)}
		for _, w := range r.workers {
			var today []booking
			for _, b := range booked[w.id] {
				if b.Overlaps(window) {
					today = append(today, b)
				}
			}
			for _, row := range r.diaryRows(w, window, today) {
				days = append(days, DiaryDay{day, row})
			}
		}
	}
	return days, nil
}
