package report

import (
	"fmt"
	"strings"

	"chairside/internal/decimal"
)

// result lays the report out: a table by contract and practitioner, and one by contract.
func (p *Performance) result(l Locale) *Result {
	r := &Result{Summary: p.summary(l), Sections: []Section{{
		Key: "practitioners", Title: "By contract and practitioner", Keys: []string{"contract_number", "contract", "practitioner_id", "unit"},
		Columns: append([]Column{
			{Key: "contract", Title: "Contract", Group: true}, {Key: "contract_number", Title: "Number", Minor: true},
			{Key: "practitioner_id", Title: "ID", Kind: ID, Minor: true}, {Key: "practitioner", Title: "Practitioner"},
		}, progressColumns...),
		Chart: progressChart(p.Practitioners, func(row Progress) string { return row.Practitioner }, p),
		Empty: "In this contract year there are no claims and no targets. Targets are set on practitioners; claims come from completed NHS courses of treatment.",
	}}}
	main := &r.Sections[0]
	for i := range p.Practitioners {
		row := &p.Practitioners[i]
		main.Rows = append(main.Rows, append([]any{row.Contract.Name, row.Contract.ContractNumber, row.PractitionerID, row.Practitioner}, row.cells()...))
	}
	byContract := Section{
		Key: "contracts", Title: "By contract", Keys: []string{"contract_number", "contract", "unit"},
		Columns: append([]Column{{Key: "contract", Title: "Contract"}, {Key: "contract_number", Title: "Number", Minor: true}}, progressColumns...),
		Chart:   progressChart(p.Contracts, func(row Progress) string { return row.Contract.Name }, p),
		Empty:   "No contract is in force in this year. A report that is limited to one practitioner has no totals by contract.",
	}
	for i := range p.Contracts {
		row := &p.Contracts[i]
		byContract.Rows = append(byContract.Rows, append([]any{row.Contract.Name, row.Contract.ContractNumber}, row.cells()...))
	}
	r.Sections = append(r.Sections, byContract)
	return r
}

// progressColumns are the columns that both tables share. Expected and awarded units are
// hidden first where space is short, because delivered units follow from them.
var progressColumns = []Column{
	{Key: "unit", Title: "Unit"},
	{Key: "target", Title: "Target", Kind: Units},
	{Key: "expected", Title: "Expected", Kind: Units, Spare: true},
	{Key: "awarded", Title: "Awarded", Kind: Units, Spare: true},
	{Key: "refused", Title: "Withdrawn or invalid", Kind: Units, Minor: true},
	{Key: "late", Title: "Late", Kind: Units, Minor: true},
	{Key: "delivered", Title: "Delivered", Kind: Units},
	{Key: "value", Title: "Value", Kind: Money},
	{Key: "pace", Title: "Pace", Kind: Percent},
	{Key: "projected", Title: "Projected", Kind: Units},
	{Key: "shortfall", Title: "Shortfall", Kind: Units},
	{Key: "shortfall_value", Title: "Shortfall value", Kind: Money},
	{Key: "carried_forward", Title: "Carried forward", Kind: Units},
}

// cells returns the values of progressColumns.
func (p *Progress) cells() []any {
	var value, cost any
	if p.unitValue() != nil {
		value = p.Value
		if p.Target != nil {
			cost = p.ShortfallCost
		}
	}
	return []any{
		p.Unit(), optional(p.Target), p.Expected, p.Awarded, p.Refused, p.Late, p.Delivered, value,
		optional(p.Pace), optional(p.Projected), optional(p.Shortfall), cost, optional(p.Carried),
	}
}

// optional returns the value for a cell: nil for a nil pointer.
func optional(d *decimal.Decimal) any {
	if d == nil {
		return nil
	}
	return *d
}

// summary adds up the contracts in force, or the rows of the filter's practitioner, for
// each unit.
func (p *Performance) summary(l Locale) (figures []Figure) {
	rows := p.Contracts
	if len(rows) == 0 {
		rows = p.Practitioners
	}
	for _, unit := range []string{"UDA", "UOA"} {
		key := strings.ToLower(unit)
		var target, delivered, deliveredToTarget, projected, value, shortfall, cost, carried decimal.Decimal
		found, priced := false, false
		for i := range rows {
			row := &rows[i]
			if row.Unit() != unit || !p.inForce(row.Contract) {
				continue
			}
			found = true
			delivered += row.Delivered
			projected += *row.Projected
			value += row.Value
			priced = priced || row.unitValue() != nil
			if row.Target != nil {
				target += *row.Target
				deliveredToTarget += row.Delivered
				shortfall += *row.Shortfall
				cost += row.ShortfallCost
				carried += *row.Carried
			}
		}
		if !found {
			figures = append(figures, unusedFigures(unit)...)
			continue
		}
		var worth any // unknown if no contract has a value per unit
		note := ""
		if priced {
			worth, note = value, "worth "+l.Format(Money, cost)
		}
		figures = append(figures,
			Figure{Key: key + "_target", Label: unit + " target", Kind: Units, Value: target, Term: "Target"},
			Figure{Key: key + "_delivered", Label: unit + " delivered", Kind: Units, Value: delivered, Note: p.share(deliveredToTarget, target, l), Term: "Delivered", Measure: "delivered_in_force", Where: []Condition{{"unit", unit}}},
			Figure{Key: key + "_value", Label: unit + " value", Kind: Money, Value: worth, Term: "Value"},
			Figure{Key: key + "_projected", Label: unit + " projected", Kind: Units, Value: projected, Note: "by the end of the year", Term: "Projected"},
			Figure{Key: key + "_shortfall", Label: unit + " shortfall", Kind: Units, Value: shortfall, Note: note, Term: "Shortfall"},
			Figure{Key: key + "_carried_forward", Label: unit + " carried forward", Kind: Units, Value: carried, Note: "to the next year", Term: "Carried forward"},
		)
	}
	return figures
}

// unusedFigures are the figures of a unit in which the practice has neither contracts nor claims.
func unusedFigures(unit string) (figures []Figure) {
	for _, f := range []struct {
		label string
		kind  Kind
	}{{"Target", Units}, {"Delivered", Units}, {"Value", Money}, {"Projected", Units}, {"Shortfall", Units}, {"Carried forward", Units}} {
		word := strings.ToLower(f.label)
		figures = append(figures, Figure{Key: strings.ReplaceAll(strings.ToLower(unit)+"_"+word, " ", "_"), Label: unit + " " + word, Kind: f.kind, Term: f.label, Unused: true})
	}
	return figures
}

// share says which part of the target is delivered and which day of the year it is:
// "48.20% of the target, day 91 of 365". Of a year that has ended it says when its claims were due.
func (p *Performance) share(delivered, target decimal.Decimal, l Locale) string {
	year := fmt.Sprintf("day %d of %d", days(p.Start, p.At)+1, days(p.Start, p.End)+1)
	if p.At == p.End {
		year = "claims due by " + dayName(p.End.AddMonths(monthsToSubmit))
	}
	if target == 0 {
		return year
	}
	return fmt.Sprintf("%s of the target, %s", l.Format(Percent, percent(int64(delivered), int64(target))), year)
}

// progressChart compares delivered units with the part of the target that is due by now.
func progressChart(rows []Progress, name func(Progress) string, p *Performance) *Chart {
	c := &Chart{
		Form: HorizontalBars, Title: "Delivered units and the part of the target that is due by now", Kind: Units,
		Series: []Series{{Name: "Due by now"}, {Name: "Delivered"}},
	}
	for _, row := range rows {
		if row.Target == nil {
			continue
		}
		label := name(row)
		if row.Ortho {
			label = "UOA " + label // in front, because the chart cuts the end of long labels
		}
		elapsed, all := p.span(row.Contract)
		c.Add(label, ratio(int64(*row.Target), elapsed, all), int64(row.Delivered))
	}
	return c
}
