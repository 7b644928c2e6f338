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
	"chairside/ent/predicate"
	"chairside/ent/recall"
	"chairside/internal/audit"
	"chairside/internal/civil"
	"chairside/internal/clock"
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
			dueVisits(DentalRecall, p.DentistRecallDate, p.DentistID, settled[p.ID][schema.RecallExam]),
			dueVisits(HygieneRecall, p.HygienistRecallDate, p.HygienistID, settled[p.ID][schema.RecallHygiene]),
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
	PatientID      int64               `sql:"patient_id"`
	RecallType     schema.RecallType   `sql:"recall_type"`
	DueOn          civil.Date          `sql:"due_on"`
	Status         schema.RecallStatus `sql:"status"`
	PractitionerID *int64              `sql:"practitioner_id"`
	Method         schema.RecallMethod `sql:"method"`
}

// readRecalls returns the recalls of the people, by patient and type.
func readRecalls(ctx context.Context, client *ent.Client, people []*recalled) (map[int64]map[schema.RecallType][]recallRecord, error) {
	all := map[int64]map[schema.RecallType][]recallRecord{}
	for chunk := range slices.Chunk(people, idsPerQuery) {
		ids := make([]int64, len(chunk))
		for i, p := range chunk {
			ids[i] = p.ID
		}
		var records []recallRecord
		err := client.Recall.Query().Where(recall.PatientIDIn(ids...)).Order(recall.ByDueOn(), recall.ByID()).
			Select(recall.FieldPatientID, recall.FieldRecallType, recall.FieldDueOn, recall.FieldStatus, recall.FieldPractitionerID, recall.FieldMethod).
			Scan(ctx, &records)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			if all[r.PatientID] == nil {
				all[r.PatientID] = map[schema.RecallType][]recallRecord{}
			}
			all[r.PatientID][r.RecallType] = append(all[r.PatientID][r.RecallType], r)
		}
	}
	return all, nil
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
	ID                   int64
	FirstName            string              `sql:"first_name"`
	LastName             string              `sql:"last_name"`
	LastNameFolded       string              `sql:"last_name_folded"`
	SiteID               uuid.UUID           `sql:"site_id"`
	DentistID            *int64              `sql:"dentist_id"`
	DentistRecallDate    *civil.Date         `sql:"dentist_recall_date"`
	HygienistID          *int64              `sql:"hygienist_id"`
	HygienistRecallDate  *civil.Date         `sql:"hygienist_recall_date"`
	RecallMethod         schema.RecallMethod `sql:"recall_method"`
	AddressLine1         string              `sql:"address_line_1"`
	AddressLine2         string              `sql:"address_line_2"`
	Town                 string
	County               string
	Postcode             string
	EmailAddress         string `sql:"email_address"`
	UseEmail             bool   `sql:"use_email"`
	UseSMS               bool   `sql:"use_sms"`
	PreferredPhoneNumber int    `sql:"preferred_phone_number"`
	HomePhone            string `sql:"home_phone"`
	WorkPhone            string `sql:"work_phone"`
	MobilePhone          string `sql:"mobile_phone"`
}

// readRecalled reads the columns that the report needs of the patients.
func readRecalled(ctx context.Context, client *ent.Client, due []predicate.Patient) (people []*recalled, err error) {
	return people, client.Patient.Query().Where(due...).Select(
		patient.FieldID, patient.FieldFirstName, patient.FieldLastName, patient.FieldLastNameFolded, patient.FieldSiteID,
		patient.FieldDentistID, patient.FieldDentistRecallDate, patient.FieldHygienistID, patient.FieldHygienistRecallDate, patient.FieldRecallMethod,
		patient.FieldAddressLine1, patient.FieldAddressLine2, patient.FieldTown, patient.FieldCounty, patient.FieldPostcode,
		patient.FieldEmailAddress, patient.FieldUseEmail, patient.FieldUseSms,
		patient.FieldPreferredPhoneNumber, patient.FieldHomePhone, patient.FieldWorkPhone, patient.FieldMobilePhone,
	).Scan(ctx, &people)
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
		preferred := map[int]string{1: p.HomePhone, 2: p.WorkPhone, 3: p.MobilePhone}[p.PreferredPhoneNumber]
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
// due would take longer than reading the appointments.
func readLastSeen(ctx context.Context, client *ent.Client, people []*recalled, now time.Time) (map[int64]*civil.Date, error) {
	zone := principal.Must(ctx).Zone
	seen := make(map[int64]*civil.Date, len(people))
	for chunk := range slices.Chunk(people, idsPerQuery) {
		ids := make([]int64, len(chunk))
		for i, p := range chunk {
			ids[i] = p.ID
		}
		var visits []struct {
			PatientID int64 `sql:"patient_id"`
			Last      clock.Stored
		}
		err := client.Appointment.Query().
			Where(appointment.PatientIDIn(ids...), appointment.StateEQ(schema.Completed), appointment.StartTimeLTE(now)).
			GroupBy(appointment.FieldPatientID).
			Aggregate(ent.As(ent.Max(appointment.FieldStartTime), "last")).
			Scan(ctx, &visits)
		if err != nil {
			return nil, err
		}
		for _, v := range visits {
			seen[v.PatientID] = new(civil.Of(v.Last.In(zone)))
		}
	}
	return seen, nil
}
