package report_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"chairside/ent"
	"chairside/ent/nhsclaim"
	"chairside/internal/civil"
	"chairside/internal/report"
	"chairside/schema"
)

// datedClaims is SQL for the claims dated in a period that are neither withdrawn nor invalid, with
// the value of their units.
func datedClaims(f report.Filter) string {
	date := "COALESCE(" + day("c.submitted_date") + ", {day {seconds c.created_at}})"
	unit := "CASE WHEN c.ortho THEN COALESCE(k.uoa_value, 0) ELSE COALESCE(k.uda_value, 0) END"
	return fmt.Sprintf(`SELECT c.id, c.contract_id, k.name AS contract, c.practitioner_id, COALESCE(NULLIF(c.uda_band, ''), 'No band') AS band, c.ortho, SUBSTR(%[1]s, 1, 7) AS month,
		COALESCE(c.patient_charge, c.ni_calculated_patient_fee, 0) AS charge, COALESCE(c.awarded_uda, c.expected_uda, 0) AS units,
		CAST(FLOOR((2.0 * COALESCE(c.awarded_uda, c.expected_uda, 0) * %[2]s + 100) / 200) AS bigint) AS value
		FROM nhs_claims c JOIN contracts k ON k.id = c.contract_id
		WHERE c.practice_id = {demo} AND c.claim_status NOT IN ('withdrawn', 'invalid') AND %[1]s BETWEEN '%[3]s' AND '%[4]s'`, date, unit, f.From, f.To)
}

func TestPatientChargesMatchSQL(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		// Not submitted, and created just before and after midnight at both ends of March, and a
		// charge in Northern Ireland.
		for _, at := range []string{"2026-02-28T23:59Z", "2026-03-01T00:00Z", "2026-03-31T22:59Z", "2026-03-31T23:00Z"} {
			id := p.claimAt(t, 2025, false, instant(t, at), nil, nil)
			p.tx(t, func(tx *ent.Client) error {
				return tx.NHSClaim.UpdateOneID(id).SetNiCalculatedPatientFee(7_77).Exec(p.ctx)
			})
		}
		for _, f := range []report.Filter{period("2026-03-01", "2026-03-31"), period("2025-04-01", "2026-03-31"), period("2026-06-15", "2026-07-01"), period("1999-01-01", "1999-01-31")} {
			a := p.ask(t, "patient-charges", f)
			sums := "COUNT(*), SUM(CASE WHEN charge = 0 THEN 1 ELSE 0 END), CAST(SUM(value) AS bigint), CAST(SUM(charge) AS bigint) FROM (" + datedClaims(f) + ") c GROUP BY "
			sameRows(t, f.From.String()+" bands", cells(t, a, "bands", "band", "claims", "exempt", "activity", "charges"), facts(t, p, "SELECT band, "+sums+"band"))
			var got []string
			for _, line := range cells(t, a, "contracts", "contract", "month", "claims", "exempt", "activity", "charges") {
				if !strings.HasSuffix(line, "|0|0|0|0") { // only a monthly payment
					got = append(got, line)
				}
			}
			sameRows(t, f.From.String()+" contracts", got, facts(t, p, "SELECT contract, month, "+sums+"contract, month"))
			if figure(t, a, "after_charges") != figure(t, a, "monthly_payment")-figure(t, a, "charges") {
				t.Errorf("%s: %d after charges", f.From, figure(t, a, "after_charges"))
			}
		}
		if figure(t, p.ask(t, "patient-charges", period("2025-04-01", "2026-03-31")), "charges") == 0 {
			t.Error("no charges: too little to test anything")
		}
	})
}

// TestMonthlyPaymentsAddUpToTheYear: the months of a contract add up to its target at the value
// of a unit, and other months have no payment.
func TestMonthlyPaymentsAddUpToTheYear(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		high, date := p.site(t, "High Street Dental"), civil.MustParse
		p.tx(t, func(tx *ent.Client) error {
			make := func(number, start, end string) *ent.ContractCreate {
				c := tx.Contract.Create().SetSiteID(high.ID).SetContractNumber(number).SetName(number).SetStartDate(date(start))
				if end != "" {
					c.SetEndDate(date(end))
				}
				return c
			}
			make("year", "2031-04-01", "2032-03-31").SetTarget(1000_01).SetUdaValue(29_87).SetUoaTarget(33_33).SetUoaValue(61_11).ExecX(p.ctx)
			make("part", "2031-07-15", "2031-09-10").SetTarget(100_00).SetUdaValue(10_01).ExecX(p.ctx)
			make("open", "2031-10-01", "").SetTarget(10_00).SetUdaValue(10_00).ExecX(p.ctx)
			make("without a value", "2031-04-01", "2032-03-31").SetTarget(10_00).ExecX(p.ctx)
			return nil
		})
		units := func(pairs ...int64) int64 {
			sum := new(big.Rat)
			for i := 0; i < len(pairs); i += 2 {
				sum.Add(sum, big.NewRat(pairs[i]*pairs[i+1], 100))
			}
			var n int64
			fmt.Sscan(sum.FloatString(0), &n)
			return n
		}
		paid := func(from, to string) map[string][]int64 {
			sums := map[string][]int64{}
			for _, line := range cells(t, p.ask(t, "patient-charges", period(from, to)), "contracts", "contract", "monthly_payment") {
				name, text, _ := strings.Cut(line, "|")
				var n int64
				fmt.Sscan(text, &n)
				if n != 0 {
					sums[name] = append(sums[name], n)
				}
			}
			return sums
		}
		for _, c := range []struct {
			name, from, to string
			months         int
			sum            int64
		}{
			{"year", "2031-04-01", "2032-03-31", 12, units(1000_01, 29_87, 33_33, 61_11)},
			{"part", "2031-04-01", "2032-03-31", 3, units(100_00, 10_01)},
			{"part", "2031-08-31", "2031-08-31", 1, 0},
			{"open", "2032-04-01", "2033-03-31", 12, units(10_00, 10_00)},
			{"without a value", "2031-04-01", "2032-03-31", 0, 0},
			{"year", "2032-04-01", "2033-03-31", 0, 0},
		} {
			got, sum := paid(c.from, c.to)[c.name], int64(0)
			for _, n := range got {
				sum += n
			}
			if len(got) != c.months || c.sum != 0 && sum != c.sum {
				t.Errorf("%s from %s: %d payments of %d in all, want %d and %d", c.name, c.from, len(got), sum, c.months, c.sum)
			}
		}
	})
}

// TestWithdrawnClaimIsNotCharged: a withdrawn or invalid claim deducts nothing.
func TestWithdrawnClaimIsNotCharged(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		f := period("2026-06-01", "2026-06-30")
		all := p.ask(t, "patient-charges", f)
		p.tx(t, func(tx *ent.Client) error {
			for i, id := range tx.NHSClaim.Query().Where(nhsclaim.Or(nhsclaim.SubmittedDateIsNil(), nhsclaim.SubmittedDateGTE(f.From)), nhsclaim.PatientChargeGT(0)).IDsX(p.ctx) {
				tx.NHSClaim.UpdateOneID(id).SetClaimStatus([]schema.ClaimStatus{schema.ClaimWithdrawn, schema.ClaimInvalid}[i%2]).ExecX(p.ctx)
			}
			return nil
		})
		if was, is := figure(t, all, "charges"), figure(t, p.ask(t, "patient-charges", f), "charges"); was == 0 || is != 0 {
			t.Errorf("charges were %d, and are %d", was, is)
		}
	})
}
