package report

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/internal/civil"
	"chairside/internal/diary"
	"chairside/internal/scope"
)

var diaryReport = Report{
	Name: "diary", Title: "Diary use",
	Group: GroupDiary, Question: "How much working time is booked, and how much was lost to cancellations and missed appointments.",
	Doc: "How much of the working time was booked, by practitioner, site and month. " +
		"Session minutes are the practitioner's weekly working sessions (the practice's opening hours where there are none) on each day of the period, as long as they really last when the clocks change. " +
		"Booked is what appointments cover of them, patients' or not, except those cancelled or not attended; time booked twice counts once. Free is the rest. " +
		"Somebody who can no longer be booked has sessions only in months in which something was booked. " +
		"Cancellations and patients who did not attend count where the appointment was to start. Short notice is less than 24 hours before. " +
		"The did-not-attend rate is of all patients' appointments that were not cancelled. " +
		"Lost is the length of the appointments that were cancelled at short notice or not attended, whether or not the time was filled again.",
	Reads: scope.Set{"appointment:read", "practice:read"}, Period: twelveMonths, Practitioners: true,
	Run: func(ctx context.Context, client *ent.Client, f Filter) (*Result, error) {
		rows, err := Diary(ctx, client, f)
		if err != nil {
			return nil, err
		}
		return diaryResult(rows, f), nil
	},
}

// DiaryRow is a month of one practitioner at one site.
type DiaryRow struct {
	PractitionerID int64
	Practitioner   string
	SiteID         uuid.UUID
	Site           string
	Month          civil.Date // its first day

	Session int // minutes of working sessions
	Booked  int // of them, minutes that appointments cover
	Free    int // of them, the rest
	Outside int // minutes booked outside sessions

	Due          int // patients' appointments that were not cancelled
	Cancelled    int // patients' appointments that were
	ShortNotice  int // of them, those cancelled less than 24 hours before the start, or after it
	DidNotAttend int // of those due, those that the patient did not attend
	Lost         int // minutes of those cancelled at short notice or not attended
}

// Diary returns how the working time of the period was used, in order of
// practitioner, site and month.
//
// Session minutes are those of the practitioner's working sessions at the site
// of the session, on each day of the period in the practice's zone: a session
// that spans a change of the clocks is an hour shorter or longer. A practitioner
// without sessions has the practice's opening hours, at the practitioner's own
// site. An inactive practitioner has no sessions in months without bookings.
//
// Booked is the union of the practitioner's appointments that are neither
// cancelled nor not attended, cut to the sessions, breaks included. Time
// outside every session is Outside, at the practitioner's own site. Session is
// the sum of Booked and Free.
//
// Appointments are counted if they have a patient and start in the month, at the
// site of the session in which they start, or else at the practitioner's own.
//
// It holds one month of appointments in memory at a time.
func Diary(ctx context.Context, client *ent.Client, f Filter) ([]DiaryRow, error) {
	r, err := readRota(ctx, client, f)
	if err != nil {
		return nil, err
	}
	var rows []DiaryRow
	for _, first := range months(f) {
		from, to := first, first.AddMonths(1)
		if from.Before(f.From) {
			from = f.From
		}
		if end := f.To.AddDays(1); end.Before(to) {
			to = end
		}
		month := diary.Period{Start: from.In(r.zone), Finish: to.In(r.zone)}
		booked, err := readBookings(ctx, client, r.workers, month)
		if err != nil {
			return nil, err
		}
		for _, w := range r.workers {
			rows = append(rows, r.use(w, month, booked[w.id])...)
		}
	}
	slices.SortFunc(rows, func(a, b DiaryRow) int {
		return cmp.Or(
			compareNames(a.Practitioner, b.Practitioner), cmp.Compare(a.PractitionerID, b.PractitionerID),
			compareNames(a.Site, b.Site), strings.Compare(a.SiteID.String(), b.SiteID.String()),
			a.Month.Time().Compare(b.Month.Time()))
	})
	return rows, nil
}

// use returns how a worker's time in a month was used: a row for each site where the
// worker has sessions or appointments.
func (r *rota) use(w *worker, window diary.Period, bookings []booking) []DiaryRow {
	var busy []diary.Period
	for _, b := range bookings {
		if b.kind.blocks() {
			busy = append(busy, b.Period)
		}
	}
	var shifts []shift
	if w.active || len(busy) > 0 {
		for day := civil.Of(window.Start.In(r.zone)); day.In(r.zone).Before(window.Finish); day = day.AddDays(1) {
			shifts = append(shifts, w.on(day, r.zone)...)
		}
	}
	places := w.places()
	rows := make([]DiaryRow, len(places))
	at := make(map[uuid.UUID]*DiaryRow, len(places))
	var work []diary.Period // at all sites
	for i, place := range places {
		var open []diary.Period
		for _, s := range shifts {
			if s.site == place {
				open = append(open, s.Period)
			}
		}
		work = append(work, open...)
		row := &rows[i]
		*row = DiaryRow{
			PractitionerID: w.id, Practitioner: w.name, SiteID: place, Site: r.sites[place], Month: monthStart(civil.Of(window.Start.In(r.zone))),
			Session: wholeMinutes(diary.Length(open)), Booked: wholeMinutes(diary.Covered(open, busy)),
		}
		row.Free = row.Session - row.Booked
		at[place] = row
	}
	inMonth := diary.Covered([]diary.Period{window}, busy)
	at[w.site].Outside = wholeMinutes(inMonth - diary.Covered(work, busy))
	for _, b := range bookings {
		if !b.Start.Before(window.Start) { // else it counts in the month before
			at[w.siteAt(b.Start, shifts)].count(b)
		}
	}
	return slices.DeleteFunc(rows, func(row DiaryRow) bool {
		return !r.asked(row.SiteID) || row.Session+row.Outside+row.Due+row.Cancelled == 0
	})
}

// count adds an appointment that starts in the month.
func (row *DiaryRow) count(b booking) {
	switch b.kind {
	case due:
		row.Due++
	case missed:
		row.Due++
		row.DidNotAttend++
		row.Lost += b.Minutes()
	case cancelled:
		row.Cancelled++
	case cancelledLate:
		row.Cancelled++
		row.ShortNotice++
		row.Lost += b.Minutes()
	}
}

// shortNotice is how long before an appointment practices want to know that the
// patient is not coming.
const shortNotice = 24 * time.Hour

func wholeMinutes(d time.Duration) int { return int(d / time.Minute) }
