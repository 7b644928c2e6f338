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
	"chairside/ent/appointmenthold"
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
	availabilityPage = 20 // default size
	maxWindow        = 366 * 24 * time.Hour
	maxDays          = 32 // of bookings read in one statement
	minSlot          = 1  // minutes
	slotsPerShift    = 4  // estimate of the free slots in a practitioner's day
	bookingsCapacity = 20 // initial, for each practitioner
)

// ListAvailability returns the free slots of practitioners within their working sessions, or
// within the practice's opening hours if they have none, in order of start, then practitioner
// (behaviour.md section 4).
func (h *Handler) ListAvailability(ctx context.Context, p ogent.ListAvailabilityParams) (*ogent.AvailabilitySlotList, error) {
	window, err := availabilityWindow(clock.Now(ctx), p)
	if err != nil {
		return nil, err
	}
	hours, shortest, err := h.workingHours(ctx, p.PractitionerIds)
	if err != nil {
		return nil, err
	}
	minutes := max(p.Duration.Or(shortest), minSlot)
	page := list.Page{Number: p.Page.Or(1), Size: p.PerPage.Or(availabilityPage)}
	wanted := page.Offset() + page.Limit() + 1 // one more, to know whether there is a next page
	slots, err := h.freeSlots(ctx, p.PractitionerIds, hours, window, minutes, wanted)
	if err != nil {
		return nil, err
	}
	view := h.View(ctx)
	onPage := slots[min(page.Offset(), len(slots)):min(page.Offset()+page.Limit(), len(slots))]
	response := &ogent.AvailabilitySlotList{
		Availability: make([]ogent.AvailabilitySlot, len(onPage)),
		Meta: ogent.PageMeta{
			Page: page.Number, CurrentPage: page.Number, PerPage: page.Size,
			More: len(slots) > page.Offset()+page.Limit(),
		},
	}
	for i, s := range onPage {
		response.Availability[i] = ogent.AvailabilitySlot{
			StartTime: view.Time(s.Start), FinishTime: view.Time(s.Finish),
			AvailableDuration: s.Minutes(), PractitionerID: s.practitioner,
		}
	}
	return response, nil
}

// freeSlots returns the free slots of at least some minutes, in order, until it has found
// wanted slots or the window ends. It first reads the days of the diary that should contain
// them, then more according to what it has found, at most maxDays in one statement.
func (h *Handler) freeSlots(ctx context.Context, ids []int64, hours map[int64][]diary.Hours, window diary.Period, minutes, wanted int) ([]slot, error) {
	zone := principal.Must(ctx).Zone
	var slots []slot
	shifts, read := wanted/slotsPerShift+2, 0 // two more, because a day may be over or full
	for from := civil.Of(window.Start.In(zone)); len(hours) > 0 && len(slots) < wanted && from.In(zone).Before(window.Finish); {
		until, added := daysOfShifts(from, civil.Of(window.Finish.In(zone)), shifts, hours)
		busy, err := h.bookings(ctx, ids, diary.Period{Start: from.In(zone), Finish: until.In(zone)})
		if err != nil {
			return nil, err
		}
		for day := from; day.Before(until); day = day.AddDays(1) {
			slots = append(slots, slotsOn(day, hours, busy, window, minutes, zone)...)
		}
		from, read = until, read+added
		shifts = nextShifts(read, len(slots), wanted-len(slots))
	}
	return slots, nil
}

// daysOfShifts returns the first day by which at least that many shifts have passed since
// from, and their number. A shift is one practitioner's work on one day. The result is at most
// the day after last, and at most maxDays after from.
func daysOfShifts(from, last civil.Date, shifts int, hours map[int64][]diary.Hours) (until civil.Date, passed int) {
	until = from
	for days := 0; passed < shifts && days < maxDays && !last.Before(until); days++ {
		weekday := until.Weekday()
		for _, weekly := range hours {
			if slices.ContainsFunc(weekly, func(h diary.Hours) bool { return h.Weekday == weekday }) {
				passed++
			}
		}
		until = until.AddDays(1)
	}
	return until, passed
}

// nextShifts returns how many shifts to read next, after found slots in the shifts read so
// far: twice as many as should contain the missing slots. It is between half and twice the
// shifts read, so that a diary that is full, or becomes so, takes few statements.
func nextShifts(read, found, missing int) (shifts int) {
	likely := 2 * float64(missing) * float64(read) / float64(max(found, 1))
	return max(int(min(max(likely, float64(read)/2), 2*float64(read))), 1)
}

// slot is a free slot of one practitioner.
type slot struct {
	diary.Period
	practitioner int64
}

// slotsOn returns the free slots of one day, in order.
func slotsOn(day civil.Date, hours map[int64][]diary.Hours, busy map[int64][]diary.Period, window diary.Period, minutes int, zone *time.Location) []slot {
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

// availabilityWindow checks the parameters; the error names only the offending ones.
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
	case len(params) > 0: // there is no valid start_time to compare with
	case !finish.After(start):
		params.Add("finish_time", "must be after start_time")
	case finish.Sub(start) > maxWindow:
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

// work is the working hours of a practitioner.
type work struct {
	weekly   []diary.Hours // empty if the practitioner is inactive
	shortest int           // the practice's minimum appointment duration, in minutes
}

// maxWork is the maximum number of practitioners in the cache: about 100 bytes each, and 24
// for each session.
const maxWork = 4096

// newWorkCache returns a cache of working hours. Changes through client clear it; imports,
// which bypass client, take effect when the cached values expire.
func newWorkCache(client *ent.Client) *cache.Cache[int64, work] {
	c := cache.New[int64, work](maxWork)
	client.Practitioner.Use(c.ClearOnCommit)
	client.WorkingSession.Use(c.ClearOnCommit)
	client.Practice.Use(c.ClearOnCommit)
	return c
}

// workingHours returns the weekly hours of each practitioner that has any, and the practice's
// minimum appointment duration. It refuses unknown practitioners.
func (h *Handler) workingHours(ctx context.Context, ids []int64) (map[int64][]diary.Hours, int, error) {
	found, err := h.work.GetAll(ctx, ids, h.readWork)
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

// readWork reads practitioners with their sessions and practice in one statement. The query
// is confined to the practitioners that the caller may see, and so are the joined rows.
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
		case hasSessions: // one in each row
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

// openingHours returns the practice's opening hours as weekly hours.
func openingHours(open schema.OpeningHours) []diary.Hours {
	var weekly []diary.Hours
	for day := time.Sunday; day <= time.Saturday; day++ {
		h := open[day.String()] // without times if the practice is closed
		if hours, ok := diary.Opening(day, h.Open, h.Close); ok {
			weekly = append(weekly, hours)
		}
	}
	return weekly
}

// bookings reads the blocking appointments and the unexpired holds of each practitioner within
// a period in one statement, appointments from an index with all the columns. It includes
// appointments of the day before that last past midnight; their finish is compared before
// their state.
func (h *Handler) bookings(ctx context.Context, ids []int64, within diary.Period) (map[int64][]diary.Period, error) {
	booked := h.Client.Appointment.Query().Where(
		entx.InArray[predicate.Appointment](appointment.FieldPractitionerID, ids),
		entx.OpaqueTime[predicate.Appointment](appointment.FieldStartTime, sql.OpGT, within.Start.Add(-schema.LongestAppointment).UTC()),
		entx.OpaqueTime[predicate.Appointment](appointment.FieldStartTime, sql.OpLT, within.Finish.UTC()),
		entx.OpaqueTime[predicate.Appointment](appointment.FieldFinishTime, sql.OpGT, within.Start.UTC()),
		blocking,
	)
	held := h.Client.AppointmentHold.Query().Where(
		entx.InArray[predicate.AppointmentHold](appointmenthold.FieldPractitionerID, ids),
		appointmenthold.StartTimeLT(within.Finish), appointmenthold.FinishTimeGT(within.Start), appointmenthold.ExpiresAtGT(clock.Now(ctx)),
	)
	rows, err := h.Client.UnionAll(ctx,
		entx.Part{Query: booked, Columns: rowscan.Columns(appointment.Table, appointment.FieldPractitionerID, appointment.FieldStartTime, appointment.FieldFinishTime)},
		entx.Part{Query: held, Columns: rowscan.Columns(appointmenthold.Table, appointmenthold.FieldPractitionerID, appointmenthold.FieldStartTime, appointmenthold.FieldFinishTime)})
	if err != nil {
		return nil, err
	}
	busy := map[int64][]diary.Period{}
	err = rowscan.ForEach(rows, 3, func(r *rowscan.Scanner) {
		id := r.Int64(0)
		own, ok := busy[id]
		if !ok {
			own = make([]diary.Period, 0, bookingsCapacity)
		}
		busy[id] = append(own, diary.Period{Start: r.Time(1), Finish: r.Time(2)})
	})
	return busy, err
}
