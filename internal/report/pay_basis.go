package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

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
	Name: "pay-basis", Title: "Practitioner pay basis",
	Group: GroupMoney, Place: 4, Question: "What each practitioner's pay is calculated from: private income and NHS activity.",
	Definitions: []Definition{
		{Term: "Private invoiced", Meaning: "The practitioner's private items on invoices dated in the period, excluding void ones."},
		{Term: "Private paid", Meaning: "The parts of payments dated in the period, excluding deleted ones, that pay the practitioner's private items, whenever these were invoiced. A payment is split over the items of its invoices as in the report Income."},
		{Term: "NHS charges paid", Meaning: "The same parts for the practitioner's NHS items. Patients' charges belong to the contract holder, not to the basis."},
		{Term: "UDA, UOA", Meaning: "The units awarded or, until the NHS decides, expected of the practitioner's claims dated in the period, except withdrawn and invalid ones. A claim is dated on the day of its last submission or, until then, of its creation."},
		{Term: "Value of units", Meaning: "These units at the value of a unit under the claim's contract, rounded to the penny for each claim. An associate's own rate per unit may be lower."},
		{Term: "Basis", Meaning: "Private paid and the value of units together."},
		{Term: "Not included", Meaning: "An associate's share and laboratory bills are not recorded. Apply the share that is agreed to the columns, and subtract the practitioner's part of the laboratory bills."},
		{Term: "Site", Meaning: "The site of the invoice or payment, and for claims the practitioner's own site."},
	},
	Reads: scope.Set{"financials:read", "patient:read", "practice:read", "treatments:read"}, Period: lastMonth, Practitioners: true,
	Records: payRecords,
}.adding(readPayBasis, payResult))

// payRecords are the practitioners' parts of invoices and payments, and their claims.
var payRecords = Records{
	Columns: []Column{
		{Key: "document", Title: "Document"}, {Key: "dated_on", Title: "Dated", Kind: Date}, {Key: "month", Title: "Month", Kind: Month, Minor: true},
		hiddenID("practitioner_id", ID), {Key: "practitioner", Title: "Practitioner"}, {Key: "patient_id", Title: "Patient no.", Kind: ID, Minor: true}, {Key: "patient", Title: "Patient"},
	},
	Measures: []Column{
		{Key: "private_invoiced", Title: "Private invoiced", Kind: Money}, {Key: "private_paid", Title: "Private paid", Kind: Money}, {Key: "nhs_paid", Title: "NHS charges paid", Kind: Money},
		{Key: "uda", Title: "UDA", Kind: Units}, {Key: "uoa", Title: "UOA", Kind: Units}, {Key: "units_value", Title: "Value of units", Kind: Money}, {Key: "basis", Title: "Basis", Kind: Money},
	},
	Read: func(ctx context.Context, client *ent.Client, f Filter) ([]Record, error) {
		parts, err := incomeRecords.Read(ctx, client, f)
		if err != nil {
			return nil, err
		}
		at := map[string]int{}
		for i, c := range incomeRecords.Columns {
			at[c.Key] = i
		}
		var records []Record
		for _, p := range parts {
			cell := func(key string) any { return p.Cells[at[key]] }
			if by, ok := cell("practitioner_id").(int64); ok && by != 0 {
				records = append(records, Record{
					Cells:  []any{cell("document"), cell("dated_on"), cell("month"), by, cell("practitioner"), cell("patient_id"), nil},
					Values: incomeBasis(IncomeKind(cell("kind").(string)), p.Values[0].(decimal.Decimal), p.Values[1].(decimal.Decimal)),
				})
			}
		}
		claims, err := claimBasis(ctx, client, f)
		records = append(records, claims...)
		slices.SortStableFunc(records, func(a, b Record) int {
			return cmp.Or(Date.compare(a.Cells[1], b.Cells[1]), Text.compare(a.Cells[0], b.Cells[0]))
		})
		return records, err
	},
}.namingPatients()

// incomeBasis returns the measures of one invoiced and paid amount.
func incomeBasis(kind IncomeKind, invoiced, paid decimal.Decimal) []any {
	if kind == NHS {
		return []any{decimal.Decimal(0), decimal.Decimal(0), paid, decimal.Decimal(0), decimal.Decimal(0), decimal.Decimal(0), decimal.Decimal(0)}
	}
	return []any{invoiced, paid, decimal.Decimal(0), decimal.Decimal(0), decimal.Decimal(0), decimal.Decimal(0), paid}
}

// readPayBasis adds up invoices, payments and claims by practitioner and month.
func readPayBasis(ctx context.Context, client *ent.Client, f Filter) ([]Record, error) {
	rows, err := practitionerIncome(ctx, client, f)
	if err != nil {
		return nil, err
	}
	names, err := practitionerNames(ctx, client)
	if err != nil {
		return nil, err
	}
	records, err := addClaimBasis(ctx, client, f, names)
	for _, row := range rows {
		if row.PractitionerID != 0 {
			records = append(records, Record{
				Cells:  []any{nil, nil, row.Month, row.PractitionerID, nameOr(names, row.PractitionerID, "", "Practitioner"), nil, nil},
				Values: incomeBasis(row.Kind, row.Invoiced, row.Paid),
			})
		}
	}
	return records, err
}

// payClaims queries the claims that are neither withdrawn nor invalid.
func payClaims(client *ent.Client, f Filter) *ent.NHSClaimQuery {
	return claimsOf(client, f).Where(nhsclaim.ClaimStatusNotIn(schema.ClaimWithdrawn, schema.ClaimInvalid))
}

// claimBasisOf returns the measures of claims that have their units and contract in common.
func claimBasisOf(claims int, c *ent.NHSClaim, under *ent.Contract) []any {
	n := decimal.Decimal(claims)
	uda, uoa, value := n*unitsOf(cmp.Or(c.AwardedUda, c.ExpectedUda)), decimal.Decimal(0), n*activityValue(c, under)
	if c.Ortho {
		uda, uoa = uoa, uda
	}
	return []any{decimal.Decimal(0), decimal.Decimal(0), decimal.Decimal(0), uda, uoa, value, value}
}

// addClaimBasis adds up the claims of the period by practitioner and month.
func addClaimBasis(ctx context.Context, client *ent.Client, f Filter, names map[int64]string) ([]Record, error) {
	rows, err := groupDated[struct {
		Month             civil.Date
		Practitioner      int64
		Contract          uuid.UUID
		Ortho             bool
		Awarded, Expected *decimal.Decimal // of each claim
		Claims            int
	}](ctx, payClaims(client, f), f, ask.Month,
		ask.By(nhsclaim.FieldPractitionerID), ask.By(nhsclaim.FieldContractID), ask.By(nhsclaim.FieldOrtho), ask.By(nhsclaim.FieldAwardedUda), ask.By(nhsclaim.FieldExpectedUda),
		ask.Count())
	if err != nil {
		return nil, err
	}
	contracts, err := contractsByID(ctx, client)
	records := make([]Record, len(rows))
	for i, r := range rows {
		records[i] = Record{
			Cells:  []any{nil, nil, r.Month, r.Practitioner, nameOr(names, r.Practitioner, "", "Practitioner"), nil, nil},
			Values: claimBasisOf(r.Claims, &ent.NHSClaim{Ortho: r.Ortho, AwardedUda: r.Awarded, ExpectedUda: r.Expected}, contracts[r.Contract]),
		}
	}
	return records, err
}

// claimBasis reads the claims of the period.
func claimBasis(ctx context.Context, client *ent.Client, f Filter) ([]Record, error) {
	found, err := payClaims(client, f).Where(claimDatedBetween(ctx, f.From, f.To)...).
		Select(nhsclaim.FieldSequenceNumber, nhsclaim.FieldContractID, nhsclaim.FieldPractitionerID, nhsclaim.FieldPatientID,
			nhsclaim.FieldSubmittedDate, nhsclaim.FieldCreatedAt, nhsclaim.FieldOrtho, nhsclaim.FieldAwardedUda, nhsclaim.FieldExpectedUda).All(ctx)
	if err != nil {
		return nil, err
	}
	names, err := practitionerNames(ctx, client)
	if err != nil {
		return nil, err
	}
	contracts, err := contractsByID(ctx, client)
	zone, records := principal.Must(ctx).Zone, make([]Record, len(found))
	for i, c := range found {
		day := claimedOn(c, zone)
		records[i] = Record{
			Cells:  []any{fmt.Sprintf("Claim %d", c.SequenceNumber), day, monthStart(day), c.PractitionerID, nameOr(names, c.PractitionerID, "", "Practitioner"), c.PatientID, nil},
			Values: claimBasisOf(1, c, contracts[c.ContractID]),
		}
	}
	return records, err
}

// contractsByID reads the contracts that the caller may see.
func contractsByID(ctx context.Context, client *ent.Client) (map[uuid.UUID]*ent.Contract, error) {
	found, err := client.Contract.Query().All(ctx)
	contracts := make(map[uuid.UUID]*ent.Contract, len(found))
	for _, c := range found {
		contracts[c.ID] = c
	}
	return contracts, err
}

// payResult lays the report out: by practitioner, and by practitioner and month.
func payResult(records []Record, _ Filter) *Result {
	r, total := &payRecords, payRecords.sum(records)
	columns := r.measures("private_invoiced", "private_paid", "nhs_paid", "uda", "uoa", "units_value", "basis")
	const empty = "Nothing was invoiced, paid or claimed for a practitioner in this period. Choose a longer period, or all sites and practitioners."
	people := r.breakDown(breakdown{key: "practitioners", title: "By practitioner", empty: empty, all: "All practitioners", by: []string{"practitioner_id", "practitioner"}, columns: columns}, records)
	people.draw(HorizontalBars, "Private paid and value of units by practitioner", "practitioner", nil, "private_paid", "units_value")
	each := r.breakDown(breakdown{
		key: "months", title: "By practitioner and month", empty: empty, all: "All practitioners", by: []string{"practitioner_id", "practitioner", "month"}, group: "practitioner", columns: columns,
	}, records)
	return &Result{
		Summary: []Figure{
			{Key: "basis", Label: "Basis", Kind: Money, Value: total.value("basis")},
			{Key: "private_paid", Label: "Private paid", Kind: Money, Value: total.value("private_paid")},
			{Key: "units_value", Label: "Value of units", Kind: Money, Value: total.value("units_value")},
			{Key: "private_invoiced", Label: "Private invoiced", Kind: Money, Value: total.value("private_invoiced")},
			{Key: "nhs_paid", Label: "NHS charges paid", Kind: Money, Value: total.value("nhs_paid")},
		},
		Sections: []Section{people, each},
	}
}
