package report

import (
	"context"
	"slices"

	"chairside/ent"
	"chairside/internal/civil"
	"chairside/internal/scope"
)

var _ = register(Report{
	Name: "capacity", Title: "Capacity ahead",
	Group: GroupDiary, Place: 3, Question: "How much working time of the next weeks is still free, by practitioner and week.",
	Definitions: []Definition{
		{Term: "Session", Meaning: "The practitioner's weekly working sessions on each day of the period, or the practice's opening hours for practitioners without sessions, less blocked time. A session during a clock change is as long as it really lasts. Practitioners who can no longer be booked have none."},
		blockedTime,
		bookedTime,
		{Term: "Free", Meaning: "Session time that is not booked. Each day counts whole: today's free time includes the hours that are over."},
		{Term: "Used", Meaning: "Booked time as a share of session time."},
		outsideSessions,
		{Term: "Patients booked", Meaning: "Patients' appointments that are neither cancelled nor missed, counted on the day on which they start."},
		{Term: "Week", Meaning: "From Monday to Sunday. Of the first and the last week only the days of the period count."},
		{Term: "Site", Meaning: "Where the session takes place. An appointment outside all sessions counts at the practitioner's own site."},
	},
	Reads: scope.Set{"appointment:read", "practice:read"}, Period: eightWeeks, Practitioners: true,
	Records: capacityRecords,
}.adding(capacityRecords.Read, capacityResult))

// capacityRecords are the days of practitioners at sites.
var capacityRecords = Records{
	Columns: []Column{
		{Key: "day", Title: "Day", Kind: Date}, {Key: "week", Title: "Week from", Kind: Date, Minor: true},
		hiddenID("practitioner_id", ID), {Key: "practitioner", Title: "Practitioner"}, hiddenID("site_id", Text), {Key: "site", Title: "Site"},
	},
	Measures: []Column{
		{Key: "session_minutes", Title: "Session", Kind: Minutes}, {Key: "booked_minutes", Title: "Booked", Kind: Minutes}, {Key: "free_minutes", Title: "Free", Kind: Minutes},
		{Key: "outside_minutes", Title: "Outside sessions", Kind: Minutes, Minor: true},
		{Key: "blocked_minutes", Title: "Blocked", Kind: Minutes, Minor: true}, {Key: "appointments", Title: "Patients booked", Kind: Count},
	},
	Read: func(ctx context.Context, client *ent.Client, f Filter) ([]Record, error) {
		r, err := readRota(ctx, client, f)
		if err != nil {
			return nil, err
		}
		var records []Record
		err = r.eachDay(ctx, client, f, func(w *worker, today dayBookings, _ bool) {
			for _, row := range r.diaryRows(w, today.Period, today.bookings, w.active) {
				if row.Session+row.Blocked+row.Outside+row.Visits == 0 { // only cancelled or missed appointments
					continue
				}
				records = append(records, Record{
					Cells:  []any{today.day, weekStart(today.day), row.PractitionerID, row.Practitioner, row.SiteID.String(), row.Site},
					Values: []any{row.Session, row.Booked, row.Free, row.Outside, row.Blocked, row.Visits},
				})
			}
		})
		slices.SortStableFunc(records, func(a, b Record) int { return Date.compare(a.Cells[0], b.Cells[0]) })
		return records, err
	},
}

// capacityResult lays the report out: by week, by practitioner, site and week, and by
// practitioner.
func capacityResult(records []Record, f Filter) *Result {
	r, total := &capacityRecords, capacityRecords.sum(records)
	columns := slices.Insert(r.measures("session_minutes", "booked_minutes", "free_minutes", "outside_minutes", "blocked_minutes", "appointments"), 3, rate("utilisation", "Used", "booked_minutes", "session_minutes"))
	const empty = "There are no working sessions or appointments in this period. Working sessions are set for each practitioner; without them, the practice's opening hours apply."
	weeks := r.breakDown(breakdown{key: "weeks", title: "By week", empty: empty, all: "All weeks", by: []string{"week"}, columns: columns}, records)
	var all []civil.Date
	for week := weekStart(f.From); !f.To.Before(week); week = week.AddDays(7) {
		all = append(all, week)
	}
	weeks.draw(StackedVerticalBars, "Session time by week", "week", all, "booked_minutes", "free_minutes")
	each := r.breakDown(breakdown{
		key: "practitioner_weeks", title: "By practitioner, site and week", empty: empty, all: "All practitioners",
		by: []string{"practitioner_id", "practitioner", "site_id", "site", "week"}, group: "practitioner", columns: columns,
	}, records)
	people := r.breakDown(breakdown{key: "practitioners", title: "By practitioner", empty: empty, all: "All practitioners", by: []string{"practitioner_id", "practitioner"}, columns: columns}, records)
	people.draw(HorizontalBars, "Free session time", "practitioner", nil, "free_minutes")
	return &Result{
		Summary: []Figure{
			{Key: "free_minutes", Label: "Free", Kind: Minutes, Value: total.value("free_minutes")},
			{Key: "booked_minutes", Label: "Booked", Kind: Minutes, Value: total.value("booked_minutes")},
			{Key: "utilisation", Label: "Used", Kind: Percent, Value: percent(total.of("booked_minutes"), total.of("session_minutes")), Note: "of session time"},
			{Key: "appointments", Label: "Patients booked", Kind: Count, Value: total.value("appointments")},
		},
		Sections: []Section{weeks, each, people},
	}
}
