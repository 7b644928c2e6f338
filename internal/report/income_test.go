package report_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"chairside/internal/civil"
	"chairside/internal/decimal"
	"chairside/internal/report"
)

// shares is SQL for an item's share of an amount: the rounded share of the running total,
// less the shares of the items before it.
func shares(amount, partition string) string {
	running := "SUM(it.total_price) OVER (PARTITION BY " + partition + " ORDER BY it.id)"
	before := "(" + running + " - it.total_price)"
	whole := "SUM(it.total_price) OVER (PARTITION BY " + partition + ")"
	rounded := func(sum string) string {
		return "FLOOR((2.0 * " + amount + " * " + sum + " + " + whole + ") / (2.0 * " + whole + "))"
	}
	return "(" + rounded(running) + " - " + rounded(before) + ")"
}

func TestIncomeMatchesSQL(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		for _, f := range []report.Filter{
			{From: civil.MustParse("2025-07-01"), To: today},
			{From: civil.MustParse("2026-03-15"), To: civil.MustParse("2026-04-02")},
			{From: civil.MustParse("2025-10-26"), To: civil.MustParse("2025-10-26")},
		} {
			a := p.ask(t, "income", f)
			invoices := fmt.Sprintf("i.practice_id = %s AND i.status <> 'void' AND i.dated_on BETWEEN '%s' AND '%s'", ours, f.From, f.To)
			payments := fmt.Sprintf("p.practice_id = %s AND NOT p.deleted AND p.dated_on BETWEEN '%s' AND '%s'", ours, f.From, f.To)

			months := fmt.Sprintf(`SELECT m, CAST(SUM(inv) AS bigint), CAST(SUM(paid) AS bigint), CAST(SUM(owed) AS bigint) FROM (
				SELECT %s AS m, i.amount AS inv, 0 AS paid, i.amount_outstanding AS owed FROM invoices i WHERE %s
				UNION ALL SELECT %s, 0, p.amount, 0 FROM payments p WHERE %s) x GROUP BY m`,
				strings.Replace(day("i.dated_on"), "10", "7", 1), invoices, strings.Replace(day("p.dated_on"), "10", "7", 1), payments)
			got := slices.DeleteFunc(cells(t, a, "months", "month", "invoiced", "paid", "outstanding"), func(s string) bool { return strings.HasSuffix(s, "|0|0|0") })
			sameRows(t, "months", got, p.rows(t, months))

			parts := fmt.Sprintf(`
				SELECT it.practitioner_id AS who, tpi.payment_plan_id AS plan, it.nhs_charge AS nhs, it.total_price AS inv, 0 AS paid, %[3]s AS owed
				FROM invoices i JOIN invoice_items it ON it.invoice_id = i.id LEFT JOIN treatment_plan_items tpi ON tpi.id = it.treatment_plan_item_id WHERE %[1]s
				UNION ALL
				SELECT it.practitioner_id, tpi.payment_plan_id, it.nhs_charge, 0, %[4]s, 0
				FROM payments p JOIN payment_explanations e ON e.payment_id = p.id JOIN invoices i ON i.id = e.invoice_id AND i.status <> 'void'
				JOIN invoice_items it ON it.invoice_id = i.id LEFT JOIN treatment_plan_items tpi ON tpi.id = it.treatment_plan_item_id WHERE %[2]s`,
				invoices, payments, shares("i.amount_outstanding", "i.id"), shares("e.amount", "e.id"))
			sums := "CAST(SUM(inv) AS bigint), CAST(SUM(paid) AS bigint), CAST(SUM(owed) AS bigint) FROM (" + parts + ") x GROUP BY "
			for section, by := range map[string]string{"practitioners": "who", "payment_plans": "plan"} {
				id := map[string]string{"practitioners": "practitioner_id", "payment_plans": "payment_plan_id"}[section]
				name := map[string]string{"practitioners": "practitioner", "payment_plans": "payment_plan"}[section]
				var got []string
				for _, line := range cells(t, a, section, name, id, "invoiced", "paid", "outstanding") {
					if label, rest, _ := strings.Cut(line, "|"); label != string(report.Unmatched) {
						got = append(got, rest)
					}
				}
				sameRows(t, section, got, p.rows(t, "SELECT "+by+", "+sums+by))
			}
			kinds := p.rows(t, "SELECT CASE WHEN nhs THEN 'NHS' ELSE 'Private' END, "+sums+"nhs")
			rest := p.rows(t, fmt.Sprintf(`SELECT CAST(SUM(p.amount) - SUM(COALESCE((SELECT SUM(e.amount) FROM payment_explanations e
				JOIN invoices i ON i.id = e.invoice_id WHERE e.payment_id = p.id AND i.status <> 'void'), 0)) AS bigint) FROM payments p WHERE %s`, payments))
			if rest[0] != "" && rest[0] != "0" {
				kinds = append(kinds, "Not matched|0|"+rest[0]+"|0")
				slices.Sort(kinds)
			}
			sameRows(t, "kinds", cells(t, a, "nhs_and_private", "kind", "invoiced", "paid", "outstanding"), kinds)

			for _, s := range a.Sections {
				for i, key := range []string{"invoiced", "paid", "outstanding"} {
					var sum int64
					for _, row := range s.Rows {
						sum += int64(row[len(row)-4+i].(decimal.Decimal))
					}
					if sum != figure(t, a, key) {
						t.Errorf("%s adds up to %d of %s, the summary to %d", s.Key, sum, key, figure(t, a, key))
					}
				}
			}
		}
	})
}

// TestIncomePartsAddUpToWhole: the reports of single practitioners and sites add up to the
// report of the practice.
func TestIncomePartsAddUpToWhole(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		f := report.Filter{From: civil.MustParse("2025-07-01"), To: today}
		all := p.ask(t, "income", f)
		var want []string
		for _, line := range cells(t, all, "practitioners", "practitioner_id", "invoiced", "paid", "outstanding") {
			if !strings.HasPrefix(line, "|") {
				want = append(want, line)
			}
		}
		var got []string
		for _, who := range p.Ent.Practitioner.Query().AllX(p.ctx) {
			one := f
			one.PractitionerID = &who.ID
			got = append(got, cells(t, p.ask(t, "income", one), "practitioners", "practitioner_id", "invoiced", "paid", "outstanding")...)
		}
		slices.Sort(want)
		sameRows(t, "practitioners", got, want)

		var invoiced, paid int64
		for _, s := range p.Ent.Site.Query().AllX(p.ctx) {
			one := f
			one.SiteID = &s.ID
			a := p.ask(t, "income", one)
			invoiced, paid = invoiced+figure(t, a, "invoiced"), paid+figure(t, a, "paid")
		}
		if invoiced != figure(t, all, "invoiced") || paid != figure(t, all, "paid") {
			t.Errorf("the sites have %d and %d, the practice %d and %d", invoiced, paid, figure(t, all, "invoiced"), figure(t, all, "paid"))
		}
	})
}
