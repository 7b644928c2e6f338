package api

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"entgo.io/ent/dialect/sql"

	"chairside/ent"
	"chairside/ent/appointment"
	"chairside/ent/practice"
	"chairside/ent/practitioner"
	"chairside/ent/predicate"
	"chairside/ent/workingsession"
	"chairside/internal/caller"
	"chairside/internal/civil"
	"chairside/internal/clock"
	"chairside/internal/diary"
	"chairside/internal/fault"
	"chairside/internal/row"
	"chairside/ogent"
	"chairside/schema"
)

const (
	availabilityPage   = 20
	longestWindow      = 366 * 24 * time.Hour
	mostDaysAtOneTime  = 32 // of bookings that are read
	availabilityMinute = 1  // the shortest period worth telling
	freePerShift       = 3  // free periods that a day of a practitioner's work is taken to have
)

// ListAvailability gives the free periods of practitioners inside their working
// sessions, or the practice's opening hours where they have none, in order of
// start, then practitioner (behaviour.md section 4). The diary is read until the
// page is full: as many days as should do, then twice as much work, then four times,
// but at most a month at one time.
func (h *Handler) ListAvailability(ctx context.Context, p ogent.ListAvailabilityParams) (*ogent.AvailabilitySlotList, error) {
	window, err := availabilityWindow(clock.Now(ctx), p)
	if err != nil {
		return nil, err
	}
	hours, shortest, err := h.workingHours(ctx, p.PractitionerIds)
	if err != nil {
		return nil, err
	}
	minutes := max(p.Duration.Or(shortest), availabilityMinute)
	page := ogent.Page{Number: p.Page.Or(1), Size: p.PerPage.Or(availabilityPage)}
	zone := caller.Must(ctx).Zone

	var slots []slot
	wanted := page.Offset() + page.Limit() + 1 // one more tells whether there is a further page
	shifts := wanted/freePerShift + 1
	for from := civil.Of(window.Start.In(zone)); len(hours) > 0 && len(slots) < wanted && from.In(zone).Before(window.Finish); shifts *= 2 {
		until := spanning(from, civil.Of(window.Finish.In(zone)), shifts, hours)
		busy, err := h.bookings(ctx, p.PractitionerIds, diary.Period{Start: from.In(zone), Finish: until.In(zone)})
		if err != nil {
			return nil, err
		}
		for day := from; day.Before(until); day = day.AddDays(1) {
			slots = append(slots, freeOn(day, hours, busy, window, minutes, zone)...)
		}
		from = until
	}
	view := h.View(ctx)
	shown := slots[min(page.Offset(), len(slots)):min(page.Offset()+page.Limit(), len(slots))]
	list := &ogent.AvailabilitySlotList{
		Availability: make([]ogent.AvailabilitySlot, len(shown)),
		Meta: ogent.PageMeta{
			Page: page.Number, CurrentPage: page.Number, PerPage: page.Size,
			More: len(slots) > page.Offset()+page.Limit(),
		},
	}
	for i, s := range shown {
		list.Availability[i] = ogent.AvailabilitySlot{
			StartTime: view.Time(s.Start), FinishTime: view.Time(s.Finish),
			AvailableDuration: s.Minutes(), PractitionerID: s.practitioner,
		}
	}
	return list, nil
}

// spanning gives the day before which, from a day on, there are so many shifts:
// days of a practitioner's work. It is not later than the one after the last.
func spanning(from, last civil.Date, shifts int, hours map[int64][]diary.Hours) (until civil.Date) {
	until = from
	for days := 0; shifts > 0 && days < mostDaysAtOneTime && !last.Before(until); days++ {
		weekday := until.Weekday()
		for _, weekly := range hours {
			if slices.ContainsFunc(weekly, func(h diary.Hours) bool { return h.Weekday == weekday }) {
				shifts--
			}
		}
		until = until.AddDays(1)
	}
	return until
}

// slot is a free period of one practitioner.
type slot struct {
	diary.Period
	practitioner int64
}

// freeOn lists the free periods of one day, in order.
func freeOn(day civil.Date, hours map[int64][]diary.Hours, busy map[int64][]diary.Period, window diary.Period, minutes int, zone *time.Location) []slot {
	var slots []slot
	for id, weekly := range hours {
		for _, f := range diary.Free(diary.On(day, weekly, zone), busy[id], window, minutes) {
			slots = append(slots, slot{f, id})
		}
	}
	slices.SortFunc(slots, func(a, b slot) int {
		return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.practitioner, b.practitioner))
	})
	return slots
}

// availabilityWindow checks what is asked for; the fault names the offending keys alone.
func availabilityWindow(now time.Time, p ogent.ListAvailabilityParams) (diary.Period, error) {
	params := fault.Params{}
	start, hasStart := p.StartTime.Get()
	finish, hasFinish := p.FinishTime.Get()
	switch {
	case !hasStart:
		params.Add("start_time", "is missing")
	case !start.After(now):
		params.Add("start_time", "must be in the future")
	}
	switch {
	case !hasFinish:
		params.Add("finish_time", "is missing")
	case !finish.After(now):
		params.Add("finish_time", "must be in the future")
	case len(params) > 0: // against a bad start_time no finish_time is wrong
	case !finish.After(start):
		params.Add("finish_time", "must be after start_time")
	case finish.Sub(start) > longestWindow:
		params.Add("finish_time", "must be at most 366 days after start_time")
	}
	if len(p.PractitionerIds) == 0 {
		params.Add("practitioner_ids", "is missing")
	}
	if d, ok := p.Duration.Get(); ok && d < 1 {
		params.Add("duration", "must be at least 1")
	}
	if len(params) > 0 {
		return diary.Period{}, fault.InvalidParameter(params)
	}
	return diary.Period{Start: start, Finish: finish}, nil
}

// workingHours gives the weekly hours of each practitioner and the practice's
// minimum appointment duration. Unknown practitioners are refused; those who
// cannot be booked have no hours.
func (h *Handler) workingHours(ctx context.Context, ids []int64) (map[int64][]diary.Hours, int, error) {
	weeks, err := h.weeks(ctx, ids)
	if err != nil {
		return nil, 0, err
	}
	hours := map[int64][]diary.Hours{}
	known := map[int64]bool{}
	shortest := 0
	for _, w := range weeks {
		known[w.practitioner], shortest = true, w.shortest
		switch {
		case !w.active:
		case w.open != nil: // no session of their own
			if open := openingHours(w.open); len(open) > 0 {
				hours[w.practitioner] = open
			}
		default:
			hours[w.practitioner] = append(hours[w.practitioner], w.session)
		}
	}
	for _, id := range ids {
		if !known[id] {
			return nil, 0, fault.InvalidParameter(fault.Params{"practitioner_ids": {"includes a practitioner that does not exist"}})
		}
	}
	return hours, shortest, nil
}

// week is a working session of a practitioner, or the only one of somebody who
// has none, and what the practice has to say to it.
type week struct {
	practitioner int64
	active       bool
	session      diary.Hours
	open         schema.OpeningHours // the practice's, where there is no session
	shortest     int                 // minutes
}

// weeks reads practitioners, their sessions and their practice at one go. Only
// the practitioners need be confined to what the caller may see.
func (h *Handler) weeks(ctx context.Context, ids []int64) (weeks []week, err error) {
	q := h.Client.Practitioner.Query().Where(ent.Among[predicate.Practitioner](practitioner.FieldID, ids))
	q.Modify(func(s *sql.Selector) {
		w, p := sql.Table(workingsession.Table).As("session"), sql.Table(practice.Table).As("practice")
		s.Join(p).On(p.C(practice.FieldID), s.C(practitioner.FieldPracticeID))
		s.LeftJoin(w).On(w.C(workingsession.FieldPracticeID), s.C(practitioner.FieldPracticeID)).On(w.C(workingsession.FieldPractitionerID), s.C(practitioner.FieldID))
	})
	// No column is quoted: Rows would take "practice". for the edge, and join it again.
	rows, err := q.Rows(ctx, "practitioners.id, practitioners.active, practice.minimum_appointment_duration, "+
		"session.weekday, session.start_minute, session.finish_minute, CASE WHEN session.id IS NULL THEN practice.opening_hours END")
	if err != nil {
		return nil, err
	}
	err = row.Each(rows, 7, func(r *row.Row) {
		w := week{practitioner: r.Int64(0), active: r.Bool(1), shortest: r.Int(2)}
		if r.Null(6) {
			w.session = diary.Hours{Weekday: time.Weekday(r.Int(3)), Start: r.Int(4), Finish: r.Int(5)}
		} else if err := json.Unmarshal(r.Bytes(6), &w.open); err != nil {
			r.Fail(6, err)
		}
		weeks = append(weeks, w)
	})
	return weeks, err
}

// openingHours are the practice's hours as weekly hours.
func openingHours(open schema.OpeningHours) []diary.Hours {
	var weekly []diary.Hours
	for day := time.Sunday; day <= time.Saturday; day++ {
		h := open[day.String()] // no times on days that are closed
		if hours, ok := diary.Opening(day, h.Open, h.Close); ok {
			weekly = append(weekly, hours)
		}
	}
	return weekly
}

// bookings reads what blocks each practitioner's time within a period, from an
// index that has all of it.
func (h *Handler) bookings(ctx context.Context, ids []int64, within diary.Period) (map[int64][]diary.Period, error) {
	rows, err := h.Client.Appointment.Query().Where(
		ent.Among[predicate.Appointment](appointment.FieldPractitionerID, ids), blocking,
		ent.Unseen[predicate.Appointment](appointment.FieldStartTime, sql.OpGT, within.Start.Add(-longest).UTC()),
		ent.Unseen[predicate.Appointment](appointment.FieldStartTime, sql.OpLT, within.Finish.UTC()),
		ent.Unseen[predicate.Appointment](appointment.FieldFinishTime, sql.OpGT, within.Start.UTC()),
	).Rows(ctx, row.Columns(appointment.Table, appointment.FieldPractitionerID, appointment.FieldStartTime, appointment.FieldFinishTime))
	if err != nil {
		return nil, err
	}
	busy := map[int64][]diary.Period{}
	err = row.Each(rows, 3, func(r *row.Row) {
		id := r.Int64(0)
		busy[id] = append(busy[id], diary.Period{Start: r.Time(1), Finish: r.Time(2)})
	})
	return busy, err
}
