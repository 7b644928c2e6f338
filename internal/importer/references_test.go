package importer

import (
	"strings"
	"testing"

	"chairside/internal/store"
)

// A reference to a legacy ID of several columns has several columns, too.
func TestReferencesOfSeveralColumns(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": "source: old\nfiles:\n" + patientsByName + `  - {file: codes.csv, entity: treatments, id: [List, Code], columns: {Name: nomenclature}}
  - {file: plans.csv, entity: treatment_plans, constants: {payment_plan_id: Private, practitioner_id: ann@bright.test}}
  - file: work.csv
    entity: treatment_plan_items
    id: [Plan, No]
    columns:
      Plan: treatment_plan_id
      List: {field: treatment_id, by: legacy_id}
      Code: {field: treatment_id, by: legacy_id}
      Price: price
  - {file: invoices.csv, entity: invoices}
  - {file: items.csv, entity: invoice_items, columns: {Plan: treatment_plan_item_id, No: treatment_plan_item_id}}
`,
			"patients.csv": "id,first_name,last_name\n1,Al,Ford\n",
			"codes.csv":    "List,Code,Name\nA,1,Crown\nB,1,Bridge\n",
			"plans.csv":    "id,patient_id\n7,1\n",
			"work.csv":     "Plan,No,List,Code,Price\n7,1,A,1,10\n7,2,B,1,20\n7,3,,1,30\n",
			"invoices.csv": "id,patient_id,dated_on\n1,1,2026-02-01\n",
			"items.csv":    "id,invoice_id,Plan,No,name,item_price\n1,1,7,2,Bridge,20\n2,1,,,Floss,1\n3,1,7,9,Crown,1\n",
		})
		out := t.TempDir()
		report := runImport(t, db, dir, Options{Rejects: out})
		if refused := readFiles(t, out); report.Rejected() != 2 || !strings.Contains(refused["work.csv"], "4,treatment_id,") || !strings.Contains(refused["items.csv"], "4,treatment_plan_item_id,") {
			t.Errorf("%+v %v", report, refused)
		}
		const query = `SELECT count(*) FROM invoice_items AS i JOIN treatment_plan_items AS k ON k.id = i.treatment_plan_item_id JOIN treatments AS t ON t.id = k.treatment_id
			WHERE t.nomenclature = 'Bridge' AND i.name = 'Bridge' AND k.price = 2000`
		if n := queryInt(t, db, query); n != 1 {
			t.Errorf("%d items refer to the bridge, want 1", n)
		}
	})
}
