package api

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"entgo.io/ent/dialect/sql"

	"chairside/ent"
	"chairside/ent/appointment"
	"chairside/ent/practice"
	"chairside/ent/practitioner"
	"chairside/ent/predicate"
	"chairside/ent/workingsession"
	"chairside/internal/apierror"
	"chairside/internal/cache"
	"chairside/internal/civil"
	"chairside/internal/clock"
	"chairside/internal/diary"
	"chairside/internal/entx"
	"chairside/internal/entx/rowscan"
	"chairside/internal/list"
	"chairside/internal/principal"
	"chairside/ogent"
	"chairside/schema"
)

const (
	availabilityPage  = 20
	longestWindow     = 366 * 24 * time.Hour
	mostDaysAtOneTime = 32 // of bookings that are read
	shortestPeriod    = 1  // minutes: the least worth telling
	freePerShift      = 4  // free periods that a day of a practitioner's work is taken to have
	roomForBookings   = 20 // of each practitioner, before more is made
)

// ListAvailability gives the free periods of practitioners inside their working
// sessions, or the practice's opening hours where they have none, in order of
// start, then practitioner (behaviour.md section 4).
func (h *Handler) ListAvailability(ctx context.Context, p ogent.ListAvailabilityParams) (*ogent.AvailabilitySlotList, error) {
	window, err := availabilityWindow(clock.Now(ctx), p)
	if err != nil {
		return nil, err
	}
	hours, shortest, err := h.workingHours(ctx, p.PractitionerIds)
	if err != nil {
		return nil, err
	}
	minutes := max(p.Duration.Or(shortest), shortestPeriod)
	page := list.Page{Number: p.Page.Or(1), Size: p.PerPage.Or(availabilityPage)}
	wanted := page.Offset() + page.Limit() + 1 // one more tells whether there is a further page
	slots, err := h.freeSlots(ctx, p.PractitionerIds, hours, window, minutes, wanted)
	if err != nil {
		return nil, err
	}
	view := h.View(ctx)
	shown := slots[min(page.Offset(), len(slots)):min(page.Offset()+page.Limit(), len(slots))]
	response := &ogent.AvailabilitySlotList{
		Availability: make([]ogent.AvailabilitySlot, len(shown)),
		Meta: ogent.PageMeta{
			Page: page.Number, CurrentPage: page.Number, PerPage: page.Size,
			More: len(slots) > page.Offset()+page.Limit(),
		},
	}
	for i, s := range shown {
		response.Availability[i] = ogent.AvailabilitySlot{
			StartTime: view.Time(s.Start), FinishTime: view.Time(s.Finish),
			AvailableDuration: s.Minutes(), PractitionerID: s.practitioner,
		}
	}
	return response, nil
}

// freeSlots gives the free periods of some minutes or more, in order, until there are
// as many as wanted or the window ends. As many days of the diary are read as should
// do, then as many as should by what was found, a month at most at one time.
func (h *Handler) freeSlots(ctx context.Context, ids []int64, hours map[int64][]diary.Hours, window diary.Period, minutes, wanted int) ([]slot, error) {
	zone := principal.Must(ctx).Zone
	var slots []slot
	shifts, looked := wanted/freePerShift+2, 0 // a day may be half over, or full
	for from := civil.Of(window.Start.In(zone)); len(hours) > 0 && len(slots) < wanted && from.In(zone).Before(window.Finish); {
		until, spanned := spanning(from, civil.Of(window.Finish.In(zone)), shifts, hours)
		busy, err := h.bookings(ctx, ids, diary.Period{Start: from.In(zone), Finish: until.In(zone)})
		if err != nil {
			return nil, err
		}
		for day := from; day.Before(until); day = day.AddDays(1) {
			slots = append(slots, freeOn(day, hours, busy, window, minutes, zone)...)
		}
		from, looked = until, looked+spanned
		shifts = further(looked, len(slots), wanted-len(slots))
	}
	return slots, nil
}

// spanning gives the day before which, from a day on, there are at least so many
// shifts: days of a practitioner's work; and how many there are. It is not later
// than the one after the last.
func spanning(from, last civil.Date, shifts int, hours map[int64][]diary.Hours) (until civil.Date, spanned int) {
	until = from
	for days := 0; spanned < shifts && days < mostDaysAtOneTime && !last.Before(until); days++ {
		weekday := until.Weekday()
		for _, weekly := range hours {
			if slices.ContainsFunc(weekly, func(h diary.Hours) bool { return h.Weekday == weekday }) {
				spanned++
			}
		}
		until = until.AddDays(1)
	}
	return until, spanned
}

// further is how many shifts to read next, when so many had so many free periods:
// twice as many as should have those that are missing. It is between half and twice
// of what was read, so that neither a diary that is full nor one that was not so far
// takes many readings.
func further(read, found, missing int) (shifts int) {
	likely := 2 * float64(missing) * float64(read) / float64(max(found, 1))
	return max(int(min(max(likely, float64(read)/2), 2*float64(read))), 1)
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
	params := apierror.Params{}
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
		return diary.Period{}, apierror.InvalidParameter(params)
	}
	return diary.Period{Start: start, Finish: finish}, nil
}

// work is when a practitioner can be booked.
type work struct {
	weekly   []diary.Hours // none of who cannot be booked
	shortest int           // the practice's minimum appointment duration, minutes
}

// rememberedWork is of how many practitioners working hours are remembered, each
// for less than a second: some 100 bytes, and 24 for each session.
const rememberedWork = 4096

// rememberWork gives an empty memory of working hours, and has client tell it of
// changes. A server makes none so far: they come from other programs.
func rememberWork(client *ent.Client) *cache.Cache[int64, work] {
	m := cache.New[int64, work](rememberedWork)
	client.Practitioner.Use(m.ClearOnCommit)
	client.WorkingSession.Use(m.ClearOnCommit)
	client.Practice.Use(m.ClearOnCommit)
	return m
}

// workingHours gives the weekly hours of each practitioner who has any, and the
// practice's minimum appointment duration. Unknown practitioners are refused.
func (h *Handler) workingHours(ctx context.Context, ids []int64) (map[int64][]diary.Hours, int, error) {
	found, err := h.work.GetAll(ctx, ids, func(missing []int64) (map[int64]work, error) { return h.readWork(ctx, missing) })
	if err != nil {
		return nil, 0, err
	}
	hours := make(map[int64][]diary.Hours, len(ids))
	shortest := 0
	for _, id := range ids {
		w, ok := found[id]
		if !ok {
			return nil, 0, apierror.InvalidParameter(apierror.Params{"practitioner_ids": {"includes a practitioner that does not exist"}})
		}
		hours[id], shortest = w.weekly, w.shortest
	}
	maps.DeleteFunc(hours, func(_ int64, weekly []diary.Hours) bool { return len(weekly) == 0 })
	return hours, shortest, nil
}

// readWork reads practitioners, their sessions and their practice at one go. Only
// the practitioners need be confined to what the caller may see.
func (h *Handler) readWork(ctx context.Context, ids []int64) (map[int64]work, error) {
	q := h.Client.Practitioner.Query().Where(entx.InArray[predicate.Practitioner](practitioner.FieldID, ids))
	q.Modify(func(s *sql.Selector) {
		w, p := sql.Table(workingsession.Table).As("session"), sql.Table(practice.Table).As("practice")
		s.Join(p).On(p.C(practice.FieldID), s.C(practitioner.FieldPracticeID))
		s.LeftJoin(w).On(w.C(workingsession.FieldPracticeID), s.C(practitioner.FieldPracticeID)).On(w.C(workingsession.FieldPractitionerID), s.C(practitioner.FieldID))
	})
	rows, err := q.Rows(ctx, strings.Join([]string{
		rowscan.Columns(practitioner.Table, practitioner.FieldID, practitioner.FieldActive),
		rowscan.Columns("practice", practice.FieldMinimumAppointmentDuration),
		rowscan.Columns("session", workingsession.FieldWeekday, workingsession.FieldStartMinute, workingsession.FieldFinishMinute),
		"CASE WHEN session.id IS NULL THEN practice.opening_hours END",
	}, ", "))
	if err != nil {
		return nil, err
	}
	found := map[int64]work{}
	err = rowscan.ForEach(rows, 7, func(r *rowscan.Scanner) {
		w := found[r.Int64(0)]
		w.shortest = r.Int(2)
		switch active, hasSessions := r.Bool(1), r.Null(6); {
		case !active:
		case hasSessions: // one a row
			w.weekly = append(w.weekly, diary.Hours{Weekday: time.Weekday(r.Int(3)), Start: r.Int(4), Finish: r.Int(5)})
		default:
			var open schema.OpeningHours
			r.JSON(6, &open)
			w.weekly = openingHours(open)
		}
		found[r.Int64(0)] = w
	})
	return found, err
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
// index that has all of it. The day before is read for what lasts past midnight:
// when it ends is asked before its state.
func (h *Handler) bookings(ctx context.Context, ids []int64, within diary.Period) (map[int64][]diary.Period, error) {
	rows, err := h.Client.Appointment.Query().Where(
		entx.InArray[predicate.Appointment](appointment.FieldPractitionerID, ids),
		entx.OpaqueTime[predicate.Appointment](appointment.FieldStartTime, sql.OpGT, within.Start.Add(-schema.LongestAppointment).UTC()),
		entx.OpaqueTime[predicate.Appointment](appointment.FieldStartTime, sql.OpLT, within.Finish.UTC()),
		entx.OpaqueTime[predicate.Appointment](appointment.FieldFinishTime, sql.OpGT, within.Start.UTC()),
		blocking,
	).Rows(ctx, rowscan.Columns(appointment.Table, appointment.FieldPractitionerID, appointment.FieldStartTime, appointment.FieldFinishTime))
	if err != nil {
		return nil, err
	}
	busy := map[int64][]diary.Period{}
	err = rowscan.ForEach(rows, 3, func(r *rowscan.Scanner) {
		id := r.Int64(0)
		own, ok := busy[id]
		if !ok {
			own = make([]diary.Period, 0, roomForBookings)
		}
		busy[id] = append(own, diary.Period{Start: r.Time(1), Finish: r.Time(2)})
	})
	return busy, err
}
