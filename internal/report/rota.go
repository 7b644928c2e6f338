package report

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/practitioner"
	"chairside/ent/site"
	"chairside/ent/user"
	"chairside/ent/workingsession"
	"chairside/internal/civil"
	"chairside/internal/diary"
	"chairside/internal/principal"
	"chairside/schema"
)

// rota says which practitioners work when and where.
type rota struct {
	zone    *time.Location
	workers []*worker            // sorted by last name
	sites   map[uuid.UUID]string // names of the sites that the caller may see
	only    []uuid.UUID          // the filter's site and the caller's site, if any
}

// worker is a practitioner with their weekly hours at each site.
type worker struct {
	id     int64
	name   string
	role   schema.Role
	site   uuid.UUID // the practitioner's own site
	active bool      // can be booked
	weekly map[uuid.UUID][]diary.Hours
	sites  []uuid.UUID // where the worker works, their own first
}

// shift is a period of work at a site.
type shift struct {
	diary.Period
	site uuid.UUID
}

// readRota reads the practitioners that the caller may see and that match the filter.
// As for availability, their weekly hours are their working sessions. Without sessions
// they are the practice's opening hours, at the practitioner's own site.
func readRota(ctx context.Context, client *ent.Client, f Filter) (*rota, error) {
	q := client.Practitioner.Query().
		WithWorkingSessions(func(q *ent.WorkingSessionQuery) {
			q.Select(workingsession.FieldPractitionerID, workingsession.FieldSiteID, workingsession.FieldWeekday, workingsession.FieldStartMinute, workingsession.FieldFinishMinute)
		}).
		WithUser(func(q *ent.UserQuery) {
			q.Select(user.FieldFirstName, user.FieldLastName, user.FieldLastNameFolded, user.FieldRole)
		})
	if f.PractitionerID != nil {
		q.Where(practitioner.ID(*f.PractitionerID))
	}
	found, err := q.Select(practitioner.FieldID, practitioner.FieldUserID, practitioner.FieldSiteID, practitioner.FieldActive).All(ctx)
	if err != nil {
		return nil, err
	}
	practice, err := client.Practice.Query().Only(ctx)
	if err != nil {
		return nil, err
	}
	r := &rota{zone: principal.Must(ctx).Zone}
	for _, limit := range []*uuid.UUID{f.SiteID, principal.Must(ctx).SiteID} {
		if limit != nil {
			r.only = append(r.only, *limit)
		}
	}
	if r.sites, err = siteNames(ctx, client); err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b *ent.Practitioner) int {
		return cmp.Or(strings.Compare(a.Edges.User.LastNameFolded, b.Edges.User.LastNameFolded), cmp.Compare(a.ID, b.ID))
	})
	for _, p := range found {
		u := p.Edges.User
		w := &worker{id: p.ID, name: schema.FullName(u.FirstName, u.LastName), role: u.Role, site: p.SiteID, active: p.Active, weekly: map[uuid.UUID][]diary.Hours{}}
		for _, s := range p.Edges.WorkingSessions {
			w.weekly[s.SiteID] = append(w.weekly[s.SiteID], diary.Hours{Weekday: time.Weekday(s.Weekday), Start: s.StartMinute, Finish: s.FinishMinute})
		}
		if len(w.weekly) == 0 {
			w.weekly[p.SiteID] = openingHours(practice.OpeningHours)
		}
		w.sites = w.listSites()
		r.workers = append(r.workers, w)
	}
	return r, nil
}

// siteNames returns the name of each site.
func siteNames(ctx context.Context, client *ent.Client) (map[uuid.UUID]string, error) {
	found, err := client.Site.Query().Select(site.FieldName).All(ctx)
	if err != nil {
		return nil, err
	}
	names := map[uuid.UUID]string{}
	for _, s := range found {
		names[s.ID] = s.Name
	}
	return names, nil
}

// siteOrder returns the place of each site where somebody works, in order of name.
func (r *rota) siteOrder() map[uuid.UUID]int {
	place := map[uuid.UUID]int{}
	for _, w := range r.workers {
		for _, site := range w.sites {
			place[site] = 0
		}
	}
	sites := slices.SortedFunc(maps.Keys(place), func(a, b uuid.UUID) int {
		return cmp.Or(compareNames(r.sites[a], r.sites[b]), strings.Compare(a.String(), b.String()))
	})
	for i, site := range sites {
		place[site] = i
	}
	return place
}

// openingHours converts opening hours; closed days have none.
func openingHours(open schema.OpeningHours) (weekly []diary.Hours) {
	for day := time.Sunday; day <= time.Saturday; day++ {
		h := open[day.String()] // empty on closed days
		if hours, ok := diary.Opening(day, h.Open, h.Close); ok {
			weekly = append(weekly, hours)
		}
	}
	return weekly
}

// includes reports whether the report covers a site.
func (r *rota) includes(site uuid.UUID) bool {
	return !slices.ContainsFunc(r.only, func(limit uuid.UUID) bool { return limit != site })
}

// listSites returns the sites where the worker works, their own first.
func (w *worker) listSites() []uuid.UUID {
	own := func(id uuid.UUID) bool { return id == w.site }
	others := slices.SortedFunc(maps.Keys(w.weekly), func(a, b uuid.UUID) int { return strings.Compare(a.String(), b.String()) })
	return append([]uuid.UUID{w.site}, slices.DeleteFunc(others, own)...)
}

// shiftsOn returns the worker's shifts on a day, in order of time.
func (w *worker) shiftsOn(day civil.Date, zone *time.Location) (shifts []shift) {
	for site, weekly := range w.weekly {
		for _, p := range diary.On(day, weekly, zone) {
			shifts = append(shifts, shift{p, site})
		}
	}
	slices.SortFunc(shifts, func(a, b shift) int {
		return cmp.Or(a.Start.Compare(b.Start), strings.Compare(a.site.String(), b.site.String()))
	})
	return shifts
}

// siteAt returns the site of the shift that contains t, or the worker's own site.
func (w *worker) siteAt(t time.Time, shifts []shift) uuid.UUID {
	if len(w.weekly) == 1 && len(w.weekly[w.site]) > 0 { // most practitioners work at one site
		return w.site
	}
	for _, s := range shifts {
		if !t.Before(s.Start) && t.Before(s.Finish) {
			return s.site
		}
	}
	return w.site
}

// name returns the name of a practitioner, or "" if the caller may not see them.
func (r *rota) name(id int64) string {
	for _, w := range r.workers {
		if w.id == id {
			return w.name
		}
	}
	return ""
}
