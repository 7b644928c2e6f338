package importer

import (
	"strings"
	"testing"

	"chairside/internal/store"
)

// A bar separates teeth, but in Palmer notation it says which side a tooth is on.
func TestPalmerNotation(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": "source: old\nfiles:\n" + patientsByName + `  - {file: plans.csv, entity: treatment_plans, constants: {payment_plan_id: Private, practitioner_id: ann@bright.test}}
  - {file: items.csv, entity: treatment_plan_items, constants: {treatment_id: Examination}}
`,
			"patients.csv": "id,first_name,last_name\n1,Al,Ford\n",
			"plans.csv":    "id,patient_id\n1,1\n",
			"items.csv":    "id,treatment_plan_id,price,teeth\n1,1,1,6|\n2,1,2,|6\n3,1,3,\"6|,7|\"\n4,1,4,16|17|\n5,1,5,6|6\n6,1,6,UR6/UR7 UL1\n7,1,7,\n",
		})
		if report := runImport(t, db, dir, Options{}); report.Rejected() > 0 {
			t.Errorf("%+v", report)
		}
		for price, want := range []string{`["6|"]`, `["|6"]`, `["6|","7|"]`, `["16","17"]`, `["6|6"]`, `["UR6","UR7","UL1"]`, `[]`} {
			var teeth string
			if err := db.SQL.QueryRowContext(t.Context(), "SELECT CAST(teeth AS text) FROM treatment_plan_items WHERE price = $1", 100*(price+1)).Scan(&teeth); err != nil {
				t.Fatal(err)
			}
			if strings.ReplaceAll(teeth, " ", "") != want {
				t.Errorf("%d: %s, want %s", price, teeth, want)
			}
		}
	})
}
