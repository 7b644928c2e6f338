package report

import (
	"chairside/internal/civil"
	"chairside/internal/decimal"
)

// diaryTotals adds up rows of the diary report.
type diaryTotals struct {
	name string
	DiaryRow
}

func (d *diaryTotals) add(row *DiaryRow) {
	d.Session += row.Session
	d.Blocked += row.Blocked
	d.Booked += row.Booked
	d.Free += row.Free
	d.Outside += row.Outside
	d.Due += row.Due
	d.Visits += row.Visits
	d.Cancelled += row.Cancelled
	d.ShortNotice += row.ShortNotice
	d.DidNotAttend += row.DidNotAttend
	d.Lost += row.Lost
}

// diaryColumns are the columns that both tables share. Free time and cancellations are
// hidden first where space is short: the remaining columns still show the numbers that
// each rate is calculated from.
var diaryColumns = []Column{
	{Key: "session_minutes", Title: "Session", Kind: Minutes},
	{Key: "booked_minutes", Title: "Booked", Kind: Minutes},
	{Key: "free_minutes", Title: "Free", Kind: Minutes, Spare: true},
	{Key: "utilisation", Title: "Used", Kind: Percent},
	{Key: "outside_minutes", Title: "Outside sessions", Kind: Minutes, Minor: true},
	{Key: "blocked_minutes", Title: "Blocked", Kind: Minutes, Minor: true},
	{Key: "appointments", Title: "Patients due", Kind: Count},
	{Key: "cancellations", Title: "Cancelled", Kind: Count, Spare: true},
	{Key: "short_notice_cancellations", Title: "Cancelled at short notice", Kind: Count},
	{Key: "did_not_attend", Title: "Did not attend", Kind: Count},
	{Key: "did_not_attend_rate", Title: "DNA rate", Kind: Percent},
	{Key: "lost_minutes", Title: "Lost", Kind: Minutes},
}

// cells returns the values of diaryColumns.
func (row *DiaryRow) cells() []any {
	return []any{
		row.Session, row.Booked, row.Free, percent(int64(row.Booked), int64(row.Session)), row.Outside, row.Blocked,
		row.Due, row.Cancelled, row.ShortNotice, row.DidNotAttend, percent(int64(row.DidNotAttend), int64(row.Due)), row.Lost,
	}
}

// diaryResult lays the report out: a table by practitioner, site and month with a chart
// of all practitioners by month, and below it the totals of each practitioner.
func diaryResult(rows []DiaryRow, f Filter) *Result {
	const empty = "There are no working sessions or appointments in this period. Working sessions are set for each practitioner; without them, the practice's opening hours apply."
	main := Section{
		Key: "months", Title: "By practitioner, site and month", Empty: empty, Keys: []string{"practitioner_id", "site_id", "month"},
		Columns: append([]Column{hiddenID("practitioner_id", ID), {Key: "practitioner", Title: "Practitioner", Group: true}, hiddenID("site_id", Text), {Key: "site", Title: "Site"}, {Key: "month", Title: "Month", Kind: Month}}, diaryColumns...),
	}
	var all diaryTotals
	var people []*diaryTotals
	months, inMonth := months(f), map[civil.Date]*diaryTotals{}
	for _, m := range months {
		inMonth[m] = &diaryTotals{}
	}
	for i := range rows {
		row := &rows[i]
		main.Rows = append(main.Rows, append([]any{row.PractitionerID, row.Practitioner, row.SiteID.String(), row.Site, row.Month}, row.cells()...))
		all.add(row)
		inMonth[row.Month].add(row)
		if n := len(people); n == 0 || people[n-1].PractitionerID != row.PractitionerID {
			people = append(people, &diaryTotals{name: row.Practitioner, DiaryRow: DiaryRow{PractitionerID: row.PractitionerID}})
		}
		people[len(people)-1].add(row)
	}
	sum, note := "All practitioners", "Whole period, all sites."
	if f.PractitionerID != nil {
		sum = "All"
	}
	if f.SiteID != nil {
		note = "Whole period."
	}
	if len(rows) > 0 {
		main.Total = append([]any{nil, sum, nil, nil, nil}, all.cells()...)
	}
	main.Chart = &Chart{Form: StackedVerticalBars, Title: "Session time by month", Kind: Minutes, Series: []Series{{Name: "Booked"}, {Name: "Free"}}}
	for _, m := range months {
		main.Chart.Add(monthName(m), int64(inMonth[m].Booked), int64(inMonth[m].Free))
	}

	byPractitioner := Section{
		Key: "practitioners", Title: "By practitioner", Note: note, Empty: empty, Keys: []string{"practitioner_id"},
		Columns: append([]Column{hiddenID("practitioner_id", ID), {Key: "practitioner", Title: "Practitioner"}}, diaryColumns...),
		Chart:   &Chart{Form: HorizontalBars, Title: "Booked share of session time", Kind: Percent, Series: []Series{{Name: "Used"}}},
	}
	for _, p := range people {
		byPractitioner.Rows = append(byPractitioner.Rows, append([]any{p.PractitionerID, p.name}, p.cells()...))
		if used, ok := percent(int64(p.Booked), int64(p.Session)).(decimal.Decimal); ok {
			byPractitioner.Chart.Add(p.name, int64(used))
		}
	}
	return &Result{
		Summary: []Figure{
			{Key: "utilisation", Label: "Booked", Kind: Percent, Value: percent(int64(all.Booked), int64(all.Session)), Note: "of session time"},
			{Key: "free_minutes", Label: "Free", Kind: Minutes, Value: all.Free},
			{Key: "did_not_attend_rate", Label: "Did not attend", Kind: Percent, Value: percent(int64(all.DidNotAttend), int64(all.Due)), Note: "of patients due"},
			{Key: "short_notice_cancellations", Label: "Cancelled at short notice", Kind: Count, Value: all.ShortNotice},
			{Key: "lost_minutes", Label: "Time lost", Kind: Minutes, Value: all.Lost},
		},
		Sections: []Section{main, byPractitioner},
	}
}
