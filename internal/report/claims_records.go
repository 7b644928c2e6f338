package report

import (
	"cmp"
	"context"
	"slices"

	"chairside/ent"
	"chairside/ent/contract"
	"chairside/internal/civil"
	"chairside/internal/decimal"
	"chairside/internal/principal"
	"chairside/schema"
)

// claimColumns describe a claim.
var claimColumns = []Column{
	{Key: "claim", Title: "Claim", Kind: ID}, {Key: "date", Title: "Dated", Kind: Date}, {Key: "status", Title: "Status"}, {Key: "unit", Title: "Unit"},
	{Key: "month", Title: "Month", Kind: Month, Minor: true}, {Key: "patient_id", Title: "Patient no.", Kind: ID, Minor: true}, {Key: "patient", Title: "Patient"},
	hiddenID("practitioner_id", ID), {Key: "practitioner", Title: "Practitioner"},
}

// claimRecords are the claims of the period.
var claimRecords = Records{
	Columns: claimColumns,
	Measures: []Column{
		{Key: "claims", Title: "Claims", Kind: Count}, {Key: "attention", Title: "Need action", Kind: Count},
		{Key: "days_0_30", Title: "0–30 days", Kind: Count}, {Key: "days_31_60", Title: "31–60 days", Kind: Count},
		{Key: "days_61_90", Title: "61–90 days", Kind: Count}, {Key: "over_90", Title: "Over 90 days", Kind: Count},
		{Key: "expected_uda", Title: "UDA expected", Kind: Units}, {Key: "awarded_uda", Title: "UDA awarded", Kind: Units},
		{Key: "expected_uoa", Title: "UOA expected", Kind: Units}, {Key: "awarded_uoa", Title: "UOA awarded", Kind: Units},
		{Key: "payable", Title: "Claims", Kind: Count}, // neither withdrawn nor invalid, as the following
		{Key: "expected", Title: "Expected", Kind: Units}, {Key: "awarded", Title: "Awarded", Kind: Units},
		{Key: "awaited", Title: "Awaited", Kind: Units}, {Key: "lost", Title: "Lost", Kind: Units},
	},
	Read: func(ctx context.Context, client *ent.Client, f Filter) ([]Record, error) {
		return readClaimRecords(ctx, client, claimsOf(client, f).Where(claimDatedBetween(ctx, f.From, f.To)...), func(c *ent.NHSClaim, date civil.Date) (cells, values []any) {
			return nil, claimMeasures(c, days(date, f.To))
		})
	},
}

// readClaimRecords reads the claims of a query, the oldest first. measure returns further cells
// and the values of a claim with its date.
func readClaimRecords(ctx context.Context, client *ent.Client, q *ent.NHSClaimQuery, measure func(*ent.NHSClaim, civil.Date) (cells, values []any)) ([]Record, error) {
	found, err := q.All(ctx)
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
	slices.SortFunc(found, func(a, b *ent.NHSClaim) int {
		return cmp.Or(claimedOn(a, zone).Time().Compare(claimedOn(b, zone).Time()), cmp.Compare(a.SequenceNumber, b.SequenceNumber), slices.Compare(a.ID[:], b.ID[:]))
	})
	records := make([]Record, len(found))
	for i, c := range found {
		date := claimedOn(c, zone)
		cells, values := measure(c, date)
		records[i] = Record{
			Cells: append([]any{
				int64(c.SequenceNumber), date, string(c.ClaimStatus), unitOf(c.Ortho), monthStart(date), c.PatientID, patients[c.PatientID],
				c.PractitionerID, practitioners[c.PractitionerID],
			}, cells...),
			Values: values,
		}
	}
	return records, nil
}

// claimMeasures returns the values of claimRecords.
func claimMeasures(c *ent.NHSClaim, age int) []any {
	var expected, awarded, awaited, lost, zero decimal.Decimal
	if c.ExpectedUda != nil {
		expected = *c.ExpectedUda
	}
	if c.AwardedUda != nil {
		awarded = *c.AwardedUda
		lost = max(0, expected-awarded)
	} else {
		awaited = expected
	}
	var ages [4]int
	ages[ageRange(age)] = 1
	attention := 0
	if _, ok := whatToDo[c.ClaimStatus]; ok {
		attention = 1
	}
	dental, ortho := []any{expected, awarded}, []any{zero, zero}
	if c.Ortho {
		dental, ortho = ortho, dental
	}
	values := []any{1, attention, ages[0], ages[1], ages[2], ages[3], dental[0], dental[1], ortho[0], ortho[1]}
	if !payable(c) {
		return append(values, 0, zero, zero, zero, zero)
	}
	return append(values, 1, expected, awarded, awaited, lost)
}

// payable reports whether a claim is neither withdrawn nor invalid.
func payable(c *ent.NHSClaim) bool {
	return c.ClaimStatus != schema.ClaimWithdrawn && c.ClaimStatus != schema.ClaimInvalid
}

// ageRange returns the index of the range of an age in days: 0–30, 31–60, 61–90, over 90.
func ageRange(age int) int {
	switch {
	case age <= 30:
		return 0
	case age <= 60:
		return 1
	case age <= 90:
		return 2
	}
	return 3
}

// contractRecords are the claims of the contract year.
var contractRecords = Records{
	Columns: append(slices.Clone(claimColumns), Column{Key: "counted_on", Title: "Counted on", Kind: Date}, Column{Key: "contract_number", Title: "Number", Minor: true}, Column{Key: "contract", Title: "Contract"}),
	Measures: []Column{
		{Key: "expected", Title: "Expected", Kind: Units}, {Key: "awarded", Title: "Awarded", Kind: Units},
		{Key: "refused", Title: "Withdrawn or invalid", Kind: Units}, {Key: "late", Title: "Late", Kind: Units}, {Key: "delivered", Title: "Delivered", Kind: Units},
		{Key: "delivered_in_force", Title: "Delivered", Kind: Units}, // under contracts in force, which the summary adds up
	},
	Read: readContractRecords,
}

// readContractRecords reads the claims that ContractPerformance adds up.
func readContractRecords(ctx context.Context, client *ent.Client, f Filter) ([]Record, error) {
	p := &Performance{Start: yearStart(f.To), At: f.To}
	q := p.claims(ctx, client, f)
	dates, err := readCourseDates(ctx, q)
	if err != nil {
		return nil, err
	}
	found := client.Contract.Query()
	if f.SiteID != nil {
		found.Where(contract.SiteID(*f.SiteID))
	}
	contracts, err := found.All(ctx)
	if err != nil {
		return nil, err
	}
	records, err := readClaimRecords(ctx, client, q, func(c *ent.NHSClaim, _ civil.Date) (cells, values []any) {
		at := slices.IndexFunc(contracts, func(o *ent.Contract) bool { return o.ID == c.ContractID })
		if at < 0 {
			return nil, nil // a contract of another site
		}
		var awarded, refused, late, delivered, counted decimal.Decimal
		expected, course := unitsOf(c.ExpectedUda), dates[c.ID]
		switch {
		case !payable(c):
			refused, expected = expected, 0
		case c.AwardedUda != nil:
			awarded = *c.AwardedUda
			delivered = awarded
		case course.late(ctx, c):
			late = expected
		default:
			delivered = expected
		}
		if p.inForce(contracts[at]) {
			counted = delivered
		}
		return []any{course.countedOn(ctx, c), contracts[at].ContractNumber, contracts[at].Name}, []any{expected, awarded, refused, late, delivered, counted}
	})
	return slices.DeleteFunc(records, func(r Record) bool { return r.Values == nil }), err
}
