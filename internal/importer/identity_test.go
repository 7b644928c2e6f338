package importer

import (
	"strings"
	"testing"

	"chairside/internal/store"
)

// Spreadsheets write the ID 123 as 123.0 if its column has gaps, and ="00123" for an ID with
// zeros.
func TestIDsOfSpreadsheets(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": "source: old\nfiles:\n" + patientsByName + `  - {file: invoices.csv, entity: invoices, id: [book, no], only: {book: [A, "007"]}}
  - {file: items.csv, entity: invoice_items, id: line, columns: {book: invoice_id, no: invoice_id}}
`,
			"patients.csv": "id,first_name,last_name,family_id\n1,Al,\"=\"\"Ford\"\"\",7\n2.0,Bo,Ford,7.0\n=\"03\",Cy,=\"Lee\",8.\n2,Di,Lee,\n",
			"invoices.csv": "book,no,patient_id,dated_on\nA,1,1.0,2026-02-01\nA,2.00,2,2026-02-01\n=\"007\",3,03,2026-02-01\nA,4,3,2026-02-01\nB,1,1,2026-02-01\n",
			"items.csv":    "book,no,name,item_price\nA,1.0,Exam,1\nA,2,Exam,2\n007,3.0,Exam,3\n7,3,Exam,4\nA,1.01,Exam,5\n",
		})
		for range 2 {
			out := t.TempDir()
			report := runImport(t, db, dir, Options{Rejects: out})
			rejects := readFiles(t, out)
			for name, want := range map[string]string{"patients.csv": "5,legacy_id,already occurs in line 3", "invoices.csv": "5,patient_id,", "items.csv": "5,invoice_id,"} {
				if !strings.Contains(rejects[name], want) {
					t.Errorf("%s: %s", name, rejects[name])
				}
			}
			if report.Rejected() != 4 || report.Warnings > 0 {
				t.Errorf("%+v", report)
			}
			checkInts(t, db, map[string]int{
				"SELECT sum(amount) FROM invoices":                                                 600,
				"SELECT count(*) FROM patients WHERE legacy_id IN ('1', '2', '03')":                3,
				"SELECT count(*) FROM patients WHERE last_name = 'Ford'":                           2,
				"SELECT count(DISTINCT family_id) FROM patients":                                   2,
				"SELECT count(*) FROM imported_records WHERE legacy_id IN ('A/1', 'A/2', '007/3')": 3,
			})
		}
	})
}

// Loose IDs ignore case and leading zeros. The patient's legacy_id keeps them.
func TestLooseIDs(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": "source: old\nloose_ids: true\nfiles:\n" + patientsByName + `  - {file: payments.csv, entity: payments, id: [till, no], constants: {method: Cash}}
`,
			"patients.csv": "id,first_name,last_name\n00123,Al,Ford\np7,Bo,Ford\nP07,Cy,Ford\n000,Di,Ford\n123.0,Ed,Ford\nP7,Fo,Ford\n",
			"payments.csv": "till,no,patient_id,dated_on,amount\na,01,123,2026-02-01,1\na,02,P7,2026-02-01,2\nA,003,p07,2026-02-01,3\na,4,0,2026-02-01,4\nb,1,000123.0,2026-02-01,5\nA,1,123,2026-02-01,6\n",
		})
		want := "line,field,reason,id,first_name,last_name\n6,legacy_id,already occurs in line 2,123.0,Ed,Ford\n7,legacy_id,already occurs in line 3,P7,Fo,Ford\n"
		for again := range 2 {
			out := t.TempDir()
			report := runImport(t, db, dir, Options{Rejects: out})
			rejects := readFiles(t, out)
			if rejects["patients.csv"] != want || !strings.Contains(rejects["payments.csv"], "7,legacy_id,already occurs in line 2,") || report.Rejected() != 3 || report.Warnings > 0 {
				t.Errorf("%+v %v", report, rejects)
			}
			if again > 0 && report.Files[0].Updated > 0 {
				t.Errorf("%+v", report.Files)
			}
			for legacy, want := range map[string]int{"00123": 600, "p7": 200, "P07": 300, "000": 400} {
				const query = "SELECT current_balance FROM accounts AS a JOIN patients AS p ON p.id = a.patient_id WHERE p.legacy_id = $1"
				if got := queryInt(t, db, query, legacy); got != want {
					t.Errorf("the balance of %s is %d, want %d", legacy, got, want)
				}
			}
		}
	})
}

// loose_ids may change between two imports. Records whose IDs are spelled as before are not
// imported twice, and records that were different are not merged.
func TestLooseIDsChange(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		const strict = "source: old\nfiles:\n" + patientsByName + `  - {file: invoices.csv, entity: invoices, id: [book, no]}
  - {file: payments.csv, entity: payments, constants: {method: Cash}}
`
		const loose = "loose_ids: true\n" + strict
		dir := writeFiles(t, map[string]string{
			"patients.csv": "id,first_name,last_name\n00123,Al,Ford\np7,Bo,Ford\n45,Cy,Ford\n08,Ed,Lee\n8,Di,Lee\n",
			"invoices.csv": "book,no,patient_id,dated_on\na,01,00123,2026-02-01\na,2.0,p7,2026-02-01\n",
			"payments.csv": "id,patient_id,dated_on,amount\nx1,00123,2026-02-01,1\n",
		})
		run := func(mapping string, created, refused int) map[string]string {
			t.Helper()
			rewrite(t, dir, "mapping.yaml", mapping)
			out := t.TempDir()
			report := runImport(t, db, dir, Options{Rejects: out})
			wrote := 0
			for _, f := range report.Files {
				wrote += f.Created + f.Updated
			}
			if wrote != created || report.Rejected() != refused || report.Warnings > 0 {
				t.Errorf("%+v %v", report, readFiles(t, out))
			}
			return readFiles(t, out)
		}
		run(strict, 5+2+1, 0)
		if refused := run(loose, 0, 2)["patients.csv"]; !strings.Contains(refused, "5,legacy_id,belongs to more than one record,08,") || !strings.Contains(refused, "6,legacy_id,already occurs in line 5,8,") {
			t.Error(refused)
		}
		rewrite(t, dir, "patients.csv", "id,first_name,last_name\n0045,Cy,Ford\n00123,Al,Ford\np7,Bo,Ford\nd9,Fo,Ford\n")
		rewrite(t, dir, "payments.csv", "id,patient_id,dated_on,amount\nX1,123,2026-02-01,1\nx2,P7,2026-02-01,2\nx3,00123,2026-02-01,3\nx4,08,2026-02-01,3\n")
		if refused := run(loose, 1+1+2, 1)["payments.csv"]; !strings.Contains(refused, "5,patient_id,is the legacy id of more than one record in patients,x4,") {
			t.Error(refused)
		}
		rewrite(t, dir, "payments.csv", "id,patient_id,dated_on,amount\nX1,00123,2026-02-01,1\nx2,p7,2026-02-01,2\nx3,00123,2026-02-01,3\n")
		run(strict, 0, 0)
		checkInts(t, db, map[string]int{
			"SELECT count(*) FROM accounts": 6,
			"SELECT current_balance FROM accounts AS a JOIN patients AS p ON p.id = a.patient_id WHERE p.legacy_id = '00123'": 400,
			"SELECT current_balance FROM accounts AS a JOIN patients AS p ON p.id = a.patient_id WHERE p.legacy_id = 'p7'":    200,
			"SELECT count(*) FROM imported_records WHERE legacy_id IN ('123', '00123', 'P7', 'p7', 'a/01', 'A/1', 'd9')":      7,
		})
	})
}

// Patients whose legacy_id an API client wrote are matched, and so are records whose ID was
// stored as a spreadsheet wrote it.
func TestLooseIDsOfAPIClients(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": "source: old\nfiles:\n" + patientsByName + "  - {file: payments.csv, entity: payments, constants: {method: Cash}}\n",
			"patients.csv": "id,first_name,last_name\np7,Al,Ford\n12,Bo,Ford\n",
			"payments.csv": "id,patient_id,dated_on,amount\n5,p7,2026-02-01,1\n",
		})
		runImport(t, db, dir, Options{})
		execSQL(t, db, "DELETE FROM imported_records WHERE resource = 'patients'")
		execSQL(t, db, "UPDATE imported_records SET legacy_id = '5.0'")
		execSQL(t, db, "UPDATE patients SET legacy_id = '12.0' WHERE legacy_id = '12'")
		rewrite(t, dir, "patients.csv", "id,first_name,last_name\np7,Al,Ford\n12.0,Bo,Ford\n")
		rewrite(t, dir, "payments.csv", "id,patient_id,dated_on,amount\n5.0,p7,2026-02-01,1\n6,P7,2026-02-01,2\n7,p7,2026-02-01,2\n")
		rewrite(t, dir, "mapping.yaml", "loose_ids: true\n"+readFiles(t, dir)["mapping.yaml"])
		out := t.TempDir()
		report := runImport(t, db, dir, Options{Rejects: out})
		if p, m := report.Files[0], report.Files[1]; p.Created > 0 || p.Rejected > 0 || m.Created != 2 || m.Unchanged != 1 || report.Warnings > 0 {
			t.Errorf("%+v %v", report, readFiles(t, out))
		}
	})
}

// Patients with the same name and date of birth cause a warning, even if their IDs are the same
// when loose.
func TestSamePersonWithSimilarID(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": "source: old\nloose_ids: true\nfiles:\n" + patientsByName,
			"patients.csv": "id,first_name,last_name\nP7,Al,Ford\n",
		})
		runImport(t, db, dir, Options{})
		execSQL(t, db, "DELETE FROM imported_records")
		execSQL(t, db, "UPDATE patients SET legacy_id = 'p7'")
		out := t.TempDir()
		runImport(t, db, dir, Options{Rejects: out})
		if found := readFiles(t, out)[Findings]; !strings.Contains(found, "patients.csv,2,P7,warning,last_name,,,has the name and the date of birth of the patient with the legacy id p7\n") {
			t.Error(found)
		}
	})
}

// The same legacy ID in two systems belongs to two patients.
func TestSameIDInTwoSystems(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		one := map[string]string{"mapping.yaml": "source: one\nfiles:\n" + patientsByName, "patients.csv": "id,first_name,last_name\n1,Al,Ford\n2,Bo,Ford\n"}
		runImport(t, db, writeFiles(t, one), Options{})
		two := map[string]string{"mapping.yaml": "source: two\nfiles:\n" + patientsByName, "patients.csv": "id,first_name,last_name\n1,Cy,Lee\n"}
		dir := writeFiles(t, two)
		for _, created := range []int{1, 0} {
			if report := runImport(t, db, dir, Options{}); report.Files[0].Created != created || report.Files[0].Updated != 0 {
				t.Errorf("%+v", report.Files)
			}
		}
		if n := queryInt(t, db, "SELECT count(*) FROM patients WHERE legacy_id = '1' AND (first_name = 'Al' OR first_name = 'Cy')"); n != 2 {
			t.Errorf("%d patients have the legacy id, want 2", n)
		}
		if report := runImport(t, db, writeFiles(t, one), Options{}); report.Files[0].Unchanged != 2 {
			t.Errorf("%+v", report.Files)
		}
	})
}
