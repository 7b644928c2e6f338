package report

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/internal/civil"
	"chairside/internal/diary"
	"chairside/internal/scope"
)

var _ = register(Report{
	Name: "diary", Title: "Diary use",
	Group: GroupDiary, Place: 2, Question: "How much working time is booked, and how much was lost to cancellations and missed appointments.",
	Definitions: []Definition{
		{Term: "Session", Meaning: "The practitioner's weekly working sessions on each day of the period, or the practice's opening hours for practitioners without sessions, less blocked time. A session during a clock change is as long as it really lasts. Practitioners who can no longer be booked count only in months in which they have bookings."},
		blockedTime,
		bookedTime,
		{Term: "Free", Meaning: "Session time that is not booked."},
		{Term: "Used", Meaning: "Booked time as a share of session time."},
		outsideSessions,
		{Term: "Cancelled", Meaning: "Patients' appointments that were cancelled, counted in the month in which they were to start."},
		{Term: "Cancelled at short notice", Meaning: "Cancelled less than 24 hours before the start, or later."},
		{Term: "Did not attend", Meaning: "Patients' appointments that the patient missed, counted in the month in which they were to start."},
		{Term: "DNA rate", Meaning: "Missed appointments as a share of all patients' appointments that were not cancelled."},
		{Term: "Time lost", Meaning: "The length of appointments cancelled at short notice or missed, even if the time was filled again."},
	},
	Reads: scope.Set{"appointment:read", "practice:read"}, Period: twelveMonths, Practitioners: true,
	Records: diaryRecords,
	Run: func(ctx context.Context, client *ent.Client, f Filter) (*Result, error) {
		rows, err := Diary(ctx, client, f)
		if err != nil {
			return nil, err
		}
		return diaryResult(rows, f), nil
	},
	Layout: func(f Filter, _ Locale) *Result { return diaryResult(nil, f) },
})

// Definitions that the reports on diary use and on capacity share.
var (
	blockedTime     = Definition{Term: "Blocked", Meaning: "Time of the sessions covered by entries without a patient, such as breaks, meetings, leave and days on which the practice is closed. It is not available to patients, so it is not session time."}
	bookedTime      = Definition{Term: "Booked", Meaning: "Session time covered by patients' appointments, excluding cancelled and missed ones. Double-booked time counts once."}
	outsideSessions = Definition{Term: "Outside sessions", Meaning: "Time of patients' appointments outside session time, also those in blocked time, excluding cancelled and missed ones. It is listed at the practitioner's own site."}
)

// DiaryRow is one month of a practitioner at one site.
type DiaryRow struct {
	PractitionerID int64
	Practitioner   string
	SiteID         uuid.UUID
	Site           string
	Month          civil.Date // its first day

	// In minutes.
	Session int // working sessions less Blocked; Booked + Free
	Blocked int // time of working sessions covered by entries without a patient
	Booked  int // session time covered by patients' appointments
	Free    int // session time that is not booked
	Outside int // time of patients' appointments outside session time
	Lost    int // appointments counted in ShortNotice or DidNotAttend

	// Numbers of patients' appointments.
	Due          int // not cancelled
	Visits       int // neither cancelled nor missed
	DidNotAttend int // those of Due that the patient missed
	Cancelled    int
	ShortNotice  int // those of Cancelled that were cancelled less than 24 hours before the start, or later
}

// Diary returns how the working time of the period was used, in order of
// practitioner, site and month.
//
// Session time is the practitioner's working sessions on each day of the period in the
// practice's time zone, at the site of the session. A session that spans a clock change
// is an hour shorter or longer. A practitioner without sessions has the practice's
// opening hours, at the practitioner's own site. An inactive practitioner has no
// sessions in months without bookings. Time blocked by entries without a patient, such as
// breaks and bank holidays, is taken out of the sessions: a closed day is not a full one.
//
// Booked time is the part of the session time that patients' appointments cover, neither
// cancelled nor missed ones. Their time outside it is Outside, at the practitioner's own
// site.
//
// Appointments are counted if they have a patient and start in the month. They count at
// the site of the session in which they start, or else at the practitioner's own site.
//
// Diary holds one month of appointments in memory at a time.
func Diary(ctx context.Context, client *ent.Client, f Filter) ([]DiaryRow, error) {
	r, err := readRota(ctx, client, f)
	if err != nil {
		return nil, err
	}
	var rows []DiaryRow
	err = r.eachMonth(ctx, client, f, func(month diary.Period, booked map[int64]packed) {
		for _, w := range r.workers {
			bookings := booked[w.id]
			rows = append(rows, r.diaryRows(w, month, bookings, w.works(bookings))...)
		}
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(rows, func(a, b DiaryRow) int {
		return cmp.Or(
			compareNames(a.Practitioner, b.Practitioner), cmp.Compare(a.PractitionerID, b.PractitionerID),
			compareNames(a.Site, b.Site), strings.Compare(a.SiteID.String(), b.SiteID.String()),
			a.Month.Time().Compare(b.Month.Time()))
	})
	return rows, nil
}

// eachMonth calls visit with the workers' bookings of each month of the filter, by practitioner ID.
func (r *rota) eachMonth(ctx context.Context, client *ent.Client, f Filter, visit func(month diary.Period, booked map[int64]packed)) error {
	for month := range r.months(f) {
		booked, err := readBookings(ctx, client, r.workers, month)
		if err != nil {
			return err
		}
		visit(month, booked)
	}
	return nil
}

// months are the months of the filter, the first and last one cut to its days.
func (r *rota) months(f Filter) iter.Seq[diary.Period] {
	return func(yield func(diary.Period) bool) {
		for _, first := range months(f) {
			from, to := first, first.AddMonths(1)
			if from.Before(f.From) {
				from = f.From
			}
			if end := f.To.AddDays(1); end.Before(to) {
				to = end
			}
			if !yield(diary.Period{Start: from.In(r.zone), Finish: to.In(r.zone)}) {
				return
			}
		}
	}
}

// works reports whether a worker has sessions in a month with the bookings.
func (w *worker) works(bookings []booking) bool {
	return w.active || slices.ContainsFunc(bookings, func(b booking) bool { return b.kind.blocks() })
}

// diaryRows returns how a worker's time in a window was used: a row for each site where
// the worker has sessions, if the worker works, or appointments.
func (r *rota) diaryRows(w *worker, window diary.Period, bookings []booking, works bool) []DiaryRow {
	visits, blocks := make([]diary.Period, 0, len(bookings)), []diary.Period{}
	for _, b := range bookings {
		switch b.kind {
		case due:
			visits = append(visits, b.Period)
		case blocked:
			blocks = append(blocks, b.Period)
		}
	}
	first := civil.Of(window.Start.In(r.zone))
	var shifts []shift
	if works {
		for day, start := first, window.Start; start.Before(window.Finish); day, start = day.AddDays(1), day.AddDays(1).In(r.zone) {
			shifts = append(shifts, w.shiftsOn(day, r.zone)...)
		}
	}
	rows := make([]DiaryRow, len(w.sites))
	at := func(site uuid.UUID) *DiaryRow { return &rows[slices.Index(w.sites, site)] }
	var work []diary.Period // at all sites
	for i, site := range w.sites {
		var open []diary.Period
		for _, s := range shifts {
			if s.site == site {
				open = append(open, s.Period)
			}
		}
		sessions := wholeMinutes(diary.Length(open))
		open = diary.Without(open, blocks)
		work = append(work, open...)
		row := &rows[i]
		*row = DiaryRow{
			PractitionerID: w.id, Practitioner: w.name, SiteID: site, Site: r.sites[site], Month: monthStart(first),
			Session: wholeMinutes(diary.Length(open)), Booked: wholeMinutes(diary.Covered(open, visits)),
		}
		row.Blocked, row.Free = sessions-row.Session, row.Session-row.Booked
	}
	visiting := diary.Covered([]diary.Period{window}, visits)
	at(w.site).Outside = wholeMinutes(visiting - diary.Covered(work, visits))
	for _, b := range bookings {
		if b.startsIn(window) {
			at(w.siteAt(b.Start, shifts)).count(b)
		}
	}
	return slices.DeleteFunc(rows, func(row DiaryRow) bool {
		return !r.includes(row.SiteID) || row.Session+row.Blocked+row.Outside+row.Due+row.Cancelled == 0
	})
}

// count adds an appointment to the counters. It starts in the month of the row.
func (row *DiaryRow) count(b booking) {
	if b.visits() {
		row.Visits++
	}
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

// shortNotice is the notice that practices expect. A later cancellation is at short notice.
const shortNotice = 24 * time.Hour

func wholeMinutes(d time.Duration) int { return int(d / time.Minute) }
