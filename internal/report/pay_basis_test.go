package report_test

import (
	"fmt"
	"strings"
	"testing"

	"chairside/ent"
	"chairside/ent/invoice"
	"chairside/ent/payment"
	"chairside/internal/report"
	"chairside/schema"
)

func TestPayBasisMatchesSQL(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		for _, f := range []report.Filter{period("2026-06-01", "2026-06-30"), period("2025-07-02", "2026-07-01"), period("2026-03-29", "2026-03-29")} {
			a := p.ask(t, "pay-basis", f)
			parts := fmt.Sprintf(`
				SELECT it.practitioner_id AS who, CASE WHEN it.nhs_charge THEN 0 ELSE it.total_price END AS invoiced, 0 AS private, 0 AS nhs, 0 AS uda, 0 AS uoa, 0 AS value
				FROM invoices i JOIN invoice_items it ON it.invoice_id = i.id WHERE i.practice_id = {demo} AND i.status <> 'void' AND i.dated_on BETWEEN '%[1]s' AND '%[2]s'
				UNION ALL
				SELECT it.practitioner_id, 0, CASE WHEN it.nhs_charge THEN 0 ELSE %[3]s END, CASE WHEN it.nhs_charge THEN %[3]s ELSE 0 END, 0, 0, 0
				FROM payments p JOIN payment_explanations e ON e.payment_id = p.id JOIN invoices i ON i.id = e.invoice_id AND i.status <> 'void' JOIN invoice_items it ON it.invoice_id = i.id
				WHERE p.practice_id = {demo} AND NOT p.deleted AND p.dated_on BETWEEN '%[1]s' AND '%[2]s'
				UNION ALL
				SELECT practitioner_id, 0, 0, 0, CASE WHEN ortho THEN 0 ELSE units END, CASE WHEN ortho THEN units ELSE 0 END, value FROM (%[4]s) c`,
				f.From, f.To, shares("e.amount", "e.id"), datedClaims(f))
			var want []string
			for _, line := range facts(t, p, `SELECT who, CAST(SUM(invoiced) AS bigint), CAST(SUM(private) AS bigint), CAST(SUM(nhs) AS bigint), CAST(SUM(uda) AS bigint), CAST(SUM(uoa) AS bigint),
				CAST(SUM(value) AS bigint), CAST(SUM(private) + SUM(value) AS bigint) FROM (`+parts+`) x WHERE who IS NOT NULL GROUP BY who`) {
				if !strings.HasSuffix(line, "|0|0|0|0|0|0|0") {
					want = append(want, line)
				}
			}
			sameRows(t, f.From.String(), cells(t, a, "practitioners", "practitioner_id", "private_invoiced", "private_paid", "nhs_paid", "uda", "uoa", "units_value", "basis"), want)
			if days := f.To.Time().Sub(f.From.Time()); len(want) < 3 && days > 0 {
				t.Errorf("%s: only %d practitioners", f.From, len(want))
			}
		}
	})
}

// TestVoidAndDeletedMoneyIsNoBasis: neither a void invoice nor a deleted payment pays a
// practitioner.
func TestVoidAndDeletedMoneyIsNoBasis(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		f := period("2026-06-01", "2026-06-30")
		before := p.ask(t, "pay-basis", f)
		p.tx(t, func(tx *ent.Client) error {
			for _, id := range tx.Payment.Query().Where(payment.DatedOnGTE(f.From), payment.DatedOnLTE(f.To)).IDsX(p.ctx) {
				tx.Payment.UpdateOneID(id).SetDeleted(true).ExecX(p.ctx)
			}
			return nil
		})
		after := p.ask(t, "pay-basis", f)
		if figure(t, before, "private_paid") == 0 || figure(t, after, "private_paid") != 0 || figure(t, after, "nhs_paid") != 0 {
			t.Errorf("paid %d before and %d after", figure(t, before, "private_paid"), figure(t, after, "private_paid"))
		}
		if _, err := p.SQL.ExecContext(t.Context(), "UPDATE invoices SET status = 'void', amount_outstanding = 0, paid = false, paid_on = NULL WHERE practice_id = "+ours); err != nil {
			t.Fatal(err)
		}
		if n := p.Ent.Invoice.Query().Where(invoice.StatusNEQ(schema.InvoiceVoid)).CountX(p.ctx); n != 0 {
			t.Fatalf("%d invoices are not void", n)
		}
		if after = p.ask(t, "pay-basis", f); figure(t, before, "private_invoiced") == 0 || figure(t, after, "private_invoiced") != 0 {
			t.Errorf("invoiced %d before and %d after", figure(t, before, "private_invoiced"), figure(t, after, "private_invoiced"))
		}
	})
}
