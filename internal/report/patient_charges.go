package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/contract"
	"chairside/ent/nhsclaim"
	"chairside/internal/civil"
	"chairside/internal/decimal"
	"chairside/internal/principal"
	"chairside/internal/scope"
	"chairside/schema"
	"chairside/schema/ask"
)

const statementOfEntitlements = "General Dental Services Statement of Financial Entitlements, monthly payments and deductions in respect of NHS charges"

var _ = register(Report{
	Name: "patient-charges", Title: "Patient charge revenue",
	Group: GroupNHS, Place: 3, Question: "What patients' charges the NHS deducts from the monthly payments of each contract, and what is left.",
	Definitions: []Definition{
		{Term: "Claims", Meaning: "Claims dated in the period, except withdrawn and invalid ones. A claim is dated on the day of its last submission or, until then, of its creation."},
		{Term: "Patient charges", Meaning: "The patient's charges on these claims; in Northern Ireland those calculated there. The NHS deducts them whether or not the patient has paid.", Source: statementOfEntitlements},
		{Term: "Exempt", Meaning: "Claims whose patient charge is zero or missing."},
		{Term: "Value of activity", Meaning: "The units awarded or, until the NHS decides, expected, at the contract's value of a unit, rounded to the penny for each claim."},
		{Term: "Monthly payment", Meaning: "For each month of the contract that the period touches, a twelfth of the year's target times the value of a unit, dental and orthodontic. If the contract lasts less than a year, the target is divided by its number of months instead. Amounts are rounded so that the months of a year add up to the penny. A contract without a target or a value has none.", Source: statementOfEntitlements},
		{Term: "After charges", Meaning: "The monthly payment less the patient charges. The NHS deducts a charge in the month in which it processes the claim, which may be a month later. Choose whole months."},
		{Term: "Other deductions", Meaning: "Superannuation, levies, recovered overpayments and the settlement of the year are not recorded, and so not deducted."},
		{Term: "Site", Meaning: "The contract's site."},
	},
	Reads: scope.Set{"financials:read", "patient:read", "practice:read"}, Period: contractYear,
	Records: chargeRecords,
}.adding(addCharges, chargesResult))

// chargeRecords are the claims of the period that are neither withdrawn nor invalid, and the
// monthly payments of the contracts.
var chargeRecords = Records{
	Columns: []Column{
		{Key: "record", Title: "Record"}, {Key: "date", Title: "Dated", Kind: Date}, {Key: "month", Title: "Month", Kind: Month, Minor: true},
		hiddenID("contract_id", Text), {Key: "contract", Title: "Contract"}, {Key: "band", Title: "Band"}, {Key: "patient_id", Title: "Patient no.", Kind: ID, Minor: true}, {Key: "patient", Title: "Patient"},
	},
	Measures: []Column{
		{Key: "claims", Title: "Claims", Kind: Count}, {Key: "exempt", Title: "Exempt", Kind: Count}, {Key: "activity", Title: "Value of activity", Kind: Money},
		{Key: "monthly_payment", Title: "Monthly payment", Kind: Money}, {Key: "charges", Title: "Patient charges", Kind: Money}, {Key: "after_charges", Title: "After charges", Kind: Money},
	},
	Read: readCharges,
}.namingPatients()

// noBand is shown for claims without a band.
const noBand = "No band"

// otherContract is shown for a contract that the caller may not see, because of another site.
const otherContract = "Contract of another site"

// chargedClaims queries the claims that are neither withdrawn nor invalid, and the contracts that
// have monthly payments.
func chargedClaims(client *ent.Client, f Filter) (*ent.NHSClaimQuery, *ent.ContractQuery) {
	claims, payers := client.NHSClaim.Query().Where(nhsclaim.ClaimStatusNotIn(schema.ClaimWithdrawn, schema.ClaimInvalid)), client.Contract.Query()
	if f.SiteID != nil {
		claims.Where(nhsclaim.HasContractWith(contract.SiteID(*f.SiteID)))
		payers.Where(contract.SiteID(*f.SiteID))
	}
	return claims, payers
}

// addCharges adds up the claims by contract, month and band, and reads the monthly payments.
func addCharges(ctx context.Context, client *ent.Client, f Filter) ([]Record, error) {
	q, payers := chargedClaims(client, f)
	rows, err := groupDated[struct {
		Month             civil.Date
		Contract          uuid.UUID
		Band              string
		Ortho             bool
		Awarded, Expected *decimal.Decimal // of each claim
		Claims, Exempt    int
		Charge, NICharge  decimal.Decimal
	}](ctx, q, f, ask.Month,
		ask.By(nhsclaim.FieldContractID), ask.By(nhsclaim.FieldUdaBand), ask.By(nhsclaim.FieldOrtho), ask.By(nhsclaim.FieldAwardedUda), ask.By(nhsclaim.FieldExpectedUda),
		ask.Count(),
		ask.Count(nhsclaim.Or(nhsclaim.PatientCharge(0), nhsclaim.And(nhsclaim.PatientChargeIsNil(), nhsclaim.Or(nhsclaim.NiCalculatedPatientFeeIsNil(), nhsclaim.NiCalculatedPatientFee(0))))),
		ask.Sum(nhsclaim.FieldPatientCharge), ask.Sum(nhsclaim.FieldNiCalculatedPatientFee, nhsclaim.PatientChargeIsNil()))
	if err != nil {
		return nil, err
	}
	records, contracts, err := monthlyPayments(ctx, payers, f)
	for _, r := range rows {
		under, charge := contracts[r.Contract], r.Charge+r.NICharge
		value := decimal.Decimal(r.Claims) * activityValue(&ent.NHSClaim{Ortho: r.Ortho, AwardedUda: r.Awarded, ExpectedUda: r.Expected}, under)
		records = append(records, Record{
			Cells:  []any{nil, nil, r.Month, r.Contract.String(), nameOfContract(under), cmp.Or(r.Band, noBand), nil, nil},
			Values: []any{r.Claims, r.Exempt, value, decimal.Decimal(0), charge, -charge},
		})
	}
	return records, err
}

// monthlyPayments reads the contracts, by ID, and returns their payments for the months of the
// period.
func monthlyPayments(ctx context.Context, payers *ent.ContractQuery, f Filter) ([]Record, map[uuid.UUID]*ent.Contract, error) {
	all, err := payers.All(ctx)
	if err != nil {
		return nil, nil, err
	}
	var records []Record
	contracts := map[uuid.UUID]*ent.Contract{}
	for _, c := range all {
		contracts[c.ID] = c
		for _, month := range months(f) {
			if paid := paymentOf(c, month); paid != 0 {
				records = append(records, Record{
					Cells:  []any{"Monthly payment", month, month, c.ID.String(), c.Name, nil, nil, nil},
					Values: []any{0, 0, decimal.Decimal(0), paid, decimal.Decimal(0), paid},
				})
			}
		}
	}
	return records, contracts, nil
}

// readCharges reads the claims and the monthly payments, in order of their date.
func readCharges(ctx context.Context, client *ent.Client, f Filter) ([]Record, error) {
	q, payers := chargedClaims(client, f)
	found, err := q.Where(claimDatedBetween(ctx, f.From, f.To)...).
		Select(nhsclaim.FieldSequenceNumber, nhsclaim.FieldContractID, nhsclaim.FieldPatientID, nhsclaim.FieldUdaBand, nhsclaim.FieldPatientCharge, nhsclaim.FieldNiCalculatedPatientFee,
			nhsclaim.FieldSubmittedDate, nhsclaim.FieldCreatedAt, nhsclaim.FieldOrtho, nhsclaim.FieldAwardedUda, nhsclaim.FieldExpectedUda).All(ctx)
	if err != nil {
		return nil, err
	}
	records, contracts, err := monthlyPayments(ctx, payers, f)
	if err != nil {
		return nil, err
	}
	zone := principal.Must(ctx).Zone
	for _, c := range found {
		under, day, charge, exempt := contracts[c.ContractID], claimedOn(c, zone), unitsOf(cmp.Or(c.PatientCharge, c.NiCalculatedPatientFee)), 0
		if charge == 0 {
			exempt = 1
		}
		band := noBand
		if c.UdaBand != nil {
			band = cmp.Or(*c.UdaBand, noBand)
		}
		records = append(records, Record{
			Cells:  []any{fmt.Sprintf("Claim %d", c.SequenceNumber), day, monthStart(day), c.ContractID.String(), nameOfContract(under), band, c.PatientID, nil},
			Values: []any{1, exempt, activityValue(c, under), decimal.Decimal(0), charge, -charge},
		})
	}
	slices.SortStableFunc(records, func(a, b Record) int {
		return cmp.Or(Date.compare(a.Cells[1], b.Cells[1]), Text.compare(a.Cells[0], b.Cells[0]), Text.compare(a.Cells[3], b.Cells[3]))
	})
	return records, nil
}

// nameOfContract returns the name of a contract, or otherContract for nil.
func nameOfContract(c *ent.Contract) string {
	if c == nil {
		return otherContract
	}
	return c.Name
}

// activityValue returns the units of a claim, awarded or else expected, at the value of a unit
// under its contract.
func activityValue(c *ent.NHSClaim, under *ent.Contract) decimal.Decimal {
	if under == nil {
		return 0
	}
	value := under.UdaValue
	if c.Ortho {
		value = under.UoaValue
	}
	return decimal.Decimal(ratio(int64(unitsOf(cmp.Or(c.AwardedUda, c.ExpectedUda))), int64(unitsOf(value)), 100))
}

// paymentOf returns the contract's payment for a month, 0 if the month has no day of the contract
// or the contract has no target with a value.
func paymentOf(c *ent.Contract, month civil.Date) decimal.Decimal {
	first := monthStart(c.StartDate)
	year := int64(unitsOf(c.Target))*int64(unitsOf(c.UdaValue)) + int64(unitsOf(c.UoaTarget))*int64(unitsOf(c.UoaValue)) // in ten-thousandths
	past := monthsBetween(first, month)
	if past < 0 || c.EndDate != nil && c.EndDate.Before(month) {
		return 0
	}
	length := 12
	if c.EndDate != nil {
		length = min(length, monthsBetween(first, monthStart(*c.EndDate))+1)
	}
	before := int64(past % length)
	part := func(months int64) int64 { return ratio(year, months, int64(length)*100) }
	return decimal.Decimal(part(before+1) - part(before))
}

// monthsBetween returns the number of months from the first day of one to that of another.
func monthsBetween(from, to civil.Date) int { return 12*(to.Year-from.Year) + int(to.Month-from.Month) }

// chargesResult lays the report out: by contract and month, by contract, and by band.
func chargesResult(records []Record, f Filter) *Result {
	r, total := &chargeRecords, chargeRecords.sum(records)
	columns := r.measures("claims", "exempt", "activity", "monthly_payment", "charges", "after_charges")
	const empty = "No claim is dated in this period, and no contract has a monthly payment in it."
	byMonth := r.breakDown(breakdown{key: "months", title: "By month", empty: empty, all: "All months", by: []string{"month"}, columns: columns}, records)
	byMonth.draw(VerticalBars, "Monthly payments and patient charges", "month", months(f), "monthly_payment", "charges")
	byContract := r.breakDown(breakdown{
		key: "contracts", title: "By contract and month", empty: empty, all: "All contracts", by: []string{"contract_id", "contract", "month"}, group: "contract", columns: columns,
	}, records)
	claims, band := slices.Clone(records), r.column("band")
	claims = slices.DeleteFunc(claims, func(r Record) bool { return r.Cells[band] == nil }) // monthly payments have none
	bands := r.breakDown(breakdown{
		key: "bands", title: "By band", empty: "No claim is dated in this period.", all: "All bands", by: []string{"band"},
		columns: r.measures("claims", "exempt", "activity", "charges"),
	}, claims)
	return &Result{
		Summary: []Figure{
			{Key: "charges", Label: "Patient charges", Kind: Money, Value: total.value("charges")},
			{Key: "monthly_payment", Label: "Monthly payment", Kind: Money, Value: total.value("monthly_payment")},
			{Key: "after_charges", Label: "After charges", Kind: Money, Value: total.value("after_charges")},
			{Key: "claims", Label: "Claims", Kind: Count, Value: total.value("claims")},
			{Key: "exempt", Label: "Exempt", Kind: Count, Value: total.value("exempt")},
		},
		Sections: []Section{byMonth, byContract, bands},
	}
}
