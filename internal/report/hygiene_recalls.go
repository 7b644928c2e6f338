package report

import (
	"cmp"
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
	"chairside/schema/ask"
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
}.adding(addHygieneRecalls, hygieneResult))

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

// hygieneNames are the names of practitioners and sites.
type hygieneNames struct {
	practitioners map[int64]string
	sites         map[uuid.UUID]string
}

// readHygieneNames reads the names.
func readHygieneNames(ctx context.Context, client *ent.Client) (names hygieneNames, err error) {
	if names.practitioners, err = practitionerNames(ctx, client); err != nil {
		return names, err
	}
	names.sites, err = siteNames(ctx, client)
	return names, err
}

// record returns the record of a visit, or of several that have all but the patient and the day in
// common; those of archived patients who did not attend have none.
func (n hygieneNames) record(h *hygieneRecall, visits int, due, patient any) (r Record, ok bool) {
	outcome := h.outcome()
	values := []any{visits, 0, 0, 0, 0, 0}
	values[1+outcome] = visits
	if outcome == hygieneAttended || outcome == hygieneBooked {
		values[5] = visits
	}
	var by, name any = nil, noHygienist
	if h.Practitioner != nil {
		by, name = *h.Practitioner, nameOr(n.practitioners, *h.Practitioner, "", "Practitioner")
	}
	return Record{
		Cells:  []any{due, monthStart(h.DueOn), by, name, h.SiteID.String(), n.sites[h.SiteID], hygieneOutcomes[outcome], patient, nil},
		Values: values,
	}, h.Active || outcome == hygieneAttended
}

// addHygieneRecalls adds up the hygiene visits due in the period by month, practitioner, site and
// outcome.
func addHygieneRecalls(ctx context.Context, client *ent.Client, f Filter) (records []Record, err error) {
	names, err := readHygieneNames(ctx, client)
	if err != nil {
		return nil, err
	}
	add := func(h hygieneRecall, visits int) {
		if record, ok := names.record(&h, visits, nil, nil); ok && visits > 0 {
			records = append(records, record)
		}
	}
	recorded, err := ask.Group[struct {
		Month                   civil.Date
		Practitioner, Hygienist *int64
		Site                    uuid.UUID
		Active                  bool
		Status                  schema.RecallStatus
		State                   schema.AppointmentState
		Contacted, All          int
	}](ctx, hygieneRecalls(client, f), ask.Month(recall.FieldDueOn),
		ask.By(recall.FieldPractitionerID), ask.By(recall.FieldPatientID, patient.FieldHygienistID), ask.By(recall.FieldPatientID, patient.FieldSiteID),
		ask.By(recall.FieldPatientID, patient.FieldActive), ask.By(recall.FieldStatus), ask.By(recall.FieldAppointmentID, appointment.FieldState),
		ask.Count(recall.ContactedAtNotNil()), ask.Count())
	if err != nil {
		return nil, err
	}
	for _, r := range recorded {
		h := hygieneRecall{Active: r.Active, SiteID: r.Site, Practitioner: cmp.Or(r.Practitioner, r.Hygienist), DueOn: r.Month, Status: r.Status, State: r.State}
		add(h, r.All-r.Contacted)
		h.Contacted = true
		add(h, r.Contacted)
	}
	others, err := ask.Group[struct {
		Month     civil.Date
		Hygienist *int64
		Site      uuid.UUID
		Free, All int
	}](ctx, client.Patient.Query().Where(hygieneUnrecorded(f)...), ask.Month(patient.FieldHygienistRecallDate),
		ask.By(patient.FieldHygienistID), ask.By(patient.FieldSiteID), ask.Count(nothingBooked(startOfToday(ctx))), ask.Count())
	for _, p := range others {
		h := hygieneRecall{Active: true, SiteID: p.Site, Practitioner: p.Hygienist, DueOn: p.Month, Status: schema.RecallDue}
		add(h, p.Free)
		h.Status = schema.RecallBooked
		add(h, p.All-p.Free)
	}
	return records, err
}

// readHygieneRecalls reads the hygiene visits due in the period, in order of their due date.
func readHygieneRecalls(ctx context.Context, client *ent.Client, f Filter) (records []Record, err error) {
	due, err := recordedHygiene(ctx, client, f)
	if err != nil {
		return nil, err
	}
	others, err := unrecordedHygiene(ctx, client, f)
	if err != nil {
		return nil, err
	}
	names, err := readHygieneNames(ctx, client)
	if err != nil {
		return nil, err
	}
	for _, h := range slices.Concat(due, others) {
		if record, ok := names.record(&h, 1, h.DueOn, h.PatientID); ok {
			records = append(records, record)
		}
	}
	slices.SortStableFunc(records, func(a, b Record) int { return Date.compare(a.Cells[0], b.Cells[0]) })
	return records, nil
}

// noHygienist is shown for patients without a hygienist.
const noHygienist = "No hygienist"

// hygieneRecalls queries the hygiene recalls due in the period, except cancelled ones.
func hygieneRecalls(client *ent.Client, f Filter) *ent.RecallQuery {
	q := client.Recall.Query().Where(recall.RecallTypeEQ(schema.RecallHygiene), recall.StatusNEQ(schema.RecallCancelled), recall.DueOnGTE(f.From), recall.DueOnLTE(f.To))
	if f.SiteID != nil {
		q.Where(recall.HasPatientWith(patient.SiteID(*f.SiteID)))
	}
	if id := f.PractitionerID; id != nil {
		q.Where(recall.Or(recall.PractitionerID(*id), recall.And(recall.PractitionerIDIsNil(), recall.HasPatientWith(patient.HygienistID(*id)))))
	}
	return q
}

// recordedHygiene reads the hygiene recalls due in the period, except cancelled ones.
func recordedHygiene(ctx context.Context, client *ent.Client, f Filter) (due []hygieneRecall, err error) {
	practice := principal.Must(ctx).PracticeID
	return due, hygieneRecalls(client, f).Modify(func(s *sql.Selector) {
		p, a := sql.Table(patient.Table), sql.Table(appointment.Table)
		s.Join(p).On(s.C(recall.FieldPatientID), p.C(patient.FieldID))
		s.LeftJoin(a).On(s.C(recall.FieldAppointmentID), a.C(appointment.FieldID))
		s.Where(sql.EQ(p.C(patient.FieldPracticeID), practice))
		by := "COALESCE(" + s.C(recall.FieldPractitionerID) + ", " + p.C(patient.FieldHygienistID) + ")"
		s.Select(s.C(recall.FieldPatientID), p.C(patient.FieldActive), p.C(patient.FieldSiteID), sql.As(by, "practitioner"), s.C(recall.FieldDueOn), s.C(recall.FieldStatus),
			sql.As("("+s.C(recall.FieldContactedAt)+" IS NOT NULL)", "contacted"), a.C(appointment.FieldState)).
			OrderBy(s.C(recall.FieldDueOn), s.C(recall.FieldID))
	}).Scan(ctx, &due)
}

// startOfToday returns the start of today in the practice's time zone.
func startOfToday(ctx context.Context) time.Time {
	zone := principal.Must(ctx).Zone
	return civil.Of(clock.Now(ctx).In(zone)).In(zone).UTC()
}

// hygieneUnrecorded matches the active patients whose hygiene recall date is in the period and
// whose recalls do not settle it.
func hygieneUnrecorded(f Filter) []predicate.Patient {
	due := []predicate.Patient{patient.Active(true), patient.HygienistRecallDateGTE(f.From), patient.HygienistRecallDateLTE(f.To), noHygieneRecall}
	if f.SiteID != nil {
		due = append(due, patient.SiteID(*f.SiteID))
	}
	if f.PractitionerID != nil {
		due = append(due, patient.HygienistID(*f.PractitionerID))
	}
	return due
}

// unrecordedHygiene reads the patients of hygieneUnrecorded.
func unrecordedHygiene(ctx context.Context, client *ent.Client, f Filter) ([]hygieneRecall, error) {
	today := startOfToday(ctx)
	var found []hygieneRecall
	for _, part := range []struct {
		booked bool
		where  predicate.Patient
	}{{false, nothingBooked(today)}, {true, somethingBooked(today)}} {
		people, err := client.Patient.Query().Where(hygieneUnrecorded(f)...).Where(part.where).
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
