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
	"chairside/internal/diary"
	"chairside/internal/scope"
	"chairside/schema"
)

var daySheet = Report{
	Name: "day-sheet", Title: "Day sheet",
	Group: GroupDiary, Question: "The day's appointments by practitioner, with gaps, arrivals and alerts.",
	Doc: "The diary of one day at each site, by practitioner and in order of time, with the free time inside working sessions. " +
		"A site's practitioners are those who have a session or an appointment there on the day; an appointment outside all sessions is at the practitioner's own site. " +
		"Cancelled appointments and those not attended are left out of the diary and counted above it. Arrived is when the patient did.",
	Reads: scope.Set{"appointment:read", "patient:read", "practice:read"}, Period: oneDay, AsAt: true, Practitioners: true,
	Run: func(ctx context.Context, client *ent.Client, f Filter) (*Result, error) {
		sheet, err := DaySheet(ctx, client, f)
		if err != nil {
			return nil, err
		}
		return sheet.result(), nil
	},
}

// Sheet is the diary of a day.
type Sheet struct {
	// Entries are in order of site, practitioner and time.
	Entries []SheetEntry
	// Cancelled and DidNotAttend count the patients' appointments of the day
	// that are not among the entries.
	Cancelled, DidNotAttend int
}

// EntryKind is what a stretch of the diary is.
type EntryKind string

// The kinds.
const (
	Visit EntryKind = "Visit" // an appointment of a patient
	Other EntryKind = "Other" // an entry without a patient: a break, a meeting
	Gap   EntryKind = "Free"  // time inside a session in which nothing is booked
)

// SheetEntry is a stretch of the diary of one practitioner.
type SheetEntry struct {
	SiteID         uuid.UUID
	Site           string
	PractitionerID int64
	Practitioner   string
	Kind           EntryKind
	Start, Finish  time.Time // in the practice's zone
	Minutes        int

	// Of appointments alone:
	AppointmentID int64
	State         schema.AppointmentState
	Reason, Notes string
	Room          string
	// Of visits alone:
	PatientID int64
	Patient   string     // name
	Arrived   *time.Time // in the practice's zone; nil if the patient has not
	Alert     string     // what to know of the patient's health, "" for nothing
}

// DaySheet is the diary of the practice's day f.To: all appointments that touch
// it, but for those cancelled or not attended, and every gap of a minute or
// more inside the working sessions of practitioners who can be booked (see
// Diary for what these are). An appointment is at the site of the session in
// which it starts, or else the practitioner's own.
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
			q.Select(patient.FieldFirstName, patient.FieldLastName, patient.FieldMedicalAlert, patient.FieldMedicalAlertText)
		}).All(ctx)
	if err != nil {
		return nil, err
	}
	of := map[int64][]*ent.Appointment{}
	for _, a := range found {
		of[a.PractitionerID] = append(of[a.PractitionerID], a)
	}
	sheet := &Sheet{}
	for _, w := range r.workers {
		sheet.add(r, w, w.on(f.To, r.zone), of[w.id], day)
	}
	slices.SortStableFunc(sheet.Entries, func(a, b SheetEntry) int { // the workers are in order
		return cmp.Or(compareNames(a.Site, b.Site), strings.Compare(a.SiteID.String(), b.SiteID.String()))
	})
	return sheet, nil
}

// add puts a worker's day onto the sheet.
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
			s.countLost(a, r.asked(site) && !a.StartTime.Before(day.Start))
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
	entries = slices.DeleteFunc(entries, func(e SheetEntry) bool { return !r.asked(e.SiteID) })
	slices.SortStableFunc(entries, func(a, b SheetEntry) int { return a.Start.Compare(b.Start) })
	s.Entries = append(s.Entries, entries...)
}

// countLost counts an appointment that is not in the diary any more.
func (s *Sheet) countLost(a *ent.Appointment, counts bool) {
	switch {
	case !counts || a.PatientID == nil:
	case a.State == schema.Cancelled:
		s.Cancelled++
	default:
		s.DidNotAttend++
	}
}

// alert is what to know of a patient's health.
func alert(p *ent.Patient) string {
	switch {
	case !p.MedicalAlert:
		return ""
	case p.MedicalAlertText == nil || strings.TrimSpace(*p.MedicalAlertText) == "":
		return "Medical alert"
	}
	return *p.MedicalAlertText
}

// result lays the sheet out, a section for each site.
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
		section.Chart = e.draw(section.Chart, i > 0 && s.Entries[i-1].PractitionerID == e.PractitionerID)
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
			Empty: "Nobody works and nothing is booked on this day. Working sessions are set for each practitioner; without any, the practice's opening hours hold.",
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

// draw adds an entry to the chart of its site, to the last bar or to a new one.
func (e *SheetEntry) draw(c *Chart, same bool) *Chart {
	if c == nil {
		c = &Chart{Form: Parts, Title: "Booked and free", Kind: Minutes, Series: []Series{{Name: "Patients"}, {Name: "Other"}, {Name: "Free"}}}
		same = false
	}
	if !same {
		c.Labels = append(c.Labels, e.Practitioner)
		for i := range c.Series {
			c.Series[i].Values = append(c.Series[i].Values, 0)
		}
	}
	kind := slices.Index([]EntryKind{Visit, Other, Gap}, e.Kind)
	c.Series[kind].Values[len(c.Labels)-1] += int64(e.Minutes)
	return c
}
