package report

import (
	"context"
	"slices"
	"time"

	"entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/appointment"
	"chairside/ent/patient"
	"chairside/ent/predicate"
	"chairside/ent/recall"
	"chairside/internal/civil"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/internal/scope"
	"chairside/schema"
)

var _ = register(Report{
	Name: "hygiene-recalls", Title: "Hygiene recall rate",
	Group: GroupPatients, Place: 2, Question: "How many of the patients due for a hygiene visit came, are booked, or have not been contacted.",
	Definitions: []Definition{
		{Term: "Due", Meaning: "Hygiene recalls due in the period, except cancelled ones. An active patient without an open hygiene recall is also due on the hygiene recall date on the patient, unless a hygiene recall with that due date or a later one is completed or cancelled. Archived patients count only if they attended."},
		{Term: "Attended", Meaning: "The recall is completed, or the appointment that it led to is."},
		{Term: "Booked", Meaning: "The recall led to an appointment that is neither completed, cancelled nor missed, or has the status booked without an appointment. A patient without a recall is booked if any appointment of theirs from today on is neither cancelled nor missed."},
		{Term: "Contacted", Meaning: "Neither attended nor booked, but contacted. A patient whose appointment was cancelled or missed counts here if they were contacted before."},
		{Term: "Not contacted", Meaning: "The rest of those due."},
		{Term: "Recall rate", Meaning: "Attended as a share of due."},
		{Term: "Attended or booked", Meaning: "Attended and booked together as a share of due."},
		{Term: "Month", Meaning: "The month of the due date, whenever the patient attended."},
		{Term: "Site", Meaning: "The patient's site."},
		{Term: "Practitioner", Meaning: "The recall's practitioner, or else the patient's hygienist."},
	},
	Reads: scope.Set{"appointment:read", "patient:read", "practice:read"}, Period: twelveMonths, Practitioners: true,
	Records: hygieneRecords,
}.adding(readHygieneRecalls, hygieneResult))

// hygieneRecords are the hygiene visits due in the period.
var hygieneRecords = Records{
	Columns: []Column{
		{Key: "due_on", Title: "Due", Kind: Date}, {Key: "month", Title: "Due in", Kind: Month, Minor: true},
		hiddenID("practitioner_id", ID), {Key: "practitioner", Title: "Practitioner"}, hiddenID("site_id", Text), {Key: "site", Title: "Site"},
		{Key: "outcome", Title: "Outcome"}, {Key: "patient_id", Title: "Patient no.", Kind: ID, Minor: true}, {Key: "patient", Title: "Patient"},
	},
	Measures: []Column{
		{Key: "due", Title: "Due", Kind: Count}, {Key: "attended", Title: "Attended", Kind: Count}, {Key: "booked", Title: "Booked", Kind: Count},
		{Key: "contacted", Title: "Contacted", Kind: Count}, {Key: "not_contacted", Title: "Not contacted", Kind: Count},
		{Key: "attended_or_booked", Title: "Attended or booked", Kind: Count},
	},
	Read: readHygieneRecalls,
}.namingPatients()

// hygieneOutcomes are the outcomes in the order of the measures after due.
var hygieneOutcomes = []string{"Attended", "Booked", "Contacted", "Not contacted"}

// The indexes of hygieneOutcomes.
const (
	hygieneAttended = iota
	hygieneBooked
	hygieneContacted
	hygieneNotContacted
)

// hygieneRecall is a hygiene visit that is due.
type hygieneRecall struct {
	PatientID    int64                   `sql:"patient_id"`
	Active       bool                    `sql:"active"` // the patient
	SiteID       uuid.UUID               `sql:"site_id"`
	Practitioner *int64                  `sql:"practitioner"`
	DueOn        civil.Date              `sql:"due_on"`
	Status       schema.RecallStatus     `sql:"status"`
	Contacted    bool                    `sql:"contacted"`
	State        schema.AppointmentState `sql:"state"` // of the appointment; "" for none
}

// outcome returns the index of the outcome in hygieneOutcomes.
func (h *hygieneRecall) outcome() int {
	switch lost := h.State == schema.Cancelled || h.State == schema.DidNotAttend; {
	case h.Status == schema.RecallCompleted || h.State == schema.Completed:
		return hygieneAttended
	case !lost && (h.State != "" || h.Status == schema.RecallBooked):
		return hygieneBooked
	case h.Contacted:
		return hygieneContacted
	}
	return hygieneNotContacted
}

// readHygieneRecalls reads the hygiene visits due in the period, in order of their due date.
func readHygieneRecalls(ctx context.Context, client *ent.Client, f Filter) ([]Record, error) {
	due, err := recordedHygiene(ctx, client, f)
	if err != nil {
		return nil, err
	}
	others, err := unrecordedHygiene(ctx, client, f)
	if err != nil {
		return nil, err
	}
	names, err := practitionerNames(ctx, client)
	if err != nil {
		return nil, err
	}
	sites, err := siteNames(ctx, client)
	if err != nil {
		return nil, err
	}
	var records []Record
	for _, h := range slices.Concat(due, others) {
		outcome := h.outcome()
		if !h.Active && outcome != hygieneAttended {
			continue
		}
		values := []any{1, 0, 0, 0, 0, 0}
		values[1+outcome] = 1
		if outcome == hygieneAttended || outcome == hygieneBooked {
			values[5] = 1
		}
		var by, name any = nil, noHygienist
		if h.Practitioner != nil {
			by, name = *h.Practitioner, nameOr(names, *h.Practitioner, "", "Practitioner")
		}
		records = append(records, Record{
			Cells:  []any{h.DueOn, monthStart(h.DueOn), by, name, h.SiteID.String(), sites[h.SiteID], hygieneOutcomes[outcome], h.PatientID, nil},
			Values: values,
		})
	}
	slices.SortStableFunc(records, func(a, b Record) int { return Date.compare(a.Cells[0], b.Cells[0]) })
	return records, nil
}

// noHygienist is shown for patients without a hygienist.
const noHygienist = "No hygienist"

// recordedHygiene reads the hygiene recalls due in the period, except cancelled ones.
func recordedHygiene(ctx context.Context, client *ent.Client, f Filter) (due []hygieneRecall, err error) {
	practice := principal.Must(ctx).PracticeID
	return due, client.Recall.Query().Where(
		recall.RecallTypeEQ(schema.RecallHygiene), recall.StatusNEQ(schema.RecallCancelled), recall.DueOnGTE(f.From), recall.DueOnLTE(f.To),
	).Modify(func(s *sql.Selector) {
		p, a := sql.Table(patient.Table), sql.Table(appointment.Table)
		s.Join(p).On(s.C(recall.FieldPatientID), p.C(patient.FieldID))
		s.LeftJoin(a).On(s.C(recall.FieldAppointmentID), a.C(appointment.FieldID))
		s.Where(sql.EQ(p.C(patient.FieldPracticeID), practice))
		by := "COALESCE(" + s.C(recall.FieldPractitionerID) + ", " + p.C(patient.FieldHygienistID) + ")"
		if f.SiteID != nil {
			s.Where(sql.EQ(p.C(patient.FieldSiteID), *f.SiteID))
		}
		if f.PractitionerID != nil {
			s.Where(sql.P(func(b *sql.Builder) { b.WriteString(by + " = ").Arg(*f.PractitionerID) }))
		}
		s.Select(s.C(recall.FieldPatientID), p.C(patient.FieldActive), p.C(patient.FieldSiteID), sql.As(by, "practitioner"), s.C(recall.FieldDueOn), s.C(recall.FieldStatus),
			sql.As("("+s.C(recall.FieldContactedAt)+" IS NOT NULL)", "contacted"), a.C(appointment.FieldState)).
			OrderBy(s.C(recall.FieldDueOn), s.C(recall.FieldID))
	}).Scan(ctx, &due)
}

// unrecordedHygiene reads the active patients whose hygiene recall date is in the period and
// whose recalls do not settle it.
func unrecordedHygiene(ctx context.Context, client *ent.Client, f Filter) ([]hygieneRecall, error) {
	zone := principal.Must(ctx).Zone
	today := civil.Of(clock.Now(ctx).In(zone)).In(zone).UTC()
	due := []predicate.Patient{patient.Active(true), patient.HygienistRecallDateGTE(f.From), patient.HygienistRecallDateLTE(f.To), noHygieneRecall}
	if f.SiteID != nil {
		due = append(due, patient.SiteID(*f.SiteID))
	}
	if f.PractitionerID != nil {
		due = append(due, patient.HygienistID(*f.PractitionerID))
	}
	var found []hygieneRecall
	for _, part := range []struct {
		booked bool
		where  predicate.Patient
	}{{false, nothingBooked(today)}, {true, somethingBooked(today)}} {
		people, err := client.Patient.Query().Where(due...).Where(part.where).
			Select(patient.FieldID, patient.FieldSiteID, patient.FieldHygienistID, patient.FieldHygienistRecallDate).Order(patient.ByID()).All(ctx)
		if err != nil {
			return nil, err
		}
		for _, p := range people {
			h := hygieneRecall{PatientID: p.ID, Active: true, SiteID: p.SiteID, Practitioner: p.HygienistID, DueOn: *p.HygienistRecallDate, Status: schema.RecallDue}
			if part.booked {
				h.Status = schema.RecallBooked
			}
			found = append(found, h)
		}
	}
	return found, nil
}

// somethingBooked matches the patients whom nothingBooked does not match.
func somethingBooked(from time.Time) predicate.Patient {
	return patient.Not(nothingBooked(from))
}

// noHygieneRecall matches patients whose hygiene recalls are all completed or cancelled and due
// before the hygiene recall date on the patient.
func noHygieneRecall(s *sql.Selector) {
	r := sql.Table(recall.Table)
	s.Where(sql.NotExists(sql.Select(r.C(recall.FieldID)).From(r).Where(sql.And(
		sql.ColumnsEQ(r.C(recall.FieldPracticeID), s.C(patient.FieldPracticeID)),
		sql.ColumnsEQ(r.C(recall.FieldPatientID), s.C(patient.FieldID)),
		sql.EQ(r.C(recall.FieldRecallType), string(schema.RecallHygiene)),
		sql.Or(
			sql.NotIn(r.C(recall.FieldStatus), string(schema.RecallCompleted), string(schema.RecallCancelled)),
			sql.ColumnsGTE(r.C(recall.FieldDueOn), s.C(patient.FieldHygienistRecallDate)),
		),
	))))
}

// hygieneResult lays the report out: by month, by practitioner and by site.
func hygieneResult(records []Record, f Filter) *Result {
	r, total := &hygieneRecords, hygieneRecords.sum(records)
	columns := append(r.measures("due", "attended", "booked", "contacted", "not_contacted"),
		rate("recall_rate", "Recall rate", "attended", "due"), rate("attended_or_booked_rate", "Attended or booked", "attended_or_booked", "due"))
	const empty = "No hygiene visit is due in this period. Hygiene recalls and the hygiene recall dates of patients say who is due."
	byMonth := r.breakDown(breakdown{key: "months", title: "By month", empty: empty, all: "All months", by: []string{"month"}, columns: columns}, records)
	byMonth.draw(StackedVerticalBars, "Hygiene visits due by month", "month", months(f), "attended", "booked", "contacted", "not_contacted")
	people := r.breakDown(breakdown{key: "practitioners", title: "By practitioner", empty: empty, all: "All practitioners", by: []string{"practitioner_id", "practitioner"}, columns: columns}, records)
	people.draw(HorizontalBars, "Recall rate", "practitioner", nil, "recall_rate")
	sites := r.breakDown(breakdown{key: "sites", title: "By site", empty: empty, all: "All sites", by: []string{"site_id", "site"}, columns: columns}, records)
	return &Result{
		Summary: []Figure{
			{Key: "due", Label: "Due", Kind: Count, Value: total.value("due")},
			{Key: "attended", Label: "Attended", Kind: Count, Value: total.value("attended")},
			{Key: "recall_rate", Label: "Recall rate", Kind: Percent, Value: percent(total.of("attended"), total.of("due")), Note: "of those due"},
			{Key: "attended_or_booked_rate", Label: "Attended or booked", Kind: Percent, Value: percent(total.of("attended_or_booked"), total.of("due")), Note: "of those due"},
			{Key: "not_contacted", Label: "Not contacted", Kind: Count, Value: total.value("not_contacted")},
		},
		Sections: []Section{byMonth, people, sites},
	}
}
