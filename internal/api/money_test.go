package api_test

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"testing"

	"chairside/internal/decimal"
	"chairside/internal/test/harness"
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

// books has the rows that determine balances.
type books struct{ accounts, invoices, payments, items []row }

func openBooks(t *testing.T, w *world) books {
	t.Helper()
	return books{
		w.all(t, "accounts", "accounts", nil), w.all(t, "invoices", "invoices", nil), w.all(t, "payments", "payments", nil),
		w.all(t, "treatment_plan_items", "treatment_plan_items", nil),
	}
}

// balance returns the opening balance plus payments minus invoices that are not void, dated
// until a day (behaviour.md).
func (b books) balance(account row, until string) (sum int64) {
	sum = hundredths(account["opening_balance"])
	for _, p := range b.payments {
		if p["patient_id"] == account["patient_id"] && p["deleted"] == false && text(p["dated_on"]) <= until {
			sum += hundredths(p["amount"])
		}
	}
	for _, i := range b.invoices {
		if i["patient_id"] == account["patient_id"] && i["status"] != "void" && text(i["dated_on"]) <= until {
			sum -= hundredths(i["amount"])
		}
	}
	return sum
}

func shownAmount(n int64) string { return decimal.Decimal(n).String() }

// balancesFollowFromInvoicesAndPayments: for every account.
func balancesFollowFromInvoicesAndPayments(t *testing.T, e *harness.Env) {
	w := newWorld(t, e)
	b := openBooks(t, w)
	signs := map[bool]int{}
	for _, a := range b.accounts {
		want := b.balance(a, "9999-12-31")
		if hundredths(a["current_balance"]) != want {
			t.Errorf("account %v has %v, want %s", a["id"], a["current_balance"], shownAmount(want))
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
	if got := e.Get(t, "/v1/accounts", e.Token(t, "financials:read")).Status(t, 200).Text(t, "meta.total_balance"); got != shownAmount(int64(total)) {
		t.Errorf("total_balance is %s, want %s", got, shownAmount(int64(total)))
	}
}

// plannedValuesAreTheSumsOfWhatIsNotCompleted: by the kind of plan.
func plannedValuesAreTheSumsOfWhatIsNotCompleted(t *testing.T, e *harness.Env) {
	w := newWorld(t, e)
	b := openBooks(t, w)
	nhs := map[string]bool{}
	for _, p := range w.all(t, "payment_plans", "payment_plans", nil) {
		nhs[text(p["id"])] = p["nhs"].(bool)
	}
	for _, a := range b.accounts {
		var planned [2]int64
		for _, i := range b.items {
			if i["patient_id"] == a["patient_id"] && i["completed"] == false {
				if nhs[text(i["payment_plan_id"])] {
					planned[0] += hundredths(i["price"])
				} else {
					planned[1] += hundredths(i["price"])
				}
			}
		}
		if hundredths(a["planned_nhs_treatment_value"]) != planned[0] || hundredths(a["planned_private_treatment_value"]) != planned[1] {
			t.Errorf("account %v: %v NHS and %v private, want %s and %s", a["id"], a["planned_nhs_treatment_value"], a["planned_private_treatment_value"], shownAmount(planned[0]), shownAmount(planned[1]))
		}
	}
}

// accountsAsAtADay: rows, filter, order and total use the balances at the end of the day.
func accountsAsAtADay(t *testing.T, e *harness.Env) {
	w := newWorld(t, e)
	b := openBooks(t, w)
	days := []string{"1990-01-01", "2999-12-31", text(b.invoices[len(b.invoices)/2]["dated_on"]), text(b.payments[len(b.payments)/3]["dated_on"]), "2026-03-29"}
	for _, day := range days {
		for _, state := range []string{"", "credit", "debit"} {
			type due struct {
				id      string
				balance int64
			}
			var want []due
			var total int64
			for _, a := range b.accounts {
				balance := b.balance(a, day)
				if state == "" || state == "credit" && balance > 0 || state == "debit" && balance < 0 {
					want = append(want, due{text(a["id"]), balance})
					total += balance
				}
			}
			slices.SortFunc(want, func(a, b due) int {
				return cmp.Or(cmp.Compare(b.balance, a.balance), cmp.Compare(number(b.id), number(a.id)))
			})
			query := url.Values{"as_at": {day}, "sort_by": {"current_balance"}, "sort_direction": {"desc"}, "per_page": {"10"}}
			if state != "" {
				query.Set("state", state)
			}
			res := e.Get(t, "/v1/accounts?"+query.Encode(), w.token).Status(t, 200)
			for i, got := range res.List(t, "accounts") {
				a := got.(row)
				if text(a["id"]) != want[i].id || hundredths(a["current_balance"]) != want[i].balance {
					t.Errorf("%s: row %d is %v with %v, want %v", query.Encode(), i, a["id"], a["current_balance"], want[i])
				}
			}
			if got := res.Text(t, "meta.total"); got != fmt.Sprint(len(want)) || res.Text(t, "meta.total_balance") != shownAmount(total) {
				t.Errorf("%s: total %s of %d, balance %s, want %s", query.Encode(), got, len(want), res.Text(t, "meta.total_balance"), shownAmount(total))
			}
		}
	}
	e.Get(t, "/v1/accounts?as_at=yesterday", w.token).Error(t, 400, "invalid_parameter", "as_at")
	day := e.Get(t, "/v1/accounts?as_at=2026-03-29", w.token).Status(t, 200)
	for _, form := range []string{"2026-03-29T22:59:59Z", "2026-03-29T00:00:00", "2026-03-29T23:30:00%2B01:00"} {
		if other := e.Get(t, "/v1/accounts?as_at="+form, w.token).Status(t, 200); string(other.Raw) != string(day.Raw) {
			t.Errorf("as_at=%s selects another day", form)
		}
	}
}

// accountTotalsCoverAllPages: and follow the filters.
func accountTotalsCoverAllPages(t *testing.T, e *harness.Env) {
	w := newWorld(t, e)
	accounts := w.all(t, "accounts", "accounts", nil)
	for query, keep := range map[string]func(balance int64) bool{
		"":                                     func(int64) bool { return true },
		"state=credit":                         func(b int64) bool { return b > 0 },
		"state=debit":                          func(b int64) bool { return b < 0 },
		"patient_id=999999":                    func(int64) bool { return false },
		"state=debit&updated_after=2000-01-01": func(b int64) bool { return b < 0 },
	} {
		var balance, nhs, private int64
		for _, a := range accounts {
			if b := hundredths(a["current_balance"]); keep(b) {
				balance, nhs, private = balance+b, nhs+hundredths(a["planned_nhs_treatment_value"]), private+hundredths(a["planned_private_treatment_value"])
			}
		}
		for _, page := range []string{"", "&page=2&per_page=3", "&page=1000"} {
			res := e.Get(t, "/v1/accounts?"+query+page, w.token).Status(t, 200)
			for name, want := range map[string]int64{"total_balance": balance, "total_nhs": nhs, "total_private": private} {
				if got := res.Text(t, "meta."+name); got != shownAmount(want) {
					t.Errorf("%s%s: %s is %s, want %s", query, page, name, got, shownAmount(want))
				}
			}
		}
	}
}

// paymentTotalsCoverAllPages: and follow the filters; deleted payments are excluded.
func paymentTotalsCoverAllPages(t *testing.T, e *harness.Env) {
	w := newWorld(t, e)
	payments := w.all(t, "payments", "payments", nil)
	middle := text(payments[len(payments)/2]["dated_on"])
	patient := text(payments[0]["patient_id"])
	deleted := 0
	for query, keep := range map[string]func(r row) bool{
		"":                      func(row) bool { return true },
		"start_date=" + middle:  func(r row) bool { return text(r["dated_on"]) >= middle },
		"end_date=" + middle:    func(r row) bool { return text(r["dated_on"]) <= middle },
		"patient_id=" + patient: func(r row) bool { return text(r["patient_id"]) == patient },
		"patient_id=999999":     func(row) bool { return false },
		"site_id=" + text(payments[0]["site_id"]): func(r row) bool { return r["site_id"] == payments[0]["site_id"] },
	} {
		var sum int64
		for _, p := range payments {
			if p["deleted"] == true {
				deleted++
			} else if keep(p) {
				sum += hundredths(p["amount"])
			}
		}
		for _, page := range []string{"", "&page=2&per_page=3", "&page=1000"} {
			if got := e.Get(t, "/v1/payments?"+query+page, w.token).Status(t, 200).Text(t, "meta.total_amount"); got != shownAmount(sum) {
				t.Errorf("%s%s: total_amount is %s, want %s", query, page, got, shownAmount(sum))
			}
		}
	}
	if deleted == 0 {
		t.Log("no payment is deleted")
	}
}

// paymentsAgreeWithTheirExplanations: for every payment.
func paymentsAgreeWithTheirExplanations(t *testing.T, e *harness.Env) {
	w := newWorld(t, e)
	statuses := map[string]int{}
	for _, p := range w.all(t, "payments", "payments", nil) {
		var explained int64
		for _, x := range p["explanations"].([]any) {
			explained += hundredths(x.(row)["amount"])
		}
		rest, want := hundredths(p["amount"])-explained, "partially_explained"
		switch rest {
		case 0:
			want = "paid"
		case hundredths(p["amount"]):
			want = "unexplained"
		}
		if hundredths(p["amount_unexplained"]) != rest || p["status"] != want || p["fully_explained"] != (rest == 0) {
			t.Errorf("%v: %s remains, want %s", p, shownAmount(rest), want)
		}
		statuses[want]++
	}
	if len(statuses) < 2 {
		t.Errorf("all payments have one status: %v", statuses)
	}
}

// invoicesAgreeWithTheirItemsAndPayments: amounts, paid and status.
func invoicesAgreeWithTheirItemsAndPayments(t *testing.T, e *harness.Env) {
	w := newWorld(t, e)
	paid := map[string]int64{}
	for _, p := range w.all(t, "payments", "payments", nil) {
		for _, x := range p["explanations"].([]any) {
			if p["deleted"] == false {
				paid[text(x.(row)["invoice_id"])] += hundredths(x.(row)["amount"])
			}
		}
	}
	statuses := map[string]int{}
	for i, invoice := range w.all(t, "invoices", "invoices", nil) {
		amount, owed, status := hundredths(invoice["amount"]), hundredths(invoice["amount_outstanding"]), text(invoice["status"])
		statuses[status]++
		if _, has := invoice["invoice_items"]; has {
			t.Errorf("the list has items: %v", invoice)
		}
		if status == "void" {
			amount = 0 // a void invoice owes nothing and has no payments
		}
		if owed != amount-paid[text(invoice["id"])] {
			t.Errorf("%v: %s was paid", invoice, shownAmount(paid[text(invoice["id"])]))
		}
		want := "new"
		switch {
		case status == "void":
			want = "void"
		case owed == 0 && amount != 0:
			want = "paid"
		case owed < amount:
			want = "part_paid"
		case invoice["sent_at"] != nil:
			want = "sent"
		}
		if status != want || invoice["paid"] != (want == "paid") || (invoice["paid_on"] != nil) != (want == "paid") {
			t.Errorf("%v should be %s", invoice, want)
		}
		if i%5 != 0 {
			continue
		}
		var sum int64
		single := e.Get(t, "/v1/invoices"+harness.ID(invoice["id"]), w.token).Status(t, 200)
		items := single.List(t, "invoice.invoice_items")
		listed := w.all(t, "invoice_items", "invoice_items", url.Values{"invoice_id": {text(invoice["id"])}})
		if len(items) == 0 || fmt.Sprint(items) != fmt.Sprint(listed) {
			t.Errorf("items %v, in their list %v", items, listed)
		}
		for _, found := range items {
			item := found.(row)
			sum += hundredths(item["total_price"])
			if hundredths(item["total_price"]) != number(item["quantity"])*hundredths(item["item_price"]) || item["invoice_id"] != invoice["id"] {
				t.Errorf("item %v of invoice %v", item, invoice["id"])
			}
		}
		if sum != hundredths(invoice["amount"]) {
			t.Errorf("invoice %v has %v, its items %s", invoice["id"], invoice["amount"], shownAmount(sum))
		}
	}
	for _, status := range []string{"new", "sent", "part_paid", "paid", "void"} {
		if statuses[status] == 0 {
			t.Logf("no invoice has status %s", status)
		}
	}
}
