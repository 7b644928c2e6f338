package report_test

import (
	"fmt"
	"slices"
	"testing"

	"chairside/ent"
	"chairside/ent/payment"
	"chairside/internal/civil"
	"chairside/internal/decimal"
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

// averages are figures that do not add up.
var averages = []string{"sources paid_per_patient", "treatments average_price"}

// unassigned are reports whose figures have parts without a practitioner, with what these are: the practitioners' add up to
// less.
var unassigned = map[string]string{"income": "items of invoices that no practitioner provided, such as sundries"}

// TestSitesAndPractitionersAddUp: in every report, the figures of the sites add up to that of the practice, and so do
// those of the practitioners if the report can be limited to one.
func TestSitesAndPractitionersAddUp(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		second, sites, practitioners := p.as(t, "second"), p.Ent.Site.Query().IDsX(p.ctx), p.Ent.Practitioner.Query().IDsX(p.ctx)
		for _, r := range report.All {
			f := period("2026-04-01", "2026-07-31")
			whole, theirs := figures(p.ask(t, r.Name, f)), figures(second.ask(t, r.Name, f))
			bySite, byPractitioner := map[string]int64{}, map[string]int64{}
			for _, id := range sites {
				f.SiteID = &id
				addTo(bySite, p.ask(t, r.Name, f))
			}
			f.SiteID = nil
			for _, id := range practitioners {
				if f.PractitionerID = &id; r.Practitioners {
					addTo(byPractitioner, p.ask(t, r.Name, f))
				}
			}
			tells, less := false, false // one practice from another; the practitioners from the practice
			for key, all := range whole {
				if slices.Contains(averages, r.Name+" "+key) {
					continue
				}
				n := byPractitioner[key]
				fits := !r.Practitioners || n == all || n < all && unassigned[r.Name] != ""
				if bySite[key] != all || !fits {
					t.Errorf("%s: %s is %d, of the sites %d and of the practitioners %d", r.Name, key, all, bySite[key], n)
				}
				tells, less = tells || all != 0 && all != theirs[key], less || r.Practitioners && n < all
			}
			if !tells || less != (unassigned[r.Name] != "") {
				t.Errorf("%s: its figures are those of another practice: %t; those of the practitioners are less: %t", r.Name, !tells, less)
			}
		}
	})
}

// figures returns the numbers of the summary that can be added up, in hundredths if they are decimals.
func figures(a *report.Answer) map[string]int64 {
	all := map[string]int64{}
	for _, f := range a.Summary {
		switch v := f.Value.(type) {
		case decimal.Decimal:
			if f.Kind != report.Percent {
				all[f.Key] = int64(v)
			}
		case int:
			all[f.Key] = int64(v)
		}
	}
	return all
}

// addTo adds the figures of a report.
func addTo(sums map[string]int64, a *report.Answer) {
	for key, n := range figures(a) {
		sums[key] += n
	}
}
