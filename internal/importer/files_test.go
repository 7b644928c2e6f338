package importer

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding/unicode"

	"chairside/internal/store"
)

// If payments and refunds are two files that both number their rows from 1, the second does not
// update the records of the first.
func TestFilesWithTheSameIDs(t *testing.T) {
	for id, want := range map[string]struct {
		refused string
		balance int
	}{
		"No":   {"2,legacy_id,already occurs in line 3 of in.csv,3,", 15000 - 400},
		"line": {"3,legacy_id,already occurs in line 3 of in.csv,9,", 15000 - 200},
	} {
		t.Run(id, func(t *testing.T) {
			onEachDatabase(t, func(t *testing.T, db *store.DB) {
				createPractice(t, db)
				rest := id + `, columns: {No: ~, Day: dated_on, Sum: {field: amount, negate: true}}, constants: {method: Cash, patient_id: "1"}}
`
				dir := writeFiles(t, map[string]string{
					"mapping.yaml": "source: old\nfiles:\n" + patientsByName +
						"  - {file: in.csv, entity: payments, id: " + strings.Replace(rest, ", negate: true", "", 1) +
						"  - {file: out.csv, entity: payments, id: " + rest,
					"patients.csv": "id,first_name,last_name\n1,Al,Ford\n",
					"in.csv":       "No,Day,Sum\n2,2026-02-01,broken\n3,2026-02-01,100.00\n4,2026-02-01,50.00\n",
					"out.csv":      "No,Day,Sum\n3,2026-03-01,10.00\n9,2026-03-01,4.00\n4,2026-03-01,1.00\n2,2026-03-01,2.00\n",
				})
				for range 2 {
					out := t.TempDir()
					report := runImport(t, db, dir, Options{Rejects: out})
					if refused := readFiles(t, out)["out.csv"]; !strings.Contains(refused, want.refused) || report.Rejected() != 4 {
						t.Errorf("%+v\n%s", report, refused)
					}
					if got := queryInt(t, db, "SELECT current_balance FROM accounts"); got != want.balance {
						t.Errorf("the balance is %d, want %d", got, want.balance)
					}
				}
			})
		})
	}
}

// An explanation of a void invoice or a deleted payment is rejected for that reason, and not
// because nothing is left of the amount.
func TestExplanationsOfVoidInvoices(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": "source: old\nfiles:\n" + patientsByName + `  - {file: invoices.csv, entity: invoices}
  - {file: items.csv, entity: invoice_items}
  - {file: payments.csv, entity: payments, constants: {method: Cash}}
  - {file: paid.csv, entity: payment_explanations}
`,
			"patients.csv": "id,first_name,last_name\n1,Al,Ford\n",
			"invoices.csv": "id,patient_id,dated_on,status\n1,1,2026-02-01,void\n2,1,2026-02-01,sent\n",
			"items.csv":    "id,invoice_id,name,item_price\n1,1,Exam,20\n2,2,Exam,20\n",
			"payments.csv": "id,patient_id,dated_on,amount,deleted\n1,1,2026-02-02,20,0\n2,1,2026-02-02,20,1\n",
			"paid.csv":     "id,payment_id,invoice_id,amount\n1,1,1,20\n2,2,2,20\n3,1,2,25\n4,1,2,20\n",
		})
		out := t.TempDir()
		runImport(t, db, dir, Options{Rejects: out})
		const want = `line,field,reason,id,payment_id,invoice_id,amount
2,invoice_id,is void and cannot be paid,1,1,1,20
3,payment_id,was deleted and pays nothing,2,2,2,20
4,amount,exceeds what is left of the payment,3,1,2,25
`
		if refused := readFiles(t, out)["paid.csv"]; refused != want {
			t.Error(refused)
		}
	})
}

// A byte order mark of UTF-16 takes precedence over the encoding of the mapping. Line numbers are
// those of the original file.
func TestUTF16(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		content, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String("id\tfirst_name\tlast_name\r\n1\tZoë\t\"O\r\nNeill\"\r\n2\t\tNí Dhomhnaill\r\n3\t𝒳\tFord\r\n")
		if err != nil {
			t.Fatal(err)
		}
		content += "4\x00\t\x00\x00\xd8\t\x00E\x00n\x00d\x00\r\x00\n\x00" // half a surrogate pair
		dir := writeFiles(t, map[string]string{"mapping.yaml": "source: old\nencoding: windows-1252\nfiles:\n" + patientsByName, "patients.csv": content})
		out := t.TempDir()
		report := runImport(t, db, dir, Options{Rejects: out})
		if refused := readFiles(t, out)["patients.csv"]; report.Rejected() != 2 || !strings.Contains(refused, "4,first_name,can't be blank,2,,Ní Dhomhnaill\n") || !strings.Contains(refused, "6,first_name,has bytes that are not utf-16,4,\ufffd,End\n") {
			t.Errorf("%+v %s", report, refused)
		}
		if n := queryInt(t, db, "SELECT count(*) FROM patients WHERE first_name IN ('Zoë', '𝒳') AND last_name IN ('O\nNeill', 'Ford')"); n != 2 {
			t.Errorf("%d patients have the values of the file, want 2", n)
		}
	})
}
