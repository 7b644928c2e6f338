package importer

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"chairside/internal/entx/table"
	"chairside/internal/store"
)

// moneyFiles are the mappings of the files of TestChangedMoney.
var moneyFiles = map[string]string{
	"st.csv":  `{file: st.csv, entity: sites, id: No, columns: {No: name}}`,
	"pt.csv":  `{file: pt.csv, entity: patients, id: No, columns: {No: last_name, St: site_id}, constants: {title: Mr, first_name: A, date_of_birth: 1980-01-01, gender: male, ethnicity: "99", address_line_1: X, postcode: BA1, payment_plan_id: Private}}`,
	"inv.csv": `{file: inv.csv, entity: invoices, id: No, columns: {Pt: patient_id, D: dated_on, Tot: amount, S: {field: status, default: sent}}}`,
	"it.csv":  `{file: it.csv, entity: invoice_items, id: No, columns: {Inv: invoice_id, T: name, P: item_price}}`,
	"pay.csv": `{file: pay.csv, entity: payments, id: No, columns: {Pt: patient_id, D: dated_on, A: amount, Inv: invoice_id, V: deleted}, constants: {method: Cash}}`,
	"sum.csv": `{file: sum.csv, entity: payments, id: No, columns: {Pt: patient_id, D: dated_on, A: amount, V: deleted}, constants: {method: Cash}}`,
	"al.csv":  `{file: al.csv, entity: payment_explanations, id: [P, I], columns: {P: payment_id, I: invoice_id, A: amount}}`,
}

var moneyHeaders = map[string]string{
	"st.csv": "No", "pt.csv": "No,St", "inv.csv": "No,Pt,D,Tot,S", "it.csv": "No,Inv,T,P", "pay.csv": "No,Pt,D,A,Inv,V", "sum.csv": "No,Pt,D,A,V", "al.csv": "P,I,A",
}

// delivery is a set of files, with the lines of each separated by spaces.
type delivery map[string]string

func (d delivery) dir(t *testing.T) string {
	t.Helper()
	mapping := "source: s\nfiles:\n"
	content := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(d)) {
		mapping += "  - " + moneyFiles[name] + "\n"
		content[name] = strings.Join(append([]string{moneyHeaders[name]}, strings.Fields(d[name])...), "\n") + "\n"
	}
	content["mapping.yaml"] = mapping
	return writeFiles(t, content)
}

// After a changed delivery, the database is as if the changed files were the first ones.
// Importing them again changes nothing.
func TestChangedMoney(t *testing.T) {
	const (
		day1, day2 = "2026-02-01", "2026-02-02"
		invoices   = "I1,1," + day1 + ",20, I2,1," + day1 + ",30, I3,1," + day1 + ",40,"
		items      = "1,I1,a,20 2,I2,b,30 3,I3,c,40"
	)
	pays := func(lines ...string) string { // No,Pt,A,Inv,V
		for i, l := range lines {
			c := strings.Split(l, ",")
			lines[i] = strings.Join([]string{c[0], c[1], day2, c[2], c[3], c[4]}, ",")
		}
		return strings.Join(lines, " ")
	}
	sums := func(lines ...string) string { // No,Pt,A,V
		for i, l := range lines {
			c := strings.Split(l, ",")
			lines[i] = strings.Join([]string{c[0], c[1], day2, c[2], c[3]}, ",")
		}
		return strings.Join(lines, " ")
	}
	merge := func(d, more delivery) delivery {
		d = maps.Clone(d)
		maps.Copy(d, more)
		return d
	}
	base := delivery{"st.csv": "North", "pt.csv": "1, 2,North 3,"}
	first := merge(base, delivery{"inv.csv": invoices, "it.csv": items})
	paying := pays("P1,1,50,I1,N", "P2,1,30,I2,N", "P3,1,40,I3,N")
	for _, test := range []struct {
		name   string
		before []delivery
		last   delivery
		same   delivery // the delivery that gives the same result in an empty database
	}{
		{
			"headers after items",
			[]delivery{merge(first, delivery{"pay.csv": paying})},
			delivery{"inv.csv": invoices + " I4,2," + day1 + ",7.50,"},
			nil,
		},
		{
			"items after headers",
			[]delivery{merge(base, delivery{"inv.csv": invoices, "pay.csv": paying})},
			delivery{"it.csv": "1,I3,x,15 2,I1,y,20 3,I2,z,30 4,I3,x,25"},
			merge(base, delivery{"inv.csv": invoices, "it.csv": "1,I3,x,15 2,I1,y,20 3,I2,z,30 4,I3,x,25", "pay.csv": paying}),
		},
		{
			"changed headers",
			[]delivery{merge(base, delivery{"inv.csv": invoices, "pay.csv": paying})},
			delivery{"inv.csv": strings.ReplaceAll(invoices, ",40", ",25"), "pay.csv": paying},
			merge(base, delivery{"inv.csv": strings.ReplaceAll(invoices, ",40", ",25"), "pay.csv": paying}),
		},
		{
			"lower headers alone",
			[]delivery{merge(base, delivery{"inv.csv": invoices, "pay.csv": paying})},
			delivery{"inv.csv": strings.ReplaceAll(invoices, ",40", ",25")},
			merge(base, delivery{"inv.csv": strings.ReplaceAll(invoices, ",40", ",25"), "pay.csv": paying}),
		},
		{
			"lower items alone",
			[]delivery{merge(first, delivery{"sum.csv": sums("P1,1,50,N", "P2,1,10,N"), "al.csv": "P1,I1,20 P1,I2,30 P2,I3,10"})},
			delivery{"it.csv": strings.ReplaceAll(items, "b,30", "b,20")},
			merge(base, delivery{"inv.csv": invoices, "it.csv": strings.ReplaceAll(items, "b,30", "b,20"), "sum.csv": sums("P1,1,50,N", "P2,1,10,N"), "al.csv": "P1,I1,20 P1,I2,30 P2,I3,10"}),
		},
		{
			"payment pays another invoice",
			[]delivery{merge(first, delivery{"pay.csv": pays("P1,1,50,I1,N")})},
			delivery{"pay.csv": pays("P1,1,50,I3,N")},
			merge(first, delivery{"pay.csv": pays("P1,1,50,I3,N")}),
		},
		{
			"payments swap invoices",
			[]delivery{merge(first, delivery{"pay.csv": paying})},
			delivery{"pay.csv": pays("P1,1,50,I3,N", "P2,1,30,I1,N", "P3,1,40,I2,N")},
			merge(first, delivery{"pay.csv": pays("P1,1,50,I3,N", "P2,1,30,I1,N", "P3,1,40,I2,N")}),
		},
		{
			"lower payment of no invoice",
			[]delivery{merge(first, delivery{"pay.csv": paying})},
			delivery{"pay.csv": pays("P3,1,15,,N")},
			merge(first, delivery{"pay.csv": pays("P1,1,50,I1,N", "P2,1,30,I2,N", "P3,1,15,,N")}),
		},
		{
			"payment replaces a deleted one",
			[]delivery{merge(first, delivery{"pay.csv": paying})},
			delivery{"pay.csv": pays("P2,1,30,I2,Y", "P5,1,30,I2,N")},
			merge(first, delivery{"pay.csv": pays("P1,1,50,I1,N", "P2,1,30,I2,Y", "P3,1,40,I3,N", "P5,1,30,I2,N")}),
		},
		{
			"deleted payment is restored",
			[]delivery{merge(first, delivery{"pay.csv": paying}), {"pay.csv": pays("P2,1,30,I2,Y")}},
			delivery{"pay.csv": paying},
			merge(first, delivery{"pay.csv": paying}),
		},
		{
			"invoice becomes void",
			[]delivery{merge(first, delivery{"pay.csv": paying})},
			delivery{"inv.csv": strings.ReplaceAll(invoices, ",30,", ",30,void")},
			merge(first, delivery{"inv.csv": strings.ReplaceAll(invoices, ",30,", ",30,void"), "pay.csv": paying}),
		},
		{
			"void invoice is restored",
			[]delivery{merge(first, delivery{"pay.csv": paying}), {"inv.csv": strings.ReplaceAll(invoices, ",30,", ",30,void")}},
			delivery{"inv.csv": invoices, "pay.csv": paying},
			merge(first, delivery{"pay.csv": paying}),
		},
		{
			"lower payments and explanations",
			[]delivery{merge(first, delivery{"sum.csv": sums("P1,1,50,N", "P2,1,10,N"), "al.csv": "P1,I1,20 P1,I2,30 P2,I3,10"})},
			delivery{"sum.csv": sums("P1,1,25,N", "P2,1,10,Y", "P3,1,40,N"), "al.csv": "P1,I1,20 P1,I2,5 P2,I3,10 P3,I3,40"},
			merge(first, delivery{"sum.csv": sums("P1,1,25,N", "P2,1,10,Y", "P3,1,40,N"), "al.csv": "P1,I1,20 P1,I2,5 P2,I3,10 P3,I3,40"}),
		},
		{
			"restored payment is explained again",
			[]delivery{merge(first, delivery{"sum.csv": sums("P2,1,10,N"), "al.csv": "P2,I3,10"}), {"sum.csv": sums("P2,1,10,Y"), "al.csv": "P2,I3,10"}},
			delivery{"sum.csv": sums("P2,1,10,N"), "al.csv": "P2,I3,10"},
			merge(first, delivery{"sum.csv": sums("P2,1,10,N"), "al.csv": "P2,I3,10"}),
		},
		{
			"explanations exceed the invoice",
			[]delivery{merge(first, delivery{"sum.csv": sums("P1,1,50,N"), "al.csv": "P1,I1,20 P1,I2,30"})},
			delivery{"it.csv": "1,I1,a,20 2,I2,b,5 3,I3,c,40", "al.csv": "P1,I1,20 P1,I2,30"},
			merge(base, delivery{"inv.csv": invoices, "it.csv": "1,I1,a,20 2,I2,b,5 3,I3,c,40", "sum.csv": sums("P1,1,50,N"), "al.csv": "P1,I1,20 P1,I2,30"}),
		},
		{
			"invoice of another patient",
			[]delivery{first},
			delivery{"inv.csv": strings.ReplaceAll(invoices, "I1,1", "I1,2")},
			merge(first, delivery{"inv.csv": strings.ReplaceAll(invoices, "I1,1", "I1,2")}),
		},
		{
			"invoice and payment of another patient",
			[]delivery{merge(first, delivery{"pay.csv": paying})},
			delivery{"inv.csv": strings.ReplaceAll(invoices, "I1,1", "I1,2"), "pay.csv": strings.ReplaceAll(paying, "P1,1", "P1,2")},
			merge(first, delivery{"inv.csv": strings.ReplaceAll(invoices, "I1,1", "I1,2"), "pay.csv": strings.ReplaceAll(paying, "P1,1", "P1,2")}),
		},
		{
			"invoice of another day",
			[]delivery{first},
			delivery{"inv.csv": strings.ReplaceAll(invoices, day1, day2)},
			merge(first, delivery{"inv.csv": strings.ReplaceAll(invoices, day1, day2)}),
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			onEachDatabase(t, func(t *testing.T, db *store.DB) {
				createPractice(t, db)
				for _, d := range test.before {
					runImport(t, db, d.dir(t), Options{})
				}
				runImport(t, db, test.last.dir(t), Options{})
				got := money(t, db)
				want := strings.Split(headersAfterItems, "\n")
				if test.same != nil {
					fresh := open(t, databases["sqlite"](t))
					createPractice(t, fresh)
					runImport(t, fresh, test.same.dir(t), Options{})
					want = money(t, fresh)
				}
				if !slices.Equal(got, want) {
					t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
				for _, query := range invariants {
					if n := queryInt(t, db, query); n != 0 {
						t.Errorf("%d rows are inconsistent: %s", n, query)
					}
				}
				before := queryInt(t, db, "SELECT count(*) FROM audit_events")
				runImport(t, db, test.last.dir(t), Options{})
				if n := queryInt(t, db, "SELECT count(*) FROM audit_events"); n != before {
					t.Errorf("the second import wrote %d changes", n-before)
				}
				if again := money(t, db); !slices.Equal(again, got) {
					t.Errorf("after the second import:\n%s\nwant\n%s", strings.Join(again, "\n"), strings.Join(got, "\n"))
				}
			})
		})
	}
}

// headersAfterItems is the result of the case that no single delivery can give.
const headersAfterItems = `balance 1 30.00
balance 2 -7.50
balance 3 0.00
explanation P1 I1 20.00
explanation P2 I2 30.00
explanation P3 I3 40.00
invoice I1 1 1 20.00 0.00 paid 2026-02-02 2026-02-01 Bright
invoice I2 1 1 30.00 0.00 paid 2026-02-02 2026-02-01 Bright
invoice I3 1 1 40.00 0.00 paid 2026-02-02 2026-02-01 Bright
invoice I4 2 2 7.50 7.50 sent - 2026-02-01 North
item I1 a 1 20.00 20.00
item I2 b 1 30.00 30.00
item I3 c 1 40.00 40.00
item I4 Imported 1 7.50 7.50
payment P1 1 50.00 30.00 false
payment P2 1 30.00 0.00 false
payment P3 1 40.00 0.00 false`

// money returns the invoices, payments and balances in a database as lines, by legacy ID.
func money(t *testing.T, db *store.DB) (lines []string) {
	t.Helper()
	const invoice = "(SELECT legacy_id FROM imported_records WHERE resource = 'invoices' AND record_id = CAST(x.invoice_id AS text))"
	const payment = "(SELECT legacy_id FROM imported_records WHERE resource = 'payments' AND record_id = CAST(x.payment_id AS text))"
	const patient = "(SELECT last_name FROM patients AS p WHERE p.id = x.patient_id)"
	for _, kind := range []struct {
		query string
		shown []table.Kind
	}{
		{"SELECT 'balance', " + patient + ", current_balance FROM accounts AS x", []table.Kind{table.Text, table.Text, table.Amount}},
		{"SELECT 'explanation', " + payment + ", " + invoice + ", amount FROM payment_explanations AS x", []table.Kind{table.Text, table.Text, table.Text, table.Amount}},
		{"SELECT 'invoice', " + strings.ReplaceAll(invoice, "x.invoice_id", "i.id") + ", " + patient + ", " + strings.ReplaceAll(patient, "x.", "i.") +
			", i.amount, i.amount_outstanding, i.status, i.paid_on, i.due_on, s.name FROM invoices AS i JOIN accounts AS x ON x.id = i.account_id JOIN sites AS s ON s.id = i.site_id", []table.Kind{table.Text, table.Text, table.Text, table.Text, table.Amount, table.Amount, table.Text, table.Date, table.Date, table.Text}},
		{"SELECT 'item', " + invoice + ", name, quantity, item_price, total_price FROM invoice_items AS x", []table.Kind{table.Text, table.Text, table.Text, table.Integer, table.Amount, table.Amount}},
		{"SELECT 'payment', " + strings.ReplaceAll(payment, "x.payment_id", "x.id") + ", " + patient + ", amount, amount_unexplained, deleted FROM payments AS x", []table.Kind{table.Text, table.Text, table.Text, table.Amount, table.Amount, table.Boolean}},
	} {
		rows, err := db.SQL.QueryContext(t.Context(), kind.query)
		if err != nil {
			t.Fatalf("%s: %v", kind.query, err)
		}
		defer rows.Close()
		for rows.Next() {
			values, places := table.Scan(len(kind.shown))
			if err := rows.Scan(places...); err != nil {
				t.Fatal(err)
			}
			cells := make([]string, len(values))
			for i, k := range kind.shown {
				shown, ok, err := k.Format(values[i])
				if err != nil {
					t.Fatal(err)
				}
				if cells[i] = shown; !ok {
					cells[i] = "-"
				}
			}
			lines = append(lines, strings.Join(cells, " "))
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(lines)
	return lines
}

// A payment without a patient belongs to the patient of its invoice, also when that changes.
func TestPaymentTakesPatientFromInvoice(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		const invoices = "id,patient_id,dated_on,amount,amount_outstanding\n"
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": `
source: old
files:
` + patientsByName + `  - {file: invoices.csv, entity: invoices}
  - {file: payments.csv, entity: payments, constants: {method: Card}}
`,
			"patients.csv": "id,first_name,last_name\n1,Al,Ford\n2,Bo,Ford\n",
			"invoices.csv": invoices + "1,1,2026-06-01,50,20\n",
			"payments.csv": "id,invoice_id,dated_on,amount\n1,1,2026-06-02,30\n2,,2026-06-02,30\n",
		})
		for _, patient := range []string{"1", "2"} {
			rewrite(t, dir, "invoices.csv", invoices+"1,"+patient+",2026-06-01,50,20\n")
			if report := runImport(t, db, dir, Options{}); report.Rejected() != 1 || report.Differences > 0 {
				t.Errorf("%+v", report)
			}
			if n := queryInt(t, db, "SELECT current_balance FROM accounts AS a JOIN patients AS p ON p.id = a.patient_id WHERE p.legacy_id = $1", patient); n != -2000 {
				t.Errorf("the balance of %s is %d", patient, n)
			}
			if n := queryInt(t, db, "SELECT sum(current_balance) FROM accounts"); n != -2000 {
				t.Errorf("the balances add up to %d", n)
			}
		}
	})
}
