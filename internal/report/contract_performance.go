package report

import (
	"cmp"
	"context"
	"slices"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/contract"
	"chairside/ent/practitioner"
	"chairside/internal/civil"
	"chairside/internal/decimal"
	"chairside/internal/scope"
)

var _ = register(Report{
	Name: "contract-performance", Title: "Contract performance",
	Group: GroupNHS, Place: 1, Question: "Whether contracts and practitioners are on course to meet their targets by the end of March.", Reads: scope.Set{"financials:read", "practice:read", "treatments:read"}, Period: contractYear, AsAt: true, Yearly: true, Practitioners: true, Records: contractRecords,
	Definitions: []Definition{
		{Term: "Contract year", Meaning: "1 April to 31 March, up to the day of the report.", Source: bsaYear},
		{Term: "Claims", Meaning: "Counted on the day the course was completed; if it is not completed, on its last day; if neither is known, on the day of the last submission, else of creation. Claims under a contract that is not in force in the year are listed there, without a target, and are not in the figures above the tables.", Source: bsaYear},
		{Term: "Orthodontic claims", Meaning: "Counted on the first day of the course.", Source: bsaYear},
		{Term: "Expected", Meaning: "The units of all claims except withdrawn and invalid ones, which have a column of their own."},
		{Term: "Delivered", Meaning: "Units awarded by the NHS, plus the expected units of claims that it has not decided on, except late ones. Awards and statuses are the current ones."},
		{Term: "Late", Meaning: "The expected units of claims that the NHS has not decided on and that were last submitted, or are still to be submitted, more than two months after the course was completed. The NHS disallows their units. Orthodontic and incomplete courses have no such limit.", Source: bsaTwoMonths + "; " + gdsContracts + ", Schedule 3"},
		{Term: "Value", Meaning: "Units awarded, multiplied by the contract's value per unit. Unknown if the contract has no value per unit."},
		{Term: "Target", Meaning: "A practitioner's target counts under one contract of the practitioner's site: preferably one with its own target in these units, then one that has not ended, then the latest. Units carried forward from the year before are not part of it."},
		{Term: "Pace", Meaning: "Delivered units as a share of the target that is due by now. 100% is on time."},
		{Term: "Projected", Meaning: "Delivered units at the end of the year, if the pace stays the same. For a contract that starts or ends within the year, only its own days count."},
		{Term: "Shortfall", Meaning: "How far the projection is below the target, if it is below 96% of it: the NHS reclaims the value of the whole gap. From 96% on, nothing is reclaimed.", Source: gdsContracts + ", regulation 19; " + bsaYearEnd + "; " + yearEnd},
		{Term: "Carried forward", Meaning: "Projected units above the target, at most 2% of it, count in the next year. Below the target but at least 96%: the missing units, shown as a negative number, are added to the next year's target.", Source: bsaYearEnd},
		{Term: "Contracts and practitioners", Meaning: "The NHS applies these rules to contracts. For a practitioner they show the part in it."},
		{Term: "Site", Meaning: "The site of the contract."},
	},
	Run: func(ctx context.Context, client *ent.Client, f Filter) (*Result, error) {
		p, err := ContractPerformance(ctx, client, f)
		if err != nil {
			return nil, err
		}
		return p.result(localeOf(ctx)), nil
	},
	Layout: func(_ Filter, l Locale) *Result { return (&Performance{}).result(l) },
})

// The percentages of its target at which the NHS settles a contract's year. Below tolerance it
// reclaims money for the whole gap; up to mostCarried, more units than the target count in the
// next year.
const (
	tolerance   = 96
	mostCarried = 102
)

// Performance holds the figures of NHS contracts in a contract year.
type Performance struct {
	Start, At, End civil.Date // the first day of the year, the day of the report, the last day
	// Practitioners has a row for each contract, practitioner and unit: practitioners
	// with claims under the contract in the year, and active practitioners of its site
	// with a target, even without claims. Sorted by contract (the latest first), unit
	// and name.
	Practitioners []Progress
	// Contracts has a row for each contract and unit: contracts in force in the year,
	// and earlier ones with claims in the year. Empty if the report is limited to a
	// practitioner.
	Contracts []Progress
}

// Progress is the progress of a practitioner, or of a whole contract, in one unit.
type Progress struct {
	Contract       *ent.Contract
	PractitionerID int64  // 0 for the whole contract
	Practitioner   string // name
	Ortho          bool   // orthodontic units (UOA) instead of dental ones (UDA)

	// Target is the number of units for the year, nil if none was agreed. A
	// practitioner's target counts under one contract (see targetContract).
	Target    *decimal.Decimal
	Expected  decimal.Decimal // units claimed, without withdrawn and invalid claims
	Awarded   decimal.Decimal // units awarded by the NHS
	Refused   decimal.Decimal // units of withdrawn and invalid claims
	Late      decimal.Decimal // units of claims without an award that were submitted too late for one
	Delivered decimal.Decimal // units awarded, plus units expected from claims without an award that are not late
	Value     decimal.Decimal // money for the units awarded

	Pace          *decimal.Decimal // percentage of the units due by now that are delivered; nil without a target
	Projected     *decimal.Decimal // units at the end of the contract's part of the year; nil for an earlier contract
	Shortfall     *decimal.Decimal // units by which Projected is below Target, 0 from 96% of it on; nil without a target
	ShortfallCost decimal.Decimal  // money for the shortfall
	Carried       *decimal.Decimal // units that count in the next year, negative if they are to be delivered in it; nil without a target
}

// Unit returns "UDA" or "UOA".
func (p *Progress) Unit() string { return unitOf(p.Ortho) }

// unitValue returns the contract's money per unit, nil if the contract has none.
func (p *Progress) unitValue() *decimal.Decimal {
	if p.Ortho {
		return p.Contract.UoaValue
	}
	return p.Contract.UdaValue
}

// ContractPerformance returns the figures of the contract year of f.To, up to that day.
// f.SiteID is the site of the contracts; all claims under them count. Withdrawn and
// invalid claims count only in Refused. The Value of a contract is the sum of its
// practitioners' values, each rounded to a penny.
func ContractPerformance(ctx context.Context, client *ent.Client, f Filter) (*Performance, error) {
	start := yearStart(f.To)
	p := &Performance{Start: start, At: f.To, End: start.AddMonths(12).AddDays(-1)}
	claimed, err := p.readClaims(ctx, client, f)
	if err != nil {
		return nil, err
	}
	contracts, err := p.readContracts(ctx, client, f, claimed)
	if err != nil {
		return nil, err
	}
	if claimed, err = p.addTargets(ctx, client, f, contracts, claimed); err != nil {
		return nil, err
	}
	names, err := practitionerNames(ctx, client)
	if err != nil {
		return nil, err
	}
	for _, row := range claimed {
		c := contracts[row.contract]
		if c == nil {
			continue // a contract of another site
		}
		row.progress.Contract = c
		row.progress.Practitioner = names[row.progress.PractitionerID]
		p.measure(&row.progress)
		p.Practitioners = append(p.Practitioners, row.progress)
	}
	slices.SortFunc(p.Practitioners, func(a, b Progress) int {
		return cmp.Or(compareContracts(a.Contract, b.Contract), cmp.Compare(a.Unit(), b.Unit()),
			compareNames(a.Practitioner, b.Practitioner), cmp.Compare(a.PractitionerID, b.PractitionerID))
	})
	if f.PractitionerID == nil {
		p.addContracts(contracts)
	}
	return p, nil
}

// claimSums adds up the claims of one practitioner, contract and unit.
type claimSums struct {
	contract uuid.UUID
	progress Progress
}

// readContracts reads the site's contracts that are in force in the year or have claims,
// by ID.
func (p *Performance) readContracts(ctx context.Context, client *ent.Client, f Filter, claimed []claimSums) (map[uuid.UUID]*ent.Contract, error) {
	ids := make([]uuid.UUID, 0, len(claimed))
	for _, row := range claimed {
		ids = append(ids, row.contract)
	}
	inForce := contract.And(contract.StartDateLTE(p.At), contract.Or(contract.EndDateIsNil(), contract.EndDateGTE(p.Start)))
	q := client.Contract.Query().Where(contract.Or(inForce, contract.IDIn(ids...)))
	if f.SiteID != nil {
		q.Where(contract.SiteID(*f.SiteID))
	}
	rows, err := q.All(ctx)
	if err != nil {
		return nil, err
	}
	all := make(map[uuid.UUID]*ent.Contract, len(rows))
	for _, c := range rows {
		all[c.ID] = c
	}
	return all, nil
}

// inForce reports whether a contract is in force at some time between the start of the
// year and the day of the report.
func (p *Performance) inForce(c *ent.Contract) bool {
	return !p.At.Before(c.StartDate) && (c.EndDate == nil || !c.EndDate.Before(p.Start))
}

// addTargets sets the targets of practitioners, and adds rows for active practitioners with
// a target but no claims.
func (p *Performance) addTargets(ctx context.Context, client *ent.Client, f Filter, contracts map[uuid.UUID]*ent.Contract, claimed []claimSums) ([]claimSums, error) {
	q := client.Practitioner.Query()
	if f.PractitionerID != nil {
		q.Where(practitioner.ID(*f.PractitionerID))
	}
	people, err := q.All(ctx)
	if err != nil {
		return nil, err
	}
	for _, who := range people {
		for _, ortho := range []bool{false, true} {
			target := who.UdaTarget
			if ortho {
				target = who.UoaTarget
			}
			if target == nil || *target == 0 {
				continue
			}
			under := p.targetContract(contracts, who.SiteID, ortho)
			if under == nil {
				continue
			}
			i := slices.IndexFunc(claimed, func(r claimSums) bool {
				return r.contract == under.ID && r.progress.PractitionerID == who.ID && r.progress.Ortho == ortho
			})
			if i < 0 {
				if !who.Active {
					continue
				}
				i = len(claimed)
				claimed = append(claimed, claimSums{under.ID, Progress{PractitionerID: who.ID, Ortho: ortho}})
			}
			claimed[i].progress.Target = target
		}
	}
	return claimed, nil
}

// targetContract returns the contract under which the targets of a site's practitioners
// count, or nil. Of the contracts in force it prefers one with its own target in these
// units, then one that has not ended, then the latest.
func (p *Performance) targetContract(contracts map[uuid.UUID]*ent.Contract, site uuid.UUID, ortho bool) (best *ent.Contract) {
	preference := func(c *ent.Contract) (n int) {
		if target := targetOf(c, ortho); target != nil && *target != 0 {
			n += 2
		}
		if c.EndDate == nil || !c.EndDate.Before(p.At) {
			n++
		}
		return n
	}
	for _, c := range contracts {
		if c.SiteID == site && p.inForce(c) && (best == nil || cmp.Or(preference(best)-preference(c), compareContracts(c, best)) < 0) {
			best = c
		}
	}
	return best
}

// targetOf returns the contract's own target in these units, nil if it has none.
func targetOf(c *ent.Contract, ortho bool) *decimal.Decimal {
	if ortho {
		return c.UoaTarget
	}
	return c.Target
}

// addContracts adds a row for each contract and unit: the sum of its practitioners.
func (p *Performance) addContracts(contracts map[uuid.UUID]*ent.Contract) {
	for _, c := range contracts {
		for _, ortho := range []bool{false, true} {
			sum, found := Progress{Contract: c, Ortho: ortho}, false
			if target := targetOf(c, ortho); p.inForce(c) && target != nil && *target != 0 {
				sum.Target, found = target, true
			}
			for _, row := range p.Practitioners {
				if row.Contract == c && row.Ortho == ortho {
					sum.Expected += row.Expected
					sum.Awarded += row.Awarded
					sum.Refused += row.Refused
					sum.Late += row.Late
					sum.Delivered += row.Delivered
					sum.Value += row.Value
					found = true
				}
			}
			if found {
				value := sum.Value // measure would round it once instead of per practitioner
				p.measure(&sum)
				sum.Value = value
				p.Contracts = append(p.Contracts, sum)
			}
		}
	}
	slices.SortFunc(p.Contracts, func(a, b Progress) int {
		return cmp.Or(compareContracts(a.Contract, b.Contract), cmp.Compare(a.Unit(), b.Unit()))
	})
}

// measure calculates value, pace, projection and shortfall from the sums.
func (p *Performance) measure(row *Progress) {
	delivered, unitValue := int64(row.Delivered), int64(0)
	if value := row.unitValue(); value != nil {
		unitValue = int64(*value)
	}
	row.Value = decimal.Decimal(ratio(int64(row.Awarded), unitValue, 100))
	if !p.inForce(row.Contract) {
		return
	}
	elapsed, all := p.span(row.Contract)
	row.Projected = new(decimal.Decimal(ratio(delivered, all, elapsed)))
	if row.Target == nil {
		return
	}
	target := int64(*row.Target)
	row.Pace = new(decimal.Decimal(ratio(delivered*all, 100_00, target*elapsed)))
	shortfall, carried := settle(target, int64(*row.Projected))
	row.Shortfall, row.Carried = new(decimal.Decimal(shortfall)), new(decimal.Decimal(carried))
	row.ShortfallCost = decimal.Decimal(ratio(shortfall, unitValue, 100))
}

// settle returns the units that the NHS reclaims at the end of a year, and those that it carries
// forward to the next.
func settle(target, delivered int64) (shortfall, carried int64) {
	if delivered*100 < target*tolerance {
		return target - delivered, 0
	}
	return 0, min(delivered, ratio(target, mostCarried, 100)) - target
}

// span returns the number of days of the year on which a contract is in force, and how
// many of them have started by the day of the report.
func (p *Performance) span(c *ent.Contract) (elapsed, all int64) {
	first, last, at := p.Start, p.End, p.At
	if first.Before(c.StartDate) {
		first = c.StartDate
	}
	if c.EndDate != nil && c.EndDate.Before(last) {
		last = *c.EndDate
	}
	if last.Before(at) {
		at = last
	}
	return int64(days(first, at)) + 1, int64(days(first, last)) + 1
}

// compareContracts orders contracts by start date, the latest first.
func compareContracts(a, b *ent.Contract) int {
	switch {
	case b.StartDate.Before(a.StartDate):
		return -1
	case a.StartDate.Before(b.StartDate):
		return 1
	}
	return cmp.Or(compareNames(a.Name, b.Name), cmp.Compare(a.ContractNumber, b.ContractNumber), slices.Compare(a.ID[:], b.ID[:]))
}
