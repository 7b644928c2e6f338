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
	"chairside/internal/audit"
	"chairside/internal/civil"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/internal/scope"
	"chairside/schema"
)

var recalls = Report{
	Name: "recalls", Title: "Recalls",
	Group: GroupPatients, Question: "Patients due for an exam or a hygiene visit who have not booked, and how to reach them.",
	Doc: "Active patients whose dental exam or hygiene visit is due between the two days and who have no appointment booked: " +
		"none from today on that is not cancelled or missed. " +
		"Days overdue are counted up to today. Last seen is the patient's last completed appointment. " +
		"The contact belongs to the patient's preferred way: the mobile number for SMS, the preferred number for Phone, the address for Letter. " +
		"A site is that of the patients, a practitioner the one whom the recall is to.",
	Reads: scope.Set{"appointment:read", "patient:read", "practice:read"}, Period: overdueAndNextMonth, Practitioners: true,
	Run: func(ctx context.Context, client *ent.Client, f Filter) (*Result, error) {
		rows, err := Recalls(ctx, client, f)
		if err != nil {
			return nil, err
		}
		return recallsResult(rows), nil
	},
}

// overdueAndNextMonth is everything that is overdue, and what falls due within
// a month.
func overdueAndNextMonth(today civil.Date) (from, to civil.Date) {
	return civil.Date{}, today.AddMonths(1)
}

// RecallKind is what a patient is to come for.
type RecallKind string

// The kinds.
const (
	DentalRecall  RecallKind = "Dental"
	HygieneRecall RecallKind = "Hygiene"
)

// RecallRow is a visit that a patient is to be invited to.
type RecallRow struct {
	Kind    RecallKind
	Due     civil.Date
	Overdue int // days from Due until today, below 0 while it is not due yet

	PatientID      int64
	Patient        string // name
	SiteID         uuid.UUID
	Site           string
	PractitionerID *int64 // the preferred dentist or hygienist
	Practitioner   string

	Method  schema.RecallMethod
	Contact string // what belongs to Method: a number, an address; "" where there is none
	Mind    string // what stands against using it: "no mobile number"

	LastSeen *civil.Date // nil for never

	folded string // the name, to sort by
}

// Recalls are the dental and hygiene recalls that are due from f.From (the zero
// date for no beginning) to f.To and for which nothing is booked, in order of
// the day they are due and of the patient's name. f.PractitionerID is the
// preferred dentist for a dental recall, the preferred hygienist for a hygiene
// recall; f.SiteID is the patient's site.
//
// A booking is any appointment of the patient that starts today or later and is
// neither cancelled nor missed: whoever comes anyhow is not to be written to.
func Recalls(ctx context.Context, client *ent.Client, f Filter) ([]RecallRow, error) {
	zone, now := principal.Must(ctx).Zone, clock.Now(ctx)
	today := civil.Of(now.In(zone))
	people, err := readRecalled(ctx, client, dueForRecall(f, today.In(zone).UTC()))
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
	noted := audit.From(ctx)
	for _, p := range people {
		listed := false
		for _, recall := range []struct {
			kind RecallKind
			due  *civil.Date
			by   *int64
		}{
			{DentalRecall, p.DentistRecallDate, p.DentistID},
			{HygieneRecall, p.HygienistRecallDate, p.HygienistID},
		} {
			switch {
			case recall.due == nil, recall.due.Before(f.From), f.To.Before(*recall.due):
				continue
			case f.PractitionerID != nil && (recall.by == nil || *recall.by != *f.PractitionerID):
				continue
			}
			row := RecallRow{
				Kind: recall.kind, Due: *recall.due, Overdue: days(*recall.due, today),
				PatientID: p.ID, Patient: schema.FullName(p.FirstName, p.LastName), folded: p.LastNameFolded, SiteID: p.SiteID, Site: r.sites[p.SiteID], PractitionerID: recall.by,
				Method: p.RecallMethod, LastSeen: seen[p.ID],
			}
			if recall.by != nil {
				row.Practitioner = r.name(*recall.by)
			}
			row.Contact, row.Mind = p.contact()
			rows, listed = append(rows, row), true
		}
		if listed {
			noted.Note(patient.Table, p.ID)
		}
	}
	slices.SortFunc(rows, func(a, b RecallRow) int {
		return cmp.Or(cmp.Compare(b.Overdue, a.Overdue), strings.Compare(a.folded, b.folded), cmp.Compare(a.PatientID, b.PatientID), cmp.Compare(a.Kind, b.Kind))
	})
	return rows, nil
}

// dueForRecall keeps the active patients with a recall that is asked for and
// nothing booked from the start of today on.
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
	due := []predicate.Patient{patient.Active(true), patient.Or(patient.And(dental...), patient.And(hygiene...)), nothingBooked(today)}
	if f.SiteID != nil {
		due = append(due, patient.SiteID(*f.SiteID))
	}
	return due
}

// nothingBooked keeps patients without a live appointment from a moment on. Ent
// would say it with NOT IN, for which PostgreSQL keeps the list in memory, or
// reads it anew for each patient where it is long.
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

// recalled is what the report needs of a patient: a whole one has five times
// as many columns.
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

func readRecalled(ctx context.Context, client *ent.Client, due []predicate.Patient) (people []*recalled, err error) {
	return people, client.Patient.Query().Where(due...).Select(
		patient.FieldID, patient.FieldFirstName, patient.FieldLastName, patient.FieldLastNameFolded, patient.FieldSiteID,
		patient.FieldDentistID, patient.FieldDentistRecallDate, patient.FieldHygienistID, patient.FieldHygienistRecallDate, patient.FieldRecallMethod,
		patient.FieldAddressLine1, patient.FieldAddressLine2, patient.FieldTown, patient.FieldCounty, patient.FieldPostcode,
		patient.FieldEmailAddress, patient.FieldUseEmail, patient.FieldUseSms,
		patient.FieldPreferredPhoneNumber, patient.FieldHomePhone, patient.FieldWorkPhone, patient.FieldMobilePhone,
	).Scan(ctx, &people)
}

// contact is how to reach a patient in the way they prefer, and what stands
// against it.
func (p *recalled) contact() (contact, mind string) {
	switch p.RecallMethod {
	case schema.RecallSMS:
		switch {
		case p.MobilePhone == "":
			mind = "no mobile number"
		case !p.UseSMS:
			mind = "wants no text messages"
		}
		return p.MobilePhone, mind
	case schema.RecallEmail:
		switch {
		case p.EmailAddress == "":
			mind = "no e-mail address"
		case !p.UseEmail:
			mind = "wants no e-mail"
		}
		return p.EmailAddress, mind
	case schema.RecallPhone:
		preferred := map[int]string{1: p.HomePhone, 2: p.WorkPhone, 3: p.MobilePhone}[p.PreferredPhoneNumber]
		if contact = cmp.Or(preferred, p.MobilePhone, p.HomePhone, p.WorkPhone); contact == "" {
			mind = "no telephone number"
		}
		return contact, mind
	}
	lines := []string{p.AddressLine1, p.AddressLine2, p.Town, p.County, p.Postcode}
	return strings.Join(slices.DeleteFunc(lines, func(s string) bool { return strings.TrimSpace(s) == "" }), ", "), ""
}

// readLastSeen gives the day of each one's last completed appointment, nil for
// none. It names the patients: finding again who is due takes longer than the
// visits.
func readLastSeen(ctx context.Context, client *ent.Client, people []*recalled, now time.Time) (map[int64]*civil.Date, error) {
	zone := principal.Must(ctx).Zone
	seen := make(map[int64]*civil.Date, len(people))
	for some := range slices.Chunk(people, idsAtOnce) {
		ids := make([]int64, len(some))
		for i, p := range some {
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

// overdueRanges are the bars of the chart: so many days overdue, or more.
var overdueRanges = []struct {
	label string
	least int
}{
	{"Over a year", 366}, {"6–12 months", 181}, {"3–6 months", 91}, {"1–3 months", 31}, {"Up to a month", 1},
}

func recallsResult(rows []RecallRow) *Result {
	main := Section{
		Key: "recalls", Title: "To be invited",
		Columns: []Column{
			{Key: "due", Title: "Due", Kind: Date}, {Key: "days_overdue", Title: "Days overdue", Kind: Count}, {Key: "recall", Title: "Recall"},
			{Key: "patient_id", Title: "Patient no.", Kind: ID, Minor: true}, {Key: "patient", Title: "Patient"},
			{Key: "method", Title: "By"}, {Key: "contact", Title: "Contact"}, {Key: "mind", Title: "Note"},
			{Key: "practitioner", Title: "With", Minor: true}, {Key: "site", Title: "Site", Minor: true},
			{Key: "last_seen", Title: "Last seen", Kind: Date},
		},
		Empty: "Everybody who is due has an appointment, or nobody is due. Recall dates are set on the patient; widen the period to look further ahead.",
	}
	labels := make([]string, 0, len(overdueRanges)+1)
	for _, r := range overdueRanges {
		labels = append(labels, r.label)
	}
	counts := map[RecallKind][]int64{DentalRecall: make([]int64, len(overdueRanges)+1), HygieneRecall: make([]int64, len(overdueRanges)+1)}
	dental, overdue, unreachable := 0, 0, 0
	for i := range rows {
		row := &rows[i]
		main.Rows = append(main.Rows, []any{
			row.Due, max(row.Overdue, 0), string(row.Kind), row.PatientID, row.Patient,
			string(row.Method), row.Contact, row.Mind, row.Practitioner, row.Site, optionalDate(row.LastSeen),
		})
		bar := len(overdueRanges)
		for j := range overdueRanges {
			if row.Overdue >= overdueRanges[j].least {
				bar = j
				break
			}
		}
		counts[row.Kind][bar]++
		if row.Kind == DentalRecall {
			dental++
		}
		if row.Overdue > 0 {
			overdue++
		}
		if row.Contact == "" {
			unreachable++
		}
	}
	if len(rows) == 0 {
		return &Result{Sections: []Section{main}}
	}
	main.Chart = &Chart{
		Form: Parts, Title: "How long overdue", Kind: Count, Labels: append(labels, "Not yet due"),
		Series: []Series{{"Dental", counts[DentalRecall]}, {"Hygiene", counts[HygieneRecall]}},
	}
	return &Result{
		Summary: []Figure{
			{Key: "dental", Label: "Dental recalls", Kind: Count, Value: dental},
			{Key: "hygiene", Label: "Hygiene recalls", Kind: Count, Value: len(rows) - dental},
			{Key: "overdue", Label: "Overdue", Kind: Count, Value: overdue},
			{Key: "without_contact", Label: "Contact is missing", Kind: Count, Value: unreachable, Note: "for the way they prefer"},
		},
		Sections: []Section{main},
	}
}

// optionalDate is the value of a cell, nil for none.
func optionalDate(d *civil.Date) any {
	if d == nil {
		return nil
	}
	return *d
}
