package importer

import (
	"path/filepath"
	"slices"
	"testing"

	"chairside/internal/store"
)

// Items take patient, payment plan and practitioner from their treatment plan, also when it
// changes.
func TestItemsFollowTheirPlan(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		const plans = "id,patient_id,payment_plan_id,practitioner_id\n"
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": `
source: old
files:
` + patientsByName + `  - {file: plans.csv, entity: treatment_plans}
  - {file: items.csv, entity: treatment_plan_items, columns: {done: completed}}
  - {file: contracts.csv, entity: contracts}
  - {file: claims.csv, entity: nhs_claims}
`,
			"patients.csv":  "id,first_name,last_name\n1,Al,Ford\n2,Bo,Lee\n",
			"plans.csv":     plans + "1,1,Private,ann@bright.test\n2,1,Private,ann@bright.test\n",
			"items.csv":     "id,treatment_plan_id,treatment_id,price,done\n1,1,Examination,10,0\n2,1,Scale and polish,20,1\n3,2,Examination,5,0\n",
			"contracts.csv": "id,name,contract_number,start_date\n1,GDS,1,2026-04-01\n",
			"claims.csv":    "id,treatment_plan_id,contract_id,claim_status,sequence_number\n1,1,1,new,7\n",
		})
		if first := runImport(t, db, dir, Options{}); first.Rejected() > 0 || first.Warnings+first.Differences > 0 {
			t.Fatalf("%+v", first)
		}
		const ofSecondPatient = "patient_id = (SELECT id FROM patients WHERE legacy_id = '2')"
		check := func(wants map[string]int) {
			t.Helper()
			for query, want := range wants {
				if got := queryInt(t, db, query); got != want {
					t.Errorf("%s: %d, want %d", query, got, want)
				}
			}
		}
		// The file of plans is imported without the others.
		rewrite(t, dir, "plans.csv", plans+"1,2,NHS,ann@bright.test\n2,1,Private,ann@bright.test\n")
		rewrite(t, dir, "plans.yaml", "source: old\nfiles: [{file: plans.csv, entity: treatment_plans}]\n")
		if report := runImport(t, db, dir, Options{Mapping: filepath.Join(dir, "plans.yaml")}); report.Files[0].Updated != 1 {
			t.Errorf("%+v", report)
		}
		check(map[string]int{
			"SELECT count(*) FROM treatment_plan_items WHERE " + ofSecondPatient:                                                                                        2,
			"SELECT count(*) FROM treatment_plan_items AS k JOIN payment_plans AS p ON p.id = k.payment_plan_id WHERE p.nhs":                                            2,
			"SELECT count(*) FROM audit_events WHERE resource = 'TreatmentPlanItem' AND action = 'update' AND CAST(fields AS text) LIKE '%patient_id%payment_plan_id%'": 2,
			"SELECT planned_nhs_treatment_value FROM accounts WHERE " + ofSecondPatient:                                                                                 1000,
			"SELECT planned_private_treatment_value FROM accounts WHERE NOT " + ofSecondPatient:                                                                         500,
			"SELECT sum(private_treatment_value) FROM treatment_plans":                                                                                                  500,
		})
		again := runImport(t, db, dir, Options{})
		if again.Rejected() > 0 || again.Warnings+again.Differences > 0 {
			t.Errorf("%+v", again)
		}
		for _, f := range again.Files {
			if want := f.Entity == "nhs_claims"; (f.Updated == 1) != want || f.Created > 0 {
				t.Errorf("%+v", f)
			}
		}
		check(map[string]int{"SELECT count(*) FROM nhs_claims WHERE " + ofSecondPatient: 1})
	})
}

// A changed plan writes no other columns of its items. Writing practice_id would make the
// database check all rows that refer to them.
func TestColumnsThatItemsInherit(t *testing.T) {
	t.Parallel()
	plans := entityOf("treatment_plans")
	items := entityOf("treatment_plan_items")
	withItems := &plan{entity: items, targets: []*target{{name: "patient_id"}, {name: "practitioner_id"}}}
	for _, test := range []struct {
		plans []*plan
		want  []string
	}{
		{nil, []string{"patient_id", "payment_plan_id", "practitioner_id"}},
		{[]*plan{withItems}, []string{"patient_id", "payment_plan_id"}},
	} {
		b := &batch{importer: &importer{plans: test.plans}, plan: &plan{entity: plans}}
		if got := slices.Sorted(slices.Values(b.inheritedByItems(items))); !slices.Equal(got, test.want) {
			t.Errorf("items inherit %s, want %s", got, test.want)
		}
	}
}

// A corrected row sets derived columns again: the result is that of importing only the corrected
// file.
func TestCorrectionsUpdateDerivedColumns(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		const diary, invoices, plans = "id,patient_id,start_time,finish_time,state,cancelled_at\n", "id,patient_id,dated_on,amount,status\n", "id,patient_id,completed_at\n"
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": `
source: old
files:
` + patientsByName + `  - {file: diary.csv, entity: appointments, constants: {practitioner_id: ann@bright.test, reason: Exam}}
  - {file: invoices.csv, entity: invoices, columns: {status: {field: status, values: {9: void, "*": ~}}}}
  - {file: plans.csv, entity: treatment_plans, constants: {practitioner_id: ann@bright.test, payment_plan_id: NHS}}
`,
			"patients.csv": "id,first_name,last_name\n1,Al,Ford\n",
			"diary.csv":    diary + "1,1,2026-03-02 09:00,2026-03-02 09:30,Completed,\n2,1,2026-03-03 09:00,2026-03-03 09:30,Cancelled,\n3,1,2026-03-04 09:00,2026-03-04 09:30,Cancelled,2026-03-01 12:00\n",
			"invoices.csv": invoices + "1,1,2026-06-01,10,9\n2,1,2026-06-01,20,1\n",
			"plans.csv":    plans + "1,1,2026-03-01 10:00\n2,1,\n",
		})
		runImport(t, db, dir, Options{})
		rewrite(t, dir, "diary.csv", diary+"1,1,2026-02-02 09:00,2026-02-02 09:30,Completed,\n2,1,2026-02-03 09:00,2026-02-03 09:30,Cancelled,\n3,1,2026-02-04 09:00,2026-02-04 09:30,Cancelled,\n")
		rewrite(t, dir, "invoices.csv", invoices+"1,1,2026-06-01,10,1\n2,1,2026-06-01,20,9\n")
		rewrite(t, dir, "plans.csv", plans+"1,1,\n2,1,2026-03-01 10:00\n")
		if second := runImport(t, db, dir, Options{}); second.Rejected() > 0 || second.Warnings+second.Differences > 0 {
			t.Errorf("%+v", second)
		}
		checkInts(t, db, map[string]int{
			"SELECT count(*) FROM appointments WHERE completed_at = finish_time":                 1,
			"SELECT count(*) FROM appointments WHERE cancelled_at = start_time":                  1,
			"SELECT count(*) FROM appointments WHERE cancelled_at > finish_time":                 1, // this time is from the file
			"SELECT count(*) FROM invoices WHERE status = 'void' AND amount = 2000":              1,
			"SELECT count(*) FROM invoices WHERE status = 'new' AND amount = 1000":               1,
			"SELECT current_balance FROM accounts":                                               -1000,
			"SELECT count(*) FROM treatment_plans WHERE completed":                               1,
			"SELECT count(*) FROM treatment_plans WHERE completed <> (completed_at IS NOT NULL)": 0,
			"SELECT count(*) FROM treatment_plans AS t JOIN imported_records AS r ON r.resource = 'treatment_plans' AND r.record_id = CAST(t.id AS text) WHERE r.legacy_id = '2' AND completed": 1,
		})
	})
}
