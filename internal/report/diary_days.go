package report

import (
	"context"
	"slices"
	"sort"

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
	period := diary.Period{Start: f.From.In(r.zone), Finish: f.To.AddDays(1).In(r.zone)}
	booked, err := readBookings(ctx, client, r.workers, period)
	if err != nil {
		return nil, err
	}
	var rows []DiaryDay
	days := r.daysOf(period)
	for rank, w := range r.workers {
		for _, today := range split(booked[w.id], days) {
			for _, row := range r.diaryRows(w, today.Period, today.bookings, w.works(today.bookings)) {
				rows = append(rows, DiaryDay{today.day, rank, row})
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b DiaryDay) int { return a.Day.Compare(b.Day) }) // keeps the order of last names
	return rows, nil
}

// dayBookings are the bookings that overlap a day.
type dayBookings struct {
	day civil.Date
	diary.Period
	bookings []booking
}

// daysOf returns the days of a period, without bookings.
func (r *rota) daysOf(p diary.Period) (days []dayBookings) {
	for start := p.Start; start.Before(p.Finish); {
		day := civil.Of(start.In(r.zone))
		next := day.AddDays(1).In(r.zone)
		days = append(days, dayBookings{day: day, Period: diary.Period{Start: start, Finish: next}})
		start = next
	}
	return days
}

// split returns the days, which follow each other, with their bookings: a booking is in every day
// that it overlaps.
func split(bookings []booking, days []dayBookings) []dayBookings {
	days = slices.Clone(days)
	for _, b := range bookings {
		first := sort.Search(len(days), func(i int) bool { return b.Start.Before(days[i].Finish) })
		for i := first; i < len(days) && b.Overlaps(days[i].Period); i++ {
			days[i].bookings = append(days[i].bookings, b)
		}
	}
	return days
}

// eachDay calls visit with each worker's bookings of each day of the filter, and whether the worker
// has sessions in the month of that day.
func (r *rota) eachDay(ctx context.Context, client *ent.Client, f Filter, visit func(w *worker, today dayBookings, works bool)) error {
	return r.eachMonth(ctx, client, f, func(month diary.Period, booked map[int64]packed) {
		days := r.daysOf(month)
		for _, w := range r.workers {
			works := w.works(booked[w.id])
			for _, today := range split(booked[w.id], days) {
				visit(w, today, works)
			}
		}
	})
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
		err = r.eachDay(ctx, client, f, func(w *worker, today dayBookings, works bool) {
			for _, row := range r.diaryRows(w, today.Period, today.bookings, works) {
				all = append(all, DiaryDay{Day: today.day, DiaryRow: row})
			}
		})
		slices.SortStableFunc(all, func(a, b DiaryDay) int { return a.Day.Compare(b.Day) })
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
