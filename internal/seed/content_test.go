package seed

import (
	"slices"
	"strings"
	"testing"

	"chairside/internal/civil"
	"chairside/internal/signin/password"
	"chairside/schema"
)

// TestDemoHasEveryKindOfRow checks that the demo has rows of every status, type and role,
// and enough of the rarer ones.
func TestDemoHasEveryKindOfRow(t *testing.T) {
	t.Parallel()
	db := seeded(t, "sqlite:"+t.TempDir()+"/seed.db", demo)
	const main = " practice_id = (SELECT id FROM practices WHERE slug = 'demo')"
	for _, v := range []struct {
		name, query string
		want        []string
	}{
		{"appointment states", "SELECT DISTINCT state FROM appointments WHERE" + main, schema.AppointmentState("").Values()},
		{"common reasons", "SELECT DISTINCT reason FROM appointments WHERE patient_id IS NOT NULL AND" + main, schema.Reasons},
		{"claim statuses", "SELECT DISTINCT claim_status FROM nhs_claims WHERE" + main, schema.ClaimStatus("").Values()},
		{"invoice statuses", "SELECT DISTINCT status FROM invoices WHERE" + main, schema.InvoiceStatus("").Values()},
		{"roles", "SELECT DISTINCT role FROM users WHERE" + main, schema.Role("").Values()},
		{"recall methods", "SELECT DISTINCT recall_method FROM patients WHERE" + main, schema.RecallMethod("").Values()},
		{"questions", "SELECT DISTINCT type FROM custom_fields WHERE" + main, schema.QuestionType("").Values()},
		{"screens", "SELECT DISTINCT customizable_type FROM custom_fields WHERE" + main, schema.Customizable("").Values()},
		{"payment methods", "SELECT DISTINCT method FROM payments WHERE" + main, paymentMethods},
	} {
		got := textColumn(t, db, v.query)
		for _, w := range v.want {
			if !slices.Contains(got, w) {
				t.Errorf("%s: no %s", v.name, w)
			}
		}
	}
	for _, v := range []struct {
		name, query string
		atLeast     int
	}{
		{"sites", "SELECT count(*) FROM sites WHERE" + main, 2},
		{"practitioners", "SELECT count(*) FROM practitioners WHERE" + main, 5},
		{"practitioners who left", "SELECT count(*) FROM practitioners WHERE NOT active AND" + main, 1},
		{"practitioners without working sessions", "SELECT count(*) FROM practitioners p WHERE NOT EXISTS (SELECT * FROM working_sessions WHERE practitioner_id = p.id)", 1},
		{"practitioners at two sites", "SELECT count(*) FROM (SELECT practitioner_id FROM working_sessions GROUP BY practitioner_id HAVING count(DISTINCT site_id) > 1) AS p", 1},
		{"treatments", "SELECT count(*) FROM treatments WHERE" + main, 40},
		{"multiple pricing", "SELECT count(*) FROM fees WHERE multiple_pricing AND price_two > price_one", 10},
		{"archived plans", "SELECT count(*) FROM payment_plans WHERE NOT active", 1},
		{"archived sources", "SELECT count(*) FROM acquisition_sources WHERE NOT active", 1},
		{"deleted reasons", "SELECT count(*) FROM appointment_reasons WHERE deleted AND" + main, 2},
		{"inactive questions", "SELECT count(*) FROM custom_fields WHERE NOT active", 1},
		{"answers about treatments", "SELECT count(*) FROM custom_field_answers WHERE treatment_plan_item_id IS NOT NULL", 20},
		{"contract years", "SELECT count(DISTINCT start_date) FROM contracts WHERE" + main, 2},
		{"archived patients", "SELECT count(*) FROM patients WHERE NOT active", 3},
		{"families", "SELECT count(DISTINCT family_id) FROM patients", 20},
		{"patients with a legacy id", "SELECT count(*) FROM patients WHERE legacy_id IS NOT NULL", 20},
		{"patients with metadata", "SELECT count(*) FROM patients WHERE length(metadata) > 2", 3},
		{"medical alerts", "SELECT count(*) FROM patients WHERE medical_alert AND medical_alert_text IS NOT NULL", 5},
		{"telephones that have no international form", "SELECT count(*) FROM patients WHERE home_phone IS NOT NULL AND home_phone_normalized IS NULL", 1},
		{"patients without a telephone", "SELECT count(*) FROM patients WHERE home_phone IS NULL AND mobile_phone IS NULL", 3},
		{"debtors", "SELECT count(*) FROM accounts WHERE current_balance < 0", 10},
		{"creditors", "SELECT count(*) FROM accounts WHERE current_balance > 0", 10},
		{"unexplained payments", "SELECT count(*) FROM payments WHERE NOT deleted AND amount_unexplained = amount", 2},
		{"partly explained payments", "SELECT count(*) FROM payments WHERE amount_unexplained > 0 AND amount_unexplained < amount", 5},
		{"deleted payments", "SELECT count(*) FROM payments WHERE deleted", 2},
		{"products sold", "SELECT count(*) FROM invoice_items WHERE sundry_id IS NOT NULL", 20},
		{"plans under way", "SELECT count(*) FROM treatment_plans WHERE NOT completed", 10},
		{"entries without patients", "SELECT count(*) FROM appointments WHERE patient_id IS NULL", 50},
		{"booked through the API", "SELECT count(*) FROM appointments WHERE booked_via_api", 50},
		{"recalls overdue", "SELECT count(*) FROM patients WHERE active AND dentist_recall_date < '2026-07-01'", 5},
		{"recalls due later", "SELECT count(*) FROM patients WHERE active AND dentist_recall_date > '2026-07-01'", 50},
		{"planned private treatment", "SELECT count(*) FROM accounts WHERE planned_private_treatment_value > 0", 3},
	} {
		if n := number(t, db, v.query); n < v.atLeast {
			t.Errorf("%s: %d, want at least %d", v.name, n, v.atLeast)
		}
	}
}

// TestLastDayHasPatientsInEveryState checks, for each weekday as the last day, that some
// patients have been seen, one is in surgery, and others wait or are still to come.
func TestLastDayHasPatientsInEveryState(t *testing.T) {
	for day := range 7 {
		o := demo
		o.AsOf = demo.AsOf.AddDays(day)
		t.Run(o.AsOf.Weekday().String(), func(t *testing.T) {
			var states []schema.AppointmentState
			for _, a := range generated(t, o).appointments {
				if a.PatientID != nil && civil.Of(a.StartTime.In(london(t))) == o.AsOf {
					states = append(states, a.State)
				}
			}
			for _, want := range []schema.AppointmentState{schema.Completed, schema.InSurgery, schema.Arrived, schema.Confirmed} {
				if !slices.Contains(states, want) {
					t.Errorf("no appointment is %s: %v", want, states)
				}
			}
			const morning = 6 // of one dentist, on Sundays
			if len(states) < morning {
				t.Errorf("only %d appointments", len(states))
			}
		})
	}
}

func TestAdministratorsCanSignIn(t *testing.T) {
	t.Parallel()
	o := demo
	o.Patients = 5
	db := seeded(t, "sqlite:"+t.TempDir()+"/seed.db", o)
	for _, email := range []string{DemoAdmin, SecondAdmin} {
		hash := textColumn(t, db, "SELECT password_hash FROM users WHERE role = 'administrator' AND email = '"+email+"'")
		if len(hash) != 1 || !strings.HasPrefix(hash[0], "$argon2id$v=19$m=19456,t=2,p=1$") {
			t.Fatalf("%s: %v", email, hash)
		}
		if ok, err := password.Verify(t.Context(), Password, hash[0]); !ok || err != nil {
			t.Errorf("%s cannot sign in: %v", email, err)
		}
	}
}

func TestContractYearBeginsInApril(t *testing.T) {
	for date, want := range map[string]string{"2026-03-31": "2025-04-01", "2026-04-01": "2026-04-01", "2026-12-31": "2026-04-01", "2027-01-01": "2026-04-01"} {
		if got := contractYear(civil.MustParse(date)); got.String() != want {
			t.Errorf("%s is in the year from %s, want %s", date, got, want)
		}
	}
}
