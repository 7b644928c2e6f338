package importer

import (
	"slices"
	"strings"
	"testing"

	"chairside/internal/store"
)

// A mapping can list a file several times: for other columns of the same rows (fees of several
// plans, answers to several questions) or for other rows (payments and refunds).
func TestFileListedAgain(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": `
source: old
files:
` + patientsByName + `  - {file: patients.csv, entity: custom_field_answers, id: [], columns: {id: patient_id, smokes: value}, constants: {custom_field_id: Smoker}}
  - {file: patients.csv, entity: custom_field_answers, id: [], columns: {id: patient_id, units: value}, constants: {custom_field_id: Units}, only: {units: [5, many]}}
  - {file: questions.csv, entity: custom_fields, constants: {customizable_type: Patient, position: "1"}}
  - {file: codes.csv, entity: treatments, columns: {name: nomenclature}}
  - {file: codes.csv, entity: fees, id: [], columns: {id: treatment_id, private: price_one}, constants: {payment_plan_id: Private}}
  - {file: codes.csv, entity: fees, id: [], columns: {id: treatment_id, nhs: price_one}, constants: {payment_plan_id: NHS}, only: {nhs: "*"}}
  - {file: sundries.csv, entity: sundries, only: {price: "*", kind: "*"}}
  - {file: ledger.csv, entity: payments, only: {kind: PAY}, constants: {method: Cash}}
  - {file: ledger.csv, entity: payments, only: {kind: REF}, columns: {amount: {field: amount, negate: true}}, constants: {method: Cash}}
`,
			"questions.csv": "id,name,type\n1,Smoker,checkbox\n2,Units,number\n",
			"patients.csv":  "id,first_name,last_name,smokes,units,fax\n1,Al,Ford,Y,5\n2,Bo,Ford,N,,1\n3,Cy,Ford,N,many,\n4,Di,Ford,perhaps,5,\n",
			"codes.csv":     "id,name,private,nhs\nX,Crown,651.23,152.57\nY,Bridge,one,2.57\nZ,Chart,3.57,\n",
			"sundries.csv":  "id,name,price,kind\n1,Floss,1.11,x\n2,Brush,,x\n3,Paste,2.22,\n",
			"ledger.csv":    "id,kind,patient_id,dated_on,amount\n1,PAY,2,2026-02-01,100\n2,REF,2,2026-02-02,30\n2,REF,2,2026-02-02,30\n4,INV,2,2026-02-02,1\n5,REF,9,2026-02-02,1\n",
		})
		for range 2 {
			out := t.TempDir()
			report := runImport(t, db, dir, Options{Rejects: out})
			rejects := readFiles(t, out)
			for name, want := range map[string]string{
				"patients.patients.csv":               "2,,\"has 5 columns, the header has 6\"",
				"patients.custom_field_answers.csv":   "5,value,must be yes or no,",
				"patients.custom_field_answers.2.csv": "4,value,\"must be an amount",
				"codes.fees.csv":                      "3,price_one,",
				"codes.fees.2.csv":                    "",
				"ledger.payments.2.csv":               "4,legacy_id,already occurs in line 3,",
			} {
				if !strings.Contains(rejects[name], want) || strings.Contains(rejects["codes.fees.2.csv"], "\n3,") {
					t.Errorf("%s: %s", name, rejects[name])
				}
			}
			if !slices.Equal(report.Ignored["patients.csv"], []string{"fax"}) || len(report.Ignored) != 1 {
				t.Errorf("ignored columns: %v", report.Ignored)
			}
			checkInts(t, db, map[string]int{
				"SELECT current_balance FROM accounts AS a JOIN patients AS p ON p.id = a.patient_id WHERE p.legacy_id = '2'": 7000,
				"SELECT price FROM sundries WHERE name IN ('Floss', 'Brush', 'Paste')":                                        111,
				"SELECT count(*) FROM fees AS f JOIN treatments AS t ON t.id = f.treatment_id WHERE nomenclature = 'Chart'":   1,
				"SELECT count(*) FROM fees WHERE price_one IN (65123, 15257, 257, 357)":                                       4,
				"SELECT count(*) FROM custom_field_answers WHERE value IN ('false', '5.00')":                                  3,
			})
		}
	})
}

// An ID with a literal text keeps records apart: of files that both number their rows from 1,
// and of several records in one row.
func TestIDsWithLiteralText(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		day := func(name string) string {
			return `  - {file: rota.csv, entity: working_sessions, id: "{who}/` + name + `", only: {` + name + `: "*"}, columns: {who: {field: practitioner_id, by: email}, ` +
				name + `: start_minute, until: finish_minute}, constants: {weekday: ` + name + "}}\n"
		}
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": "source: old\nfiles:\n" + patientsByName + day("mon") + day("tue") + `  - {file: in.csv, entity: payments, id: ["in {no}"], constants: {method: Cash}}
  - {file: out.csv, entity: payments, id: "out {No}", columns: {amount: {field: amount, negate: true}}, constants: {method: Cash}}
  - {file: invoices.csv, entity: invoices}
  - {file: items.csv, entity: invoice_items}
  - {file: paid.csv, entity: payment_explanations, id: line, constants: {payment_id: "in {receipt}"}}
`,
			"patients.csv": "id,first_name,last_name\n1,Al,Ford\n",
			"rota.csv":     "who,mon,tue,until\nann@bright.test,9:00,10:00,17:00\n",
			"in.csv":       "no,patient_id,dated_on,amount\n1,1,2026-02-01,10\n2.0,1,2026-02-01,20\n,1,2026-02-01,5\n",
			"out.csv":      "no,patient_id,dated_on,amount\n1,1,2026-02-01,1\n2,1,2026-02-01,2\n",
			"invoices.csv": "id,patient_id,dated_on\n1,1,2026-02-01\n",
			"items.csv":    "id,invoice_id,name,item_price\n1,1,Exam,20\n",
			"paid.csv":     "receipt,invoice_id,amount\n2,1,20\n",
		})
		for again := range 2 {
			out := t.TempDir()
			report := runImport(t, db, dir, Options{Rejects: out})
			if refused := readFiles(t, out)["in.csv"]; report.Rejected() != 1 || !strings.Contains(refused, "4,legacy_id,can't be blank,,1,") || len(report.Ignored) > 0 {
				t.Errorf("%+v %s", report, refused)
			}
			for _, f := range report.Files {
				if again > 0 && f.Created+f.Updated > 0 {
					t.Errorf("%+v", f)
				}
			}
			checkInts(t, db, map[string]int{
				"SELECT current_balance FROM accounts":    700,
				"SELECT amount_outstanding FROM invoices": 0,
				"SELECT sum(1000 * weekday + start_minute) FROM working_sessions AS s JOIN imported_records AS r ON r.record_id = CAST(s.id AS text)": 3540 + 600,
				"SELECT count(*) FROM imported_records WHERE legacy_id IN ('in 1', 'in 2', 'out 2')":                                                  3,
			})
		}
	})
}

// There is one warning for each double booking, however many files have appointments.
func TestOneWarningForEachDoubleBooking(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		const constants = "constants: {practitioner_id: ann@bright.test, reason: Exam}"
		for _, test := range []struct{ second, file string }{{"diary.csv", "diary.csv"}, {"more.csv", ""}} {
			dir := writeFiles(t, map[string]string{
				"mapping.yaml": "source: " + test.second + "\nfiles:\n  - {file: diary.csv, entity: appointments, only: {kind: A}, " + constants + "}\n" +
					"  - {file: " + test.second + ", entity: appointments, only: {kind: B}, " + constants + "}\n",
				"diary.csv": "id,start_time,finish_time,kind\n1,2026-08-01 09:00,2026-08-01 09:30,A\n2,2026-08-01 09:15,2026-08-01 09:45,B\n",
				"more.csv":  "id,start_time,finish_time,kind\n2,2026-08-01 09:15,2026-08-01 09:45,B\n",
			})
			execSQL(t, db, "DELETE FROM appointments")
			out := t.TempDir()
			report := runImport(t, db, dir, Options{Rejects: out})
			want := "\n" + test.file + ",,2,warning,start_time,,,the practitioner is double-booked: it overlaps the appointment with the legacy id 1\n"
			if found := readFiles(t, out)[Findings]; report.Warnings != 1 || report.Files[1].Created != 1 || !strings.HasSuffix(found, want) {
				t.Errorf("%+v %s", report, found)
			}
		}
	})
}
