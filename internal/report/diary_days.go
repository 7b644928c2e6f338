package report

import (
	"context"
	"slices"

	"chairside/ent"
	"chairside/internal/civil"
	"chairside/internal/diary"
)

// DiaryDay is the use of a practitioner's time at one site on one day.
type DiaryDay struct {
	Day  civil.Date
	Rank int // of the practitioner, by last name
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
		for rank, w := range r.workers {
			window, today := r.dayOf(day, booked[w.id])
			for _, row := range r.diaryRows(w, window, today, w.works(today)) {
				days = append(days, DiaryDay{day, rank, row})
			}
		}
	}
	return days, nil
}

// dayOf returns a day, and the bookings that overlap it.
func (r *rota) dayOf(day civil.Date, bookings []booking) (window diary.Period, today []booking) {
	window = diary.Period{Start: day.In(r.zone), Finish: day.AddDays(1).In(r.zone)}
	for _, b := range bookings {
		if b.Overlaps(window) {
			today = append(today, b)
		}
	}
	return window, today
}

// diaryRecords are the days of practitioners at sites. A day's sessions count if those of its
// month do.
var diaryRecords = Records{
	Columns: []Column{
		{Key: "day", Title: "Day", Kind: Date}, hiddenID("practitioner_id", ID), {Key: "practitioner", Title: "Practitioner"},
		hiddenID("site_id", Text), {Key: "site", Title: "Site"}, {Key: "month", Title: "Month", Kind: Month, Minor: true},
	},
	Measures: slices.DeleteFunc(slices.Clone(diaryColumns), func(c Column) bool { return !c.Kind.additive() }),
	Read: func(ctx context.Context, client *ent.Client, f Filter) ([]Record, error) {
		r, err := readRota(ctx, client, f)
		if err != nil {
			return nil, err
		}
		var all []DiaryDay
		err = r.eachMonth(ctx, client, f, func(w *worker, month diary.Period, bookings []booking) {
			works := w.works(bookings)
			for day := civil.Of(month.Start.In(r.zone)); day.In(r.zone).Before(month.Finish); day = day.AddDays(1) {
				window, today := r.dayOf(day, bookings)
				for _, row := range r.diaryRows(w, window, today, works) {
					all = append(all, DiaryDay{Day: day, DiaryRow: row})
				}
			}
		})
		slices.SortStableFunc(all, func(a, b DiaryDay) int { return a.Day.Time().Compare(b.Day.Time()) })
		records := make([]Record, len(all))
		for i := range all {
			d := &all[i]
			records[i].Cells = []any{d.Day, d.PractitionerID, d.Practitioner, d.SiteID.String(), d.Site, d.Month}
			for j, v := range d.cells() {
				if diaryColumns[j].Kind.additive() {
					records[i].Values = append(records[i].Values, v)
				}
			}
		}
		return records, err
	},
}
