package report

import (
	"context"

	"entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/nhsclaim"
	"chairside/ent/predicate"
	"chairside/ent/treatmentplan"
	"chairside/internal/civil"
	"chairside/internal/clock"
	"chairside/internal/decimal"
	"chairside/internal/principal"
)

// claimCountedBetween matches the claims that count in a contract year: those whose course of
// treatment was completed from one day to another, both included, in the practice's time zone,
// however late they were submitted. The day of a course that was never completed is its last
// one, and that of an orthodontic course its first. A claim whose course has no such day counts
// on its own date (see claimDatedBetween). courseDates.countedOn returns the same day.
func claimCountedBetween(ctx context.Context, from, to civil.Date) predicate.NHSClaim {
	zone := principal.Must(ctx).Zone
	course := func(ortho bool, dated, undated predicate.TreatmentPlan) predicate.NHSClaim {
		return nhsclaim.And(nhsclaim.Ortho(ortho), nhsclaim.Or(
			nhsclaim.HasTreatmentPlanWith(dated),
			nhsclaim.And(nhsclaim.Or(nhsclaim.TreatmentPlanIDIsNil(), nhsclaim.HasTreatmentPlanWith(undated)), nhsclaim.And(claimDatedBetween(ctx, from, to)...)),
		))
	}
	return nhsclaim.Or(
		course(false, treatmentplan.Or(
			treatmentplan.And(treatmentplan.CompletedAtGTE(from.In(zone)), treatmentplan.CompletedAtLT(to.AddDays(1).In(zone))),
			treatmentplan.And(treatmentplan.CompletedAtIsNil(), treatmentplan.EndDateGTE(from), treatmentplan.EndDateLTE(to)),
		), treatmentplan.And(treatmentplan.CompletedAtIsNil(), treatmentplan.EndDateIsNil())),
		course(true, treatmentplan.And(treatmentplan.StartDateGTE(from), treatmentplan.StartDateLTE(to)), treatmentplan.StartDateIsNil()),
	)
}

// courseDates are the days of a claim's course of treatment.
type courseDates struct {
	ID        uuid.UUID    `sql:"id"` // of the claim
	Completed clock.Stored `sql:"completed_at"`
	Started   *civil.Date  `sql:"start_date"`
	Ended     *civil.Date  `sql:"end_date"`
}

// readCourseDates reads the days of the courses of claims, by the claim's ID, also for a course
// of a patient of another site.
func readCourseDates(ctx context.Context, q *ent.NHSClaimQuery) (map[uuid.UUID]courseDates, error) {
	var rows []courseDates
	err := q.Clone().Modify(func(s *sql.Selector) {
		course := sql.Table(treatmentplan.Table)
		s.LeftJoin(course).On(s.C(nhsclaim.FieldTreatmentPlanID), course.C(treatmentplan.FieldID))
		s.Select(s.C(nhsclaim.FieldID), course.C(treatmentplan.FieldCompletedAt), course.C(treatmentplan.FieldStartDate), course.C(treatmentplan.FieldEndDate))
	}).Scan(ctx, &rows)
	all := make(map[uuid.UUID]courseDates, len(rows))
	for _, row := range rows {
		all[row.ID] = row
	}
	return all, err
}

// countedOn returns the day on which a claim counts, as defined at claimCountedBetween.
func (d courseDates) countedOn(ctx context.Context, c *ent.NHSClaim) civil.Date {
	zone := principal.Must(ctx).Zone
	switch {
	case c.Ortho && d.Started != nil:
		return *d.Started
	case c.Ortho:
	case !d.Completed.IsZero():
		return civil.Of(d.Completed.In(zone))
	case d.Ended != nil:
		return *d.Ended
	}
	return claimedOn(c, zone)
}

// monthsToSubmit is how long after its completion a dental course can be claimed.
const monthsToSubmit = 2

// late reports whether a claim is too late for an award: it was not submitted within two months
// of the completion of its course, and the NHS has not decided on it. Orthodontic and incomplete
// courses have no such limit.
func (d courseDates) late(ctx context.Context, c *ent.NHSClaim) bool {
	if c.Ortho || d.Completed.IsZero() || c.AwardedUda != nil || !payable(c) {
		return false
	}
	zone := principal.Must(ctx).Zone
	by := civil.Of(clock.Now(ctx).In(zone))
	if c.SubmittedDate != nil {
		by = *c.SubmittedDate
	}
	return civil.Of(d.Completed.In(zone)).AddMonths(monthsToSubmit).Before(by)
}

// addLate moves the units of late claims from Delivered to Late.
func (p *Performance) addLate(ctx context.Context, q *ent.NHSClaimQuery, sums []claimSums) error {
	// A claim without an award is decided within weeks: these are few.
	undecided := q.Clone().Where(nhsclaim.Ortho(false), nhsclaim.AwardedUdaIsNil(), nhsclaim.HasTreatmentPlanWith(treatmentplan.CompletedAtNotNil()))
	found, err := undecided.All(ctx)
	if err != nil {
		return err
	}
	dates, err := readCourseDates(ctx, undecided)
	if err != nil {
		return err
	}
	for _, c := range found {
		if !dates[c.ID].late(ctx, c) {
			continue
		}
		for i := range sums {
			if s := &sums[i]; s.contract == c.ContractID && s.progress.PractitionerID == c.PractitionerID && s.progress.Ortho == c.Ortho {
				s.progress.Late += unitsOf(c.ExpectedUda)
				s.progress.Delivered -= unitsOf(c.ExpectedUda)
			}
		}
	}
	return nil
}

// unitsOf returns the units, 0 for none.
func unitsOf(d *decimal.Decimal) decimal.Decimal {
	if d == nil {
		return 0
	}
	return *d
}
