package api_test

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chairside/ent"
	"chairside/internal/civil"
	"chairside/internal/clock"
	"chairside/internal/decimal"
	"chairside/internal/report"
	"chairside/internal/test/harness"
	"chairside/internal/importer"
)

// delivered imports the files of another system into the demo practice.
func delivered(t *testing.T, e *harness.Env, plan string, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	files["mapping.yaml"] = `source: old
files:
  - {file: pt.csv, entity: patients, id: No, columns: {No: last_name}, constants: {title: Mr, first_name: Void, date_of_birth: 1980-01-01, gender: male, ethnicity: "99", address_line_1: X, postcode: BA1, payment_plan_id: "` + plan + `"}}
  - {file: inv.csv, entity: invoices, id: No, columns: {Pt: patient_id, D: dated_on, Out: amount_outstanding, S: status}}
  - {file: it.csv, entity: invoice_items, id: No, columns: {Inv: invoice_id, T: name, P: item_price}}
  - {file: pay.csv, entity: payments, id: No, columns: {Pt: patient_id, D: dated_on, A: amount, Inv: invoice_id}, constants: {method: Cash}}
`
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, err := importer.Import(clock.With(t.Context(), harness.Now), e.DB, dir, importer.Options{Practice: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found.Files {
		if f.Rejected != 0 {
			t.Errorf("%+v: %+v", files, f)
		}
	}
}

// TestVoidInvoicesOweNothing voids an invoice that was paid and brings another
// that was void and unpaid: every list and report says the same of them.
func TestVoidInvoicesOweNothing(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w := newWorld(t, e)
		plan := text(w.all(t, "payment_plans", "payment_plans", nil)[0]["name"])
		income, debt := figures(t, e, "income"), figures(t, e, "aged-debt")
		files := map[string]string{
			"pt.csv":  "No\nVoided\n",
			"inv.csv": "No,Pt,D,Out,S\nI1,Voided,2026-06-01,0,paid\nI2,Voided,2026-06-01,30,void\n",
			"it.csv":  "No,Inv,T,P\n1,I1,a,20\n2,I2,b,30\n",
			"pay.csv": "No,Pt,D,A,Inv\nP1,Voided,2026-06-02,25,I1\nP2,Voided,2026-06-02,30,I2\n",
		}
		delivered(t, e, plan, files)
		patient := w.all(t, "patients", "patients", url.Values{"query": {"Voided"}})[0]
		of := url.Values{"patient_id": {text(patient["id"])}}
		check := func(when, key string, want, got any) {
			if want != got {
				t.Errorf("%s: %s is %v, want %v", when, key, got, want)
			}
		}
		look := func(when string, statuses, unexplained []string, balance, invoiced string) {
			t.Helper()
			invoices := w.all(t, "invoices", "invoices", of)
			payments := w.all(t, "payments", "payments", of)
			if len(invoices) != 2 || len(payments) != 2 {
				t.Fatalf("%s: %v %v", when, invoices, payments)
			}
			voids := 0
			for i, invoice := range invoices {
				check(when, "status", statuses[i], invoice["status"])
				check(when, "amount_outstanding", "0.00", invoice["amount_outstanding"])
				check(when, "paid", statuses[i] == "paid", invoice["paid"])
				check(when, "paid_on", statuses[i] == "paid", invoice["paid_on"] != nil)
				single := e.Get(t, "/v1/invoices"+harness.ID(invoice["id"]), w.token).Status(t, 200)
				check(when, "the invoice by itself", invoice["amount_outstanding"], single.Text(t, "invoice.amount_outstanding"))
				if statuses[i] == "void" {
					voids++
				}
			}
			for filter, n := range map[string]int{"paid=true": 2 - voids, "paid=false": voids, "status=void": voids, "status=paid": 2 - voids} {
				key, value, _ := strings.Cut(filter, "=")
				q := url.Values{"patient_id": of["patient_id"], key: {value}}
				check(when, filter, n, len(w.all(t, "invoices", "invoices", q)))
			}
			for i, p := range payments {
				check(when, "amount_unexplained", unexplained[i], p["amount_unexplained"])
				explained := int64(0)
				for _, x := range p["explanations"].([]any) {
					explained += hundredths(x.(row)["amount"])
				}
				check(when, "what the explanations leave", hundredths(unexplained[i]), hundredths(p["amount"])-explained)
				check(when, "fully_explained", unexplained[i] == "0.00", p["fully_explained"])
				status := map[bool]string{true: "unexplained", false: "partially_explained"}[unexplained[i] == p["amount"]]
				check(when, "payment status", status, p["status"])
				single := e.Get(t, "/v1/payments"+harness.ID(p["id"]), w.token).Status(t, 200)
				check(when, "the explanations of the payment by itself", len(p["explanations"].([]any)), len(single.List(t, "payment.explanations")))
			}
			accounts := e.Get(t, "/v1/accounts?patient_id="+text(patient["id"]), w.token).Status(t, 200)
			check(when, "current_balance", balance, accounts.List(t, "accounts")[0].(row)["current_balance"])
			check(when, "total_balance", balance, accounts.Text(t, "meta.total_balance"))
			at := e.Get(t, "/v1/accounts?as_at=2026-07-01&patient_id="+text(patient["id"]), w.token).Status(t, 200)
			check(when, "the balance at a day", balance, at.List(t, "accounts")[0].(row)["current_balance"])
			sum := e.Get(t, "/v1/payments?patient_id="+text(patient["id"]), w.token).Status(t, 200)
			check(when, "total_amount", "55.00", sum.Text(t, "meta.total_amount"))

			now, owed := figures(t, e, "income"), figures(t, e, "aged-debt")
			check(when, "income: invoiced", hundredths(invoiced), now["invoiced"]-income["invoiced"])
			check(when, "income: paid", int64(55_00), now["paid"]-income["paid"])
			check(when, "income: outstanding", int64(0), now["outstanding"]-income["outstanding"])
			check(when, "aged debt: owed", int64(0), owed["total"]-debt["total"])
			check(when, "aged debt: credit", hundredths(unexplained[0])+hundredths(unexplained[1]), owed["credit"]-debt["credit"])
		}
		look("as delivered", []string{"paid", "void"}, []string{"5.00", "30.00"}, "35.00", "20.00")

		files["inv.csv"] = strings.Replace(files["inv.csv"], ",0,paid", ",20,void", 1)
		files["pay.csv"] = "No,Pt,D,A,Inv\n"
		delivered(t, e, plan, files)
		look("voided", []string{"void", "void"}, []string{"25.00", "30.00"}, "55.00", "0.00")

		// An explanation that is left, by whatever way, is not shown either.
		ctx := e.As(t, "demo")
		invoice := w.all(t, "invoices", "invoices", of)[0]
		payment := w.all(t, "payments", "payments", of)[0]
		e.Tx(t, ctx, func(tx *ent.Client) error {
			return tx.PaymentExplanation.Create().SetPaymentID(number(payment["id"])).SetInvoiceID(number(invoice["id"])).SetAmount(1_00).Exec(ctx)
		})
		look("explained again", []string{"void", "void"}, []string{"25.00", "30.00"}, "55.00", "0.00")
		for _, change := range []string{"amount_outstanding = 1", "paid = true", "status = 'new', amount_outstanding = 0"} {
			if _, err := e.DB.SQL.ExecContext(t.Context(), "UPDATE invoices SET "+change+" WHERE status = 'void'"); err == nil {
				t.Errorf("the database takes %s of a void invoice", change)
			}
		}
	})
}

// figures are the sums of money in the summary of a report on June 2026.
func figures(t *testing.T, e *harness.Env, name string) map[string]int64 {
	t.Helper()
	r, err := report.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	ctx := clock.With(e.As(t, "demo"), harness.Now)
	var a *report.Answer
	err = e.DB.View(ctx, func(client *ent.Client) (err error) {
		a, err = r.Ask(ctx, client, report.Filter{From: civil.MustParse("2026-06-01"), To: civil.MustParse("2026-06-30")})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]int64{}
	for _, f := range a.Summary {
		if d, ok := f.Value.(decimal.Decimal); ok {
			sums[f.Key] = int64(d)
		}
	}
	return sums
}
