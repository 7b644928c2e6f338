package importer

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"chairside/ent"
	"chairside/internal/clock"
	"chairside/internal/provision"
	"chairside/internal/store"
)

var updateGolden = flag.Bool("update", false, "write the golden files")

// now is the time of imports in these tests: 10:15 in London.
var now = at("2026-07-01T09:15:00Z")

// createPractice creates the practice to import into.
func createPractice(t testing.TB, db *store.DB) provision.PracticeIDs {
	t.Helper()
	var o provision.PracticeIDs
	err := db.Tx(clock.With(t.Context(), now), func(tx *ent.Client) (err error) {
		o, err = provision.Practice(clock.With(t.Context(), now), tx, provision.NewPractice{
			Name: "Bright", TimeZone: "Europe/London", Country: "GB",
			First: provision.Person{FirstName: "Ann", LastName: "Archer", Email: "ann@bright.test"},
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// runImport imports the files in dir. The test fails if that fails. Rejects go to a temporary
// directory unless the options name one.
func runImport(t testing.TB, db *store.DB, dir string, o Options) *Report {
	t.Helper()
	if o.Rejects == "" {
		o.Rejects = t.TempDir()
	}
	report, err := Import(clock.With(context.WithoutCancel(t.Context()), now), db, dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// The sample files of another system are imported, except for the rows that are wrong, and a
// second import changes nothing.
func TestOldSoft(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		const dir, golden = "testdata/oldsoft", "testdata/oldsoft/expected"
		out := t.TempDir()
		report := runImport(t, db, dir, Options{Rejects: out})
		if *updateGolden {
			if err := os.RemoveAll(golden); err != nil {
				t.Fatal(err)
			}
			if err := os.CopyFS(golden, os.DirFS(out)); err != nil {
				t.Fatal(err)
			}
		}
		want, got := readFiles(t, golden), readFiles(t, out)
		for name := range want {
			if got[name] != want[name] {
				t.Errorf("%s:\n%s\nwant:\n%s", name, got[name], want[name])
			}
		}
		if len(got) != len(want) {
			t.Errorf("%d files, want %d", len(got), len(want))
		}
		for _, f := range report.Files {
			if f.Created == 0 || f.Updated+f.Unchanged > 0 || f.Created+f.Rejected != f.Rows {
				t.Errorf("%+v", f)
			}
		}
		for _, query := range invariants {
			if n := queryInt(t, db, query); n != 0 {
				t.Errorf("%d rows are inconsistent: %s", n, query)
			}
		}
		for _, query := range oldSoftRows {
			if n := queryInt(t, db, query); n != 1 {
				t.Errorf("%d rows, want 1: %s", n, query)
			}
		}
		before := queryInt(t, db, "SELECT count(*) FROM audit_events")
		again := runImport(t, db, dir, Options{Rejects: filepath.Join(out, "again")})
		for _, f := range again.Files {
			if f.Created+f.Updated > 0 || f.Unchanged+f.Rejected != f.Rows {
				t.Errorf("second import: %+v", f)
			}
		}
		if n := queryInt(t, db, "SELECT count(*) FROM audit_events"); n != before {
			t.Errorf("the second import wrote %d changes", n-before)
		}
	})
}

// invariants count the rows that are inconsistent with others. After an import there are none.
var invariants = []string{
	"SELECT count(*) FROM patients AS p WHERE (SELECT count(*) FROM accounts AS a WHERE a.patient_id = p.id) <> 1",
	"SELECT count(*) FROM invoices AS i WHERE amount <> (SELECT coalesce(sum(total_price), 0) FROM invoice_items WHERE invoice_id = i.id)",
	"SELECT count(*) FROM invoice_items WHERE total_price <> quantity * item_price",
	"SELECT count(*) FROM invoices AS i WHERE status <> 'void' AND amount - amount_outstanding <> (SELECT coalesce(sum(amount), 0) FROM payment_explanations WHERE invoice_id = i.id)",
	"SELECT count(*) FROM payments AS p WHERE amount - amount_unexplained <> (SELECT coalesce(sum(amount), 0) FROM payment_explanations WHERE payment_id = p.id)",
	"SELECT count(*) FROM invoices WHERE paid <> (status = 'paid') OR paid <> (paid_on IS NOT NULL)",
	`SELECT count(*) FROM accounts AS a WHERE current_balance <> opening_balance
		+ (SELECT coalesce(sum(amount), 0) FROM payments WHERE patient_id = a.patient_id AND NOT deleted)
		- (SELECT coalesce(sum(amount), 0) FROM invoices WHERE patient_id = a.patient_id AND status <> 'void')`,
	"SELECT count(*) FROM appointments WHERE (state = 'Cancelled') <> (cancelled_at IS NOT NULL) OR (state = 'Did not attend') <> (did_not_attend_at IS NOT NULL)",
	"SELECT count(*) FROM treatment_plans WHERE completed <> (completed_at IS NOT NULL)",
	"SELECT count(*) FROM patients WHERE search_text = '' OR last_name_folded = ''",
}

// oldSoftRows are queries that count exactly one row each after the import of the sample files.
var oldSoftRows = []string{
	"SELECT count(*) FROM patients WHERE legacy_id = '1001' AND first_name = 'José' AND last_name = 'Núñez' AND title = 'Mr' AND gender AND mobile_phone_normalized = '+441144960123' AND date_of_birth = '1961-12-25'",
	"SELECT count(*) FROM patients WHERE legacy_id = '1002' AND last_name_folded = 'müller-gross' AND date_of_birth = '1958-03-02' AND address_line_1 = '2; Low Road' AND search_text LIKE '% muller-gross%'",
	"SELECT count(*) FROM patients WHERE legacy_id = '1012' AND title = 'Master' AND NOT active AND mobile_phone = 'ring mum' AND mobile_phone_normalized IS NULL AND postcode = 'S1 1AI'",
	"SELECT count(DISTINCT family_id) FROM patients WHERE legacy_id IN ('1001', '1002')",
	"SELECT count(*) FROM accounts AS a JOIN patients AS p ON p.id = a.patient_id WHERE p.legacy_id = '1002' AND opening_balance = 1000 AND current_balance = 2000",
	"SELECT count(*) FROM users WHERE email = 'dana.dent@bright.test' AND role = 'dentist' AND password_hash = '' AND last_name_folded = 'dent'",
	"SELECT count(*) FROM practitioners AS p JOIN users AS u ON u.id = p.user_id WHERE u.email = 'hugo.hy@bright.test' AND gdc_number = '654321'",
	"SELECT count(*) FROM appointments WHERE notes = 'first visit' AND duration = 30 AND state = 'Completed' AND completed_at = finish_time AND reason = 'Exam'",
	"SELECT count(*) FROM appointments WHERE notes = 'lunch' AND patient_id IS NULL AND duration = 60 AND reason = 'Other'",
	"SELECT count(*) FROM appointments WHERE state = 'Did not attend' AND did_not_attend_at = start_time AND reason = 'Scale & Polish'",
	"SELECT count(*) FROM invoices WHERE reference = '5003' AND status = 'void' AND amount = 2000 AND amount_outstanding = 0 AND NOT paid",
	"SELECT count(*) FROM invoices WHERE reference = '5002' AND status = 'paid' AND paid AND paid_on = '2026-06-03' AND amount = 100000",
	"SELECT count(*) FROM invoice_items WHERE name = 'Gold' AND quantity = 1 AND item_price = 1000",
	"SELECT count(*) FROM treatment_plans WHERE completed AND end_date = '2026-06-10' AND completed_at IS NOT NULL",
	"SELECT count(*) FROM imported_records WHERE source = 'oldsoft' AND resource = 'invoice_items' AND legacy_id = '5002/2'",
	"SELECT count(*) FROM audit_events AS c JOIN patients AS p ON p.legacy_id = '1001' AND c.record_id = CAST(p.id AS text) AND c.resource = 'Patient' AND c.action = 'create' AND c.patient_id = p.id",
	"SELECT count(*) FROM audit_events AS c JOIN appointments AS a ON c.record_id = CAST(a.id AS text) WHERE a.notes = 'first visit' AND c.resource = 'Appointment' AND c.patient_id = a.patient_id",
	"SELECT count(*) FROM import_runs WHERE finished_at IS NOT NULL",
}
