package seed

import (
	"strings"
	"testing"

	"entgo.io/ent/dialect"

	"chairside/ent/noteversion"
	"chairside/internal/store/migrate"
	"chairside/schema"
)

// rules are queries that count the rows that break a rule of the data.
var rules = []struct{ name, query string }{
	{"an invoice is the sum of its items", `SELECT count(*) FROM invoices i WHERE amount <> (SELECT coalesce(sum(total_price), 0) FROM invoice_items WHERE invoice_id = i.id)`},
	{"an item is its quantity times its price", `SELECT count(*) FROM invoice_items WHERE total_price <> quantity * item_price OR quantity < 1`},
	{"every invoice charges something", `SELECT count(*) FROM invoices WHERE amount <= 0`},
	{"explanations add up to what was paid of an invoice", `SELECT count(*) FROM invoices i WHERE status <> 'void' AND amount - amount_outstanding <> (SELECT coalesce(sum(amount), 0) FROM payment_explanations WHERE invoice_id = i.id)`},
	{"explanations add up to what was used of a payment", `SELECT count(*) FROM payments p WHERE amount - amount_unexplained <> (SELECT coalesce(sum(amount), 0) FROM payment_explanations WHERE payment_id = p.id)`},
	{"explanations are positive", `SELECT count(*) FROM payment_explanations WHERE amount <= 0`},
	{"payments are positive and not over-explained", `SELECT count(*) FROM payments WHERE amount <= 0 OR amount_unexplained < 0`},
	{"deleted payments explain nothing", `SELECT count(*) FROM payments p WHERE deleted AND EXISTS (SELECT * FROM payment_explanations WHERE payment_id = p.id)`},
	{"void invoices are not paid for", `SELECT count(*) FROM invoices i WHERE status = 'void' AND (paid OR amount_outstanding <> 0 OR EXISTS (SELECT * FROM payment_explanations WHERE invoice_id = i.id))`},
	{"a payment pays the invoices of its patient", `SELECT count(*) FROM payment_explanations e JOIN payments p ON p.id = e.payment_id JOIN invoices i ON i.id = e.invoice_id WHERE p.patient_id <> i.patient_id`},
	{"an invoice is paid after it was made", `SELECT count(*) FROM payment_explanations e JOIN payments p ON p.id = e.payment_id JOIN invoices i ON i.id = e.invoice_id WHERE p.dated_on < i.dated_on`},
	{"paid means that nothing is outstanding", `SELECT count(*) FROM invoices WHERE paid <> (status = 'paid') OR status <> 'void' AND paid <> (amount_outstanding = 0) OR paid <> (paid_on IS NOT NULL)`},
	{"part_paid means that part of the amount is outstanding", `SELECT count(*) FROM invoices WHERE (status = 'part_paid') <> (amount_outstanding > 0 AND amount_outstanding < amount)`},
	{"sent invoices have a sending time, new ones do not", `SELECT count(*) FROM invoices WHERE status = 'sent' AND sent_at IS NULL OR status = 'new' AND sent_at IS NOT NULL`},
	{"an invoice is due after its date", `SELECT count(*) FROM invoices WHERE due_on < dated_on`},
	{"an invoice is charged to its patient's account", `SELECT count(*) FROM invoices i JOIN accounts a ON a.id = i.account_id WHERE a.patient_id <> i.patient_id`},

	{"every patient has one account", `SELECT count(*) FROM patients p WHERE (SELECT count(*) FROM accounts WHERE patient_id = p.id) <> 1`},
	{"a balance is opening plus payments minus invoices", `SELECT count(*) FROM accounts a WHERE current_balance <> opening_balance
		+ (SELECT coalesce(sum(amount), 0) FROM payments WHERE patient_id = a.patient_id AND NOT deleted)
		- (SELECT coalesce(sum(amount), 0) FROM invoices WHERE patient_id = a.patient_id AND status <> 'void')`},
	{"planned NHS value is that of open items", `SELECT count(*) FROM accounts a WHERE planned_nhs_treatment_value <>
		(SELECT coalesce(sum(price), 0) FROM treatment_plan_items t JOIN payment_plans p ON p.id = t.payment_plan_id WHERE t.patient_id = a.patient_id AND NOT t.completed AND p.nhs)`},
	{"planned private value is that of open items", `SELECT count(*) FROM accounts a WHERE planned_private_treatment_value <>
		(SELECT coalesce(sum(price), 0) FROM treatment_plan_items t JOIN payment_plans p ON p.id = t.payment_plan_id WHERE t.patient_id = a.patient_id AND NOT t.completed AND NOT p.nhs)`},

	{"charged items have an invoice", `SELECT count(*) FROM treatment_plan_items WHERE charged <> (invoice_id IS NOT NULL)`},
	{"charged items are on their invoice once, at their price", `SELECT count(*) FROM treatment_plan_items t WHERE charged AND (SELECT count(*) FROM invoice_items i
		WHERE i.treatment_plan_item_id = t.id AND i.invoice_id = t.invoice_id AND i.total_price = t.price AND i.treatment_plan_id = t.treatment_plan_id) <> 1`},
	{"invoices list only what they charge", `SELECT count(*) FROM invoice_items i JOIN treatment_plan_items t ON t.id = i.treatment_plan_item_id WHERE t.invoice_id <> i.invoice_id OR NOT t.charged`},
	{"a treatment is charged to its patient", `SELECT count(*) FROM treatment_plan_items t JOIN invoices i ON i.id = t.invoice_id WHERE i.patient_id <> t.patient_id OR i.status = 'void'`},
	{"completed items that cost something are charged", `SELECT count(*) FROM treatment_plan_items WHERE charged <> (completed AND price > 0)`},
	{"only completed items have a completion time", `SELECT count(*) FROM treatment_plan_items WHERE completed <> (completed_at IS NOT NULL)`},
	{"NHS charges are those of NHS plans", `SELECT count(*) FROM invoice_items i JOIN treatment_plan_items t ON t.id = i.treatment_plan_item_id JOIN payment_plans p ON p.id = t.payment_plan_id WHERE i.nhs_charge <> p.nhs`},
	{"products are not NHS charges", `SELECT count(*) FROM invoice_items WHERE sundry_id IS NOT NULL AND (nhs_charge OR treatment_plan_item_id IS NOT NULL)`},
	{"a plan and its items have the same patient", `SELECT count(*) FROM treatment_plan_items t JOIN treatment_plans p ON p.id = t.treatment_plan_id WHERE t.patient_id <> p.patient_id`},
	{"a plan is completed with its last item", `SELECT count(*) FROM treatment_plans p WHERE completed = EXISTS (SELECT * FROM treatment_plan_items WHERE treatment_plan_id = p.id AND NOT completed)
		OR completed <> (completed_at IS NOT NULL) OR completed <> (end_date IS NOT NULL)`},
	{"a plan's private value is that of its items", `SELECT count(*) FROM treatment_plans p WHERE private_treatment_value <>
		(SELECT coalesce(sum(t.price), 0) FROM treatment_plan_items t JOIN payment_plans k ON k.id = t.payment_plan_id WHERE t.treatment_plan_id = p.id AND NOT k.nhs)`},
	{"every plan and treatment have a fee", `SELECT count(*) FROM payment_plans p JOIN treatments t ON t.practice_id = p.practice_id WHERE (SELECT count(*) FROM fees WHERE payment_plan_id = p.id AND treatment_id = t.id) <> 1`},

	{"a claim has the units of its treatment plan", `SELECT count(*) FROM nhs_claims c JOIN treatment_plans p ON p.id = c.treatment_plan_id WHERE c.expected_uda <> p.nhs_uda_value OR NOT p.completed OR c.patient_id <> p.patient_id OR c.practitioner_id <> p.practitioner_id`},
	{"a claim's charge is that of its NHS items", `SELECT count(*) FROM nhs_claims c WHERE patient_charge <> (SELECT coalesce(sum(t.price), 0) FROM treatment_plan_items t JOIN payment_plans k ON k.id = t.payment_plan_id WHERE t.treatment_plan_id = c.treatment_plan_id AND k.nhs)`},
	{"a claim falls into the year of its contract", `SELECT count(*) FROM nhs_claims c JOIN treatment_plans p ON p.id = c.treatment_plan_id JOIN contracts k ON k.id = c.contract_id WHERE CASE WHEN c.ortho THEN p.start_date ELSE p.end_date END NOT BETWEEN k.start_date AND k.end_date`},
	{"a claim has the site of its practitioner and contract", `SELECT count(*) FROM nhs_claims c JOIN contracts k ON k.id = c.contract_id JOIN practitioners p ON p.id = c.practitioner_id WHERE c.site_id <> k.site_id OR c.site_id <> p.site_id`},
	{"units are awarded to completed claims", `SELECT count(*) FROM nhs_claims WHERE (claim_status = 'completed') <> (awarded_uda IS NOT NULL) OR (claim_status = 'completed') <> (approval_date IS NOT NULL) OR awarded_uda <> expected_uda`},
	{"claims that were sent have a date", `SELECT count(*) FROM nhs_claims WHERE (claim_status IN ('new', 'queued')) <> (submitted_date IS NULL) OR approval_date < submitted_date`},
	{"claim numbers are unique", `SELECT count(*) - count(DISTINCT sequence_number) FROM nhs_claims WHERE practice_id = (SELECT id FROM practices WHERE slug = 'demo')`},

	{"an appointment's state has its stamp", `SELECT count(*) FROM appointments WHERE CASE state WHEN 'Pending' THEN pending_at WHEN 'Confirmed' THEN confirmed_at WHEN 'Arrived' THEN arrived_at
		WHEN 'In surgery' THEN in_surgery_at WHEN 'Completed' THEN completed_at WHEN 'Cancelled' THEN cancelled_at ELSE did_not_attend_at END IS NULL`},
	{"stamps come in order", `SELECT count(*) FROM appointments WHERE pending_at < created_at OR confirmed_at < pending_at OR arrived_at < coalesce(confirmed_at, pending_at) OR in_surgery_at < arrived_at
		OR completed_at < in_surgery_at OR cancelled_at < coalesce(confirmed_at, pending_at) OR did_not_attend_at < coalesce(confirmed_at, pending_at)`},
	{"only cancelled and missed appointments have those times", `SELECT count(*) FROM appointments WHERE (state = 'Cancelled') <> (cancelled_at IS NOT NULL) OR (state = 'Did not attend') <> (did_not_attend_at IS NOT NULL)`},
	{"only patients who arrived were treated", `SELECT count(*) FROM appointments WHERE patient_id IS NOT NULL AND (state IN ('Arrived', 'In surgery', 'Completed')) <> (arrived_at IS NOT NULL) OR state <> 'Completed' AND completed_at IS NOT NULL`},
	{"a reason is one of the practice's that is not deleted", `SELECT count(*) FROM appointments a WHERE NOT EXISTS (SELECT * FROM appointment_reasons WHERE practice_id = a.practice_id AND reason = a.reason AND NOT deleted)`},
	{"archived patients have nothing ahead", `SELECT count(*) FROM appointments a JOIN patients p ON p.id = a.patient_id WHERE NOT p.active AND a.state IN ('Pending', 'Confirmed', 'Arrived', 'In surgery')`},
	{"practitioners who left have nothing ahead", `SELECT count(*) FROM appointments a JOIN practitioners p ON p.id = a.practitioner_id WHERE NOT p.active AND a.state IN ('Pending', 'Confirmed', 'Arrived', 'In surgery')`},
	{"those who left cannot sign in", `SELECT count(*) FROM practitioners p JOIN users u ON u.id = p.user_id WHERE p.active <> u.active`},

	{"a child is not addressed as an adult", `SELECT count(*) FROM patients WHERE title IN ('Master') AND NOT gender OR title IN ('Mrs', 'Miss', 'Ms', 'Lady', 'Dame') AND gender`},
	{"patients are treated at their dentist's site", `SELECT count(*) FROM patients p JOIN practitioners d ON d.id = p.dentist_id WHERE p.site_id <> d.site_id`},
	{"answers are to questions that ask", `SELECT count(*) FROM custom_field_answers a JOIN custom_fields f ON f.id = a.custom_field_id WHERE f.type IN ('title', 'spacer') OR (f.customizable_type = 'Treatment') <> (a.treatment_plan_item_id IS NOT NULL)`},
	{"an open recall has the date of its patient's row", `SELECT count(*) FROM recalls r JOIN patients p ON p.id = r.patient_id WHERE r.status <> 'completed'
		AND r.due_on <> CASE r.recall_type WHEN 'exam' THEN p.dentist_recall_date ELSE p.hygienist_recall_date END`},
	{"a recall date of a patient has one recall", `SELECT count(*) FROM patients p WHERE (SELECT count(*) FROM recalls WHERE patient_id = p.id AND status <> 'completed')
		<> CASE WHEN hygienist_recall_date IS NULL THEN 1 ELSE 2 END`},
	{"only cancelled appointments have a cancellation reason, which is not archived", `SELECT count(*) FROM appointments a JOIN appointment_cancellation_reasons r ON r.id = a.appointment_cancellation_reason_id WHERE a.state <> 'Cancelled' OR r.archived`},
	{"some cancelled appointments have no reason", `SELECT CASE WHEN count(*) BETWEEN 1 AND (SELECT count(*) FROM appointments WHERE state = 'Cancelled') / 2 THEN 0 ELSE 1 END FROM appointments WHERE state = 'Cancelled' AND appointment_cancellation_reason_id IS NULL`},
	{"a patient waits once", `SELECT count(*) FROM (SELECT 1 FROM waiting_lists WHERE removed_at IS NULL AND appointment_id IS NULL GROUP BY patient_id HAVING count(*) > 1) AS twice`},
	{"an entry of the waiting list has an appointment of its patient", `SELECT count(*) FROM waiting_lists w JOIN appointments a ON a.id = w.appointment_id WHERE a.patient_id <> w.patient_id OR a.created_at < w.created_at`},
	{"a recall is booked for its patient", `SELECT count(*) FROM recalls r JOIN appointments a ON a.id = r.appointment_id WHERE a.patient_id <> r.patient_id`},
	{"booked and completed recalls have an appointment", `SELECT count(*) FROM recalls WHERE (status IN ('booked', 'completed')) <> (appointment_id IS NOT NULL)`},
	{"an earlier text has a note", `SELECT count(*) FROM note_versions v WHERE NOT EXISTS (SELECT 1 FROM notes n WHERE n.id = v.note_id AND n.patient_id = v.patient_id)`},
	{"answers are given once", `SELECT count(*) FROM (SELECT 1 FROM custom_field_answers GROUP BY custom_field_id, patient_id, treatment_plan_item_id HAVING count(*) > 1) AS twice`},
}

// TestRowsKeepTheRules also loads PostgreSQL without indexes, which only a large database
// does.
func TestRowsKeepTheRules(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		o := demo
		if strings.HasPrefix(url, "postgres") {
			o.Patients = unindexedFrom // loads without indexes, like a large database
		}
		db := seeded(t, url, o)
		for _, rule := range rules {
			t.Run(rule.name, func(t *testing.T) {
				if n := number(t, db, rule.query); n > 0 {
					t.Errorf("%d rows break it: %s", n, rule.query)
				}
			})
		}
		now := morning(london(t), o.AsOf)
		for _, table := range new(batch).tables() {
			t.Run("times of "+table.name, func(t *testing.T) {
				var n int
				query := "SELECT count(*) FROM " + table.name + " WHERE updated_at < created_at OR updated_at > $1"
				if table.name == noteversion.Table { // which has one time
					query = "SELECT count(*) FROM note_versions WHERE at > $1"
				}
				if err := db.SQL.QueryRowContext(t.Context(), query, now).Scan(&n); err != nil || n > 0 {
					t.Errorf("%d rows, %v", n, err)
				}
				if n := number(t, db, "SELECT count(DISTINCT practice_id) FROM "+table.name+tableIsPractice[table.name]); n != 2 {
					t.Errorf("rows of %d practices", n)
				}
			})
		}
		if err := migrate.Verify(t.Context(), db); err != nil {
			t.Errorf("the schema no longer matches the migrations: %v", err)
		}
		t.Run("changes at many times", func(t *testing.T) {
			var last int
			err := db.SQL.QueryRowContext(t.Context(), "SELECT count(*) FROM appointments WHERE updated_at = $1", now).Scan(&last)
			if all := number(t, db, "SELECT count(*) FROM appointments"); err != nil || last*100 > all {
				t.Errorf("%d of %d appointments changed at the moment of seeding, %v", last, all, err)
			}
		})
		t.Run("a patient comes once a day", func(t *testing.T) {
			day := "start_time / 86400000000" // SQLite has microseconds
			if db.Dialect == dialect.Postgres {
				day = "date(start_time)"
			}
			if n := number(t, db, "SELECT count(*) FROM (SELECT 1 FROM appointments WHERE patient_id IS NOT NULL AND state NOT IN ('Cancelled', 'Did not attend') GROUP BY patient_id, "+day+" HAVING count(*) > 1) AS twice"); n > 0 {
				t.Errorf("%d days with two visits of a patient", n)
			}
		})
		t.Run("few double bookings", func(t *testing.T) {
			overlaps := number(t, db, `SELECT count(*) FROM appointments a JOIN appointments b ON b.practitioner_id = a.practitioner_id AND b.start_time < a.finish_time AND b.finish_time > a.start_time AND b.id > a.id
				WHERE a.state NOT IN ('Cancelled', 'Did not attend') AND b.state NOT IN ('Cancelled', 'Did not attend')`)
			if all := number(t, db, "SELECT count(*) FROM appointments"); overlaps < 2 || overlaps*100 > all {
				t.Errorf("%d overlaps among %d appointments", overlaps, all)
			}
		})
	})
}

// tableIsPractice is joined to the table of practices, whose practice_id is its own id.
var tableIsPractice = map[string]string{"practices": " JOIN (SELECT id AS practice_id FROM practices) AS p ON p.practice_id = practices.id"}

// TestAppointmentsAreWithinWorkingHours compares them with the practitioner's working
// sessions, or if there are none, with the practice's opening hours.
func TestAppointmentsAreWithinWorkingHours(t *testing.T) {
	b, zone := generated(t, demo), london(t)
	type period struct{ weekday, start, finish int }
	sessions := map[int64][]period{}
	for _, s := range b.workingSessions {
		sessions[s.PractitionerID] = append(sessions[s.PractitionerID], period{s.Weekday, s.StartMinute, s.FinishMinute})
	}
	var open []period
	for weekday, times := range demoPractice(DefaultPatients).practiceHours() {
		open = append(open, period{weekday, times.opens, times.closes})
	}
	for _, a := range b.appointments {
		list := sessions[a.PractitionerID]
		if list == nil {
			list = open
		}
		start := a.StartTime.In(zone)
		minute, inside := start.Hour()*hour+start.Minute(), false
		for _, p := range list {
			inside = inside || p.weekday == int(start.Weekday()) && p.start <= minute && minute < p.finish
		}
		if !inside {
			t.Errorf("appointment %d of practitioner %d at %s is outside working hours", a.ID, a.PractitionerID, start)
		}
	}
}

// TestInvoiceStatusesMatchTheirAmounts compares every invoice's status with the function
// that derives it.
func TestInvoiceStatusesMatchTheirAmounts(t *testing.T) {
	for _, i := range generated(t, demo).invoices {
		if want := schema.InvoiceStatusOf(i.Amount, i.AmountOutstanding, i.SentAt != nil, i.Status == schema.InvoiceVoid); i.Status != want {
			t.Errorf("an invoice of %s with %s outstanding is %s, want %s", i.Amount, i.AmountOutstanding, i.Status, want)
		}
	}
}
