package api

import (
	"context"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/practice"
	"chairside/ent/practitioner"
	"chairside/ent/predicate"
	"chairside/ent/workingsession"
	"chairside/internal/apierror"
	"chairside/internal/civil"
	"chairside/internal/diary"
	"chairside/internal/entx"
	"chairside/internal/list"
	"chairside/internal/principal"
	"chairside/ogent"
)

// ListRotaPractitionerDiaries returns a row for each day and practitioner, from their working
// sessions, or from the practice's opening hours if they have none, as availability does.
func (h *Handler) ListRotaPractitionerDiaries(ctx context.Context, p ogent.ListRotaPractitionerDiariesParams) (*ogent.RotaPractitionerDiaryList, error) {
	view := h.View(ctx)
	first, days, err := rotaDays(p, view.Zone)
	if err != nil {
		return nil, err
	}
	people, err := h.rotaPractitioners(ctx, p)
	if err != nil {
		return nil, err
	}
	page := list.Page{Number: p.Page.Or(1), Size: p.PerPage.Or(25)}
	rows := days * len(people)
	from := min(page.Offset(), rows)
	to := min(from+page.Limit(), rows)
	response := &ogent.RotaPractitionerDiaryList{RotaPractitionerDiaries: make([]ogent.RotaPractitionerDiary, 0, to-from), Meta: ogent.MetaOf(page.Meta(rows))}
	if from == to {
		return response, nil
	}
	sessions, err := h.rotaSessions(ctx, people)
	if err != nil {
		return nil, err
	}
	for i := from; i < to; i++ {
		who, day := people[i%len(people)], first.AddDays(i/len(people))
		row := ogent.RotaPractitionerDiary{PractitionerID: who.ID, Day: day.Time(), Breaks: []ogent.RotaBreak{}}
		shifts := shiftsOn(day, sessions[who.ID], view.Zone)
		if row.Unavailable = !who.Active || len(shifts) == 0; row.Unavailable {
			row.StartTime.SetToNull()
			row.EndTime.SetToNull()
		} else {
			row.StartTime.SetTo(view.Time(shifts[0].Start))
			row.EndTime.SetTo(view.Time(shifts[len(shifts)-1].Finish))
			for i, s := range shifts[1:] {
				row.Breaks = append(row.Breaks, ogent.RotaBreak{ID: s.id, Name: "Break", StartTime: view.Time(shifts[i].Finish), EndTime: view.Time(s.Start)})
			}
		}
		response.RotaPractitionerDiaries = append(response.RotaPractitionerDiaries, row)
	}
	return response, nil
}

// rotaDays checks the window and returns its first day and the number of days that overlap it.
func rotaDays(p ogent.ListRotaPractitionerDiariesParams, zone *time.Location) (first civil.Date, days int, err error) {
	params := apierror.Params{}
	after, hasAfter := p.After.Get()
	before, hasBefore := p.Before.Get()
	if !hasAfter {
		params.Add("after", "is missing")
	}
	switch {
	case !hasBefore:
		params.Add("before", "is missing")
	case !hasAfter:
	case !before.After(after):
		params.Add("before", "must be later than after")
	case before.Sub(after) > maxWindow:
		params.Add("before", "must be at most 366 days later than after")
	}
	if len(params) > 0 {
		return first, 0, apierror.InvalidParameter(params)
	}
	first = civil.Of(after.In(zone))
	for day := first; day.In(zone).Before(before); day = day.AddDays(1) {
		days++
	}
	return first, days, nil
}

// rotaPractitioners returns the practitioners of a rota, in order of id.
func (h *Handler) rotaPractitioners(ctx context.Context, p ogent.ListRotaPractitionerDiariesParams) ([]*ent.Practitioner, error) {
	q := h.Client.Practitioner.Query().Order(practitioner.ByID())
	if id, ok := p.PractitionerID.Get(); ok {
		q.Where(practitioner.ID(id))
	}
	if site, ok := p.SiteID.Get(); ok {
		q.Where(practitioner.SiteID(site))
	}
	if !p.IncludeInactivePractitioners.Or(false) {
		q.Where(practitioner.Active(true))
	}
	return q.Select(practitioner.FieldID, practitioner.FieldActive).All(ctx)
}

// session is weekly working hours.
type session struct {
	id    uuid.UUID
	hours diary.Hours
}

// rotaSessions returns the weekly sessions of each practitioner; the practice's opening hours
// for those who have none.
func (h *Handler) rotaSessions(ctx context.Context, people []*ent.Practitioner) (map[int64][]session, error) {
	ids := make([]int64, len(people))
	for i, p := range people {
		ids[i] = p.ID
	}
	rows, err := h.Client.WorkingSession.Query().Where(entx.InArray[predicate.WorkingSession](workingsession.FieldPractitionerID, ids)).All(ctx)
	if err != nil {
		return nil, err
	}
	sessions := make(map[int64][]session, len(ids))
	for _, r := range rows {
		sessions[r.PractitionerID] = append(sessions[r.PractitionerID], session{r.ID, diary.Hours{Weekday: time.Weekday(r.Weekday), Start: r.StartMinute, Finish: r.FinishMinute}})
	}
	if len(sessions) == len(ids) {
		return sessions, nil
	}
	own, err := h.Client.Practice.Query().Where(practice.ID(principal.Must(ctx).PracticeID)).Select(practice.FieldOpeningHours).Only(ctx)
	if err != nil {
		return nil, err
	}
	var open []session
	for _, hours := range openingHours(own.OpeningHours) {
		open = append(open, session{hours: hours})
	}
	for _, id := range ids {
		if sessions[id] == nil {
			sessions[id] = open
		}
	}
	return sessions, nil
}

// shift is a period of work without a break. Its id is that of the session with which it starts.
type shift struct {
	diary.Period
	id uuid.UUID
}

// shiftsOn returns the shifts of one day, in order. Adjacent and overlapping sessions are one.
func shiftsOn(day civil.Date, weekly []session, zone *time.Location) []shift {
	hours := make([]diary.Hours, len(weekly))
	for i, s := range weekly {
		hours[i] = s.hours
	}
	periods := diary.On(day, hours, zone)
	shifts := make([]shift, len(periods))
	for i, p := range periods {
		shifts[i].Period = p
		for _, s := range weekly {
			if s.hours.Weekday == day.Weekday() && day.FirstAt(s.hours.Start, zone).Equal(p.Start) {
				shifts[i].id = s.id
			}
		}
	}
	return shifts
}
