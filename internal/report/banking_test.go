package report_test

import (
	"fmt"
	"testing"

	"chairside/ent"
	"chairside/ent/payment"
	"chairside/internal/civil"
	"chairside/internal/report"
)

func TestBankingMatchesSQL(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		// A refund, a deleted payment and a deleted refund, on the day of a clock change.
		spring := civil.MustParse("2026-03-29")
		p.tx(t, func(tx *ent.Client) error {
			all := tx.Payment.Query().Where(payment.Deleted(false)).Order(payment.ByID()).Limit(4).AllX(p.ctx)
			tx.Payment.UpdateOne(all[0]).SetAmount(-12_34).SetAmountUnexplained(-12_34).SetDatedOn(spring).ExecX(p.ctx)
			tx.Payment.UpdateOne(all[1]).SetDeleted(true).SetDatedOn(spring).ExecX(p.ctx)
			tx.Payment.UpdateOne(all[2]).SetAmount(-5_00).SetAmountUnexplained(-5_00).SetDeleted(true).SetDatedOn(spring).ExecX(p.ctx)
			return tx.Payment.UpdateOne(all[3]).SetMethod("Voucher").SetDatedOn(spring).Exec(p.ctx)
		})
		for _, f := range []report.Filter{period("2026-03-29", "2026-03-29"), period("2026-06-01", "2026-06-30"), period("2025-07-02", "2026-07-01"), period("1999-01-01", "1999-01-01")} {
			a := p.ask(t, "banking", f)
			sums := func(by string) []string {
				return p.rows(t, fmt.Sprintf(`SELECT %s, SUM(CASE WHEN deleted THEN 0 ELSE 1 END),
					CAST(SUM(CASE WHEN NOT deleted AND amount > 0 THEN amount ELSE 0 END) AS bigint), CAST(SUM(CASE WHEN NOT deleted AND amount < 0 THEN amount ELSE 0 END) AS bigint),
					CAST(SUM(CASE WHEN NOT deleted THEN amount ELSE 0 END) AS bigint), CAST(SUM(CASE WHEN deleted THEN amount ELSE 0 END) AS bigint)
					FROM payments p JOIN sites s ON s.id = p.site_id WHERE p.practice_id = %s AND dated_on BETWEEN '%s' AND '%s' GROUP BY %[1]s`, by, ours, f.From, f.To))
			}
			measures := []string{"payments", "received", "refunded", "taken", "deleted"}
			for section, by := range map[string][]string{"days": {"day", "site", "method"}, "methods": {"method"}, "totals": {"day"}} {
				columns := map[string]string{"day": day("dated_on"), "site": "s.name", "method": "method"}
				group := columns[by[0]]
				for _, key := range by[1:] {
					group += ", " + columns[key]
				}
				want := sums(group)
				sameRows(t, f.From.String()+" "+section, cells(t, a, section, append(by, measures...)...), want)
				if len(want) == 0 != (f.From.Year == 1999) {
					t.Errorf("%s: %d rows of %s", f.From, len(want), section)
				}
			}
		}
		a := p.ask(t, "banking", period("2026-03-29", "2026-03-29"))
		if figure(t, a, "refunded") != -12_34 || figure(t, a, "deleted") == 0 {
			t.Errorf("refunded %d, deleted %d", figure(t, a, "refunded"), figure(t, a, "deleted"))
		}
	})
}

// TestSitesAndPractitionersAddUp: the reports of the sites add up to that of the practice, and
// so do those of the practitioners if the report can be limited to one.
func TestSitesAndPractitionersAddUp(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		for name, keys := range map[string][]string{
			"banking":           {"taken", "payments", "deleted"},
			"capacity":          {"free_minutes", "booked_minutes", "appointments"},
			"hygiene-recalls":   {"due", "attended"},
			"lost-appointments": {"lost", "empty_minutes", "value"},
			"patient-charges":   {"charges", "monthly_payment", "claims"},
			"pay-basis":         {"basis", "private_invoiced", "nhs_paid"},
			"plan-acceptance":   {"proposed", "accepted", "not_accepted"},
		} {
			r := must(report.Find(name))
			f := period("2026-04-01", "2026-07-31")
			whole := p.ask(t, name, f)
			bySite, byPractitioner := map[string]int64{}, map[string]int64{}
			for _, s := range p.Ent.Site.Query().AllX(p.ctx) {
				f.SiteID = &s.ID
				one := p.ask(t, name, f)
				for _, key := range keys {
					bySite[key] += figure(t, one, key)
				}
			}
			f.SiteID = nil
			for _, id := range p.Ent.Practitioner.Query().IDsX(p.ctx) {
				if f.PractitionerID = &id; r.Practitioners {
					one := p.ask(t, name, f)
					for _, key := range keys {
						byPractitioner[key] += figure(t, one, key)
					}
				}
			}
			f.PractitionerID = nil
			theirs := p.as(t, "second").ask(t, name, f)
			for _, key := range keys {
				all := figure(t, whole, key)
				if bySite[key] != all || r.Practitioners && byPractitioner[key] != all {
					t.Errorf("%s: %s is %d, of the sites %d and of the practitioners %d", name, key, all, bySite[key], byPractitioner[key])
				}
				if all == 0 && key != "deleted" || all == figure(t, theirs, key) && key != "deleted" {
					t.Errorf("%s: %s is %d, of the second practice %d", name, key, all, figure(t, theirs, key))
				}
			}
		}
	})
}
