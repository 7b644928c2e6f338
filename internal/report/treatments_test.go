package report_test

import (
	"fmt"
	"testing"

	"chairside/ent"
	"chairside/ent/treatmentplanitem"
	"chairside/internal/decimal"
	"chairside/internal/report"
)

func TestTreatmentsMatchSQL(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		// Just before and after midnight at both ends of June, and one treatment without
		// a fee.
		for i, at := range []string{"2026-05-31T22:59Z", "2026-05-31T23:00Z", "2026-06-30T22:59Z", "2026-06-30T23:00Z"} {
			p.tx(t, func(tx *ent.Client) error {
				item, err := tx.TreatmentPlanItem.Query().Where(treatmentplanitem.Completed(true)).Order(treatmentplanitem.ByID()).Offset(i).First(p.ctx)
				if err != nil {
					return err
				}
				return tx.TreatmentPlanItem.UpdateOne(item).SetCompletedAt(instant(t, at)).SetPrice(decimal.Decimal(10001 + i)).Exec(p.ctx)
			})
		}
		if _, err := p.SQL.ExecContext(t.Context(), `DELETE FROM fees WHERE id = (
			SELECT f.id FROM fees f JOIN treatment_plan_items i ON i.treatment_id = f.treatment_id AND i.payment_plan_id = f.payment_plan_id
			WHERE i.completed AND f.practice_id = `+ours+` ORDER BY i.completed_at DESC LIMIT 1)`); err != nil {
			t.Fatal(err)
		}
		without := 0
		for _, f := range []report.Filter{period("2026-06-01", "2026-06-30"), period("2025-07-01", "2026-07-01"), period("2026-03-29", "2026-03-29")} {
			want := facts(t, p, fmt.Sprintf(`
				SELECT c.name, t.nomenclature, l.name, count(*), sum(i.price), CAST(ROUND(sum(i.price) * 1.0 / count(*)) AS bigint), f.price_one
				FROM treatment_plan_items i
				JOIN treatments t ON t.id = i.treatment_id
				JOIN payment_plans l ON l.id = i.payment_plan_id
				LEFT JOIN treatment_categories c ON c.id = t.treatment_category_id
				LEFT JOIN fees f ON f.treatment_id = i.treatment_id AND f.payment_plan_id = i.payment_plan_id
				WHERE i.practice_id = {demo} AND i.completed AND {day {seconds i.completed_at}} BETWEEN '%s' AND '%s'
				GROUP BY c.name, t.nomenclature, l.name, f.price_one`, f.From, f.To))
			var got []string
			for _, r := range read(t, p, report.Treatments, f) {
				fee := any("")
				if r.Fee != nil {
					fee = int64(*r.Fee)
					if *r.Difference != r.Average-*r.Fee {
						t.Errorf("%+v: the difference is wrong", r)
					}
				} else {
					without++
				}
				got = append(got, line(r.Category, r.Treatment, r.PaymentPlan, r.Count, int64(r.Value), int64(r.Average), fee))
			}
			sameRows(t, f.From.String(), got, want)
		}
		if without == 0 {
			t.Error("everything has a fee: too few to test anything")
		}
	})
}

func TestTreatmentsPartsAddUpToWhole(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		f := period("2025-07-01", "2026-07-01")
		sum := func(p practice, f report.Filter) (count int, value decimal.Decimal) {
			for _, r := range read(t, p, report.Treatments, f) {
				count, value = count+r.Count, value+r.Value
			}
			return count, value
		}
		all, value := sum(p, f)
		sites, sitesValue := 0, decimal.Decimal(0)
		for _, s := range p.Ent.Site.Query().AllX(p.ctx) {
			one := f
			one.SiteID = &s.ID
			n, v := sum(p, one)
			sites, sitesValue = sites+n, sitesValue+v
			if limited, _ := sum(p.limited(s), f); limited != n || n == 0 {
				t.Errorf("%d at %s, %d for its caller", n, s.Name, limited)
			}
		}
		people, peopleValue := 0, decimal.Decimal(0)
		for _, w := range p.Ent.Practitioner.Query().AllX(p.ctx) {
			one := f
			one.PractitionerID = &w.ID
			n, v := sum(p, one)
			people, peopleValue = people+n, peopleValue+v
		}
		if sites != all || people != all || sitesValue != value || peopleValue != value {
			t.Errorf("%d and %s in all, %d and %s by site, %d and %s by practitioner", all, value, sites, sitesValue, people, peopleValue)
		}
		if theirs, _ := sum(p.as(t, "second"), f); theirs == 0 || theirs >= all {
			t.Errorf("%d of the second practice", theirs)
		}
		if n, _ := sum(p, period("1999-01-01", "1999-12-31")); n != 0 {
			t.Errorf("%d in 1999", n)
		}
	})
}
