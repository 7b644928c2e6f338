package seed

import (
	"fmt"

	"github.com/google/uuid"

	"chairside/ent"
	entcontract "chairside/ent/contract"
	"chairside/ent/nhsclaim"
	"chairside/internal/civil"
	"chairside/internal/decimal"
	"chairside/schema"
)

// contract is an NHS contract of a site for a year.
type contract struct {
	id         uuid.UUID
	site       *site
	start, end civil.Date
	unit       decimal.Decimal // payment per unit of activity
}

// agreeContracts creates a contract for every site and contract year (April to March) of
// the diary up to now, at least for the current and the last year.
func (g *generator) agreeContracts() {
	today := g.date(g.today)
	first, last := contractYear(g.first), contractYear(today)
	if first.Year == last.Year {
		first = first.AddMonths(-12)
	}
	for start := first; !last.Before(start); start = start.AddMonths(12) {
		for i, s := range g.sites {
			c := contract{id: g.uuid(entcontract.Table), site: s, start: start, end: start.AddMonths(12).AddDays(-1), unit: unitValue(start.Year, i)}
			g.contracts = append(g.contracts, c)
			made := g.at(g.day(start)-20, 10*hour)
			row := ent.Contract{
				ID: c.id, PracticeID: g.practice, CreatedAt: made, UpdatedAt: made, Active: start == last,
				ContractNumber: fmt.Sprintf("%d%04d/%02d%02d", g.practiceNumber, 1200+i, start.Year%100, (start.Year+1)%100),
				Name:           fmt.Sprintf("%s General Dental Services %d/%02d", s.town.name, start.Year, (start.Year+1)%100),
				StartDate:      start, EndDate: &c.end, SiteID: s.id, PdsPlus: i%3 == 1,
				NhsLocationID: new(fmt.Sprintf("V%05d", 10_000*g.practiceNumber+i)), NhsSiteID: new(fmt.Sprintf("Q%04d", 1000*g.practiceNumber+i)),
				UdaValue: &c.unit,
			}
			row.NameFolded = schema.Fold(row.Name)
			if start != last {
				row.UpdatedAt = g.notAfterNow(g.at(g.day(c.end)+1, 9*hour))
				row.Notes = new("Year closed")
			}
			target, orthodontic := g.targets(s)
			if missed := g.day(start); missed < 0 { // the practice opened within the year
				const year = 365
				target = max(10_00, target*decimal.Decimal(year+missed)/year/10_00*10_00)
				row.Notes = new("Taken over on " + g.first.String())
			}
			row.Target = &target
			if orthodontic > 0 {
				row.UoaTarget, row.UoaValue = &orthodontic, new(decimal.Decimal(71_40))
			}
			g.out.contracts = append(g.out.contracts, row)
		}
	}
}

// unitValue returns what a site's contract pays for a unit of dental activity. It rises every year.
func unitValue(year, site int) decimal.Decimal {
	const now, value, rise, lowest = 2026, 34_00, 1_10, 20_00
	return decimal.Decimal(max(lowest, value+rise*(year-now)) + 20*(site%5))
}

// targets sums the targets of a site's dentists.
func (g *generator) targets(s *site) (dental, orthodontic decimal.Decimal) {
	for _, p := range g.out.practitioners {
		if p.SiteID == s.id && p.Active && p.UdaTarget != nil {
			dental += *p.UdaTarget
			if p.UoaTarget != nil {
				orthodontic += *p.UoaTarget
			}
		}
	}
	return dental, orthodontic
}

// contract returns the contract for a practitioner's work on a date.
func (g *generator) contract(s *site, on civil.Date) *contract {
	year := contractYear(on)
	for i := range g.contracts {
		if c := &g.contracts[i]; c.site == s && c.start == year {
			return c
		}
	}
	return nil
}

// claims counts the practice's claims so far.
type claims struct {
	all, recent, problems int
	old                   rarity
}

// inTurn returns the list's elements in turn.
func inTurn[T any](list []T, turn *int) T {
	*turn++
	return list[*turn%len(list)]
}

var (
	recentStatuses  = []schema.ClaimStatus{schema.ClaimNew, schema.ClaimQueued, schema.ClaimSubmitted, schema.ClaimReceived}
	problemStatuses = []schema.ClaimStatus{schema.ClaimError, schema.ClaimInvalid, schema.ClaimQueried, schema.ClaimWithdrawn}
	statusComments  = map[schema.ClaimStatus]string{
		schema.ClaimError:     "@0001 Response could not be read; send again",
		schema.ClaimInvalid:   "@0417 Date of acceptance is before the start of the contract",
		schema.ClaimQueried:   "@0233 Another claim for this patient within 28 days",
		schema.ClaimWithdrawn: "Withdrawn by the practice",
	}
)

// claim creates the NHS claim for a completed course.
func (c *course) claim() {
	on := *c.plan.EndDate
	counted := on // an orthodontic course on its first day
	if c.ortho && c.plan.StartDate != nil {
		counted = *c.plan.StartDate
	}
	under := c.contract(c.by.site, counted)
	if under == nil {
		return
	}
	g := c.generator
	g.claims.all++
	row := ent.NHSClaim{
		ID: g.uuid(nhsclaim.Table), PracticeID: g.practice, CreatedAt: c.last, UpdatedAt: c.last,
		ContractID: under.id, PatientID: c.patient.row.ID, PractitionerID: c.by.id, TreatmentPlanID: &c.plan.ID, SiteID: under.site.id,
		ClaimStatus: schema.ClaimCompleted, SequenceNumber: 100_000 + g.claims.all,
		ExpectedUda: new(c.plan.NhsUdaValue), UdaBand: new(c.band), Ortho: c.ortho,
		PatientCharge: new(c.charged), DentistCharge: new(c.plan.NhsUdaValue * under.unit / 100),
	}
	if c.ortho {
		row.ContinuationPartNumber = optional(g.random, 30, 1)
	}
	day := g.day(on)
	submitted := day + g.between(0, 9)
	switch age := g.today - day; {
	case submitted >= g.today:
		row.ClaimStatus = schema.ClaimNew
	case age < 28:
		row.ClaimStatus = inTurn(recentStatuses, &g.claims.recent)
	case g.claims.old.next(3, 17):
		row.ClaimStatus = inTurn(problemStatuses, &g.claims.problems)
	}
	if text, ok := statusComments[row.ClaimStatus]; ok {
		row.StatusComments = &text
	}
	if row.ClaimStatus != schema.ClaimNew && row.ClaimStatus != schema.ClaimQueued {
		row.SubmittedDate = new(g.date(submitted))
		row.UpdatedAt = g.at(submitted, 17*hour)
	}
	if row.ClaimStatus == schema.ClaimCompleted {
		approved := min(submitted+g.between(3, 18), g.today-1)
		row.ApprovalDate, row.AwardedUda = new(g.date(approved)), new(c.plan.NhsUdaValue)
		row.UpdatedAt = g.at(approved, 6*hour)
	}
	if row.UpdatedAt.Before(row.CreatedAt) {
		row.UpdatedAt = row.CreatedAt
	}
	c.patient.touch(row.UpdatedAt)
	g.out.claims = append(g.out.claims, row)
}
