package report

import (
	"fmt"
	"strings"

	"chairside/internal/decimal"
)

// result lays the report out.
func (p *Performance) result() *Result {
	r := &Result{Summary: p.summary(), Sections: []Section{{
		Key: "practitioners", Title: "By contract and practitioner",
		Columns: append([]Column{
			{Key: "contract", Title: "Contract", Group: true}, {Key: "contract_number", Title: "Number", Minor: true},
			{Key: "practitioner_id", Title: "Id", Kind: ID, Minor: true}, {Key: "practitioner", Title: "Practitioner"},
		}, progressColumns...),
		Chart: progressChart(p.Practitioners, func(row Progress) string { return row.Practitioner }, p),
		Empty: "Nobody has claimed under an NHS contract in this contract year, or has a target. Targets are set on practitioners; claims come from completed NHS courses of treatment.",
	}}}
	main := &r.Sections[0]
	for i := range p.Practitioners {
		row := &p.Practitioners[i]
		main.Rows = append(main.Rows, append([]any{row.Contract.Name, row.Contract.ContractNumber, row.PractitionerID, row.Practitioner}, row.cells()...))
	}
	if len(p.Contracts) == 0 {
		return r
	}
	whole := Section{
		Key: "contracts", Title: "By contract",
		Columns: append([]Column{{Key: "contract", Title: "Contract"}, {Key: "contract_number", Title: "Number", Minor: true}}, progressColumns...),
		Chart:   progressChart(p.Contracts, func(row Progress) string { return row.Contract.Name }, p),
	}
	for i := range p.Contracts {
		row := &p.Contracts[i]
		whole.Rows = append(whole.Rows, append([]any{row.Contract.Name, row.Contract.ContractNumber}, row.cells()...))
	}
	r.Sections = append(r.Sections, whole)
	return r
}

// progressColumns are what both tables have after their first columns. What is
// delivered comes from the spare ones, and all that follows from it.
var progressColumns = []Column{
	{Key: "unit", Title: "Unit"},
	{Key: "target", Title: "Target", Kind: Units},
	{Key: "expected", Title: "Expected", Kind: Units, Spare: true},
	{Key: "awarded", Title: "Awarded", Kind: Units, Spare: true},
	{Key: "refused", Title: "Withdrawn or invalid", Kind: Units, Minor: true},
	{Key: "delivered", Title: "Delivered", Kind: Units},
	{Key: "value", Title: "Value", Kind: Money},
	{Key: "pace", Title: "Pace", Kind: Percent},
	{Key: "projected", Title: "Projected", Kind: Units},
	{Key: "shortfall", Title: "Short of 96\u00a0%", Kind: Units},
	{Key: "shortfall_value", Title: "Shortfall value", Kind: Money},
}

// cells are the values of progressColumns.
func (p *Progress) cells() []any {
	var value, cost any
	if p.unitValue() != nil {
		value = p.Value
		if p.Target != nil {
			cost = p.ShortfallCost
		}
	}
	return []any{
		p.Unit(), optional(p.Target), p.Expected, p.Awarded, p.Refused, p.Delivered, value,
		optional(p.Pace), optional(p.Projected), optional(p.Shortfall), cost,
	}
}

// optional is the value of a cell, nil for none.
func optional(d *decimal.Decimal) any {
	if d == nil {
		return nil
	}
	return *d
}

// summary adds up each kind of units under the contracts in force: the whole
// contracts, or what one practitioner has done.
func (p *Performance) summary() (figures []Figure) {
	rows := p.Contracts
	if len(rows) == 0 {
		rows = p.Practitioners
	}
	for _, unit := range []string{"UDA", "UOA"} {
		key := strings.ToLower(unit)
		var target, delivered, towards, projected, value, shortfall, cost decimal.Decimal
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
				towards += row.Delivered
				shortfall += *row.Shortfall
				cost += row.ShortfallCost
			}
		}
		if !found {
			continue
		}
		var worth any // not known where no contract names a price
		note := ""
		if priced {
			worth, note = value, "worth "+Money.Format(cost)
		}
		figures = append(figures,
			Figure{Key: key + "_target", Label: unit + " target", Kind: Units, Value: target},
			Figure{Key: key + "_delivered", Label: unit + " delivered", Kind: Units, Value: delivered, Note: p.share(towards, target)},
			Figure{Key: key + "_value", Label: unit + " value", Kind: Money, Value: worth},
			Figure{Key: key + "_projected", Label: unit + " projected", Kind: Units, Value: projected, Note: "at the end of the year"},
			Figure{Key: key + "_shortfall", Label: unit + " shortfall", Kind: Units, Value: shortfall, Note: note},
		)
	}
	return figures
}

// share says how much of the target is delivered, by those who have one, and of
// the year is over.
func (p *Performance) share(delivered, target decimal.Decimal) string {
	year := fmt.Sprintf("day %d of %d", days(p.Start, p.At)+1, days(p.Start, p.End)+1)
	if target == 0 {
		return year
	}
	return fmt.Sprintf("%s of the target, %s", Percent.Format(percent(int64(delivered), int64(target))), year)
}

// progressChart compares dental units with the share of the target that
// belongs to the days gone by.
func progressChart(rows []Progress, name func(Progress) string, p *Performance) *Chart {
	c := &Chart{
		Form: Rows, Title: "Delivered against the share of the target that is due by now", Kind: Units,
		Series: []Series{{Name: "Due by now"}, {Name: "Delivered"}},
	}
	for _, row := range rows {
		if row.Target == nil {
			continue
		}
		label := name(row)
		if row.Ortho {
			label = "UOA " + label // in front: the end of long names is cut
		}
		elapsed, all := p.span(row.Contract)
		c.Add(label, ratio(int64(*row.Target), elapsed, all), int64(row.Delivered))
	}
	return c
}
