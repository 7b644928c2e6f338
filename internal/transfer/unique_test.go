package transfer

import (
	"strings"
	"testing"

	"chairside/internal/store"
)

// Rows with what only one may have do not stop the others: new ones, and those
// that the database alone can refuse because they change to it.
func TestRowsThatAreThereAlready(t *testing.T) {
	each(t, func(t *testing.T, db *store.DB) {
		bright(t, db)
		const mapping = "source: old\nfiles: [{file: staff.csv, entity: users}]"
		const first = "id,first_name,last_name,email,role\n1,A,A,same@x.test,nurse\n2,B,B,other@x.test,nurse\n3,C,C,Same@x.test,nurse\n4,D,D,more@x.test,nurse\n"
		out := t.TempDir()
		report := importing(t, db, files(t, map[string]string{"mapping.yaml": mapping, "staff.csv": first}), ImportOptions{Rejects: out})
		if f := report.Files[0]; f.Created != 3 || f.Rejected != 1 || f.Rows != 4 {
			t.Errorf("%+v", f)
		}
		if got := contents(t, out)["staff.csv"]; !strings.Contains(got, "\n4,email,is that of the record with the legacy id 1") {
			t.Error(got)
		}
		changed := strings.NewReplacer("other@", "same@", "D,D", "D,E").Replace(first)
		report = importing(t, db, files(t, map[string]string{"mapping.yaml": mapping, "staff.csv": changed}), ImportOptions{Rejects: out})
		if f := report.Files[0]; f.Updated != 1 || f.Unchanged != 1 || f.Rejected != 2 {
			t.Errorf("%+v", f)
		}
		if got := contents(t, out)["staff.csv"]; !strings.Contains(got, "\n3,,there is another record") {
			t.Error(got)
		}
	})
}

// A question is answered once by each patient and for each treatment, whoever
// gave the answer.
func TestOneAnswerToAQuestion(t *testing.T) {
	each(t, func(t *testing.T, db *store.DB) {
		bright(t, db)
		dir := files(t, map[string]string{
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
		report := importing(t, db, dir, ImportOptions{Rejects: out})
		if f := report.Files[2]; f.Created != 3 || f.Rejected != 1 {
			t.Errorf("%+v %v", report.Files, contents(t, out))
		}
		if got := contents(t, out)["answers.csv"]; !strings.Contains(got, "\n5,custom_field_id,is that of the record with the legacy id 1") {
			t.Error(got)
		}
		// One of them was given here before it is imported.
		execute(t, db, "DELETE FROM imported_records WHERE resource = 'custom_field_answers' AND legacy_id = '3'")
		execute(t, db, "UPDATE custom_field_answers SET value = 'Darts'")
		report = importing(t, db, dir, ImportOptions{Rejects: out})
		if f := report.Files[2]; f.Created != 0 || f.Updated != 3 || f.Rejected != 1 {
			t.Errorf("again: %+v %v", f, contents(t, out))
		}
		if n := number(t, db, "SELECT count(*) FROM custom_field_answers"); n != 3 {
			t.Errorf("%d answers", n)
		}
	})
}

// In a file without ids, a second row of a record that can be there only once is
// refused: otherwise each import would change what the one before has written.
func TestRecordsWithoutIDsComeOnce(t *testing.T) {
	each(t, func(t *testing.T, db *store.DB) {
		bright(t, db)
		dir := files(t, map[string]string{
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
			o := ImportOptions{Rejects: t.TempDir()}
			report, wrote := importing(t, db, dir, o), 0
			for _, f := range report.Files {
				wrote += f.Created + f.Updated
			}
			if report.Rejected() != 5 || wrote != changed || report.Differences > 0 {
				t.Errorf("import %d: %+v", run, report)
			}
			rejects := contents(t, o.Rejects)
			for name, want := range map[string]string{"accounts.csv": "4,patient_id,occurs already in line 2,", "fees.csv": "4,treatment_id,occurs already in line 2,"} {
				if !strings.Contains(rejects[name], want) {
					t.Errorf("import %d: %s is %s", run, name, rejects[name])
				}
			}
		}
		if n := number(t, db, "SELECT sum(opening_balance) FROM accounts"); n != 3000 {
			t.Errorf("the accounts opened with %d", n)
		}
		if n := number(t, db, "SELECT price_one FROM fees AS f JOIN treatments AS t ON t.id = f.treatment_id JOIN payment_plans AS p ON p.id = f.payment_plan_id WHERE t.nomenclature = 'Examination' AND p.name = 'Private'"); n != 1000 {
			t.Errorf("the fee is %d", n)
		}
	})
}

// A record that was deleted here does not keep another one with what only one
// may have from coming.
func TestDeletedRecordsKeepNothing(t *testing.T) {
	each(t, func(t *testing.T, db *store.DB) {
		bright(t, db)
		dir := files(t, map[string]string{
			"mapping.yaml": "source: old\nfiles: [{file: fees.csv, entity: fees, id: No, constants: {payment_plan_id: Private}}]",
			"fees.csv":     "No,treatment_id,price_one\n1,Examination,12.34\n",
		})
		importing(t, db, dir, ImportOptions{})
		execute(t, db, "DELETE FROM fees WHERE price_one = 1234")
		rewrite(t, dir, "fees.csv", "No,treatment_id,price_one\n1,Examination,12.34\n2,Examination,20\n")
		if f := importing(t, db, dir, ImportOptions{}).Files[0]; f.Created != 1 || f.Rejected != 0 {
			t.Errorf("%+v", f)
		}
	})
}

// A row is refused for all that can be seen of it alone, so that it is mended once.
func TestRefusedForAllAtOnce(t *testing.T) {
	each(t, func(t *testing.T, db *store.DB) {
		bright(t, db)
		dir := files(t, map[string]string{
			"mapping.yaml": "source: old\nfiles:\n" + strings.NewReplacer(`, date_of_birth: "1990-01-02"`, "", "payment_plan_id: Private, ", "").Replace(patientsByName) + `  - {file: invoices.csv, entity: invoices}
  - {file: payments.csv, entity: payments, constants: {method: Cash}}
`,
			"patients.csv": "id,first_name,last_name,date_of_birth,email_address,payment_plan_id\n1,Al,Ford,2035-01-02,al(at)old.test,\n2,Bo,Ford,2000-01-02,,Private\n",
			"invoices.csv": "id,patient_id,dated_on\n1,2,2026-02-01\n2,,\n",
			"payments.csv": "id,patient_id,invoice_id,dated_on,amount\n1,,1,2026-02-01,5\n2,,,2026-02-01,5\n",
		})
		out := t.TempDir()
		importing(t, db, dir, ImportOptions{Rejects: out})
		rejects := contents(t, out)
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
