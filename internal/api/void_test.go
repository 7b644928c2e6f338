package api_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chairside/ent"
	"chairside/internal/civil"
	"chairside/internal/clock"
	"chairside/internal/decimal"
	"chairside/internal/importer"
	"chairside/internal/report"
	"chairside/internal/test/harness"
	"chairside/ogent"
)

// importFiles imports the files of another system into the demo practice.
func importFiles(t *testing.T, e *harness.Env, plan string, files map[string]string) {
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

// TestVoidInvoicesOweNothing: in every list and report, after voiding a paid invoice and
// restoring a void one.
func TestVoidInvoicesOweNothing(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		c := e.Client(t, e.Token(t, ""))
		plan := harness.Call(t, c.ListPaymentPlans, ogent.ListPaymentPlansParams{}).PaymentPlans[0].Name
		income, debt := figures(t, e, "income"), figures(t, e, "aged-debt")
		files := map[string]string{
			"pt.csv":  "No\nVoided\n",
			"inv.csv": "No,Pt,D,Out,S\nI1,Voided,2026-06-01,0,paid\nI2,Voided,2026-06-01,30,void\n",
			"it.csv":  "No,Inv,T,P\n1,I1,a,20\n2,I2,b,30\n",
			"pay.csv": "No,Pt,D,A,Inv\nP1,Voided,2026-06-02,25,I1\nP2,Voided,2026-06-02,30,I2\n",
		}
		importFiles(t, e, plan, files)
		of := ogent.NewOptInt64(patients(t, c, "Voided").Patients[0].ID)
		invoicesOf := func(asked ogent.ListInvoicesParams) []ogent.InvoiceSummary {
			asked.PatientID = of
			return harness.Call(t, c.ListInvoices, asked).Invoices
		}
		check := func(when, key string, want, got any) {
			if want != got {
				t.Errorf("%s: %s is %v, want %v", when, key, got, want)
			}
		}
		look := func(when string, statuses, unexplained []string, balance, invoiced string) {
			t.Helper()
			invoices := invoicesOf(ogent.ListInvoicesParams{})
			payments := harness.Call(t, c.ListPayments, ogent.ListPaymentsParams{PatientID: of})
			if len(invoices) != 2 || len(payments.Payments) != 2 {
				t.Fatalf("%s: %v %v", when, invoices, payments)
			}
			voids := 0
			for i, invoice := range invoices {
				check(when, "status", statuses[i], invoice.Status)
				check(when, "amount_outstanding", "0.00", invoice.AmountOutstanding)
				check(when, "paid", statuses[i] == "paid", invoice.Paid)
				check(when, "paid_on", statuses[i] != "paid", invoice.PaidOn.Null)
				single := harness.Call(t, c.GetInvoice, ogent.GetInvoiceParams{ID: invoice.ID}).Invoice
				check(when, "the invoice by itself", invoice.AmountOutstanding, single.AmountOutstanding)
				if statuses[i] == "void" {
					voids++
				}
			}
			check(when, "paid=true", 2-voids, len(invoicesOf(ogent.ListInvoicesParams{Paid: ogent.NewOptBool(true)})))
			check(when, "paid=false", voids, len(invoicesOf(ogent.ListInvoicesParams{Paid: ogent.NewOptBool(false)})))
			check(when, "status=void", voids, len(invoicesOf(ogent.ListInvoicesParams{Status: ogent.NewOptString("void")})))
			check(when, "status=paid", 2-voids, len(invoicesOf(ogent.ListInvoicesParams{Status: ogent.NewOptString("paid")})))
			for i, p := range payments.Payments {
				check(when, "amount_unexplained", unexplained[i], p.AmountUnexplained)
				explained := int64(0)
				for _, x := range p.Explanations {
					explained += hundredths(x.Amount)
				}
				check(when, "what the explanations leave", hundredths(unexplained[i]), hundredths(p.Amount)-explained)
				check(when, "fully_explained", unexplained[i] == "0.00", p.FullyExplained)
				status := map[bool]string{true: "unexplained", false: "partially_explained"}[unexplained[i] == p.Amount]
				check(when, "payment status", status, p.Status)
				single := harness.Call(t, c.GetPayment, ogent.GetPaymentParams{ID: p.ID}).Payment
				check(when, "the explanations of the payment by itself", len(p.Explanations), len(single.Explanations))
			}
			accounts := harness.Call(t, c.ListAccounts, ogent.ListAccountsParams{PatientID: of})
			check(when, "current_balance", balance, accounts.Accounts[0].CurrentBalance)
			check(when, "total_balance", balance, accounts.Meta.TotalBalance)
			at := harness.Call(t, c.ListAccounts, ogent.ListAccountsParams{PatientID: of, AsAt: ogent.NewOptDate(utc("2026-07-01"))})
			check(when, "the balance at a day", balance, at.Accounts[0].CurrentBalance)
			check(when, "total_amount", "55.00", payments.Meta.TotalAmount)

			now, owed := figures(t, e, "income"), figures(t, e, "aged-debt")
			check(when, "income: invoiced", hundredths(invoiced), now["invoiced"]-income["invoiced"])
			check(when, "income: paid", int64(55_00), now["paid"]-income["paid"])
			check(when, "income: outstanding", int64(0), now["outstanding"]-income["outstanding"])
			check(when, "aged debt: owed", int64(0), owed["total"]-debt["total"])
			check(when, "aged debt: credit", hundredths(unexplained[0])+hundredths(unexplained[1]), owed["credit"]-debt["credit"])
		}
		look("as imported", []string{"paid", "void"}, []string{"5.00", "30.00"}, "35.00", "20.00")

		files["inv.csv"] = strings.Replace(files["inv.csv"], ",0,paid", ",20,void", 1)
		files["pay.csv"] = "No,Pt,D,A,Inv\n"
		importFiles(t, e, plan, files)
		look("voided", []string{"void", "void"}, []string{"25.00", "30.00"}, "55.00", "0.00")

		// A remaining explanation of a void invoice is not returned either.
		ctx := e.As(t, "demo")
		invoice := invoicesOf(ogent.ListInvoicesParams{})[0]
		payment := harness.Call(t, c.ListPayments, ogent.ListPaymentsParams{PatientID: of}).Payments[0]
		e.Tx(t, ctx, func(tx *ent.Client) error {
			return tx.PaymentExplanation.Create().SetPaymentID(payment.ID).SetInvoiceID(invoice.ID).SetAmount(1_00).Exec(ctx)
		})
		look("explained again", []string{"void", "void"}, []string{"25.00", "30.00"}, "55.00", "0.00")
		for _, change := range []string{"amount_outstanding = 1", "paid = true", "status = 'new', amount_outstanding = 0"} {
			if _, err := e.DB.SQL.ExecContext(t.Context(), "UPDATE invoices SET "+change+" WHERE status = 'void'"); err == nil {
				t.Errorf("the database accepts %s of a void invoice", change)
			}
		}
	})
}

// figures returns the sums of money in the summary of a report on June 2026.
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
