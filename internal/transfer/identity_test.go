package transfer

import (
	"strings"
	"testing"

	"chairside/internal/store"
)

// Spreadsheets make 123.0 of the id 123 where a column has gaps, and ="00123" keeps
// them from it.
func TestIDsOfSpreadsheets(t *testing.T) {
	each(t, func(t *testing.T, db *store.DB) {
		bright(t, db)
		dir := files(t, map[string]string{
			"mapping.yaml": "source: old\nfiles:\n" + patientsByName + `  - {file: invoices.csv, entity: invoices, id: [book, no], only: {book: [A, "007"]}}
  - {file: items.csv, entity: invoice_items, id: line, columns: {book: invoice_id, no: invoice_id}}
`,
			"patients.csv": "id,first_name,last_name,family_id\n1,Al,\"=\"\"Ford\"\"\",7\n2.0,Bo,Ford,7.0\n=\"03\",Cy,=\"Lee\",8.\n2,Di,Lee,\n",
			"invoices.csv": "book,no,patient_id,dated_on\nA,1,1.0,2026-02-01\nA,2.00,2,2026-02-01\n=\"007\",3,03,2026-02-01\nA,4,3,2026-02-01\nB,1,1,2026-02-01\n",
			"items.csv":    "book,no,name,item_price\nA,1.0,Exam,1\nA,2,Exam,2\n007,3.0,Exam,3\n7,3,Exam,4\nA,1.01,Exam,5\n",
		})
		for range 2 {
			out := t.TempDir()
			report := importing(t, db, dir, ImportOptions{Rejects: out})
			rejects := contents(t, out)
			for name, want := range map[string]string{"patients.csv": "5,legacy_id,occurs already in line 3", "invoices.csv": "5,patient_id,", "items.csv": "5,invoice_id,"} {
				if !strings.Contains(rejects[name], want) {
					t.Errorf("%s: %s", name, rejects[name])
				}
			}
			if report.Rejected() != 4 || report.Warnings > 0 {
				t.Errorf("%+v", report)
			}
			for query, want := range map[string]int{
				"SELECT sum(amount) FROM invoices":                                                 600,
				"SELECT count(*) FROM patients WHERE legacy_id IN ('1', '2', '03')":                3,
				"SELECT count(*) FROM patients WHERE last_name = 'Ford'":                           2,
				"SELECT count(DISTINCT family_id) FROM patients":                                   2,
				"SELECT count(*) FROM imported_records WHERE legacy_id IN ('A/1', 'A/2', '007/3')": 3,
			} {
				if got := number(t, db, query); got != want {
					t.Errorf("%s: %d, want %d", query, got, want)
				}
			}
		}
	})
}

// With loose ids neither case nor zeros in front matter. A patient keeps the id
// that people know.
func TestLooseIDs(t *testing.T) {
	each(t, func(t *testing.T, db *store.DB) {
		bright(t, db)
		dir := files(t, map[string]string{
			"mapping.yaml": "source: old\nloose_ids: true\nfiles:\n" + patientsByName + `  - {file: payments.csv, entity: payments, id: [till, no], constants: {method: Cash}}
`,
			"patients.csv": "id,first_name,last_name\n00123,Al,Ford\np7,Bo,Ford\nP07,Cy,Ford\n000,Di,Ford\n123.0,Ed,Ford\nP7,Fo,Ford\n",
			"payments.csv": "till,no,patient_id,dated_on,amount\na,01,123,2026-02-01,1\na,02,P7,2026-02-01,2\nA,003,p07,2026-02-01,3\na,4,0,2026-02-01,4\nb,1,000123.0,2026-02-01,5\nA,1,123,2026-02-01,6\n",
		})
		want := "line,field,reason,id,first_name,last_name\n6,legacy_id,occurs already in line 2,123.0,Ed,Ford\n7,legacy_id,occurs already in line 3,P7,Fo,Ford\n"
		for again := range 2 {
			out := t.TempDir()
			report := importing(t, db, dir, ImportOptions{Rejects: out})
			rejects := contents(t, out)
			if rejects["patients.csv"] != want || !strings.Contains(rejects["payments.csv"], "7,legacy_id,occurs already in line 2,") || report.Rejected() != 3 || report.Warnings > 0 {
				t.Errorf("%+v %v", report, rejects)
			}
			if again > 0 && report.Files[0].Updated > 0 {
				t.Errorf("%+v", report.Files)
			}
			for legacy, want := range map[string]int{"00123": 600, "p7": 200, "P07": 300, "000": 400} {
				const query = "SELECT current_balance FROM accounts AS a JOIN patients AS p ON p.id = a.patient_id WHERE p.legacy_id = $1"
				if got := number(t, db, query, legacy); got != want {
					t.Errorf("the balance of %s is %d, want %d", legacy, got, want)
				}
			}
		}
	})
}
