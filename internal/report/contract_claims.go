package report

import (
	"context"
	"slices"

	"entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/nhsclaim"
	"chairside/ent/treatmentplan"
	"chairside/internal/civil"
	"chairside/internal/clock"
	"chairside/internal/decimal"
	"chairside/internal/principal"
	"chairside/schema"
	"chairside/schema/ask"
)

// claims queries the claims that count in the year, joined with their course of treatment: those
// whose course was completed from p.Start to p.At, both included, in the practice's time zone,
// however late they were submitted. The day of a course that was never completed is its last one,
// and that of an orthodontic course its first. A claim whose course has no such day counts on its
// own date (see claimDatedBetween). courseDates.countedOn returns the same day. The course counts
// even if it is of a patient of another site.
func (p *Performance) claims(ctx context.Context, client *ent.Client, f Filter) *ent.NHSClaimQuery {
	practice, zone := principal.Must(ctx).PracticeID, principal.Must(ctx).Zone
	q := client.NHSClaim.Query()
	if f.PractitionerID != nil {
		q.Where(nhsclaim.PractitionerID(*f.PractitionerID))
	}
	q.Modify(func(s *sql.Selector) {
		course := courseTable()
		s.LeftJoin(course).On(s.C(nhsclaim.FieldTreatmentPlanID), course.C(treatmentplan.FieldID)).
			OnP(sql.EQ(course.C(treatmentplan.FieldPracticeID), practice)) // a value: faster than a second column to join on
		ofClaim := s.Clone().SetP(nil)
		for _, match := range claimDatedBetween(ctx, p.Start, p.At) {
			match(ofClaim)
		}
		completed, started, ended := course.C(treatmentplan.FieldCompletedAt), course.C(treatmentplan.FieldStartDate), course.C(treatmentplan.FieldEndDate)
		ortho := func(yes bool) *sql.Predicate { return sql.EQ(s.C(nhsclaim.FieldOrtho), yes) }
		in := func(day string) *sql.Predicate { return sql.And(sql.GTE(day, p.Start), sql.LTE(day, p.At)) }
		s.Where(sql.Or(
			sql.And(ortho(false), sql.Or(
				sql.And(sql.GTE(completed, p.Start.In(zone).UTC()), sql.LT(completed, p.At.AddDays(1).In(zone).UTC())),
				sql.And(sql.IsNull(completed), in(ended)),
			)),
			sql.And(ortho(true), in(started)),
			sql.And(sql.Or(
				sql.And(ortho(false), sql.IsNull(completed), sql.IsNull(ended)),
				sql.And(ortho(true), sql.IsNull(started)),
			), ofClaim.P()),
		))
	})
	return q
}

// courseTable is the table of the courses that Performance.claims joins.
func courseTable() *sql.SelectTable { return sql.Table(treatmentplan.Table).As("course") }

// courseDates are the days of a claim's course of treatment.
type courseDates struct {
	ID        uuid.UUID    `sql:"id"` // of the claim
	Completed clock.Stored `sql:"completed_at"`
	Started   *civil.Date  `sql:"start_date"`
	Ended     *civil.Date  `sql:"end_date"`
}

// readCourseDates reads the days of the courses of the claims of Performance.claims, by the claim's
// ID.
func readCourseDates(ctx context.Context, q *ent.NHSClaimQuery) (map[uuid.UUID]courseDates, error) {
	var rows []courseDates
	err := q.Clone().Modify(func(s *sql.Selector) {
		course := courseTable()
		s.Select(s.C(nhsclaim.FieldID), course.C(treatmentplan.FieldCompletedAt), course.C(treatmentplan.FieldStartDate), course.C(treatmentplan.FieldEndDate))
	}).Scan(ctx, &rows)
	all := make(map[uuid.UUID]courseDates, len(rows))
	for _, row := range rows {
		all[row.ID] = row
	}
	return all, err
}

// countedOn returns the day on which a claim counts, as defined at Performance.claims.
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
	return submittedLate(ctx, civil.Of(d.Completed.In(principal.Must(ctx).Zone)), c.SubmittedDate)
}

// submittedLate reports whether a claim was submitted, or can only be submitted, too late after the
// completion of its course. submitted is nil if it was not yet.
func submittedLate(ctx context.Context, completed civil.Date, submitted *civil.Date) bool {
	by := civil.Of(clock.Now(ctx).In(principal.Must(ctx).Zone))
	if submitted != nil {
		by = *submitted
	}
	return completed.AddMonths(monthsToSubmit).Before(by)
}

// readClaims adds up the claims of the year.
func (p *Performance) readClaims(ctx context.Context, client *ent.Client, f Filter) (all []claimSums, err error) {
	// Claims that are late or in time are told apart by the days of those that can be late: claims
	// are decided within weeks, so these are few.
	var rows []struct {
		Contract     uuid.UUID       `sql:"contract_id"`
		Practitioner int64           `sql:"practitioner_id"`
		Ortho        bool            `sql:"ortho"`
		Completed    *civil.Date     `sql:"completed"` // nil for claims that cannot be late
		Submitted    *civil.Date     `sql:"submitted"`
		Expected     decimal.Decimal `sql:"expected"`
		Awarded      decimal.Decimal `sql:"awarded"`
		Refused      decimal.Decimal `sql:"refused"`
		Delivered    decimal.Decimal `sql:"delivered"`
	}
	zone := principal.Must(ctx).Zone
	err = p.claims(ctx, client, f).Modify(func(s *sql.Selector) {
		contract, who, ortho := s.C(nhsclaim.FieldContractID), s.C(nhsclaim.FieldPractitionerID), s.C(nhsclaim.FieldOrtho)
		expected, awarded, paid := s.C(nhsclaim.FieldExpectedUda), s.C(nhsclaim.FieldAwardedUda), payableClaim(s)
		when := func(condition, value string) string { return "CASE WHEN " + condition + " THEN " + value + " END" }
		completed := courseTable().C(treatmentplan.FieldCompletedAt)
		undecided := paid + " AND NOT " + ortho + " AND " + awarded + " IS NULL AND " + completed + " IS NOT NULL"
		days := []string{when(undecided, ask.DayOf(s, zone, completed, 0)), when(undecided, s.C(nhsclaim.FieldSubmittedDate))}
		s.Select(contract, who, ortho, sql.As(days[0], "completed"), sql.As(days[1], "submitted"),
			sumOf(when(paid, expected), "expected"), sumOf(when(paid, awarded), "awarded"), sumOf(when("NOT "+paid, expected), "refused"),
			sumOf(when(paid, "COALESCE("+awarded+", "+expected+")"), "delivered"))
		s.GroupBy(contract, who, ortho, days[0], days[1])
	}).Scan(ctx, &rows)
	for _, r := range rows {
		i := slices.IndexFunc(all, func(s claimSums) bool {
			return s.contract == r.Contract && s.progress.PractitionerID == r.Practitioner && s.progress.Ortho == r.Ortho
		})
		if i < 0 {
			i = len(all)
			all = append(all, claimSums{r.Contract, Progress{PractitionerID: r.Practitioner, Ortho: r.Ortho}})
		}
		sum := &all[i].progress
		sum.Expected += r.Expected
		sum.Awarded += r.Awarded
		sum.Refused += r.Refused
		if r.Completed != nil && submittedLate(ctx, *r.Completed, r.Submitted) {
			sum.Late += r.Delivered
		} else {
			sum.Delivered += r.Delivered
		}
	}
	return all, err
}

// payableClaim is a SQL condition: the claim is neither withdrawn nor invalid.
func payableClaim(s *sql.Selector) string {
	return "(" + s.C(nhsclaim.FieldClaimStatus) + " NOT IN ('" + string(schema.ClaimWithdrawn) + "', '" + string(schema.ClaimInvalid) + "'))"
}

// unitsOf returns the units, 0 for none.
func unitsOf(d *decimal.Decimal) decimal.Decimal {
	if d == nil {
		return 0
	}
	return *d
}
