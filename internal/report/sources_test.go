package report_test

import (
	"fmt"
	"slices"
	"testing"

	"chairside/ent"
	"chairside/ent/acquisitionsource"
	"chairside/ent/patient"
	"chairside/internal/civil"
	"chairside/internal/clock"
	"chairside/internal/decimal"
	"chairside/internal/report"
	"chairside/schema"
)

func TestSourcesMatchSQL(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		for _, f := range []report.Filter{period("2024-08-01", "2026-07-01"), period("2025-10-26", "2026-03-29"), period("2026-06-30", "2026-06-30")} {
			want := facts(t, p, fmt.Sprintf(`
				WITH added AS (
					SELECT id, acquisition_source_id AS source, {day {seconds created_at}} AS day, {month {seconds created_at}} AS month
					FROM patients WHERE practice_id = {demo}
				), money AS (
					SELECT patient_id, %[1]s AS day, 0 AS invoiced, amount AS paid FROM payments WHERE NOT deleted
					UNION ALL SELECT patient_id, %[1]s, amount, 0 FROM invoices WHERE status <> 'void'
				)
				SELECT a.source, COALESCE(s.name, 'Not recorded'), a.month, count(DISTINCT a.id), CAST(COALESCE(sum(m.invoiced), 0) AS bigint), CAST(COALESCE(sum(m.paid), 0) AS bigint)
				FROM added a
				LEFT JOIN acquisition_sources s ON s.id = a.source
				LEFT JOIN money m ON m.patient_id = a.id AND m.day >= a.day AND m.day < {plus a.day 365}
				WHERE a.day BETWEEN '%[2]s' AND '%[3]s'
				GROUP BY a.source, s.name, a.month`, day("dated_on"), f.From, f.To))
			var got []string
			for _, r := range read(t, p, report.Sources, f) {
				source := ""
				if r.SourceID != nil {
					source = r.SourceID.String()
				}
				got = append(got, line(source, r.Source, r.Month.String()[:7], r.Patients, int64(r.Invoiced), int64(r.Paid)))
			}
			sameRows(t, f.From.String(), got, want)
			if f.From == civil.MustParse("2024-08-01") && len(want) < 60 {
				t.Errorf("only %d rows: too few to test anything", len(want))
			}
		}
	})
}

// TestSourcesCountMoneyOfFirstYear: payments and invoices on the first and last day of the
// first year count, those on the days around it do not.
func TestSourcesCountMoneyOfFirstYear(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		added := instant(t, "2025-05-31T23:30Z") // 00:30 on 1 June in London
		var source *ent.AcquisitionSource
		p.tx(t, func(tx *ent.Client) (err error) {
			if source, err = tx.AcquisitionSource.Create().SetName("Carrier pigeon").Save(p.ctx); err != nil {
				return err
			}
			model, err := tx.Patient.Query().Order(patient.ByID()).First(p.ctx)
			if err != nil {
				return err
			}
			who, err := tx.Patient.Create().SetTitle(model.Title).SetFirstName("Pip").SetLastName("Pigeon").SetDateOfBirth(model.DateOfBirth).SetGender(true).SetEthnicity("A").
				SetAddressLine1("1 Loft").SetPostcode("M1 1AA").SetPaymentPlanID(model.PaymentPlanID).SetSiteID(model.SiteID).SetAcquisitionSourceID(source.ID).SetActive(false).
				Save(clock.With(p.ctx, added))
			if err != nil {
				return err
			}
			account, err := tx.Account.Create().SetPatientID(who.ID).Save(p.ctx)
			if err != nil {
				return err
			}
			for i, on := range []string{"2025-05-31", "2025-06-01", "2026-05-31", "2026-06-01"} {
				day, amount := civil.MustParse(on), decimal.Decimal(1)<<(4*i)
				for _, deleted := range []bool{false, true} {
					if err := tx.Payment.Create().SetPatientID(who.ID).SetSiteID(who.SiteID).SetAmount(amount).SetDatedOn(day).SetMethod("Card").SetDeleted(deleted).Exec(p.ctx); err != nil {
						return err
					}
				}
				for _, status := range []schema.InvoiceStatus{schema.InvoiceNew, schema.InvoiceVoid} {
					if err := tx.Invoice.Create().SetAccountID(account.ID).SetPatientID(who.ID).SetSiteID(who.SiteID).SetAmount(2 * amount).SetAmountOutstanding(2 * amount).SetDatedOn(day).SetDueOn(day).SetStatus(status).Exec(p.ctx); err != nil {
						return err
					}
				}
			}
			return nil
		})
		of := func(f report.Filter) []report.SourceRow {
			return slices.DeleteFunc(read(t, p, report.Sources, f), func(r report.SourceRow) bool { return r.Source != "Carrier pigeon" })
		}
		rows := of(period("2025-06-01", "2025-06-30"))
		if len(rows) != 1 || rows[0].Paid != 0x110 || rows[0].Invoiced != 0x220 || rows[0].Patients != 1 || rows[0].Month != civil.MustParse("2025-06-01") {
			t.Errorf("got %+v", rows)
		}
		if rows := of(period("2025-05-01", "2025-05-31")); len(rows) != 0 {
			t.Errorf("in May: %+v", rows)
		}
		if n := p.Ent.AcquisitionSource.Query().Where(acquisitionsource.Name("Carrier pigeon")).CountX(p.ctx); n != 1 {
			t.Errorf("%d sources", n)
		}
	})
}

func TestSourcesOfOneSite(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		f := period("2025-07-01", "2026-07-01")
		count := func(p practice, f report.Filter) (patients int, paid decimal.Decimal) {
			for _, r := range read(t, p, report.Sources, f) {
				patients, paid = patients+r.Patients, paid+r.Paid
			}
			return patients, paid
		}
		all, paid := count(p, f)
		sites, sitesPaid := 0, decimal.Decimal(0)
		for _, s := range p.Ent.Site.Query().AllX(p.ctx) {
			one := f
			one.SiteID = &s.ID
			n, sum := count(p, one)
			sites, sitesPaid = sites+n, sitesPaid+sum
			if limited, _ := count(p.limited(s), f); limited != n || n == 0 {
				t.Errorf("%d new patients of %s, %d for its caller", n, s.Name, limited)
			}
		}
		if sites != all || sitesPaid != paid {
			t.Errorf("%d and %s at all sites, %d and %s in the practice", sites, sitesPaid, all, paid)
		}
		if theirs, _ := count(p.as(t, "second"), f); theirs == 0 || theirs > 24 {
			t.Errorf("%d new patients of the second practice", theirs)
		}
		if rows := read(t, p, report.Sources, period("1999-01-01", "1999-12-31")); len(rows) != 0 {
			t.Errorf("in 1999: %v", rows)
		}
	})
}
