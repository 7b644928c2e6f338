package report

import (
	"cmp"
	"context"
	"slices"

	"entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/contract"
	"chairside/ent/nhsclaim"
	"chairside/ent/practitioner"
	"chairside/internal/civil"
	"chairside/internal/decimal"
	"chairside/internal/scope"
	"chairside/schema"
)

var contractPerformance = Report{
	Name: "contract-performance", Title: "Contract performance",
	Group: GroupNHS, Question: "Whether contracts and practitioners are on course to meet their targets by the end of March.", Reads: scope.Set{"financials:read", "practice:read"}, Period: contractYear, AsAt: true, Practitioners: true,
	Doc: "What was done under each NHS contract in the contract year, 1 April to 31 March, up to the day of the report. " +
		"A claim belongs to the year in which it was last submitted, or while it has not been, in which it was created. " +
		"Claims still made under earlier contracts stand there without a target. " +
		"Withdrawn and invalid claims are not expected to bring anything; they have a column of their own. " +
		"Delivered is what the NHS awarded and, for claims it has not decided on, what they expect. " +
		"Value is the units awarded times the contract's money per unit, not known where it names none. " +
		"The target of a practitioner stands at one contract of the practitioner's site: rather one that has a target in these units itself, then one that has not ended, then the latest. " +
		"Pace compares what is delivered with the share of the target that belongs to the days gone by: 100 % is on time. " +
		"The projection is what the year ends with at the same pace, and the shortfall is what that lacks of 96 % of the target. " +
		"Of a contract that begins or ends within the year, the days are its own. " +
		"A site means its contracts. Awards and states are the present ones.",
	Run: func(ctx context.Context, client *ent.Client, f Filter) (*Result, error) {
		p, err := ContractPerformance(ctx, client, f)
		if err != nil {
			return nil, err
		}
		return p.result(), nil
	},
}

// tolerance is the percentage of its target that a contract must reach: the
// NHS takes money back for less.
const tolerance = 96

// Performance is what was done under NHS contracts in a contract year.
type Performance struct {
	Start, At, End civil.Date // the first day of the year, the day of the report, the last day
	// Practitioners are one for each contract, practitioner and kind of units:
	// whoever has claims under the contract in the year, and those active
	// practitioners of its site who have a target, with or without claims.
	// Ordered by contract (the latest first), kind and name.
	Practitioners []Progress
	// Contracts are one for each contract and kind of units: those in force in
	// the year, and earlier ones that claims were still made under. Empty where
	// the report is about one practitioner.
	Contracts []Progress
}

// Progress is how far one practitioner, or a whole contract, has got.
type Progress struct {
	Contract       *ent.Contract
	PractitionerID int64  // 0 for the whole contract
	Practitioner   string // name
	Ortho          bool   // orthodontic units (UOA), otherwise dental ones (UDA)

	// Target is what to reach in the year; nil where nothing was agreed. That
	// of a practitioner stands at one contract (see standing).
	Target    *decimal.Decimal
	Expected  decimal.Decimal // claimed, but for withdrawn and invalid claims
	Awarded   decimal.Decimal // by the NHS
	Refused   decimal.Decimal // claimed in withdrawn and invalid claims
	Delivered decimal.Decimal // awarded, and expected of claims without an award
	Value     decimal.Decimal // money for what was awarded

	Pace          *decimal.Decimal // percent of what should have been delivered by now; nil without a target
	Projected     *decimal.Decimal // units at the end of the contract's part of the year; nil under an earlier contract
	Shortfall     *decimal.Decimal // units that the projection lacks of 96 % of the target, at least 0; nil without a target
	ShortfallCost decimal.Decimal  // money for the shortfall
}

// Unit names the units.
func (p *Progress) Unit() string { return unitOf(p.Ortho) }

// unitValue is the contract's money for one unit, nil where it names none.
func (p *Progress) unitValue() *decimal.Decimal {
	if p.Ortho {
		return p.Contract.UoaValue
	}
	return p.Contract.UdaValue
}

// ContractPerformance is the report for the contract year of f.To, up to that
// day. A site means the contracts of that site, with all claims under them.
// Withdrawn and invalid claims are counted in Refused alone. The values of a
// contract are the sums of its practitioners' values, each rounded to a penny.
func ContractPerformance(ctx context.Context, client *ent.Client, f Filter) (*Performance, error) {
	start := yearStart(f.To)
	p := &Performance{Start: start, At: f.To, End: start.AddMonths(12).AddDays(-1)}
	claimed, err := p.claimed(ctx, client, f)
	if err != nil {
		return nil, err
	}
	contracts, err := p.contracts(ctx, client, f, claimed)
	if err != nil {
		return nil, err
	}
	if claimed, err = p.addIdle(ctx, client, f, contracts, claimed); err != nil {
		return nil, err
	}
	names, err := practitionerNames(ctx, client)
	if err != nil {
		return nil, err
	}
	for _, row := range claimed {
		c := contracts[row.contract]
		if c == nil {
			continue // of another site
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

// claim sums are those of one practitioner, contract and kind.
type claimSums struct {
	contract uuid.UUID
	progress Progress
}

// claimed adds up the claims of the year.
func (p *Performance) claimed(ctx context.Context, client *ent.Client, f Filter) (all []claimSums, err error) {
	q := client.NHSClaim.Query().Where(claimDate(ctx, p.Start, p.At)...)
	if f.PractitionerID != nil {
		q.Where(nhsclaim.PractitionerID(*f.PractitionerID))
	}
	var rows []struct {
		Contract     uuid.UUID       `sql:"contract_id"`
		Practitioner int64           `sql:"practitioner_id"`
		Ortho        bool            `sql:"ortho"`
		Expected     decimal.Decimal `sql:"expected"`
		Awarded      decimal.Decimal `sql:"awarded"`
		Refused      decimal.Decimal `sql:"refused"`
		Delivered    decimal.Decimal `sql:"delivered"`
	}
	err = q.GroupBy(nhsclaim.FieldContractID, nhsclaim.FieldPractitionerID, nhsclaim.FieldOrtho).
		Aggregate(claimUnits("expected", counts, "expected_uda"), claimUnits("awarded", counts, "awarded_uda"),
			claimUnits("refused", "NOT "+counts, "expected_uda"), claimUnits("delivered", counts, "COALESCE(awarded_uda, expected_uda)")).
		Scan(ctx, &rows)
	for _, r := range rows {
		all = append(all, claimSums{r.Contract, Progress{
			PractitionerID: r.Practitioner, Ortho: r.Ortho, Expected: r.Expected, Awarded: r.Awarded, Refused: r.Refused, Delivered: r.Delivered,
		}})
	}
	return all, err
}

// counts is a SQL condition: the claim may bring money.
const counts = "(claim_status NOT IN ('" + string(schema.ClaimWithdrawn) + "', '" + string(schema.ClaimInvalid) + "'))"

// claimUnits adds up units of the claims that fulfil a condition.
func claimUnits(alias, condition, units string) ent.AggregateFunc {
	return func(*sql.Selector) string {
		return sumOf("CASE WHEN "+condition+" THEN "+units+" END", alias)
	}
}

// contracts are those of the site that are in force in the year or were
// claimed under, by id.
func (p *Performance) contracts(ctx context.Context, client *ent.Client, f Filter, claimed []claimSums) (map[uuid.UUID]*ent.Contract, error) {
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

// inForce reports whether a contract is in force in the part of the year that
// the report is about.
func (p *Performance) inForce(c *ent.Contract) bool {
	return !p.At.Before(c.StartDate) && (c.EndDate == nil || !c.EndDate.Before(p.Start))
}

// addIdle gives the practitioners their targets, and adds those who have a
// target but no claims.
func (p *Performance) addIdle(ctx context.Context, client *ent.Client, f Filter, contracts map[uuid.UUID]*ent.Contract, claimed []claimSums) ([]claimSums, error) {
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
			under := p.standing(contracts, who.SiteID, ortho)
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

// standing is the contract at which the targets of a site's practitioners stand:
// of those in force one that has itself a target in these units, rather one that
// has not ended, rather the latest.
func (p *Performance) standing(contracts map[uuid.UUID]*ent.Contract, site uuid.UUID, ortho bool) (best *ent.Contract) {
	worth := func(c *ent.Contract) (n int) {
		if target := targetOf(c, ortho); target != nil && *target != 0 {
			n += 2
		}
		if c.EndDate == nil || !c.EndDate.Before(p.At) {
			n++
		}
		return n
	}
	for _, c := range contracts {
		if c.SiteID == site && p.inForce(c) && (best == nil || cmp.Or(worth(best)-worth(c), compareContracts(c, best)) < 0) {
			best = c
		}
	}
	return best
}

func targetOf(c *ent.Contract, ortho bool) *decimal.Decimal {
	if ortho {
		return c.UoaTarget
	}
	return c.Target
}

// addContracts adds up the practitioners of each contract.
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
					sum.Delivered += row.Delivered
					sum.Value += row.Value
					found = true
				}
			}
			if found {
				value := sum.Value
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

// measure works out what follows from the sums.
func (p *Performance) measure(row *Progress) {
	delivered, unit := int64(row.Delivered), int64(0)
	if value := row.unitValue(); value != nil {
		unit = int64(*value)
	}
	row.Value = decimal.Decimal(ratio(int64(row.Awarded), unit, 100))
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
	lacking := max(0, ratio(target, tolerance, 100)-int64(*row.Projected))
	row.Shortfall = new(decimal.Decimal(lacking))
	row.ShortfallCost = decimal.Decimal(ratio(lacking, unit, 100))
}

// span gives the days of the year on which a contract is in force, and how many
// of them have begun.
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

// compareContracts puts the latest contract first.
func compareContracts(a, b *ent.Contract) int {
	switch {
	case b.StartDate.Before(a.StartDate):
		return -1
	case a.StartDate.Before(b.StartDate):
		return 1
	}
	return cmp.Or(compareNames(a.Name, b.Name), cmp.Compare(a.ContractNumber, b.ContractNumber), slices.Compare(a.ID[:], b.ID[:]))
}
