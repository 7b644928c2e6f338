package subject_test

import (
	"fmt"
	"testing"

	"chairside/internal/store"
	"chairside/internal/store/storetest"
	"chairside/schema"
)

// planTreatment plans treatment that the patient pays for, which an account adds up.
func planTreatment(t *testing.T, db *store.DB, id int64) {
	t.Helper()
	storetest.Exec(t, db, "UPDATE treatment_plan_items SET completed = false, completed_at = NULL, price = 12300, payment_plan_id = (SELECT min(p.id) FROM payment_plans AS p WHERE p.practice_id = treatment_plan_items.practice_id AND NOT p.nhs) WHERE patient_id = $1", id)
	for _, total := range schema.Totals {
		storetest.Exec(t, db, "UPDATE "+total.Table+" AS t SET "+total.Column+" = "+total.SQL)
	}
	if storetest.Int(t, db, "SELECT count(*) FROM accounts WHERE planned_private_treatment_value > 0 AND patient_id = "+fmt.Sprint(id)) == 0 {
		t.Fatal("the patient has no planned treatment")
	}
}

// wrongTotals returns the number of rows whose total is not what their rows add up to, by column.
func wrongTotals(t *testing.T, db *store.DB) map[string]int {
	t.Helper()
	wrong := map[string]int{}
	for _, total := range schema.Totals {
		if n := storetest.Int(t, db, "SELECT count(*) FROM "+total.Table+" AS t WHERE t."+total.Column+" <> "+total.SQL); n > 0 {
			wrong[total.Table+"."+total.Column] = n
		}
	}
	return wrong
}
