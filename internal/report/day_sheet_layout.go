package report

import (
	"context"
	"slices"

	"chairside/ent"
	"chairside/schema"
)

// sheetColumns describe an entry.
var sheetColumns = []Column{
	{Key: "site", Title: "Site", Minor: true}, {Key: "practitioner", Title: "Practitioner", Group: true},
	{Key: "start", Title: "From", Kind: Clock}, {Key: "finish", Title: "To", Kind: Clock}, {Key: "minutes", Title: "Time", Kind: Minutes, Minor: true},
	{Key: "entry", Title: "Entry"}, {Key: "patient_id", Title: "Patient no.", Kind: ID, Minor: true}, {Key: "patient", Title: "Patient"}, {Key: "alert", Title: "Alert"},
	{Key: "reason", Title: "Reason"}, {Key: "state", Title: "State"}, {Key: "arrived", Title: "Arrived", Kind: Clock},
	{Key: "notes", Title: "Notes"}, {Key: "room", Title: "Room", Minor: true}, {Key: "appointment_id", Title: "Appointment no.", Kind: ID, Minor: true},
}

// sheetRecords are the entries, and the appointments that are left out of them.
var sheetRecords = Records{
	Columns: sheetColumns,
	Measures: []Column{
		{Key: "visits", Title: "Patients' appointments", Kind: Count}, {Key: "free_minutes", Title: "Free", Kind: Minutes},
		{Key: "alerts", Title: "With an alert", Kind: Count}, {Key: "cancelled", Title: "Cancelled", Kind: Count}, {Key: "did_not_attend", Title: "Did not attend", Kind: Count},
	},
	Read: func(ctx context.Context, client *ent.Client, f Filter) ([]Record, error) {
		sheet, err := DaySheet(ctx, client, f)
		if err != nil {
			return nil, err
		}
		var records []Record
		for _, e := range sheet.Entries {
			free := 0
			if e.Kind == Gap {
				free = e.Minutes
			}
			records = append(records, Record{e.cells(), []any{one(e.Counts), free, one(e.Counts && e.Alert != ""), 0, 0}})
		}
		for _, e := range sheet.Missing {
			cancelled := e.State == schema.Cancelled
			records = append(records, Record{e.cells(), []any{0, 0, 0, one(cancelled), one(!cancelled)}})
		}
		return records, nil
	},
}

// result lays the sheet out: one section per site.
func (s *Sheet) result() *Result {
	result := &Result{}
	visits, free, alerts := 0, 0, 0
	for i := range s.Entries {
		e := &s.Entries[i]
		if i == 0 || s.Entries[i-1].SiteID != e.SiteID {
			result.Sections = append(result.Sections, Section{Key: "entries", Title: e.Site, Columns: sheetColumns})
		}
		section := &result.Sections[len(result.Sections)-1]
		section.Rows = append(section.Rows, e.cells())
		if section.Chart == nil {
			section.Chart = newDayChart()
		}
		if len(section.Rows) == 1 || s.Entries[i-1].PractitionerID != e.PractitionerID {
			section.Chart.Add(e.Practitioner, 0, 0, 0)
		}
		addToLastBar(section.Chart, e)
		if e.Kind == Gap {
			free += e.Minutes
		}
		if e.Counts {
			visits++
		}
		if e.Counts && e.Alert != "" {
			alerts++
		}
	}
	if len(result.Sections) == 0 {
		result.Sections = []Section{{
			Key: "entries", Title: "Diary", Columns: sheetColumns,
			Empty: "No one works and nothing is booked on this day. Working sessions are set for each practitioner; without them, the practice's opening hours apply.",
		}}
	}
	result.Summary = []Figure{
		{Key: "visits", Label: "Patients' appointments", Kind: Count, Value: visits},
		{Key: "free_minutes", Label: "Free", Kind: Minutes, Value: free, Note: "inside sessions"},
		{Key: "alerts", Label: "With an alert", Kind: Count, Value: alerts},
		{Key: "cancelled", Label: "Cancelled", Kind: Count, Value: s.Cancelled},
		{Key: "did_not_attend", Label: "Did not attend", Kind: Count, Value: s.DidNotAttend},
	}
	return result
}

// cells returns the values of the entry's row; nil leaves a cell empty.
func (e *SheetEntry) cells() []any {
	var patient, appointment, arrived any
	if e.PatientID != 0 {
		patient = e.PatientID
	}
	if e.AppointmentID != 0 {
		appointment = e.AppointmentID
	}
	if e.Arrived != nil {
		arrived = *e.Arrived
	}
	return []any{
		e.Site, e.Practitioner, e.Start, e.Finish, e.Minutes, string(e.Kind), patient, e.Patient, e.Alert,
		e.Reason, string(e.State), arrived, e.Notes, e.Room, appointment,
	}
}

// newDayChart returns the chart of a site: a bar for each practitioner.
func newDayChart() *Chart {
	return &Chart{Form: StackedHorizontalBars, Title: "Booked and free", Kind: Minutes, Series: []Series{{Name: "Patients"}, {Name: "Other"}, {Name: "Free"}}}
}

// addToLastBar adds the minutes of an entry to the last practitioner's bar.
func addToLastBar(c *Chart, e *SheetEntry) {
	kind := slices.Index([]EntryKind{Visit, Other, Gap}, e.Kind) // in the order of the chart's series
	c.Series[kind].Values[len(c.Labels)-1] += int64(e.Minutes)
}
