package report

import (
	"cmp"
	"context"
	"slices"
	"time"

	"chairside/ent"
	"chairside/ent/appointment"
	"chairside/ent/patient"
	"chairside/ent/predicate"
	"chairside/ent/treatmentappointment"
	"chairside/ent/treatmentplan"
	"chairside/ent/treatmentplanitem"
	"chairside/internal/audit"
	"chairside/internal/civil"
	"chairside/internal/decimal"
	"chairside/internal/entx"
	"chairside/internal/entx/rowscan"
	"chairside/internal/principal"
	"chairside/internal/scope"
	"chairside/schema"
)

var _ = register(Report{
	Name: "plan-acceptance", Title: "Treatment plan acceptance",
	Group: GroupMoney, Place: 6, Question: "How much of the treatment that was planned in the period the patients went ahead with.",
	Definitions: []Definition{
		{Term: "Proposed", Meaning: "The prices of the items of treatment plans made in the period, except items carried out on the day on which they were planned: an exam, or treatment in the same visit, needs no second decision."},
		{Term: "Accepted", Meaning: "Proposed items that are completed or invoiced, and all proposed items of plans with a visit that is booked: one whose appointment is neither cancelled nor missed. Chairside does not record patients' decisions: acceptance is deduced from what they did, and rises as patients attend."},
		{Term: "Carried out", Meaning: "Proposed items that are completed."},
		{Term: "Not accepted yet", Meaning: "Proposed items that are not accepted."},
		{Term: "Plans", Meaning: "Treatment plans with a proposed item."},
		{Term: "Plans accepted", Meaning: "Those with an accepted item."},
		{Term: "Acceptance by value", Meaning: "Accepted as a share of proposed."},
		{Term: "Acceptance by plans", Meaning: "Plans accepted as a share of plans."},
		{Term: "Month", Meaning: "The month in which the plan was made."},
		{Term: "Practitioner, payment plan", Meaning: "Those of the treatment plan."},
		{Term: "Site", Meaning: "The patient's site."},
	},
	Reads:  scope.Set{"appointment:read", "financials:read", "patient:read", "practice:read", "treatments:read"},
	Period: twelveMonths, Practitioners: true,
	Records: acceptanceRecords,
}.adding(readAcceptance, acceptanceResult))

// acceptanceRecords are the treatment plans made in the period that propose treatment.
var acceptanceRecords = Records{
	Columns: []Column{
		{Key: "made_on", Title: "Made", Kind: Date}, {Key: "month", Title: "Made in", Kind: Month, Minor: true}, {Key: "plan_id", Title: "Plan no.", Kind: ID},
		hiddenID("practitioner_id", ID), {Key: "practitioner", Title: "Practitioner"}, hiddenID("payment_plan_id", ID), {Key: "payment_plan", Title: "Payment plan"},
		{Key: "patient_id", Title: "Patient no.", Kind: ID, Minor: true}, {Key: "patient", Title: "Patient"},
	},
	Measures: []Column{
		{Key: "plans", Title: "Plans", Kind: Count}, {Key: "plans_accepted", Title: "Plans accepted", Kind: Count},
		{Key: "proposed", Title: "Proposed", Kind: Money}, {Key: "accepted", Title: "Accepted", Kind: Money},
		{Key: "carried_out", Title: "Carried out", Kind: Money}, {Key: "not_accepted", Title: "Not accepted yet", Kind: Money},
	},
	Read: func(ctx context.Context, client *ent.Client, f Filter) ([]Record, error) {
		records, err := readAcceptance(ctx, client, f)
		for _, r := range records {
			audit.From(ctx).Note(treatmentplan.Table, r.Cells[2].(int64))
		}
		return records, err
	},
}.namingPatients()

// plan is a treatment plan made in the period.
type plan struct {
	id, practitioner, paymentPlan, patient int64
	made                                   time.Time
}

// proposal adds up the items that a treatment plan proposes.
type proposal struct {
	proposed, completed decimal.Decimal
	open                decimal.Decimal // of the items that are neither completed nor invoiced
	hasOpen             bool            // there are such items
	hasDecided          bool            // there are items that are completed or invoiced
	booked              bool            // a visit of the plan is booked; not known without open items
}

// accepted reports whether an item is accepted, and returns the prices of those that are.
func (p *proposal) accepted() (bool, decimal.Decimal) {
	if p.booked {
		return true, p.proposed
	}
	return p.hasDecided, p.proposed - p.open
}

// readAcceptance reads the treatment plans made in the period that propose treatment, in order
// of their time.
func readAcceptance(ctx context.Context, client *ent.Client, f Filter) ([]Record, error) {
	zone := principal.Must(ctx).Zone
	made := []predicate.TreatmentPlan{treatmentplan.CreatedAtGTE(f.From.In(zone).UTC()), treatmentplan.CreatedAtLT(f.To.AddDays(1).In(zone).UTC())}
	if f.SiteID != nil {
		made = append(made, treatmentplan.HasPatientWith(patient.SiteID(*f.SiteID)))
	}
	if f.PractitionerID != nil {
		made = append(made, treatmentplan.PractitionerID(*f.PractitionerID))
	}
	proposals, err := readProposals(ctx, client, made)
	if err != nil {
		return nil, err
	}
	rows, err := client.TreatmentPlan.Query().Where(made...).Rows(ctx, rowscan.Columns(treatmentplan.Table, treatmentplan.FieldID, treatmentplan.FieldPractitionerID,
		treatmentplan.FieldPaymentPlanID, treatmentplan.FieldPatientID, treatmentplan.FieldCreatedAt))
	if err != nil {
		return nil, err
	}
	var plans []plan
	if err := rowscan.ForEach(rows, 5, func(r *rowscan.Scanner) {
		plans = append(plans, plan{r.Int64(0), r.Int64(1), r.Int64(2), r.Int64(3), r.Time(4)})
	}); err != nil {
		return nil, err
	}
	slices.SortFunc(plans, func(a, b plan) int { return cmp.Or(a.made.Compare(b.made), cmp.Compare(a.id, b.id)) })
	practitioners, err := practitionerNames(ctx, client)
	if err != nil {
		return nil, err
	}
	names, err := planNames(ctx, client)
	if err != nil {
		return nil, err
	}
	var records []Record
	for _, p := range plans {
		of, day := proposals[p.id], civil.Of(p.made.In(zone))
		if of == nil {
			continue
		}
		accepted := 0
		some, value := of.accepted()
		if some {
			accepted = 1
		}
		records = append(records, Record{
			Cells: []any{
				day, monthStart(day), p.id, p.practitioner, nameOr(practitioners, p.practitioner, "", "Practitioner"),
				p.paymentPlan, nameOr(names, p.paymentPlan, "", "Plan"), p.patient, nil,
			},
			Values: []any{1, accepted, of.proposed, value, of.completed, of.proposed - value},
		})
	}
	return records, nil
}

// readProposals adds up what the treatment plans propose, by the plan's ID.
func readProposals(ctx context.Context, client *ent.Client, made []predicate.TreatmentPlan) (map[int64]*proposal, error) {
	items, err := client.TreatmentPlanItem.Query().Where(treatmentplanitem.HasTreatmentPlanWith(made...)).
		Rows(ctx, rowscan.Columns(treatmentplanitem.Table, treatmentplanitem.FieldTreatmentPlanID, treatmentplanitem.FieldCreatedAt,
			treatmentplanitem.FieldCompleted, treatmentplanitem.FieldCompletedAt, treatmentplanitem.FieldCharged, treatmentplanitem.FieldPrice))
	if err != nil {
		return nil, err
	}
	zone, proposals, open := principal.Must(ctx).Zone, map[int64]*proposal{}, []int64{}
	err = rowscan.ForEach(items, 6, func(r *rowscan.Scanner) {
		plan, completed, price := r.Int64(0), r.Bool(2), r.Decimal(5)
		if completed && !civil.Of(r.Time(1).In(zone)).Before(civil.Of(r.Time(3).In(zone))) {
			return
		}
		p := proposals[plan]
		if p == nil {
			p = &proposal{}
			proposals[plan] = p
		}
		p.proposed += price
		if completed {
			p.completed += price
		}
		if completed || r.Bool(4) {
			p.hasDecided = true
			return
		}
		p.open += price
		if !p.hasOpen {
			p.hasOpen = true
			open = append(open, plan)
		}
	})
	if err != nil {
		return nil, err
	}
	return proposals, findBooked(ctx, client, proposals, open)
}

// findBooked marks the proposals of those of the plans that have a booked visit.
func findBooked(ctx context.Context, client *ent.Client, proposals map[int64]*proposal, plans []int64) error {
	if len(plans) == 0 {
		return nil
	}
	visits, err := client.TreatmentAppointment.Query().Where(
		entx.InArray[predicate.TreatmentAppointment](treatmentappointment.FieldTreatmentPlanID, plans),
		treatmentappointment.HasAppointmentWith(appointment.StateNotIn(schema.Cancelled, schema.DidNotAttend)),
	).Rows(ctx, rowscan.Columns(treatmentappointment.Table, treatmentappointment.FieldTreatmentPlanID))
	if err != nil {
		return err
	}
	return rowscan.ForEach(visits, 1, func(r *rowscan.Scanner) { proposals[r.Int64(0)].booked = true })
}

// acceptanceResult lays the report out: by month, by practitioner and by payment plan.
func acceptanceResult(records []Record, f Filter) *Result {
	r, total := &acceptanceRecords, acceptanceRecords.sum(records)
	columns := append(r.measures("plans", "plans_accepted"), rate("plans_rate", "Acceptance by plans", "plans_accepted", "plans"))
	columns = append(columns, r.measures("proposed", "accepted", "carried_out", "not_accepted")...)
	columns = append(columns, rate("value_rate", "Acceptance by value", "accepted", "proposed"))
	const empty = "No treatment plan made in this period proposes treatment for a later day."
	byMonth := r.breakDown(breakdown{key: "months", title: "By month", empty: empty, all: "All months", by: []string{"month"}, columns: columns}, records)
	byMonth.draw(VerticalBars, "Accepted and not accepted by month", "month", months(f), "accepted", "not_accepted")
	people := r.breakDown(breakdown{key: "practitioners", title: "By practitioner", empty: empty, all: "All practitioners", by: []string{"practitioner_id", "practitioner"}, columns: columns}, records)
	people.draw(HorizontalBars, "Acceptance by value", "practitioner", nil, "value_rate")
	plans := r.breakDown(breakdown{key: "payment_plans", title: "By payment plan", empty: empty, all: "All payment plans", by: []string{"payment_plan_id", "payment_plan"}, columns: columns}, records)
	return &Result{
		Summary: []Figure{
			{Key: "proposed", Label: "Proposed", Kind: Money, Value: total.value("proposed")},
			{Key: "accepted", Label: "Accepted", Kind: Money, Value: total.value("accepted")},
			{Key: "value_rate", Label: "Acceptance by value", Kind: Percent, Value: percent(total.of("accepted"), total.of("proposed")), Note: "of the value proposed"},
			{Key: "plans_rate", Label: "Acceptance by plans", Kind: Percent, Value: percent(total.of("plans_accepted"), total.of("plans")), Note: "of plans"},
			{Key: "not_accepted", Label: "Not accepted yet", Kind: Money, Value: total.value("not_accepted")},
		},
		Sections: []Section{byMonth, people, plans},
	}
}
