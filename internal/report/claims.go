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
)

var claims = Report{
	Name: "claims", Title: "NHS claims",
	Group: GroupNHS, Question: "Claims that are waiting, claims that need action, and units awarded against units expected.", Reads: scope.Set{"financials:read", "patient:read", "practice:read"}, Period: twelveMonths, Practitioners: true,
	Doc: "NHS claims dated in the period: by the day they were last submitted, or while they have not been, by the day they were created. " +
		"Their age is the days from that day to the last one of the period; their status is the present one. " +
		"Expected units are those of all claims but withdrawn and invalid ones, which are not expected to bring anything; " +
		"awaited are the expected units of claims that the NHS has not decided on, and lost adds up, claim by claim, what it awarded below what was expected. " +
		"A site means the practitioners whose own site it is.",
	Run: func(ctx context.Context, client *ent.Client, f Filter) (*Result, error) {
		c, err := Claims(ctx, client, f)
		if err != nil {
			return nil, err
		}
		return c.result(), nil
	},
}

// ClaimsReport is the state of NHS claims.
type ClaimsReport struct {
	Statuses []ClaimStatusRow // each status that occurs, in the order of a claim's life
	// Attention are the claims in error, invalid or queried, the oldest first.
	Attention []ClaimToMend
	// Awards are one for each month and kind of units.
	Awards []ClaimAwards
}

// ClaimStatusRow is the claims of a status, by age in days.
type ClaimStatusRow struct {
	Status                               schema.ClaimStatus
	Claims                               int
	To30, To60, To90, Older              int // 0–30, 31–60, 61–90, over 90 days; claims dated later than the report are in To30
	Oldest                               civil.Date
	ExpectedUDA, AwardedUDA, ExpectedUOA decimal.Decimal // of these claims, whatever their status
	AwardedUOA                           decimal.Decimal
}

// ClaimToMend is a claim that somebody has to do something about.
type ClaimToMend struct {
	Claim         *ent.NHSClaim
	Date          civil.Date // submitted, or else created
	Age           int        // days
	Patient       string     // name
	Practitioner  string     // name
	Comment, ToDo string
}

// ClaimAwards sets what was awarded against what was expected.
type ClaimAwards struct {
	Month    civil.Date // its first day
	Ortho    bool
	Claims   int             // all but withdrawn and invalid ones
	Expected decimal.Decimal // units of those
	Awarded  decimal.Decimal
	Awaited  decimal.Decimal // expected of those without an award
	Lost     decimal.Decimal // what claims were awarded less than expected; not made up for by those awarded more
}

// whatToDo says what to do about a claim that did not go through.
var whatToDo = map[schema.ClaimStatus]string{
	schema.ClaimError:   "It did not reach the NHS whole. Correct what the comment names, if anything, and send it again.",
	schema.ClaimInvalid: "The NHS refused it. Correct dates, contract, band or exemption as the comment says and submit it anew: the NHS takes claims for two months after the end of treatment.",
	schema.ClaimQueried: "The NHS has a question. Compare the claim with the patient's record, then answer the query or correct the claim.",
}

// Claims is the report for the claims dated from f.From to f.To (see
// claimDate). A site means the practitioners whose own site it is.
func Claims(ctx context.Context, client *ent.Client, f Filter) (*ClaimsReport, error) {
	days, err := claimDays(ctx, client, f)
	if err != nil {
		return nil, err
	}
	report := &ClaimsReport{Statuses: statuses(days, f.To), Awards: awards(days)}
	report.Attention, err = claimsToMend(ctx, client, f)
	return report, err
}

// claimDay is the sums of the claims of one day, status and kind.
type claimDay struct {
	Status   schema.ClaimStatus `sql:"claim_status"`
	Ortho    bool               `sql:"ortho"`
	Date     civil.Date         `sql:"submitted_date"`
	Claims   int                `sql:"claims"`
	Expected decimal.Decimal    `sql:"expected"`
	Awarded  decimal.Decimal    `sql:"awarded"`
	Awaited  decimal.Decimal    `sql:"awaited"`
	Lost     decimal.Decimal    `sql:"lost"`
}

// claimDays adds up the claims of each day. Those that are not submitted have
// a time, not a day, and only the practice's zone tells which day that was on.
func claimDays(ctx context.Context, client *ent.Client, f Filter) ([]claimDay, error) {
	var all []claimDay
	err := claimsOf(client, f).
		Where(nhsclaim.SubmittedDateGTE(f.From), nhsclaim.SubmittedDateLTE(f.To)).
		GroupBy(nhsclaim.FieldClaimStatus, nhsclaim.FieldOrtho, nhsclaim.FieldSubmittedDate).
		Aggregate(ent.As(ent.Count(), "claims"), claimUnits("expected", "TRUE", "expected_uda"), claimUnits("awarded", "TRUE", "awarded_uda"),
			claimUnits("awaited", "awarded_uda IS NULL", "expected_uda"), claimUnits("lost", "awarded_uda < expected_uda", "expected_uda - awarded_uda")).
		Scan(ctx, &all)
	if err != nil {
		return nil, err
	}
	zone := principal.Must(ctx).Zone
	waiting, err := claimsOf(client, f).
		Where(nhsclaim.SubmittedDateIsNil(), nhsclaim.CreatedAtGTE(f.From.In(zone)), nhsclaim.CreatedAtLT(f.To.AddDays(1).In(zone))).
		Select(nhsclaim.FieldClaimStatus, nhsclaim.FieldOrtho, nhsclaim.FieldCreatedAt, nhsclaim.FieldExpectedUda, nhsclaim.FieldAwardedUda).
		All(ctx)
	for _, c := range waiting {
		day := claimDay{Status: c.ClaimStatus, Ortho: c.Ortho, Date: claimedOn(c, zone), Claims: 1}
		if c.ExpectedUda != nil {
			day.Expected = *c.ExpectedUda
		}
		if c.AwardedUda != nil {
			day.Awarded = *c.AwardedUda
			day.Lost = max(0, day.Expected-day.Awarded)
		} else {
			day.Awaited = day.Expected
		}
		all = append(all, day)
	}
	return all, err
}

// claimsOf asks for the claims of the site's practitioners, or of one.
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

// claimedOn is the date of a claim, as claimDate says.
func claimedOn(c *ent.NHSClaim, zone *time.Location) civil.Date {
	if c.SubmittedDate != nil {
		return *c.SubmittedDate
	}
	return civil.Of(c.CreatedAt.In(zone))
}

func statuses(all []claimDay, at civil.Date) (rows []ClaimStatusRow) {
	for _, status := range schema.ClaimStatus("").Values() {
		row := ClaimStatusRow{Status: schema.ClaimStatus(status)}
		for _, d := range all {
			if d.Status != row.Status {
				continue
			}
			row.Claims += d.Claims
			switch age := days(d.Date, at); {
			case age <= 30:
				row.To30 += d.Claims
			case age <= 60:
				row.To60 += d.Claims
			case age <= 90:
				row.To90 += d.Claims
			default:
				row.Older += d.Claims
			}
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

func claimsToMend(ctx context.Context, client *ent.Client, f Filter) (rows []ClaimToMend, err error) {
	found, err := claimsOf(client, f).
		Where(nhsclaim.ClaimStatusIn(schema.ClaimError, schema.ClaimInvalid, schema.ClaimQueried)).
		Where(claimDate(ctx, f.From, f.To)...).
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
		row := ClaimToMend{
			Claim: c, Date: claimedOn(c, zone), Patient: patients[c.PatientID], Practitioner: practitioners[c.PractitionerID], ToDo: whatToDo[c.ClaimStatus],
		}
		row.Age = days(row.Date, f.To)
		if c.StatusComments != nil {
			row.Comment = *c.StatusComments
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b ClaimToMend) int {
		return cmp.Or(cmp.Compare(b.Age, a.Age), cmp.Compare(a.Claim.SequenceNumber, b.Claim.SequenceNumber), slices.Compare(a.Claim.ID[:], b.Claim.ID[:]))
	})
	return rows, nil
}

// result lays the report out.
func (c *ClaimsReport) result() *Result {
	status := Section{
		Key: "statuses", Title: "By status and age", Note: "With the units of withdrawn and invalid claims, which are no longer expected.",
		Columns: []Column{
			{Key: "status", Title: "Status"}, {Key: "claims", Title: "Claims", Kind: Count},
			{Key: "days_0_30", Title: "0–30 days", Kind: Count}, {Key: "days_31_60", Title: "31–60 days", Kind: Count},
			{Key: "days_61_90", Title: "61–90 days", Kind: Count}, {Key: "over_90", Title: "Over 90 days", Kind: Count},
			{Key: "oldest", Title: "Oldest", Kind: Date, Minor: true},
			{Key: "expected_uda", Title: "UDA expected", Kind: Units}, {Key: "awarded_uda", Title: "UDA awarded", Kind: Units},
			{Key: "expected_uoa", Title: "UOA expected", Kind: Units, Minor: true}, {Key: "awarded_uoa", Title: "UOA awarded", Kind: Units, Minor: true},
		},
		Chart: &Chart{Form: Parts, Title: "Claims by status and age in days", Kind: Count, Series: []Series{{Name: "0–30"}, {Name: "31–60"}, {Name: "61–90"}, {Name: "Over 90"}}},
		Empty: "There are no claims in this period. Claims come from completed NHS courses of treatment; choose a longer period to see older ones.",
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
	return &Result{
		Summary: []Figure{
			{Key: "claims", Label: "Claims", Kind: Count, Value: sum.Claims},
			{Key: "attention", Label: "To be dealt with", Kind: Count, Value: len(c.Attention), Note: "in error, invalid or queried"},
			{Key: "uda_expected", Label: "UDA expected", Kind: Units, Value: total.Expected, Note: "but for withdrawn and invalid claims"},
			{Key: "uda_awarded", Label: "UDA awarded", Kind: Units, Value: total.Awarded},
			{Key: "uda_awaited", Label: "UDA awaited", Kind: Units, Value: total.Awaited},
			{Key: "uda_lost", Label: "UDA lost", Kind: Units, Value: total.Lost, Note: "awarded less than expected"},
		},
		Sections: []Section{status, c.attention(), awards},
	}
}

func (c *ClaimsReport) attention() Section {
	s := Section{
		Key: "attention", Title: "To be dealt with",
		Columns: []Column{
			{Key: "claim", Title: "Claim", Kind: ID}, {Key: "status", Title: "Status"}, {Key: "date", Title: "Dated", Kind: Date, Minor: true},
			{Key: "age", Title: "Days", Kind: Count}, {Key: "patient_id", Title: "Patient id", Kind: ID, Minor: true}, {Key: "patient", Title: "Patient"},
			{Key: "practitioner", Title: "Practitioner", Minor: true}, {Key: "expected", Title: "Expected", Kind: Units, Minor: true}, {Key: "unit", Title: "Unit", Minor: true},
			{Key: "what_to_do", Title: "What to do"}, {Key: "comment", Title: "Comment"},
		},
		Empty: "No claim is in error, invalid or queried: there is nothing to do.",
	}
	for _, r := range c.Attention {
		s.Rows = append(s.Rows, []any{
			int64(r.Claim.SequenceNumber), string(r.Claim.ClaimStatus), r.Date, r.Age, r.Claim.PatientID, r.Patient,
			r.Practitioner, optional(r.Claim.ExpectedUda), unitOf(r.Claim.Ortho), r.ToDo, r.Comment,
		})
	}
	return s
}

// awarded lays out the awards, and adds up the dental ones.
func (c *ClaimsReport) awarded() (s Section, dental ClaimAwards) {
	s = Section{
		Key: "awards", Title: "Awarded against expected", Note: "Without withdrawn and invalid claims.",
		Columns: []Column{
			{Key: "month", Title: "Month", Kind: Month}, {Key: "unit", Title: "Unit"}, {Key: "claims", Title: "Claims", Kind: Count},
			{Key: "expected", Title: "Expected", Kind: Units}, {Key: "awarded", Title: "Awarded", Kind: Units},
			{Key: "awaited", Title: "Awaited", Kind: Units}, {Key: "lost", Title: "Lost", Kind: Units},
		},
		Chart: &Chart{Form: Bars, Title: "Units of dental activity expected and awarded, by month", Kind: Units, Series: []Series{{Name: "Expected"}, {Name: "Awarded"}}},
		Empty: "No claims that may be awarded in this period.",
	}
	var next civil.Date // month of the chart, in which one without claims is a gap
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
			s.Chart.Add(Month.Format(next), 0, 0)
		}
		s.Chart.Add(Month.Format(r.Month), int64(r.Expected), int64(r.Awarded))
		next = r.Month.AddMonths(1)
	}
	return s, dental
}

// unitOf names units of dental or orthodontic activity.
func unitOf(ortho bool) string {
	if ortho {
		return "UOA"
	}
	return "UDA"
}
