package report

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/appointment"
	"chairside/ent/patient"
	"chairside/ent/room"
	"chairside/internal/civil"
	"chairside/internal/diary"
	"chairside/internal/scope"
	"chairside/schema"
)

var daySheet = Report{
	Name: "day-sheet", Title: "Day sheet",
	Group: GroupDiary, Question: "The day's appointments by practitioner, with gaps, arrivals and alerts.",
	Definitions: []Definition{
		{"Diary", "One day at each site, by practitioner and time, with the free time inside working sessions. Cancelled and missed appointments are left out and counted above."},
		{"Practitioners", "Those with a session or an appointment at the site on the day."},
		{"Site", "Where the session takes place. An appointment outside all sessions is listed at the practitioner's own site."},
		{"Arrived", "When the patient arrived."},
	},
	Reads: scope.Set{"appointment:read", "patient:read", "practice:read"}, Period: oneDay, AsAt: true, Practitioners: true,
	Run: func(ctx context.Context, client *ent.Client, f Filter) (*Result, error) {
		sheet, err := DaySheet(ctx, client, f)
		if err != nil {
			return nil, err
		}
		return sheet.result(), nil
	},
}

// Sheet is the diary of one day.
type Sheet struct {
	// Entries are sorted by site, practitioner and time.
	Entries []SheetEntry
	// Cancelled and DidNotAttend count the patients' appointments that are left out
	// of Entries.
	Cancelled, DidNotAttend int
}

// EntryKind is the kind of an entry.
type EntryKind string

// The kinds.
const (
	Visit EntryKind = "Visit" // a patient's appointment
	Other EntryKind = "Other" // an appointment without a patient: a break, a meeting
	Gap   EntryKind = "Free"  // session time that is not booked
)

// SheetEntry is an appointment or a gap in a practitioner's diary.
type SheetEntry struct {
	SiteID         uuid.UUID
	Site           string
	PractitionerID int64
	Practitioner   string
	Kind           EntryKind
	Start, Finish  time.Time // in the practice's zone
	Minutes        int

	// For appointments:
	AppointmentID int64
	State         schema.AppointmentState
	Reason, Notes string
	Room          string
	// For visits:
	PatientID int64
	Patient   string     // name
	Phone     string     // the preferred number, "" for none
	Age       int        // in years, on the day
	Arrived   *time.Time // in the practice's zone; nil if the patient has not arrived
	Alert     string     // the patient's medical alert, "" for none
}

// DaySheet returns the diary of the day f.To in the practice's time zone: all
// appointments that overlap the day, except cancelled and missed ones, and every gap of
// a minute or more inside the working sessions of practitioners who can be booked. Diary
// describes the working sessions. An appointment is listed at the site of the session in
// which it starts, or else at the practitioner's own site.
func DaySheet(ctx context.Context, client *ent.Client, f Filter) (*Sheet, error) {
	r, err := readRota(ctx, client, f)
	if err != nil {
		return nil, err
	}
	day := diary.Period{Start: f.To.In(r.zone), Finish: f.To.AddDays(1).In(r.zone)}
	q := client.Appointment.Query().Where(
		appointment.StartTimeGT(day.Start.Add(-schema.LongestAppointment).UTC()), appointment.StartTimeLT(day.Finish.UTC()), appointment.FinishTimeGT(day.Start.UTC()),
	)
	if f.PractitionerID != nil {
		q.Where(appointment.PractitionerID(*f.PractitionerID))
	}
	found, err := q.Order(appointment.ByStartTime(), appointment.ByID()).
		WithRoom(func(q *ent.RoomQuery) { q.Select(room.FieldName) }).
		WithPatient(func(q *ent.PatientQuery) {
			q.Select(patient.FieldPracticeID, patient.FieldFirstName, patient.FieldLastName, patient.FieldMedicalAlert, patient.FieldMedicalAlertText,
				patient.FieldDateOfBirth, patient.FieldPreferredPhoneNumber, patient.FieldHomePhone, patient.FieldWorkPhone, patient.FieldMobilePhone)
		}).All(ctx)
	if err != nil {
		return nil, err
	}
	byPractitioner := map[int64][]*ent.Appointment{}
	for _, a := range found {
		if p := a.Edges.Patient; p != nil {
			if err := p.Unseal(f.Keys); err != nil {
				return nil, err
			}
		}
		byPractitioner[a.PractitionerID] = append(byPractitioner[a.PractitionerID], a)
	}
	sheet := &Sheet{}
	for _, w := range r.workers {
		sheet.add(r, w, w.shiftsOn(f.To, r.zone), byPractitioner[w.id], day)
	}
	slices.SortStableFunc(sheet.Entries, func(a, b SheetEntry) int { // keeps the order of practitioner and time
		return cmp.Or(compareNames(a.Site, b.Site), strings.Compare(a.SiteID.String(), b.SiteID.String()))
	})
	return sheet, nil
}

// add adds a worker's day to the sheet.
func (s *Sheet) add(r *rota, w *worker, shifts []shift, appointments []*ent.Appointment, day diary.Period) {
	var entries []SheetEntry
	entry := func(kind EntryKind, site uuid.UUID, p diary.Period) SheetEntry {
		return SheetEntry{
			SiteID: site, Site: r.sites[site], PractitionerID: w.id, Practitioner: w.name,
			Kind: kind, Start: p.Start.In(r.zone), Finish: p.Finish.In(r.zone), Minutes: p.Minutes(),
		}
	}
	var busy []diary.Period
	for _, a := range appointments {
		site := w.siteAt(a.StartTime, shifts)
		if !a.State.Blocks() {
			if r.includes(site) && !a.StartTime.Before(day.Start) {
				s.countMissing(a)
			}
			continue
		}
		p := diary.Period{Start: a.StartTime, Finish: a.FinishTime}
		busy = append(busy, p)
		e := entry(Other, site, p)
		e.AppointmentID, e.State, e.Reason = a.ID, a.State, a.Reason
		if a.Notes != nil {
			e.Notes = *a.Notes
		}
		if a.Edges.Room != nil {
			e.Room = a.Edges.Room.Name
		}
		if p := a.Edges.Patient; p != nil {
			e.Kind, e.PatientID, e.Patient, e.Alert = Visit, p.ID, schema.FullName(p.FirstName, p.LastName), alert(p)
			e.Phone, e.Age = phone(p), age(p.DateOfBirth, civil.Of(day.Start.In(r.zone)))
			if a.ArrivedAt != nil {
				e.Arrived = new(a.ArrivedAt.In(r.zone))
			}
		}
		entries = append(entries, e)
	}
	if w.active {
		for _, shift := range shifts {
			for _, gap := range diary.Free([]diary.Period{shift.Period}, busy, day, 1) {
				entries = append(entries, entry(Gap, shift.site, gap))
			}
		}
	}
	entries = slices.DeleteFunc(entries, func(e SheetEntry) bool { return !r.includes(e.SiteID) })
	slices.SortStableFunc(entries, func(a, b SheetEntry) int { return a.Start.Compare(b.Start) })
	s.Entries = append(s.Entries, entries...)
}

// countMissing counts a patient's appointment that was cancelled or missed.
func (s *Sheet) countMissing(a *ent.Appointment) {
	switch {
	case a.PatientID == nil:
	case a.State == schema.Cancelled:
		s.Cancelled++
	default:
		s.DidNotAttend++
	}
}

// alert returns the patient's medical alert, or "" if there is none.
func alert(p *ent.Patient) string {
	text, _ := p.MedicalAlertText.Plain()
	switch {
	case !p.MedicalAlert:
		return ""
	case strings.TrimSpace(text) == "":
		return "Medical alert"
	}
	return text
}

// phone returns the patient's preferred phone number, or else the first of mobile, home and
// work. Empty if the patient has no number.
func phone(p *ent.Patient) string {
	numbers := []*string{p.MobilePhone, p.HomePhone, p.WorkPhone}
	if n := p.PreferredPhoneNumber; n != nil {
		preferred := map[int]*string{1: p.HomePhone, 2: p.WorkPhone, 3: p.MobilePhone}[*n]
		numbers = append([]*string{preferred}, numbers...)
	}
	for _, number := range numbers {
		if number != nil && *number != "" {
			return *number
		}
	}
	return ""
}

// age returns the age in whole years on a day.
func age(born, day civil.Date) int {
	years := day.Year - born.Year
	if day.Month < born.Month || day.Month == born.Month && day.Day < born.Day {
		years--
	}
	return years
}

// result lays the sheet out: one section per site.
func (s *Sheet) result() *Result {
	columns := []Column{
		{Key: "site", Title: "Site", Minor: true}, {Key: "practitioner", Title: "Practitioner", Group: true},
		{Key: "start", Title: "From", Kind: Clock}, {Key: "finish", Title: "To", Kind: Clock}, {Key: "minutes", Title: "Time", Kind: Minutes, Minor: true},
		{Key: "entry", Title: "Entry"}, {Key: "patient_id", Title: "Patient no.", Kind: ID, Minor: true}, {Key: "patient", Title: "Patient"}, {Key: "alert", Title: "Alert"},
		{Key: "reason", Title: "Reason"}, {Key: "state", Title: "State"}, {Key: "arrived", Title: "Arrived", Kind: Clock},
		{Key: "notes", Title: "Notes"}, {Key: "room", Title: "Room", Minor: true}, {Key: "appointment_id", Title: "Appointment no.", Kind: ID, Minor: true},
	}
	result := &Result{}
	visits, free, alerts := 0, 0, 0
	for i := range s.Entries {
		e := &s.Entries[i]
		if i == 0 || s.Entries[i-1].SiteID != e.SiteID {
			result.Sections = append(result.Sections, Section{Key: "entries", Title: e.Site, Columns: columns})
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
		switch e.Kind {
		case Visit:
			visits++
		case Gap:
			free += e.Minutes
		}
		if e.Alert != "" {
			alerts++
		}
	}
	if len(result.Sections) == 0 {
		result.Sections = []Section{{
			Key: "entries", Title: "Diary", Columns: columns,
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
