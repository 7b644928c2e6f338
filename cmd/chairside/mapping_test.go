package main

import (
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"chairside/internal/importer"
	"chairside/internal/test/testdb"
)

// importedSamples are queries that count one row each after the samples of a ready mapping were
// imported.
var importedSamples = map[string][]string{
	"chairside": {
		"SELECT count(*) FROM payment_plans WHERE name = 'Private'",
		"SELECT count(*) FROM patients AS p JOIN payment_plans AS l ON l.id = p.payment_plan_id WHERE l.name = 'Family Plan' AND p.last_name = 'NULL' AND NOT p.gender AND CAST(p.metadata AS text) LIKE '%shelf%B4%'",
		"SELECT count(*) FROM patients WHERE last_name = 'NULL' AND email_address = 'nell@oak.example' AND preferred_phone_number = 3 AND dentist_recall_date = '2027-05-01' AND hygienist_recall_interval = 6 AND recall_method = 'Email' AND nhs_number IS NOT NULL",
		"SELECT count(*) FROM patients AS p JOIN accounts AS a ON a.patient_id = p.id WHERE p.last_name = 'Bad' AND p.recall_method = 'Letter' AND CAST(p.metadata AS text) = '{}' AND " +
			"COALESCE(p.email_address, p.mobile_phone, p.home_phone_country, p.nhs_number, CAST(p.preferred_phone_number AS text), CAST(p.dentist_recall_date AS text), CAST(p.hygienist_recall_interval AS text)) IS NULL",
		"SELECT count(*) FROM accounts WHERE opening_balance = 1250 AND current_balance = 1250",
		"SELECT count(*) FROM appointments WHERE state = 'Completed' AND duration = 20 AND notes LIKE 'two%lines'",
		"SELECT count(*) FROM practitioners AS p JOIN users AS u ON u.id = p.user_id WHERE u.email = 'ines@oak.example' AND u.last_login IS NULL AND p.gdc_number = '123456'",
	},
	"cliniko": {
		"SELECT count(*) FROM patients WHERE legacy_id = '1390710863102485699' AND email_address = 'mary@example.com' AND date_of_birth = '1981-05-26' AND active AND occupation = 'Baker' AND mobile_phone = '0491 570 156'",
		"SELECT count(*) FROM patients WHERE legacy_id = '1390710863102485700' AND email_address IS NULL AND CAST(metadata AS text) = '{}' AND NOT active AND gender AND address_line_2 = 'Flat 3 Rear' AND preferred_name = 'Nol'",
		"SELECT count(*) + 1 FROM patients WHERE legacy_id = '1390710863102485701'",
		"SELECT count(*) FROM users WHERE last_name = 'Maple' AND role = 'hygienist'",
		"SELECT count(*) FROM appointments WHERE state = 'Completed' AND duration = 45 AND CAST(metadata AS text) LIKE '%First visit%'",
		"SELECT count(*) FROM appointments WHERE state = 'Did not attend' AND duration = 30 AND reason = 'Other' AND CAST(metadata AS text) LIKE '%Hygiene%'",
		"SELECT count(*) FROM appointments WHERE state = 'Cancelled' AND cancelled_at IS NOT NULL AND notes = 'Rang'",
		"SELECT count(*) FROM appointments AS a JOIN patients AS p ON p.id = a.patient_id WHERE a.state = 'Pending' AND p.last_name = 'Patientman'",
	},
	"opendental": {
		"SELECT count(*) FROM users WHERE email = 'provider3@staff.invalid' AND last_name = 'OLD' AND NOT active",
		"SELECT count(*) FROM patients AS p JOIN practitioners AS d ON d.id = p.dentist_id JOIN users AS u ON u.id = d.user_id WHERE p.legacy_id = '17' AND p.title = 'Mrs' AND p.medical_alert AND u.last_name = 'Alder' AND p.hygienist_id IS NOT NULL",
		"SELECT count(*) FROM patients WHERE legacy_id = '18' AND email_address IS NULL AND CAST(metadata AS text) = '{}' AND created_at > (SELECT created_at FROM patients WHERE legacy_id = '17') AND gender AND active AND NOT medical_alert",
		"SELECT count(*) FROM patients WHERE legacy_id = '19' AND NOT active AND address_line_2 = 'Unit 2'",
		"SELECT count(*) + 1 FROM patients WHERE legacy_id = '20'",
		"SELECT count(DISTINCT family_id) FROM patients WHERE legacy_id IN ('17', '18')",
		"SELECT count(*) FROM appointments WHERE duration = 40 AND state = 'Completed' AND treatment_description = 'Exam, 2BW'",
		"SELECT count(*) FROM appointments AS a JOIN practitioners AS d ON d.id = a.practitioner_id JOIN users AS u ON u.id = d.user_id WHERE u.role = 'hygienist' AND a.duration = 60 AND a.reason = 'Scale & Polish' AND a.notes = 'First visit'",
		"SELECT count(*) FROM appointments WHERE state = 'Cancelled' AND duration = 20 AND cancelled_at IS NOT NULL AND notes IS NULL",
		"SELECT count(*) FROM invoices WHERE reference = '501' AND status = 'paid' AND amount = 5500",
		"SELECT count(*) FROM invoices WHERE reference = '502' AND status = 'part_paid' AND amount = 8000 AND amount_outstanding = 3500",
		"SELECT count(*) FROM payments WHERE method = 'Cheque' AND amount = 5500 AND amount_unexplained = 0",
		"SELECT count(*) FROM accounts AS a JOIN patients AS p ON p.id = a.patient_id WHERE p.legacy_id = '17' AND a.current_balance = -3500",
		"SELECT count(*) FROM treatments WHERE patient_nomenclature = 'Cleaning' AND nomenclature LIKE 'prophylaxis%'",
	},
}

// targets return the URL of a new database with all tables, by driver.
var targets = map[string]func(t testing.TB) string{
	"sqlite": testdb.Migrated.SQLite, "postgres": testdb.Migrated.Postgres,
}

// openTarget opens a database of targets, and creates a practice in it.
func openTarget(t *testing.T, driver string) (url string, db *sql.DB) {
	t.Helper()
	url = targets[driver](t)
	create := exec.CommandContext(t.Context(), "chairside", "practice", "create", "--database-url", url,
		"--name=Bright", "--time-zone=Europe/London", "--country=GB", "--email=ann@bright.test")
	create.Stdin = strings.NewReader("long enough\n")
	if out, err := create.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	db, err := sql.Open(driver, strings.TrimPrefix(url, "sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return url, db
}

// contents returns the files that match a pattern, for messages.
func contents(pattern string) (all string) {
	paths, _ := filepath.Glob(pattern)
	for _, path := range paths {
		text, _ := os.ReadFile(path)
		all += path + ":\n" + string(text)
	}
	return all
}

// TestReadyMappings imports the sample files of each ready mapping, without a reject or a difference
// of a total.
func TestReadyMappings(t *testing.T) {
	t.Parallel()
	for _, ready := range importer.ReadyMappings {
		for driver := range targets {
			t.Run(ready.Name+"/"+driver, func(t *testing.T) {
				t.Parallel()
				importSample(t, ready.Name, driver)
			})
		}
	}
}

func importSample(t *testing.T, name, driver string) {
	url, db := openTarget(t, driver)
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../internal/importer/testdata/"+name)); err != nil {
		t.Fatal(err)
	}
	out, err := runIn(t, dir, "import", "--database-url", url, "--mapping", name, dir)
	if findings := contents(dir + "/rejects/*"); err != nil || strings.Contains(findings, ",difference,") {
		t.Fatalf("%v: %s%s", err, out, findings)
	}
	queries := importedSamples[name]
	if len(queries) == 0 {
		t.Error("no queries")
	}
	for _, query := range queries {
		var n int
		if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil || n != 1 {
			t.Errorf("%d rows, want 1: %v: %s", n, err, query)
		}
	}
}
