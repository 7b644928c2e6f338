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

var _ = register(Report{
	Name: "day-sheet", Title: "Day sheet",
	Group: GroupDiary, Place: 1, Question: "The day's appointments by practitioner, with gaps, arrivals and alerts.",
	Definitions: []Definition{
		{Term: "Diary", Meaning: "One day at each site, by practitioner and time, with the free time inside working sessions. Cancelled and missed appointments are left out and counted above."},
		{Term: "Practitioners", Meaning: "Those with a session or an appointment at the site on the day."},
		{Term: "Site", Meaning: "Where the session takes place. An appointment outside all sessions is listed at the practitioner's own site."},
		{Term: "Patients' appointments", Meaning: "Appointments with a patient. One that runs over midnight is listed on both days, and counted on the day on which it starts."},
		{Term: "Free", Meaning: "Session time that is not booked."},
		{Term: "With an alert", Meaning: "Patients' appointments with a medical alert, counted on the same day."},
		{Term: "Cancelled", Meaning: "Patients' appointments that were cancelled and would have started on the day."},
		{Term: "Did not attend", Meaning: "Patients' appointments that the patient missed."},
		{Term: "Arrived", Meaning: "When the patient arrived."},
	},
	Reads: scope.Set{"appointment:read", "patient:read", "practice:read"}, Period: oneDay, AsAt: true, Practitioners: true, Records: sheetRecords,
	Run: func(ctx context.Context, client *ent.Client, f Filter) (*Result, error) {
		sheet, err := DaySheet(ctx, client, f)
		if err != nil {
			return nil, err
		}
		return sheet.result(), nil
	},
	Layout: func(Filter, Locale) *Result { return (&Sheet{}).result() },
})

// Sheet is the diary of one day.
type Sheet struct {
	// Entries are sorted by site, practitioner and time.
	Entries []SheetEntry
	// Missing are the patients' appointments that were cancelled or missed, in the same order.
	Missing []SheetEntry
	// Cancelled and DidNotAttend count them.
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
	RoomID        uuid.UUID // zero for none
	Room          string    // name
	// For visits:
	Counts    bool // among the day's patients, because it starts on the day
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
		}).
		Select(appointment.FieldID, appointment.FieldPractitionerID, appointment.FieldPatientID, appointment.FieldRoomID, appointment.FieldStartTime, appointment.FieldFinishTime,
			appointment.FieldState, appointment.FieldReason, appointment.FieldNotes, appointment.FieldArrivedAt).
		All(ctx)
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
	place := r.siteOrder()
	for _, entries := range [][]SheetEntry{sheet.Entries, sheet.Missing} {
		slices.SortStableFunc(entries, func(a, b SheetEntry) int { // keeps the order of practitioner and time
			return cmp.Compare(place[a.SiteID], place[b.SiteID])
		})
	}
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
		p := diary.Period{Start: a.StartTime, Finish: a.FinishTime}
		e := entry(Other, site, p)
		e.read(a, r.zone, civil.Of(day.Start.In(r.zone)))
		if !a.State.Blocks() {
			if r.includes(site) && !a.StartTime.Before(day.Start) {
				s.addMissing(a, e)
			}
			continue
		}
		b := bookingOf(a)
		e.Counts = b.visits() && b.startsIn(day)
		busy = append(busy, p)
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

// read fills in what the appointment says. Ages are those on the day.
func (e *SheetEntry) read(a *ent.Appointment, zone *time.Location, day civil.Date) {
	e.AppointmentID, e.State, e.Reason = a.ID, a.State, a.Reason
	if a.Notes != nil {
		e.Notes = *a.Notes
	}
	if a.Edges.Room != nil {
		e.RoomID, e.Room = a.Edges.Room.ID, a.Edges.Room.Name
	}
	if p := a.Edges.Patient; p != nil {
		e.Kind, e.PatientID, e.Patient, e.Alert = Visit, p.ID, schema.FullName(p.FirstName, p.LastName), alert(p)
		e.Phone, e.Age = phone(p), age(p.DateOfBirth, day)
		if a.ArrivedAt != nil {
			e.Arrived = new(a.ArrivedAt.In(zone))
		}
	}
}

// addMissing adds a patient's appointment that was cancelled or missed.
func (s *Sheet) addMissing(a *ent.Appointment, e SheetEntry) {
	switch {
	case a.PatientID == nil:
		return
	case a.State == schema.Cancelled:
		s.Cancelled++
	default:
		s.DidNotAttend++
	}
	s.Missing = append(s.Missing, e)
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
