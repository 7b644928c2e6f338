package importer

import (
	"encoding/json"
	"strings"
	"testing"

	"chairside/internal/store"
)

// Rows with a value that must be unique are rejected and the others imported. If an existing row
// changes to such a value, only the database can tell.
func TestDuplicateValuesAreRejected(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		const mapping = "source: old\nfiles: [{file: staff.csv, entity: users}]"
		const first = "id,first_name,last_name,email,role\n1,A,A,same@x.test,nurse\n2,B,B,other@x.test,nurse\n3,C,C,Same@x.test,nurse\n4,D,D,more@x.test,nurse\n"
		out := t.TempDir()
		report := runImport(t, db, writeFiles(t, map[string]string{"mapping.yaml": mapping, "staff.csv": first}), Options{Rejects: out})
		if f := report.Files[0]; f.Created != 3 || f.Rejected != 1 || f.Rows != 4 {
			t.Errorf("%+v", f)
		}
		if got := readFiles(t, out)["staff.csv"]; !strings.Contains(got, "\n4,email,is already used by the record with the legacy id 1") {
			t.Error(got)
		}
		changed := strings.NewReplacer("other@", "same@", "D,D", "D,E").Replace(first)
		report = runImport(t, db, writeFiles(t, map[string]string{"mapping.yaml": mapping, "staff.csv": changed}), Options{Rejects: out})
		if f := report.Files[0]; f.Updated != 1 || f.Unchanged != 1 || f.Rejected != 2 {
			t.Errorf("%+v", f)
		}
		if got := readFiles(t, out)["staff.csv"]; !strings.Contains(got, "\n3,,another record has a value that must be unique") {
			t.Error(got)
		}
	})
}

// Each patient has at most one answer to a question, from any source.
func TestOneAnswerToAQuestion(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": `source: old
files:
  - {file: questions.csv, entity: custom_fields}
  - {file: patients.csv, entity: patients, constants: {ethnicity: "99", payment_plan_id: Private, gender: M, address_line_1: "1 High Street", postcode: S1 1AA}}
  - {file: answers.csv, entity: custom_field_answers}
`,
			"questions.csv": "id,name,type,customizable_type,position\n1,Hobby,text,Patient,1\n2,Team,text,Patient,2\n",
			"patients.csv":  "id,first_name,last_name,date_of_birth,title\n1,A,A,1990-01-01,Mr\n2,B,B,1991-01-01,Mr\n",
			"answers.csv":   "id,custom_field_id,patient_id,value\n1,1,1,Chess\n2,2,1,Rovers\n3,1,2,Chess\n4,1,1,Golf\n",
		})
		out := t.TempDir()
		report := runImport(t, db, dir, Options{Rejects: out})
		if f := report.Files[2]; f.Created != 3 || f.Rejected != 1 {
			t.Errorf("%+v %v", report.Files, readFiles(t, out))
		}
		if got := readFiles(t, out)["answers.csv"]; !strings.Contains(got, "\n5,custom_field_id,is already used by the record with the legacy id 1") {
			t.Error(got)
		}
		// One answer exists, but not from an import.
		execSQL(t, db, "DELETE FROM imported_records WHERE resource = 'custom_field_answers' AND legacy_id = '3'")
		execSQL(t, db, "UPDATE custom_field_answers SET value = 'Darts'")
		report = runImport(t, db, dir, Options{Rejects: out})
		if f := report.Files[2]; f.Created != 0 || f.Updated != 3 || f.Rejected != 1 {
			t.Errorf("again: %+v %v", f, readFiles(t, out))
		}
		if n := queryInt(t, db, "SELECT count(*) FROM custom_field_answers"); n != 3 {
			t.Errorf("%d answers", n)
		}
	})
}

// In a file without IDs, a second row with the same unique key is rejected. Otherwise the two
// rows would update the record alternately.
func TestDuplicatesWithoutIDs(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": `
source: old
files:
` + patientsByName + `  - {file: accounts.csv, entity: accounts}
  - {file: fees.csv, entity: fees, constants: {payment_plan_id: Private}}
`,
			"patients.csv": "id,first_name,last_name\n1,Al,Ford\n2,Bo,Ford\n",
			"accounts.csv": "patient_id,opening_balance,current_balance\n1,10,10\n2,20,20\n1,30,30\n1,short\n",
			"fees.csv":     "treatment_id,price_one\nExamination,10\nScale and polish,20\nexamination,30\nNone,5\nNone,6\n",
		})
		for run, changed := range []int{2 + 2 + 2, 0} {
			o := Options{Rejects: t.TempDir()}
			report, wrote := runImport(t, db, dir, o), 0
			for _, f := range report.Files {
				wrote += f.Created + f.Updated
			}
			if report.Rejected() != 5 || wrote != changed || report.Differences > 0 {
				t.Errorf("import %d: %+v", run, report)
			}
			rejects := readFiles(t, o.Rejects)
			for name, want := range map[string]string{"accounts.csv": "4,patient_id,already occurs in line 2,", "fees.csv": "4,treatment_id,already occurs in line 2,"} {
				if !strings.Contains(rejects[name], want) {
					t.Errorf("import %d: %s is %s", run, name, rejects[name])
				}
			}
		}
		if n := queryInt(t, db, "SELECT sum(opening_balance) FROM accounts"); n != 3000 {
			t.Errorf("the accounts opened with %d", n)
		}
		if n := queryInt(t, db, "SELECT price_one FROM fees AS f JOIN treatments AS t ON t.id = f.treatment_id JOIN payment_plans AS p ON p.id = f.payment_plan_id WHERE t.nomenclature = 'Examination' AND p.Name = 'Private'"); n != 1000 {
			t.Errorf("the fee is %d", n)
		}
	})
}

// A record that was deleted here does not reserve its unique key.
func TestDeletedRecordsFreeTheirUniqueKey(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": "source: old\nfiles: [{file: fees.csv, entity: fees, id: No, constants: {payment_plan_id: Private}}]",
			"fees.csv":     "No,treatment_id,price_one\n1,Examination,12.34\n",
		})
		runImport(t, db, dir, Options{})
		execSQL(t, db, "DELETE FROM fees WHERE price_one = 1234")
		rewrite(t, dir, "fees.csv", "No,treatment_id,price_one\n1,Examination,12.34\n2,Examination,20\n")
		if f := runImport(t, db, dir, Options{}).Files[0]; f.Created != 1 || f.Rejected != 0 {
			t.Errorf("%+v", f)
		}
	})
}

// All problems of a row are reported together, so that it can be corrected once.
func TestAllProblemsOfARow(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": "source: old\nfiles:\n" + strings.NewReplacer(`, date_of_birth: "1990-01-02"`, "", "payment_plan_id: Private, ", "").Replace(patientsByName) + `  - {file: invoices.csv, entity: invoices}
  - {file: payments.csv, entity: payments, constants: {method: Cash}}
`,
			"patients.csv": "id,first_name,last_name,date_of_birth,email_address,payment_plan_id\n1,Al,Ford,2035-01-02,al(at)old.test,\n2,Bo,Ford,2000-01-02,,Private\n",
			"invoices.csv": "id,patient_id,dated_on\n1,2,2026-02-01\n2,,\n",
			"payments.csv": "id,patient_id,invoice_id,dated_on,amount\n1,,1,2026-02-01,5\n2,,,2026-02-01,5\n",
		})
		out := t.TempDir()
		runImport(t, db, dir, Options{Rejects: out})
		rejects := readFiles(t, out)
		for name, want := range map[string]string{
			"patients.csv": "2,\"date_of_birth, email_address, payment_plan_id\",date_of_birth must not be in the future; email_address must be an e-mail address; payment_plan_id can't be blank,1,",
			"invoices.csv": "3,\"dated_on, patient_id\",dated_on can't be blank; patient_id can't be blank,2,",
			"payments.csv": "3,patient_id,is missing,2,",
		} {
			if strings.Count(rejects[name], "\n") != 2 || !strings.Contains(rejects[name], want) {
				t.Errorf("%s: %s", name, rejects[name])
			}
		}
	})
}

// A second row with the same unique key is rejected even if it names what it refers to in
// another way, is in another batch or file, or comes after the import was interrupted.
func TestDuplicatesWithoutIDsHoweverSpelled(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		const loose = "loose_ids: true\n"
		const mapping = `source: old
files:
  - {file: codes.csv, entity: treatments}
  - {file: fees.csv, entity: fees, id: [], constants: {payment_plan_id: Private}}
  - {file: more.csv, entity: fees, id: [], constants: {payment_plan_id: Private}}
  - {file: last.csv, entity: fees, constants: {payment_plan_id: Private}}
`
		fees := "treatment_id,price_one\nX,10\n2,20\n" + strings.Repeat("None,1\n", batchRows-2) + "Crown,30\n2.0,40\n02,50\n"
		dir := writeFiles(t, map[string]string{
			"codes.csv": "id,nomenclature\nX,Crown\n2,Bridge\n3,Chart\n",
			"fees.csv":  fees,
			"more.csv":  "treatment_id,price_one\ncrown,60\nBridge,70\n3,5\n",
			"last.csv":  "id,treatment_id,price_one\nl1,Bridge,80\nl2,Chart,90\n",
		})
		out := t.TempDir()
		check := func(prefix string, resumed bool, written int) {
			t.Helper()
			rewrite(t, dir, "mapping.yaml", prefix+mapping)
			report, wrote := runImport(t, db, dir, Options{Rejects: out}), 0
			for _, f := range report.Files {
				wrote += f.Created + f.Updated
			}
			if wrote != written || report.Resumed != resumed {
				t.Errorf("%+v", report)
			}
			third := `,treatment_id,"is not the legacy id or nomenclature of a record in treatments`
			if prefix == loose {
				third = ",treatment_id,already occurs in line 3,02,"
			}
			rejects := readFiles(t, out)
			for name, list := range map[string][]string{
				"fees.csv": {"\n2502,treatment_id,duplicates line 2,Crown,", "\n2503,treatment_id,already occurs in line 3,2.0,", "\n2504" + third},
				"more.csv": {"\n2,treatment_id,already occurs in line 2502 of fees.csv,crown,", "\n3,treatment_id,duplicates line 3 of fees.csv,Bridge,"},
				"last.csv": {"\n2,treatment_id,duplicates line 3 of fees.csv,l1,", "\n3,treatment_id,duplicates line 4 of more.csv,l2,"},
			} {
				for _, want := range list {
					if got := rejects[name]; !strings.Contains(got, want) {
						t.Errorf("%s without %q: %s", name, want, got[max(0, len(got)-300):])
					}
				}
			}
			if n := queryInt(t, db, "SELECT sum(price_one) FROM fees AS f JOIN treatments AS t ON t.id = f.treatment_id WHERE nomenclature IN ('Crown', 'Bridge', 'Chart')"); n != 3500 {
				t.Errorf("the fees are %d", n)
			}
		}
		check("", false, 3+3)
		for _, prefix := range []string{"", loose} {
			check(prefix, false, 0)
			rejects := readFiles(t, out)
			for _, file := range []int{1, 2, 3} { // interrupted in the first file of fees, or before one of the others
				var content []byte
				if err := db.SQL.QueryRowContext(t.Context(), "SELECT progress FROM import_runs ORDER BY updated_at DESC, id DESC LIMIT 1").Scan(&content); err != nil {
					t.Fatal(err)
				}
				var c checkpoint
				if err := json.Unmarshal(content, &c); err != nil {
					t.Fatal(err)
				}
				c.Stage = stageLoad
				for i := file; i < 4; i++ {
					c.Files[i] = fileProgress{}
				}
				if file == 1 {
					c.Files[1] = fileProgress{Rows: batchRows, rowCounts: rowCounts{Unchanged: 2, Rejected: batchRows - 2}, RejectsBytes: int64(strings.Index(rejects["fees.csv"], "\n2502,") + 1)}
				}
				content, err := json.Marshal(c)
				if err != nil {
					t.Fatal(err)
				}
				execSQL(t, db, "UPDATE import_runs SET finished_at = NULL, progress = $1 WHERE id = (SELECT id FROM import_runs ORDER BY updated_at DESC, id DESC LIMIT 1)", content)
				check(prefix, true, c.Files[0].Created+c.Files[0].Updated)
				sameFiles(t, readFiles(t, out), rejects)
			}
		}
	})
}
