package report

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/appointment"
	"chairside/ent/patient"
	"chairside/ent/practitioner"
	"chairside/internal/civil"
	"chairside/internal/principal"
	"chairside/internal/scope"
	"chairside/schema"
	"chairside/schema/ask"
)

var _ = register(Report{
	Name: "no-shows", Title: "No-shows by source",
	Group: GroupDiary, Place: 5, Question: "How often patients miss their appointments, by month and by how they found the practice.",
	Definitions: []Definition{
		{Term: "Due", Meaning: "Patients' appointments that were to start in the period and were not cancelled."},
		{Term: "Did not attend", Meaning: "Due appointments that the patient missed."},
		{Term: "No-show rate", Meaning: "Did not attend as a share of due: the DNA rate of the report on diary use."},
		{Term: "Source", Meaning: "How the patient found the practice."},
		{Term: "Month", Meaning: "The month in which the appointment was to start."},
		{Term: "Site", Meaning: "The practitioner's own site."},
	},
	Reads: scope.Set{"appointment:read", "patient:read", "practice:read"}, Period: twelveMonths, Practitioners: true,
	Records: noShowRecords.readBy(readNoShows).namingPatients(),
}.adding(countNoShows, noShowResult))

// noShowRecords are the appointments due in the period.
var noShowRecords = Records{
	Columns: []Column{
		{Key: "day", Title: "Day", Kind: Date}, {Key: "month", Title: "Month", Kind: Month, Minor: true}, hiddenID("source_id", Text), {Key: "source", Title: "Source"},
		{Key: "appointment_id", Title: "Appointment no.", Kind: ID}, {Key: "patient_id", Title: "Patient no.", Kind: ID, Minor: true}, {Key: "patient", Title: "Patient"},
	},
	Measures: []Column{{Key: "due", Title: "Due", Kind: Count}, {Key: "did_not_attend", Title: "Did not attend", Kind: Count}},
}

// noShows counts the appointments of patients from one source in one month.
type noShows struct {
	SourceID uuid.UUID // zero for none
	Month    civil.Date
	Due      int
	Missed   int
}

// noShowColumns are the columns of noShows.
var noShowColumns = []ask.Column{
	ask.By(appointment.FieldPatientID, patient.FieldAcquisitionSourceID),
	ask.Month(appointment.FieldStartTime),
	ask.Count(),
	ask.Count(appointment.StateEQ(schema.DidNotAttend)),
}

// record returns the counts as a record, with further cells for a single appointment.
func (n noShows) record(sources map[uuid.UUID]string, cells map[string]any) Record {
	cells["month"], cells["source"] = n.Month, sources[n.SourceID]
	if n.SourceID != uuid.Nil {
		cells["source_id"] = n.SourceID.String()
	}
	return noShowRecords.record(cells, n.Due, n.Missed)
}

// countNoShows counts the appointments by source and month.
func countNoShows(ctx context.Context, client *ent.Client, f Filter) (records []Record, err error) {
	rows, err := ask.Group[noShows](ctx, appointmentsDue(ctx, client, f), noShowColumns...)
	if err != nil {
		return nil, err
	}
	sources, err := sourceNames(ctx, client)
	for _, n := range rows {
		records = append(records, n.record(sources, map[string]any{}))
	}
	return records, err
}

// readNoShows lists the appointments, in order of their days.
func readNoShows(ctx context.Context, client *ent.Client, f Filter) (records []Record, err error) {
	rows, err := ask.Group[struct {
		Day         civil.Date
		Appointment int64
		Patient     int64
		SourceID    uuid.UUID
		Month       civil.Date
		Due, Missed int
	}](ctx, appointmentsDue(ctx, client, f), slices.Concat([]ask.Column{
		ask.Day(appointment.FieldStartTime), ask.By(appointment.FieldID), ask.By(appointment.FieldPatientID),
	}, noShowColumns)...)
	if err != nil {
		return nil, err
	}
	sources, err := sourceNames(ctx, client)
	for _, v := range rows {
		n := noShows{v.SourceID, v.Month, v.Due, v.Missed}
		records = append(records, n.record(sources, map[string]any{"day": v.Day, "appointment_id": v.Appointment, "patient_id": v.Patient}))
	}
	return records, err
}

// appointmentsDue queries the patients' appointments of the period that were not cancelled.
func appointmentsDue(ctx context.Context, client *ent.Client, f Filter) *ent.AppointmentQuery {
	q := client.Appointment.Query().Where(
		appointment.PatientIDNotNil(), appointment.StateNEQ(schema.Cancelled),
		ask.During(principal.Must(ctx).Zone, appointment.FieldStartTime, f.From, f.To),
	)
	if f.SiteID != nil {
		q.Where(appointment.HasPractitionerWith(practitioner.SiteID(*f.SiteID)))
	}
	if f.PractitionerID != nil {
		q.Where(appointment.PractitionerID(*f.PractitionerID))
	}
	return q
}

// noShowResult lays the report out: by month, by source, and by both.
func noShowResult(records []Record, f Filter) *Result {
	r, total := &noShowRecords, noShowRecords.sum(records)
	columns := append(r.measures("due", "did_not_attend"), rate("no_show_rate", "No-show rate", "did_not_attend", "due"))
	const empty = "No patient had an appointment in this period."
	byMonth := r.breakDown(breakdown{key: "months", title: "By month", empty: empty, all: "All months", by: []string{"month"}, columns: columns}, records)
	byMonth.draw(VerticalBars, "No-show rate by month", "month", months(f), "no_show_rate")
	bySource := r.breakDown(breakdown{key: "sources", title: "By source", empty: empty, all: "All sources", by: []string{"source_id", "source"}, columns: columns}, records)
	bySource.draw(HorizontalBars, "No-show rate by source", "source", nil, "no_show_rate")
	both := r.breakDown(breakdown{
		key: "sources_by_month", title: "By source and month", empty: empty, all: "All sources",
		by: []string{"source_id", "source", "month"}, group: "source", columns: columns,
	}, records)
	return &Result{
		Summary: []Figure{
			{Key: "no_show_rate", Label: "No-show rate", Kind: Percent, Value: percent(total.of("did_not_attend"), total.of("due")), Note: "of patients due"},
			{Key: "did_not_attend", Label: "Did not attend", Kind: Count, Value: total.value("did_not_attend")},
			{Key: "due", Label: "Due", Kind: Count, Value: total.value("due")},
		},
		Sections: []Section{byMonth, bySource, both},
	}
}
