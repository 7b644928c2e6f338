package report_test

import (
	"fmt"
	"testing"
	"time"

	"chairside/ent"
	"chairside/ent/treatmentplanitem"
	"chairside/internal/clock"
	"chairside/internal/decimal"
	"chairside/internal/report"
	"chairside/schema"
)

func TestPlanAcceptanceMatchesSQL(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		// Just before and after midnight at both ends of March, which have different offsets
		// from UTC.
		for _, at := range []string{"2026-02-28T23:59Z", "2026-03-01T00:00Z", "2026-03-31T22:59Z", "2026-03-31T23:00Z"} {
			p.propose(t, at, "", 100_01)
			p.propose(t, at, "2026-04-02T09:00Z", 20_02)
		}
		for _, f := range []report.Filter{period("2026-03-01", "2026-03-31"), period("2025-07-02", "2026-07-01"), period("2025-10-26", "2025-10-26")} {
			a := p.ask(t, "plan-acceptance", f)
			plans := fmt.Sprintf(`SELECT x.id, x.practitioner_id, x.payment_plan_id, {month {seconds x.created_at}} AS month, SUM(i.price) AS proposed,
				SUM(CASE WHEN i.completed THEN i.price ELSE 0 END) AS done,
				SUM(CASE WHEN i.completed OR i.charged OR v.n > 0 THEN 1 ELSE 0 END) AS items,
				SUM(CASE WHEN i.completed OR i.charged OR v.n > 0 THEN i.price ELSE 0 END) AS accepted
				FROM treatment_plans x JOIN treatment_plan_items i ON i.treatment_plan_id = x.id
				JOIN (SELECT y.id, (SELECT COUNT(*) FROM treatment_appointments ta JOIN appointments a ON a.id = ta.appointment_id
					WHERE ta.treatment_plan_id = y.id AND a.state NOT IN ('Cancelled', 'Did not attend')) AS n FROM treatment_plans y) v ON v.id = x.id
				WHERE x.practice_id = {demo} AND {day {seconds x.created_at}} BETWEEN '%s' AND '%s'
				AND (NOT i.completed OR {day {seconds i.completed_at}} > {day {seconds i.created_at}})
				GROUP BY x.id, x.practitioner_id, x.payment_plan_id, {month {seconds x.created_at}}`, f.From, f.To)
			for section, by := range map[string]string{"months": "month", "practitioners": "practitioner_id", "payment_plans": "payment_plan_id"} {
				want := facts(t, p, `SELECT `+by+`, COUNT(*), SUM(CASE WHEN items > 0 THEN 1 ELSE 0 END), CAST(SUM(proposed) AS bigint), CAST(SUM(accepted) AS bigint),
					CAST(SUM(done) AS bigint), CAST(SUM(proposed - accepted) AS bigint), CAST(CASE WHEN SUM(proposed) = 0 THEN NULL ELSE FLOOR((SUM(accepted) * 20000.0 / SUM(proposed) + 1) / 2) END AS bigint) FROM (`+plans+`) p GROUP BY `+by)
				got := cells(t, a, section, by, "plans", "plans_accepted", "proposed", "accepted", "carried_out", "not_accepted", "value_rate")
				sameRows(t, f.From.String()+" "+section, got, want)
			}
		}
		a := p.ask(t, "plan-acceptance", period("2025-07-02", "2026-07-01"))
		if proposed, accepted := figure(t, a, "proposed"), figure(t, a, "accepted"); accepted == 0 || accepted >= proposed {
			t.Errorf("accepted %d of %d: too little to test anything", accepted, proposed)
		}
	})
}

// propose creates a treatment plan with one item at a time, and returns the plan. The item is
// carried out at another time, or never for "".
func (p practice) propose(t *testing.T, at, done string, price decimal.Decimal) (id int64) {
	t.Helper()
	p.ctx = clock.With(p.ctx, instant(t, at))
	p.tx(t, func(tx *ent.Client) error {
		patient, who, plan := tx.Patient.Query().FirstIDX(p.ctx), tx.Practitioner.Query().FirstIDX(p.ctx), tx.PaymentPlan.Query().FirstIDX(p.ctx)
		id = tx.TreatmentPlan.Create().SetPatientID(patient).SetPractitionerID(who).SetPaymentPlanID(plan).SaveX(p.ctx).ID
		item := tx.TreatmentPlanItem.Create().SetTreatmentPlanID(id).SetTreatmentID(tx.Treatment.Query().FirstIDX(p.ctx)).SetPatientID(patient).
			SetPractitionerID(who).SetPaymentPlanID(plan).SetPrice(price).SetNomenclature("Crown")
		if done != "" {
			item.SetCompleted(true).SetCompletedAt(instant(t, done))
		}
		return item.Exec(p.ctx)
	})
	return id
}

// TestAcceptanceFollowsWhatPatientsDo: a booked visit accepts all items of a plan, an invoice only
// its own, a visit that is cancelled or missed none, and an item of the plan's own day proposes
// nothing.
func TestAcceptanceFollowsWhatPatientsDo(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		visit := func(state schema.AppointmentState) func(tx *ent.Client, plan int64) {
			return func(tx *ent.Client, plan int64) {
				who := tx.TreatmentPlan.GetX(p.ctx, plan)
				start := instant(t, "2026-07-20T09:00Z")
				at := tx.Appointment.Create().SetPractitionerID(who.PractitionerID).SetPatientID(who.PatientID).SetStartTime(start).SetFinishTime(start.Add(time.Hour)).
					SetReason("Crown").SetState(state).SaveX(p.ctx)
				tx.TreatmentAppointment.Create().SetTreatmentPlanID(plan).SetPatientID(who.PatientID).SetPosition(1).SetAppointmentID(at.ID).ExecX(p.ctx)
			}
		}
		invoiced := func(tx *ent.Client, plan int64) {
			item := tx.TreatmentPlanItem.Query().Where(treatmentplanitem.TreatmentPlanID(plan)).OnlyIDX(p.ctx)
			tx.TreatmentPlanItem.UpdateOneID(item).SetCharged(true).SetInvoiceID(tx.Invoice.Query().FirstIDX(p.ctx)).ExecX(p.ctx)
		}
		open := func(tx *ent.Client, plan int64) { // another item
			x := tx.TreatmentPlan.GetX(p.ctx, plan)
			tx.TreatmentPlanItem.Create().SetTreatmentPlanID(plan).SetTreatmentID(tx.Treatment.Query().FirstIDX(p.ctx)).SetPatientID(x.PatientID).
				SetPractitionerID(x.PractitionerID).SetPaymentPlanID(x.PaymentPlanID).SetPrice(2_00).SetNomenclature("Bridge").ExecX(p.ctx)
		}
		for _, c := range []struct {
			name               string
			done               string
			then               func(tx *ent.Client, plan int64)
			proposed, accepted int64
		}{
			{"nothing", "", nil, 100, 0},
			{"a booked visit", "", visit(schema.Confirmed), 100, 100},
			{"a cancelled visit", "", visit(schema.Cancelled), 100, 0},
			{"a missed visit", "", visit(schema.DidNotAttend), 100, 0},
			{"an invoice", "", invoiced, 100, 100},
			{"an invoice and an open item", "", func(tx *ent.Client, plan int64) { invoiced(tx, plan); open(tx, plan) }, 300, 100},
			{"an invoice, an open item and a booked visit", "", func(tx *ent.Client, plan int64) {
				invoiced(tx, plan)
				open(tx, plan)
				visit(schema.Confirmed)(tx, plan)
			}, 300, 300},
			{"an invoice and a booked visit", "", func(tx *ent.Client, plan int64) { invoiced(tx, plan); visit(schema.Confirmed)(tx, plan) }, 100, 100},
			{"carried out in the last minute of the day", "2026-06-10T22:59Z", nil, 0, 0},
			{"carried out at midnight", "2026-06-10T23:00Z", nil, 100, 100},
		} {
			f := period("2026-06-10", "2026-06-10")
			before := p.ask(t, "plan-acceptance", f)
			plan := p.propose(t, "2026-06-10T08:00Z", c.done, 1_00)
			if c.then != nil {
				p.tx(t, func(tx *ent.Client) error { c.then(tx, plan); return nil })
			}
			after := p.ask(t, "plan-acceptance", f)
			proposed, accepted := figure(t, after, "proposed")-figure(t, before, "proposed"), figure(t, after, "accepted")-figure(t, before, "accepted")
			if proposed != c.proposed || accepted != c.accepted {
				t.Errorf("%s: proposes %d and accepts %d", c.name, proposed, accepted)
			}
		}
	})
}
