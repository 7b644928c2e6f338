package report

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/appointment"
	"chairside/ent/patient"
	"chairside/ent/practitioner"
	"chairside/ent/predicate"
	"chairside/ent/recall"
	"chairside/internal/audit"
	"chairside/internal/civil"
	"chairside/internal/clock"
	"chairside/internal/entx"
	"chairside/internal/entx/rowscan"
	"chairside/internal/principal"
	"chairside/internal/scope"
	"chairside/schema"
)

var _ = register(Report{
	Name: "recalls", Title: "Recalls",
	Group: GroupPatients, Place: 1, Question: "Patients due for an exam or a hygiene visit who have not booked, and how to reach them.",
	Definitions: []Definition{
		{Term: "Included", Meaning: "Active patients whose dental exam or hygiene visit is due in the period and who have no appointment from today on. Cancelled and missed appointments do not count."},
		{Term: "Due", Meaning: "The due date of an open recall: one that is neither completed nor cancelled. For a patient without an open recall of this kind, the recall date on the patient, unless a recall of this kind with that due date or a later one is completed or cancelled."},
		{Term: "Overdue", Meaning: "Due before today. The days overdue are counted up to today."},
		{Term: "Dental recalls, hygiene recalls", Meaning: "Visits for an exam with the dentist, and with the hygienist."},
		{Term: "Last seen", Meaning: "The patient's last completed appointment."},
		{Term: "Contact missing", Meaning: "Recalls without a number or address for the method."},
		{Term: "Contact", Meaning: "For the recall's method, or else the patient's preferred one: the mobile number for SMS, the e-mail address for Email, the preferred number for Phone, the postal address for Letter."},
		{Term: "Site", Meaning: "The patient's site."},
		{Term: "Practitioner", Meaning: "The recall's practitioner, or else the patient's dentist for a dental recall and hygienist for a hygiene recall."},
	},
	Reads: scope.Set{"appointment:read", "patient:read", "practice:read"}, Period: overdueAndNextMonth, Practitioners: true,
	Records: recallRecords,
	Run: func(ctx context.Context, client *ent.Client, f Filter) (*Result, error) {
		rows, err := Recalls(ctx, client, f)
		if err != nil {
			return nil, err
		}
		return recallsResult(rows), nil
	},
	Layout: func(Filter, Locale) *Result { return recallsResult(nil) },
})

// overdueAndNextMonth covers all overdue recalls and those due within a month.
func overdueAndNextMonth(today civil.Date) (from, to civil.Date) {
	return civil.Date{}, today.AddMonths(1)
}

// RecallKind is the kind of visit.
type RecallKind string

// The kinds.
const (
	DentalRecall  RecallKind = "Dental"
	HygieneRecall RecallKind = "Hygiene"
)

// RecallRow is a visit to invite a patient to.
type RecallRow struct {
	Kind    RecallKind
	Due     civil.Date
	Overdue int // days from Due until today; negative before Due

	PatientID      int64
	Patient        string // name
	SiteID         uuid.UUID
	Site           string
	PractitionerID *int64 // the preferred dentist or hygienist
	Practitioner   string

	Method  schema.RecallMethod
	Contact string // the number or address for Method, "" if it is missing
	Note    string // why Contact cannot or should not be used: "no mobile number"

	LastSeen *civil.Date // nil for never

	folded string // last name for sorting
}

// Recalls returns the dental and hygiene recalls that are due from f.From (zero for no
// beginning) to f.To, of patients without a booking, sorted by due date and by the
// patient's last name. f.PractitionerID is the preferred dentist for a dental recall and
// the preferred hygienist for a hygiene recall. f.SiteID is the patient's site.
//
// A booking is any appointment that starts today or later and is neither cancelled nor
// missed, whatever its reason: the patient is coming anyway and need not be contacted.
// The patients that it lists are recorded in the access log.
func Recalls(ctx context.Context, client *ent.Client, f Filter) ([]RecallRow, error) {
	zone, now := principal.Must(ctx).Zone, clock.Now(ctx)
	today := civil.Of(now.In(zone))
	people, err := readRecalled(ctx, client, dueForRecall(f, today.In(zone).UTC()))
	if err != nil {
		return nil, err
	}
	settled, err := readRecalls(ctx, client, people)
	if err != nil {
		return nil, err
	}
	r, err := readRota(ctx, client, Filter{})
	if err != nil {
		return nil, err
	}
	seen, err := readLastSeen(ctx, client, people, now)
	if err != nil {
		return nil, err
	}

	var rows []RecallRow
	accessLog := audit.From(ctx)
	for _, p := range people {
		listed := false
		for _, visit := range slices.Concat(
			dueVisits(DentalRecall, p.DentistRecallDate, p.DentistID, settled[recallsOf{p.ID, schema.RecallExam}]),
			dueVisits(HygieneRecall, p.HygienistRecallDate, p.HygienistID, settled[recallsOf{p.ID, schema.RecallHygiene}]),
		) {
			switch {
			case visit.due.Before(f.From), f.To.Before(visit.due):
				continue
			case f.PractitionerID != nil && (visit.by == nil || *visit.by != *f.PractitionerID):
				continue
			}
			method := cmp.Or(visit.method, p.RecallMethod)
			row := RecallRow{
				Kind: visit.kind, Due: visit.due, Overdue: days(visit.due, today),
				PatientID: p.ID, Patient: schema.FullName(p.FirstName, p.LastName), folded: p.LastNameFolded, SiteID: p.SiteID, Site: r.sites[p.SiteID], PractitionerID: visit.by,
				Method: method, LastSeen: seen[p.ID],
			}
			if visit.by != nil {
				row.Practitioner = r.name(*visit.by)
			}
			row.Contact, row.Note = p.contact(method)
			rows, listed = append(rows, row), true
		}
		if listed {
			accessLog.Note(patient.Table, p.ID)
		}
	}
	slices.SortFunc(rows, func(a, b RecallRow) int {
		return cmp.Or(cmp.Compare(b.Overdue, a.Overdue), strings.Compare(a.folded, b.folded), cmp.Compare(a.PatientID, b.PatientID), cmp.Compare(a.Kind, b.Kind))
	})
	return rows, nil
}

// dueForRecall matches the active patients who have a recall that the filter includes and
// no booking from the start of today on.
func dueForRecall(f Filter, today time.Time) []predicate.Patient {
	dental := []predicate.Patient{patient.DentistRecallDateLTE(f.To)}
	hygiene := []predicate.Patient{patient.HygienistRecallDateLTE(f.To)}
	if !f.From.IsZero() {
		dental = append(dental, patient.DentistRecallDateGTE(f.From))
		hygiene = append(hygiene, patient.HygienistRecallDateGTE(f.From))
	}
	if f.PractitionerID != nil {
		dental = append(dental, patient.DentistID(*f.PractitionerID))
		hygiene = append(hygiene, patient.HygienistID(*f.PractitionerID))
	}
	due := []predicate.Patient{patient.Active(true), patient.Or(patient.And(dental...), patient.And(hygiene...), hasOpenRecall(f)), nothingBooked(today)}
	if f.SiteID != nil {
		due = append(due, patient.SiteID(*f.SiteID))
	}
	return due
}

// hasOpenRecall matches patients with a recall that is due in the period and neither completed
// nor cancelled. It uses EXISTS for the same reason as nothingBooked.
func hasOpenRecall(f Filter) predicate.Patient {
	return func(s *sql.Selector) {
		r := sql.Table(recall.Table)
		open := []*sql.Predicate{
			sql.ColumnsEQ(r.C(recall.FieldPracticeID), s.C(patient.FieldPracticeID)),
			sql.ColumnsEQ(r.C(recall.FieldPatientID), s.C(patient.FieldID)),
			sql.NotIn(r.C(recall.FieldStatus), string(schema.RecallCompleted), string(schema.RecallCancelled)),
			sql.LTE(r.C(recall.FieldDueOn), f.To),
		}
		if !f.From.IsZero() {
			open = append(open, sql.GTE(r.C(recall.FieldDueOn), f.From))
		}
		s.Where(sql.Exists(sql.Select(r.C(recall.FieldID)).From(r).Where(sql.And(open...))))
	}
}

// recallRecord holds the columns of a recall that the report needs.
type recallRecord struct {
	DueOn          civil.Date
	Status         schema.RecallStatus
	PractitionerID *int64
	Method         schema.RecallMethod
}

// recallsOf identifies the recalls of one type of a patient.
type recallsOf struct {
	patient int64
	kind    schema.RecallType
}

// readRecalls returns the recalls of the people, by patient and type.
func readRecalls(ctx context.Context, client *ent.Client, people []*recalled) (map[recallsOf][]recallRecord, error) {
	rows, err := client.Recall.Query().Where(entx.InArray[predicate.Recall](recall.FieldPatientID, idsOf(people))).Order(recall.ByDueOn(), recall.ByID()).
		Rows(ctx, rowscan.Columns(recall.Table, recall.FieldPatientID, recall.FieldRecallType, recall.FieldDueOn, recall.FieldStatus, recall.FieldPractitionerID, recall.FieldMethod))
	if err != nil {
		return nil, err
	}
	all := map[recallsOf][]recallRecord{}
	return all, rowscan.ForEach(rows, 6, func(r *rowscan.Scanner) {
		of := recallsOf{r.Int64(0), schema.RecallType(r.Text(1))}
		all[of] = append(all[of], recallRecord{r.Date(2), schema.RecallStatus(r.Text(3)), optionalInt64(r, 4), schema.RecallMethod(r.Text(5))})
	})
}

// idsOf returns the IDs of the people.
func idsOf(people []*recalled) []int64 {
	ids := make([]int64, len(people))
	for i, p := range people {
		ids[i] = p.ID
	}
	return ids
}

// optionalInt64 reads a whole number, nil for NULL.
func optionalInt64(r *rowscan.Scanner, column int) *int64 {
	if r.Null(column) {
		return nil
	}
	return new(r.Int64(column))
}

// optionalDay reads a date, nil for NULL.
func optionalDay(r *rowscan.Scanner, column int) *civil.Date {
	if r.Null(column) {
		return nil
	}
	return new(r.Date(column))
}

// dueVisit is a visit that is due.
type dueVisit struct {
	kind   RecallKind
	due    civil.Date
	by     *int64
	method schema.RecallMethod // "" for the patient's preferred one
}

// dueVisits returns the visits of one kind that are due for a patient, by the report's
// definition of Due.
func dueVisits(kind RecallKind, date *civil.Date, by *int64, recalls []recallRecord) (due []dueVisit) {
	settled := date == nil
	for _, r := range recalls {
		switch {
		case r.Status.Open() && r.PractitionerID != nil:
			due = append(due, dueVisit{kind, r.DueOn, r.PractitionerID, r.Method})
		case r.Status.Open():
			due = append(due, dueVisit{kind, r.DueOn, by, r.Method})
		case date != nil && !r.DueOn.Before(*date):
			settled = true
		}
	}
	if len(due) == 0 && !settled {
		due = append(due, dueVisit{kind: kind, due: *date, by: by})
	}
	return due
}

// nothingBooked matches patients without an appointment at or after from that is neither
// cancelled nor missed. It uses NOT EXISTS instead of Ent's Not(Has…), which is NOT IN:
// for that, PostgreSQL holds all appointments in memory or, if they do not fit, reads
// them again for each patient.
func nothingBooked(from time.Time) predicate.Patient {
	return func(s *sql.Selector) {
		a := sql.Table(appointment.Table)
		s.Where(sql.NotExists(sql.Select(a.C(appointment.FieldID)).From(a).Where(sql.And(
			sql.ColumnsEQ(a.C(appointment.FieldPracticeID), s.C(patient.FieldPracticeID)),
			sql.ColumnsEQ(a.C(appointment.FieldPatientID), s.C(patient.FieldID)),
			sql.GTE(a.C(appointment.FieldStartTime), from),
			sql.NotIn(a.C(appointment.FieldState), string(schema.Cancelled), string(schema.DidNotAttend)),
		))))
	}
}

// recalled holds the columns of a patient that the report needs; the table has five
// times as many.
type recalled struct {
	ID                                                 int64
	FirstName, LastName, LastNameFolded                string
	SiteID                                             uuid.UUID
	DentistID, HygienistID                             *int64
	DentistRecallDate, HygienistRecallDate             *civil.Date
	RecallMethod                                       schema.RecallMethod
	AddressLine1, AddressLine2, Town, County, Postcode string
	EmailAddress                                       string
	UseEmail, UseSMS                                   bool
	PreferredPhoneNumber                               int
	HomePhone, WorkPhone, MobilePhone                  string
}

// readRecalled reads the columns that the report needs of the patients.
func readRecalled(ctx context.Context, client *ent.Client, due []predicate.Patient) (people []*recalled, err error) {
	columns := []string{
		patient.FieldID, patient.FieldFirstName, patient.FieldLastName, patient.FieldLastNameFolded, patient.FieldSiteID,
		patient.FieldDentistID, patient.FieldHygienistID, patient.FieldDentistRecallDate, patient.FieldHygienistRecallDate, patient.FieldRecallMethod,
		patient.FieldAddressLine1, patient.FieldAddressLine2, patient.FieldTown, patient.FieldCounty, patient.FieldPostcode,
		patient.FieldEmailAddress, patient.FieldUseEmail, patient.FieldUseSms,
		patient.FieldPreferredPhoneNumber, patient.FieldHomePhone, patient.FieldWorkPhone, patient.FieldMobilePhone,
	}
	rows, err := client.Patient.Query().Where(due...).Rows(ctx, rowscan.Columns(patient.Table, columns...))
	if err != nil {
		return nil, err
	}
	err = rowscan.ForEach(rows, len(columns), func(r *rowscan.Scanner) {
		people = append(people, &recalled{
			ID: r.Int64(0), FirstName: r.Text(1), LastName: r.Text(2), LastNameFolded: r.Text(3), SiteID: r.UUID(4),
			DentistID: optionalInt64(r, 5), HygienistID: optionalInt64(r, 6), DentistRecallDate: optionalDay(r, 7), HygienistRecallDate: optionalDay(r, 8), RecallMethod: schema.RecallMethod(r.Text(9)),
			AddressLine1: r.Text(10), AddressLine2: r.Text(11), Town: r.Text(12), County: r.Text(13), Postcode: r.Text(14),
			EmailAddress: r.Text(15), UseEmail: r.Bool(16), UseSMS: r.Bool(17),
			PreferredPhoneNumber: r.Int(18), HomePhone: r.Text(19), WorkPhone: r.Text(20), MobilePhone: r.Text(21),
		})
	})
	return people, err
}

// contact returns the number or address for a method, and a note
// if it is missing or the patient does not want to be contacted that way.
func (p *recalled) contact(method schema.RecallMethod) (contact, note string) {
	switch method {
	case schema.RecallSMS:
		switch {
		case p.MobilePhone == "":
			note = "no mobile number"
		case !p.UseSMS:
			note = "does not want text messages"
		}
		return p.MobilePhone, note
	case schema.RecallEmail:
		switch {
		case p.EmailAddress == "":
			note = "no e-mail address"
		case !p.UseEmail:
			note = "does not want e-mail"
		}
		return p.EmailAddress, note
	case schema.RecallPhone:
		var preferred string
		switch p.PreferredPhoneNumber {
		case 1:
			preferred = p.HomePhone
		case 2:
			preferred = p.WorkPhone
		case 3:
			preferred = p.MobilePhone
		}
		if contact = cmp.Or(preferred, p.MobilePhone, p.HomePhone, p.WorkPhone); contact == "" {
			note = "no telephone number"
		}
		return contact, note
	}
	lines := []string{p.AddressLine1, p.AddressLine2, p.Town, p.County, p.Postcode}
	return strings.Join(slices.DeleteFunc(lines, func(s string) bool { return strings.TrimSpace(s) == "" }), ", "), ""
}

// readLastSeen returns the day of each patient's last completed appointment, nil if there
// is none. It passes the patients' IDs, because repeating the search for patients who are
// due would take longer. For each patient the database reads the patient's index from its end.
func readLastSeen(ctx context.Context, client *ent.Client, people []*recalled, now time.Time) (map[int64]*civil.Date, error) {
	caller := principal.Must(ctx)
	var visits []struct {
		ID   int64
		Last clock.Stored
	}
	err := client.Patient.Query().Where(entx.InArray[predicate.Patient](patient.FieldID, idsOf(people))).Modify(func(s *sql.Selector) {
		a := sql.Table(appointment.Table)
		completed := []*sql.Predicate{
			sql.ColumnsEQ(a.C(appointment.FieldPracticeID), s.C(patient.FieldPracticeID)), sql.ColumnsEQ(a.C(appointment.FieldPatientID), s.C(patient.FieldID)),
			sql.EQ(a.C(appointment.FieldState), string(schema.Completed)), sql.LTE(a.C(appointment.FieldStartTime), now),
		}
		if caller.SiteID != nil { // the caller does not see appointments of other sites
			w := sql.Table(practitioner.Table)
			here := sql.Select(w.C(practitioner.FieldID)).From(w).Where(sql.EQ(w.C(practitioner.FieldSiteID), *caller.SiteID))
			completed = append(completed, sql.In(a.C(appointment.FieldPractitionerID), here))
		}
		s.Select(s.C(patient.FieldID)).AppendSelectExprAs(sql.Select(sql.Max(a.C(appointment.FieldStartTime))).From(a).Where(sql.And(completed...)), "last")
	}).Scan(ctx, &visits)
	seen := make(map[int64]*civil.Date, len(visits))
	for _, v := range visits {
		if !v.Last.IsZero() {
			seen[v.ID] = new(civil.Of(v.Last.In(caller.Zone)))
		}
	}
	return seen, err
}
