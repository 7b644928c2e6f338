package report

import (
	"cmp"
	"context"
	"slices"
	"time"

	"entgo.io/ent/dialect/sql"

	"chairside/ent"
	"chairside/ent/nhsclaim"
	"chairside/internal/civil"
	"chairside/internal/decimal"
	"chairside/internal/principal"
	"chairside/internal/scope"
	"chairside/schema"
	"chairside/schema/ask"
)

var _ = register(Report{
	Name: "claims", Title: "NHS claims",
	Group: GroupNHS, Place: 2, Question: "Which claims are waiting or need action, and how the units awarded compare with those expected.", Reads: scope.Set{"financials:read", "patient:read", "practice:read"}, Period: twelveMonths, Practitioners: true, Records: claimRecords,
	Definitions: []Definition{
		{Term: "Date", Meaning: "The day of the last submission. Until a claim is submitted, the day it was created."},
		{Term: "Age", Meaning: "The number of days from that date to the last day of the period."},
		{Term: "Status", Meaning: "The current status."},
		{Term: "Claims", Meaning: "All claims dated in the period, including withdrawn and invalid ones."},
		{Term: "Two months", Meaning: "A claim must be submitted within two months of the completion of the course. The NHS disallows the units of late claims. Orthodontic and incomplete courses have no such limit.", Source: bsaTwoMonths + "; " + gdsContracts + ", Schedule 3"},
		{Term: "Need action", Meaning: "Claims in error, invalid or queried."},
		{Term: "Expected", Meaning: "The units of all claims except withdrawn and invalid ones."},
		{Term: "Awarded", Meaning: "The units that the NHS awarded for these claims."},
		{Term: "Awaited", Meaning: "The expected units of claims that the NHS has not decided on."},
		{Term: "Lost", Meaning: "Units awarded below what was expected, claim by claim. Claims that were awarded more do not make up for it."},
		{Term: "Site", Meaning: "Claims of the practitioners whose own site it is."},
	},
	Run: func(ctx context.Context, client *ent.Client, f Filter) (*Result, error) {
		c, err := Claims(ctx, client, f)
		if err != nil {
			return nil, err
		}
		return c.result(), nil
	},
	Layout: func(Filter, Locale) *Result { return (&ClaimsReport{}).result() },
})

// ClaimsReport holds the figures of the claims report.
type ClaimsReport struct {
	// Statuses has a row for each status that occurs, in the order of a claim's life.
	Statuses []ClaimStatusRow
	// NeedAction lists the claims that are in error, invalid or queried, the oldest first.
	NeedAction []ClaimToFix
	// Awards has a row for each month and unit.
	Awards []ClaimAwards
}

// ClaimStatusRow counts the claims of a status, by age in days.
type ClaimStatusRow struct {
	Status                  schema.ClaimStatus
	Claims                  int
	To30, To60, To90, Older int // 0–30, 31–60, 61–90 and over 90 days; To30 includes claims dated after the period
	Oldest                  civil.Date
	ExpectedUDA, AwardedUDA decimal.Decimal // withdrawn and invalid claims included
	ExpectedUOA, AwardedUOA decimal.Decimal
}

// ClaimToFix is a claim that needs action.
type ClaimToFix struct {
	Claim        *ent.NHSClaim
	Date         civil.Date // see claimDatedBetween
	Age          int        // in days
	Patient      string     // name
	Practitioner string     // name
	Comment      string     // of the NHS, or ""
	WhatToDo     string
}

// ClaimAwards compares awarded with expected units in a month.
type ClaimAwards struct {
	Month    civil.Date      // its first day
	Ortho    bool            // orthodontic units (UOA) instead of dental ones (UDA)
	Claims   int             // excluding withdrawn and invalid ones
	Expected decimal.Decimal // units of Claims
	Awarded  decimal.Decimal
	Awaited  decimal.Decimal // expected units of claims without an award
	Lost     decimal.Decimal // sum of expected less awarded, over the claims that were awarded less
}

// whatToDo says how to fix a claim, by status.
var whatToDo = map[schema.ClaimStatus]string{
	schema.ClaimError:   "The claim did not reach the NHS complete. Correct what the comment says, if there is one, and submit it again.",
	schema.ClaimInvalid: "The NHS refused the claim. Correct the dates, contract, band or exemption as the comment says, then submit it again within two months of the end of treatment.",
	schema.ClaimQueried: "The NHS queried the claim. Compare it with the patient's record, then answer the query or correct the claim.",
}

// Claims returns the figures for the claims dated from f.From to f.To (see
// claimDatedBetween). f.SiteID is the practitioner's own site.
func Claims(ctx context.Context, client *ent.Client, f Filter) (*ClaimsReport, error) {
	days, err := claimDays(ctx, client, f)
	if err != nil {
		return nil, err
	}
	report := &ClaimsReport{Statuses: statuses(days, f.To), Awards: awards(days)}
	report.NeedAction, err = claimsToFix(ctx, client, f)
	return report, err
}

// claimDay adds up the claims of one day, status and unit.
type claimDay struct {
	Date     civil.Date
	Status   schema.ClaimStatus
	Ortho    bool
	Claims   int
	Expected decimal.Decimal
	Awarded  decimal.Decimal
	Awaited  decimal.Decimal
	Less     decimal.Decimal // awarded to claims that were awarded less than expected
	Lost     decimal.Decimal // expected of these claims less Less
}

// claimDays adds up the claims of each day.
func claimDays(ctx context.Context, client *ent.Client, f Filter) ([]claimDay, error) {
	less := func(s *sql.Selector) {
		s.Where(sql.ColumnsLT(s.C(nhsclaim.FieldAwardedUda), s.C(nhsclaim.FieldExpectedUda)))
	}
	all, err := groupDated[claimDay](ctx, claimsOf(client, f), f, ask.Day,
		ask.By(nhsclaim.FieldClaimStatus), ask.By(nhsclaim.FieldOrtho),
		ask.Count(), ask.Sum(nhsclaim.FieldExpectedUda), ask.Sum(nhsclaim.FieldAwardedUda), ask.Sum(nhsclaim.FieldExpectedUda, nhsclaim.AwardedUdaIsNil()),
		ask.Sum(nhsclaim.FieldAwardedUda, less), ask.Sum(nhsclaim.FieldExpectedUda, less))
	for i := range all {
		all[i].Lost -= all[i].Less
	}
	return all, err
}

// claimsOf queries the claims of the filter's practitioner and of the practitioners of
// its site.
func claimsOf(client *ent.Client, f Filter) *ent.NHSClaimQuery {
	q := client.NHSClaim.Query()
	if f.PractitionerID != nil {
		q.Where(nhsclaim.PractitionerID(*f.PractitionerID))
	}
	if f.SiteID != nil {
		q.Where(func(s *sql.Selector) {
			p := sql.Table("practitioners")
			s.Where(sql.In(s.C(nhsclaim.FieldPractitionerID), sql.Select(p.C("id")).From(p).Where(sql.EQ(p.C("site_id"), *f.SiteID))))
		})
	}
	return q
}

// claimedOn returns the date of a claim, as defined at claimDatedBetween.
func claimedOn(c *ent.NHSClaim, zone *time.Location) civil.Date {
	if c.SubmittedDate != nil {
		return *c.SubmittedDate
	}
	return civil.Of(c.CreatedAt.In(zone))
}

// statuses adds up claims by status and by age on the day at.
func statuses(all []claimDay, at civil.Date) (rows []ClaimStatusRow) {
	for _, status := range schema.ClaimStatus("").Values() {
		row := ClaimStatusRow{Status: schema.ClaimStatus(status)}
		for _, d := range all {
			if d.Status != row.Status {
				continue
			}
			row.Claims += d.Claims
			*[]*int{&row.To30, &row.To60, &row.To90, &row.Older}[ageRange(days(d.Date, at))] += d.Claims
			if row.Oldest.IsZero() || d.Date.Before(row.Oldest) {
				row.Oldest = d.Date
			}
			if d.Ortho {
				row.ExpectedUOA += d.Expected
				row.AwardedUOA += d.Awarded
			} else {
				row.ExpectedUDA += d.Expected
				row.AwardedUDA += d.Awarded
			}
		}
		if row.Claims > 0 {
			rows = append(rows, row)
		}
	}
	return rows
}

// awards adds up claims by month and unit, without withdrawn and invalid ones.
func awards(all []claimDay) (rows []ClaimAwards) {
	for _, d := range all {
		if d.Status == schema.ClaimWithdrawn || d.Status == schema.ClaimInvalid {
			continue
		}
		month := monthStart(d.Date)
		i := slices.IndexFunc(rows, func(r ClaimAwards) bool { return r.Month == month && r.Ortho == d.Ortho })
		if i < 0 {
			i = len(rows)
			rows = append(rows, ClaimAwards{Month: month, Ortho: d.Ortho})
		}
		row := &rows[i]
		row.Claims += d.Claims
		row.Expected += d.Expected
		row.Awarded += d.Awarded
		row.Awaited += d.Awaited
		row.Lost += d.Lost
	}
	slices.SortFunc(rows, func(a, b ClaimAwards) int {
		return cmp.Or(cmp.Compare(a.Month.String(), b.Month.String()), cmp.Compare(unitOf(a.Ortho), unitOf(b.Ortho)))
	})
	return rows
}

// claimsToFix reads the claims that are in error, invalid or queried, the oldest first.
func claimsToFix(ctx context.Context, client *ent.Client, f Filter) (rows []ClaimToFix, err error) {
	found, err := claimsOf(client, f).
		Where(nhsclaim.ClaimStatusIn(schema.ClaimError, schema.ClaimInvalid, schema.ClaimQueried)).
		Where(claimDatedBetween(ctx, f.From, f.To)...).
		Select(nhsclaim.FieldSequenceNumber, nhsclaim.FieldClaimStatus, nhsclaim.FieldStatusComments, nhsclaim.FieldPatientID, nhsclaim.FieldPractitionerID,
			nhsclaim.FieldExpectedUda, nhsclaim.FieldOrtho, nhsclaim.FieldSubmittedDate, nhsclaim.FieldCreatedAt).
		All(ctx)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(found))
	for i, c := range found {
		ids[i] = c.PatientID
	}
	patients, err := patientNames(ctx, client, ids)
	if err != nil {
		return nil, err
	}
	practitioners, err := practitionerNames(ctx, client)
	if err != nil {
		return nil, err
	}
	zone := principal.Must(ctx).Zone
	for _, c := range found {
		row := ClaimToFix{
			Claim: c, Date: claimedOn(c, zone), Patient: patients[c.PatientID], Practitioner: practitioners[c.PractitionerID], WhatToDo: whatToDo[c.ClaimStatus],
		}
		row.Age = days(row.Date, f.To)
		if c.StatusComments != nil {
			row.Comment = *c.StatusComments
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b ClaimToFix) int {
		return cmp.Or(cmp.Compare(b.Age, a.Age), cmp.Compare(a.Claim.SequenceNumber, b.Claim.SequenceNumber), slices.Compare(a.Claim.ID[:], b.Claim.ID[:]))
	})
	return rows, nil
}

// result lays the report out: claims by status, claims that need action, and awards by
// month.
func (c *ClaimsReport) result() *Result {
	status := Section{
		Key: "statuses", Title: "By status and age", Keys: []string{"status"}, Note: "Includes withdrawn and invalid claims, whose units are no longer expected.",
		Columns: []Column{
			{Key: "status", Title: "Status"}, {Key: "claims", Title: "Claims", Kind: Count},
			{Key: "days_0_30", Title: "0–30 days", Kind: Count}, {Key: "days_31_60", Title: "31–60 days", Kind: Count},
			{Key: "days_61_90", Title: "61–90 days", Kind: Count}, {Key: "over_90", Title: "Over 90 days", Kind: Count},
			{Key: "oldest", Title: "Oldest", Kind: Date, Minor: true},
			{Key: "expected_uda", Title: "UDA expected", Kind: Units}, {Key: "awarded_uda", Title: "UDA awarded", Kind: Units},
			{Key: "expected_uoa", Title: "UOA expected", Kind: Units, Minor: true}, {Key: "awarded_uoa", Title: "UOA awarded", Kind: Units, Minor: true},
		},
		Chart: &Chart{Form: StackedHorizontalBars, Title: "Claims by status and age in days", Kind: Count, Series: []Series{{Name: "0–30"}, {Name: "31–60"}, {Name: "61–90"}, {Name: "Over 90"}}},
		Empty: "There are no claims in this period. Claims come from completed NHS courses of treatment. Choose a longer period to see older claims.",
	}
	sum := ClaimStatusRow{}
	for _, r := range c.Statuses {
		status.Rows = append(status.Rows, []any{string(r.Status), r.Claims, r.To30, r.To60, r.To90, r.Older, r.Oldest, r.ExpectedUDA, r.AwardedUDA, r.ExpectedUOA, r.AwardedUOA})
		sum.Claims += r.Claims
		sum.To30 += r.To30
		sum.To60 += r.To60
		sum.To90 += r.To90
		sum.Older += r.Older
		sum.ExpectedUDA += r.ExpectedUDA
		sum.AwardedUDA += r.AwardedUDA
		sum.ExpectedUOA += r.ExpectedUOA
		sum.AwardedUOA += r.AwardedUOA
		status.Chart.Add(string(r.Status), int64(r.To30), int64(r.To60), int64(r.To90), int64(r.Older))
	}
	status.Total = []any{"All", sum.Claims, sum.To30, sum.To60, sum.To90, sum.Older, nil, sum.ExpectedUDA, sum.AwardedUDA, sum.ExpectedUOA, sum.AwardedUOA}
	awards, total := c.awarded()
	dental := []Condition{{"unit", unitOf(false)}}
	return &Result{
		Summary: []Figure{
			{Key: "claims", Label: "Claims", Kind: Count, Value: sum.Claims},
			{Key: "attention", Label: "Need action", Kind: Count, Value: len(c.NeedAction), Note: "in error, invalid or queried"},
			{Key: "uda_expected", Label: "UDA expected", Kind: Units, Value: total.Expected, Note: "excluding withdrawn and invalid claims", Term: "Expected", Measure: "expected", Where: dental},
			{Key: "uda_awarded", Label: "UDA awarded", Kind: Units, Value: total.Awarded, Term: "Awarded", Measure: "awarded", Where: dental},
			{Key: "uda_awaited", Label: "UDA awaited", Kind: Units, Value: total.Awaited, Term: "Awaited", Measure: "awaited", Where: dental},
			{Key: "uda_lost", Label: "UDA lost", Kind: Units, Value: total.Lost, Note: "awarded below what was expected", Term: "Lost", Measure: "lost", Where: dental},
		},
		Sections: []Section{status, c.needAction(), awards},
	}
}

// needAction is the section of claims to correct or to answer.
func (c *ClaimsReport) needAction() Section {
	s := Section{
		Key: "attention", Title: "Claims that need action",
		Columns: []Column{
			{Key: "claim", Title: "Claim", Kind: ID}, {Key: "status", Title: "Status"}, {Key: "date", Title: "Dated", Kind: Date, Minor: true},
			{Key: "age", Title: "Age in days", Kind: Count}, {Key: "patient_id", Title: "Patient ID", Kind: ID, Minor: true}, {Key: "patient", Title: "Patient"},
			{Key: "practitioner", Title: "Practitioner", Minor: true}, {Key: "expected", Title: "Expected", Kind: Units, Minor: true}, {Key: "unit", Title: "Unit", Minor: true},
			{Key: "what_to_do", Title: "What to do"}, {Key: "comment", Title: "Comment"},
		},
		Empty: "No claim needs action: none is in error, invalid or queried.",
	}
	for _, r := range c.NeedAction {
		s.Rows = append(s.Rows, []any{
			int64(r.Claim.SequenceNumber), string(r.Claim.ClaimStatus), r.Date, r.Age, r.Claim.PatientID, r.Patient,
			r.Practitioner, optional(r.Claim.ExpectedUda), unitOf(r.Claim.Ortho), r.WhatToDo, r.Comment,
		})
	}
	return s
}

// awarded lays out the awards by month and returns the totals of the dental units.
func (c *ClaimsReport) awarded() (s Section, dental ClaimAwards) {
	s = Section{
		Key: "awards", Title: "Awarded and expected", Keys: []string{"month", "unit"}, Note: "Excludes withdrawn and invalid claims.",
		Columns: []Column{
			{Key: "month", Title: "Month", Kind: Month}, {Key: "unit", Title: "Unit"}, {Key: "claims", Title: "Claims", Kind: Count, Measure: "payable"},
			{Key: "expected", Title: "Expected", Kind: Units}, {Key: "awarded", Title: "Awarded", Kind: Units},
			{Key: "awaited", Title: "Awaited", Kind: Units}, {Key: "lost", Title: "Lost", Kind: Units},
		},
		Chart: &Chart{Form: VerticalBars, Title: "Dental units expected and awarded, by month", Kind: Units, Series: []Series{{Name: "Expected"}, {Name: "Awarded"}}},
		Empty: "There are no claims in this period that the NHS could award.",
	}
	var next civil.Date // the next month of the chart, which shows months without claims, too
	for _, r := range c.Awards {
		s.Rows = append(s.Rows, []any{r.Month, unitOf(r.Ortho), r.Claims, r.Expected, r.Awarded, r.Awaited, r.Lost})
		if r.Ortho {
			continue
		}
		dental.Expected += r.Expected
		dental.Awarded += r.Awarded
		dental.Awaited += r.Awaited
		dental.Lost += r.Lost
		for ; !next.IsZero() && next.Before(r.Month); next = next.AddMonths(1) {
			s.Chart.Add(monthName(next), 0, 0)
		}
		s.Chart.Add(monthName(r.Month), int64(r.Expected), int64(r.Awarded))
		next = r.Month.AddMonths(1)
	}
	return s, dental
}

// unitOf returns the abbreviation for units of orthodontic or dental activity.
func unitOf(ortho bool) string {
	if ortho {
		return "UOA"
	}
	return "UDA"
}
