package api_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"chairside/internal/decimal"
	"chairside/internal/test/harness"
	"chairside/ogent"
)

// TestMoney: its tests only read, so they share one copy of the data for each database.
func TestMoney(t *testing.T) {
	tests := []struct {
		name string
		test func(t *testing.T, e *harness.Env)
	}{
		{"BalancesFollowFromInvoicesAndPayments", balancesFollowFromInvoicesAndPayments},
		{"BalancesAgreeWithTheDatabase", balancesAgreeWithTheDatabase},
		{"PlannedValuesAreTheSumsOfWhatIsNotCompleted", plannedValuesAreTheSumsOfWhatIsNotCompleted},
		{"AccountsAsAtADay", accountsAsAtADay},
		{"AccountTotalsCoverAllPages", accountTotalsCoverAllPages},
		{"PaymentTotalsCoverAllPages", paymentTotalsCoverAllPages},
		{"PaymentsAgreeWithTheirExplanations", paymentsAgreeWithTheirExplanations},
		{"InvoicesAgreeWithTheirItemsAndPayments", invoicesAgreeWithTheirItemsAndPayments},
	}
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		for _, c := range tests {
			t.Run(c.name, func(t *testing.T) { c.test(t, e) })
		}
	})
}

// books are the rows from which balances follow.
type books struct {
	*ogent.Client
	accounts []ogent.Account
	invoices []ogent.InvoiceSummary
	payments []ogent.Payment
	items    []ogent.TreatmentPlanItem
}

func openBooks(t *testing.T, e *harness.Env) books {
	t.Helper()
	c := e.Client(t, e.Token(t, ""))
	return books{
		c,
		everyPage(t, func(page, size ogent.OptInt) ([]ogent.Account, int) {
			l := harness.Call(t, c.ListAccounts, ogent.ListAccountsParams{Page: page, PerPage: size})
			return l.Accounts, l.Meta.Total
		}),
		everyPage(t, func(page, size ogent.OptInt) ([]ogent.InvoiceSummary, int) {
			l := harness.Call(t, c.ListInvoices, ogent.ListInvoicesParams{Page: page, PerPage: size})
			return l.Invoices, l.Meta.Total
		}),
		everyPage(t, func(page, size ogent.OptInt) ([]ogent.Payment, int) {
			l := harness.Call(t, c.ListPayments, ogent.ListPaymentsParams{Page: page, PerPage: size})
			return l.Payments, l.Meta.Total
		}),
		everyPage(t, func(page, size ogent.OptInt) ([]ogent.TreatmentPlanItem, int) {
			l := harness.Call(t, c.ListTreatmentPlanItems, ogent.ListTreatmentPlanItemsParams{Page: page, PerPage: size})
			return l.TreatmentPlanItems, l.Meta.Total
		}),
	}
}

// balance is what behaviour.md says: opening balance plus payments minus
// invoices that are not void, dated until a day.
func (b books) balance(account ogent.Account, until time.Time) (sum int64) {
	sum = hundredths(account.OpeningBalance)
	for _, p := range b.payments {
		if p.PatientID == account.PatientID && !p.Deleted && !p.DatedOn.After(until) {
			sum += hundredths(p.Amount)
		}
	}
	for _, i := range b.invoices {
		if i.PatientID == account.PatientID && i.Status != "void" && !i.DatedOn.After(until) {
			sum -= hundredths(i.Amount)
		}
	}
	return sum
}

func shownAmount(n int64) string { return decimal.Decimal(n).String() }

// utc is midnight of a day as the client reads dates.
func utc(day string) time.Time {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		panic(err)
	}
	return at
}

// balancesFollowFromInvoicesAndPayments for every account.
func balancesFollowFromInvoicesAndPayments(t *testing.T, e *harness.Env) {
	b := openBooks(t, e)
	signs := map[bool]int{}
	for _, a := range b.accounts {
		want := b.balance(a, utc("9999-12-31"))
		if a.CurrentBalance != shownAmount(want) {
			t.Errorf("account %d has %s, want %s", a.ID, a.CurrentBalance, shownAmount(want))
		}
		signs[want < 0]++
	}
	if signs[true] == 0 || signs[false] == 0 {
		t.Errorf("balances of one sign only: %v", signs)
	}
}

// balancesAgreeWithTheDatabase: the same rule in SQL, for both practices.
func balancesAgreeWithTheDatabase(t *testing.T, e *harness.Env) {
	wrong := systemRows(t, e, `SELECT count(*) FROM accounts a WHERE a.current_balance <> a.opening_balance
		+ COALESCE((SELECT SUM(p.amount) FROM payments p WHERE p.patient_id = a.patient_id AND NOT p.deleted), 0)
		- COALESCE((SELECT SUM(i.amount) FROM invoices i WHERE i.patient_id = a.patient_id AND i.status <> 'void'), 0)`)
	if wrong != 0 {
		t.Errorf("%d balances are wrong", wrong)
	}
	total := systemRows(t, e, "SELECT SUM(a.current_balance) FROM accounts a JOIN practices p ON p.id = a.practice_id WHERE p.slug = 'demo'")
	c := e.Client(t, e.Token(t, "financials:read"))
	if got := harness.Call(t, c.ListAccounts, ogent.ListAccountsParams{}).Meta.TotalBalance; got != shownAmount(int64(total)) {
		t.Errorf("total_balance is %s, want %s", got, shownAmount(int64(total)))
	}
}

// plannedValuesAreTheSumsOfWhatIsNotCompleted: by the kind of plan.
func plannedValuesAreTheSumsOfWhatIsNotCompleted(t *testing.T, e *harness.Env) {
	b := openBooks(t, e)
	nhs := map[int64]bool{}
	for _, p := range harness.Call(t, b.ListPaymentPlans, ogent.ListPaymentPlansParams{PerPage: ogent.NewOptInt(100)}).PaymentPlans {
		nhs[p.ID] = p.Nhs
	}
	for _, a := range b.accounts {
		var planned [2]int64
		for _, i := range b.items {
			if i.PatientID == a.PatientID && !i.Completed {
				if nhs[i.PaymentPlanID] {
					planned[0] += hundredths(i.Price)
				} else {
					planned[1] += hundredths(i.Price)
				}
			}
		}
		if a.PlannedNhsTreatmentValue != shownAmount(planned[0]) || a.PlannedPrivateTreatmentValue != shownAmount(planned[1]) {
			t.Errorf("account %d: %s NHS and %s private, want %s and %s", a.ID, a.PlannedNhsTreatmentValue, a.PlannedPrivateTreatmentValue, shownAmount(planned[0]), shownAmount(planned[1]))
		}
	}
}

// accountsAsAtADay: rows, filter, order and total use the balances at the end of the day.
func accountsAsAtADay(t *testing.T, e *harness.Env) {
	b := openBooks(t, e)
	days := []time.Time{utc("1990-01-01"), utc("2999-12-31"), b.invoices[len(b.invoices)/2].DatedOn, b.payments[len(b.payments)/3].DatedOn, utc("2026-03-29")}
	for _, day := range days {
		for _, state := range []string{"", "credit", "debit"} {
			type due struct{ id, balance int64 }
			var want []due
			var total int64
			for _, a := range b.accounts {
				balance := b.balance(a, day)
				if state == "" || state == "credit" && balance > 0 || state == "debit" && balance < 0 {
					want = append(want, due{a.ID, balance})
					total += balance
				}
			}
			slices.SortFunc(want, func(a, b due) int {
				return cmp.Or(cmp.Compare(b.balance, a.balance), cmp.Compare(b.id, a.id))
			})
			asked := ogent.ListAccountsParams{
				AsAt: ogent.NewOptDate(day), SortBy: ogent.NewOptString("current_balance"), SortDirection: ogent.NewOptString("desc"),
				PerPage: ogent.NewOptInt(10), State: ogent.OptString{Value: state, Set: state != ""},
			}
			list := harness.Call(t, b.ListAccounts, asked)
			for i, a := range list.Accounts {
				if a.ID != want[i].id || a.CurrentBalance != shownAmount(want[i].balance) {
					t.Errorf("%+v: row %d is %d with %s, want %v", asked, i, a.ID, a.CurrentBalance, want[i])
				}
			}
			if list.Meta.Total != len(want) || list.Meta.TotalBalance != shownAmount(total) {
				t.Errorf("%+v: total %d of %d, balance %s, want %s", asked, list.Meta.Total, len(want), list.Meta.TotalBalance, shownAmount(total))
			}
		}
	}
	token := e.Token(t, "")
	e.Get(t, "/v1/accounts?as_at=yesterday", token).Error(t, 400, "invalid_parameter", "as_at")
	day := e.Get(t, "/v1/accounts?as_at=2026-03-29", token).Status(t, 200)
	for _, form := range []string{"2026-03-29T22:59:59Z", "2026-03-29T00:00:00", "2026-03-29T23:30:00%2B01:00"} {
		if other := e.Get(t, "/v1/accounts?as_at="+form, token).Status(t, 200); string(other.Raw) != string(day.Raw) {
			t.Errorf("as_at=%s is another day", form)
		}
	}
}

// pagesOfTotals are pages of a list, whose totals must be the same.
var pagesOfTotals = []struct{ page, size ogent.OptInt }{
	{}, {ogent.NewOptInt(2), ogent.NewOptInt(3)}, {ogent.NewOptInt(1000), ogent.OptInt{}},
}

// accountTotalsCoverAllPages and honour the filters.
func accountTotalsCoverAllPages(t *testing.T, e *harness.Env) {
	b := openBooks(t, e)
	debit, somebody := ogent.NewOptString("debit"), ogent.NewOptInt64(999999)
	for _, c := range []struct {
		asked ogent.ListAccountsParams
		keep  func(balance int64) bool
	}{
		{ogent.ListAccountsParams{}, func(int64) bool { return true }},
		{ogent.ListAccountsParams{State: ogent.NewOptString("credit")}, func(b int64) bool { return b > 0 }},
		{ogent.ListAccountsParams{State: debit}, func(b int64) bool { return b < 0 }},
		{ogent.ListAccountsParams{PatientID: somebody}, func(int64) bool { return false }},
		{ogent.ListAccountsParams{State: debit, UpdatedAfter: ogent.NewOptDateTime(instant("2000-01-01"))}, func(b int64) bool { return b < 0 }},
	} {
		var balance, nhs, private int64
		for _, a := range b.accounts {
			if b := hundredths(a.CurrentBalance); c.keep(b) {
				balance, nhs, private = balance+b, nhs+hundredths(a.PlannedNhsTreatmentValue), private+hundredths(a.PlannedPrivateTreatmentValue)
			}
		}
		for _, p := range pagesOfTotals {
			c.asked.Page, c.asked.PerPage = p.page, p.size
			m := harness.Call(t, b.ListAccounts, c.asked).Meta
			if m.TotalBalance != shownAmount(balance) || m.TotalNhs != shownAmount(nhs) || m.TotalPrivate != shownAmount(private) {
				t.Errorf("%+v: totals are %+v, want %s, %s NHS and %s private", c.asked, m, shownAmount(balance), shownAmount(nhs), shownAmount(private))
			}
		}
	}
}

// paymentTotalsCoverAllPages: and follow the filters; deleted payments are excluded.
func paymentTotalsCoverAllPages(t *testing.T, e *harness.Env) {
	b := openBooks(t, e)
	middle, payer, site := b.payments[len(b.payments)/2].DatedOn, b.payments[0].PatientID, b.payments[0].SiteID
	deleted := 0
	for _, c := range []struct {
		asked ogent.ListPaymentsParams
		keep  func(p ogent.Payment) bool
	}{
		{ogent.ListPaymentsParams{}, func(ogent.Payment) bool { return true }},
		{ogent.ListPaymentsParams{StartDate: ogent.NewOptDate(middle)}, func(p ogent.Payment) bool { return !p.DatedOn.Before(middle) }},
		{ogent.ListPaymentsParams{EndDate: ogent.NewOptDate(middle)}, func(p ogent.Payment) bool { return !p.DatedOn.After(middle) }},
		{ogent.ListPaymentsParams{PatientID: ogent.NewOptInt64(payer)}, func(p ogent.Payment) bool { return p.PatientID == payer }},
		{ogent.ListPaymentsParams{PatientID: ogent.NewOptInt64(999999)}, func(ogent.Payment) bool { return false }},
		{ogent.ListPaymentsParams{SiteID: ogent.NewOptUUID(site)}, func(p ogent.Payment) bool { return p.SiteID == site }},
	} {
		var sum int64
		for _, p := range b.payments {
			if p.Deleted {
				deleted++
			} else if c.keep(p) {
				sum += hundredths(p.Amount)
			}
		}
		for _, p := range pagesOfTotals {
			c.asked.Page, c.asked.PerPage = p.page, p.size
			if got := harness.Call(t, b.ListPayments, c.asked).Meta.TotalAmount; got != shownAmount(sum) {
				t.Errorf("%+v: total_amount is %s, want %s", c.asked, got, shownAmount(sum))
			}
		}
	}
	if deleted == 0 {
		t.Log("no payment is deleted")
	}
}

// paymentsAgreeWithTheirExplanations: for every payment.
func paymentsAgreeWithTheirExplanations(t *testing.T, e *harness.Env) {
	statuses := map[string]int{}
	for _, p := range openBooks(t, e).payments {
		var explained int64
		for _, x := range p.Explanations {
			explained += hundredths(x.Amount)
		}
		rest, want := hundredths(p.Amount)-explained, "partially_explained"
		switch rest {
		case 0:
			want = "paid"
		case hundredths(p.Amount):
			want = "unexplained"
		}
		if p.AmountUnexplained != shownAmount(rest) || p.Status != want || p.FullyExplained != (rest == 0) {
			t.Errorf("%+v: %s is left, want %s", p, shownAmount(rest), want)
		}
		statuses[want]++
	}
	if len(statuses) < 2 {
		t.Errorf("all payments have one status: %v", statuses)
	}
}

// invoicesAgreeWithTheirItemsAndPayments: amounts, paid and status.
func invoicesAgreeWithTheirItemsAndPayments(t *testing.T, e *harness.Env) {
	b := openBooks(t, e)
	for _, listed := range e.Get(t, "/v1/invoices?per_page=100", e.Token(t, "")).Status(t, 200).List(t, "invoices") {
		if _, has := listed.(row)["invoice_items"]; has {
			t.Errorf("the list has items: %v", listed)
		}
	}
	paid := map[int64]int64{}
	for _, p := range b.payments {
		for _, x := range p.Explanations {
			if !p.Deleted {
				paid[x.InvoiceID] += hundredths(x.Amount)
			}
		}
	}
	statuses := map[string]int{}
	for i, invoice := range b.invoices {
		amount, owed := hundredths(invoice.Amount), hundredths(invoice.AmountOutstanding)
		statuses[invoice.Status]++
		if invoice.Status == "void" {
			amount = 0 // nothing is owed, and nothing was paid on it
		}
		if owed != amount-paid[invoice.ID] {
			t.Errorf("%+v: %s was paid", invoice, shownAmount(paid[invoice.ID]))
		}
		want := "new"
		switch {
		case invoice.Status == "void":
			want = "void"
		case owed == 0 && amount != 0:
			want = "paid"
		case owed < amount:
			want = "part_paid"
		case !invoice.SentAt.Null:
			want = "sent"
		}
		if invoice.Status != want || invoice.Paid != (want == "paid") || invoice.PaidOn.Null != (want != "paid") {
			t.Errorf("%+v should be %s", invoice, want)
		}
		if i%5 != 0 {
			continue
		}
		var sum int64
		items := harness.Call(t, b.GetInvoice, ogent.GetInvoiceParams{ID: invoice.ID}).Invoice.InvoiceItems
		listed := harness.Call(t, b.ListInvoiceItems, ogent.ListInvoiceItemsParams{InvoiceID: ogent.NewOptInt64(invoice.ID), PerPage: ogent.NewOptInt(100)}).InvoiceItems
		if len(items) == 0 || !slices.EqualFunc(items, listed, func(a, b ogent.InvoiceItem) bool { return wire(t, &a) == wire(t, &b) }) {
			t.Errorf("items %+v, in their list %+v", items, listed)
		}
		for _, item := range items {
			sum += hundredths(item.TotalPrice)
			if hundredths(item.TotalPrice) != int64(item.Quantity)*hundredths(item.ItemPrice) || item.InvoiceID != invoice.ID {
				t.Errorf("item %+v of invoice %d", item, invoice.ID)
			}
		}
		if sum != hundredths(invoice.Amount) {
			t.Errorf("invoice %d has %s, its items %s", invoice.ID, invoice.Amount, shownAmount(sum))
		}
	}
	for _, status := range []string{"new", "sent", "part_paid", "paid", "void"} {
		if statuses[status] == 0 {
			t.Logf("no invoice has status %s", status)
		}
	}
}
