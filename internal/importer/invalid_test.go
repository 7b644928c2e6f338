package importer

import (
	"strings"
	"testing"

	"chairside/internal/store"
)

// A value that is invalid costs the field and not the row, if the mapping says so: the patient and
// their invoice are imported. Warnings show the value.
func TestInvalidValuesMayBeBlank(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		patients := strings.TrimSuffix(patientsByName, "}\n") +
			", columns: {Mail: {field: email_address, invalid: blank}, Phone: {field: mobile_phone, match: '^[+0-9 ]+$', invalid: blank}, Recall: {field: dentist_recall_date, invalid: blank}}}\n"
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": "source: old\nfiles:\n" + patients + "  - {file: invoices.csv, entity: invoices}\n",
			"patients.csv": "id,first_name,last_name,Mail,Phone,Recall\n1,Al,Ford,none known,ask,31/02/2027\n2,Bo,Ford,bo@example.org,0114 496 0000,2027-02-28\n3,,Ford,none known,,\n" +
				"4,Di,Ford," + strings.Repeat("d", 300) + "@example.org,,\n5,Ed,Ford,e\x00d@example.org,,\n",
			"invoices.csv": "id,patient_id,dated_on,amount\n1,1,2026-02-01,10\n",
		})
		out := t.TempDir()
		report := runImport(t, db, dir, Options{Rejects: out})
		files := readFiles(t, out)
		if report.Rejected() != 1 || !strings.Contains(files["patients.csv"], "4,first_name,") { // a required field still costs the row
			t.Errorf("%+v %v", report, files)
		}
		checkInts(t, db, map[string]int{
			"SELECT count(*) FROM patients": 4,
			"SELECT count(*) FROM patients WHERE email_address IS NULL AND mobile_phone IS NULL": 3,
			"SELECT count(*) FROM invoices WHERE amount = 1000":                                  1,
		})
		for _, want := range []string{"patients.csv,2,1,warning,email_address,none known,", "patients.csv,2,1,warning,mobile_phone,ask,", "patients.csv,2,1,warning,dentist_recall_date,31/02/2027,", "patients.csv,5,4,warning,email_address,", "patients.csv,6,5,warning,email_address,"} {
			if !strings.Contains(files[Findings], want) {
				t.Errorf("no finding %s in\n%s", want, files[Findings])
			}
		}
		if again := runImport(t, db, dir, Options{Rejects: t.TempDir()}); again.Files[0].Unchanged != 4 {
			t.Errorf("again: %+v", again)
		}
	})
}

// A value of metadata that is too long, or that the pattern does not match, costs its key.
func TestInvalidMetadataMayBeBlank(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		mapping := "source: old\nfiles:\n" + strings.TrimSuffix(patientsByName, "}\n") +
			", columns: {Shelf: {field: metadata.shelf, invalid: blank}, Chart: {field: metadata.chart, match: '^C-([0-9]+)$', invalid: blank}, Memo: metadata.memo}}\n"
		long := strings.Repeat("x", 600)
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": mapping,
			"patients.csv": "id,first_name,last_name,Shelf,Chart,Memo\n1,Al,Ford," + long + ",C-7,tall\n2,Bo,Ford,B4,7,\n3,Cy,Ford,B5,C-8," + long + "\n",
		})
		out := t.TempDir()
		report := runImport(t, db, dir, Options{Rejects: out})
		files := readFiles(t, out)
		if report.Rejected() != 1 || !strings.Contains(files["patients.csv"], "4,metadata,values must not be longer than 500 characters,3,") {
			t.Errorf("%+v %v", report, files)
		}
		for _, want := range []string{"patients.csv,2,1,warning,metadata.shelf," + long + ",,left blank: values must not be longer than 500 characters", "patients.csv,3,2,warning,metadata.chart,7,,left blank: does not match "} {
			if !strings.Contains(files[Findings], want) {
				t.Errorf("no finding %s in\n%s", want, files[Findings])
			}
		}
		checkInts(t, db, map[string]int{
			"SELECT count(*) FROM patients WHERE legacy_id = '1' AND CAST(metadata AS text) LIKE '%chart%7%' AND CAST(metadata AS text) LIKE '%memo%tall%' AND CAST(metadata AS text) NOT LIKE '%shelf%'": 1,
			"SELECT count(*) FROM patients WHERE legacy_id = '2' AND CAST(metadata AS text) LIKE '%shelf%B4%' AND CAST(metadata AS text) NOT LIKE '%chart%'":                                              1,
		})
	})
}

// A bad value clears the good one that was imported before, as the lack of a value does.
func TestInvalidValuesClearEarlierOnes(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": "source: old\nfiles:\n" + strings.TrimSuffix(patientsByName, "}\n") +
				", columns: {Mail: {field: email_address, invalid: blank}, Dentist: {field: dentist_id, missing: blank}, Shelf: {field: metadata.shelf, invalid: blank}}}\n",
			"patients.csv": "id,first_name,last_name,Mail,Dentist,Shelf\n1,Al,Ford,al@example.org,ann@bright.test,B4\n",
		})
		const kept = "SELECT count(*) FROM patients WHERE email_address IS NOT NULL AND dentist_id IS NOT NULL AND CAST(metadata AS text) LIKE '%B4%'"
		const cleared = "SELECT count(*) FROM patients WHERE email_address IS NULL AND dentist_id IS NULL AND CAST(metadata AS text) = '{}'"
		runImport(t, db, dir, Options{Rejects: t.TempDir()})
		checkInts(t, db, map[string]int{kept: 1})
		rewrite(t, dir, "patients.csv", "id,first_name,last_name,Mail,Dentist,Shelf\n1,Al,Ford,none,nobody@bright.test,"+strings.Repeat("x", 600)+"\n")
		if report := runImport(t, db, dir, Options{Rejects: t.TempDir()}); report.Warnings != 3 || report.Files[0].Updated != 1 {
			t.Errorf("%+v", report)
		}
		checkInts(t, db, map[string]int{cleared: 1})
	})
}

func TestInvalidIsRefusedWhereItCannotApply(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": "source: old\nfiles:\n" + strings.TrimSuffix(patientsByName, "}\n") +
				", columns: {last_name: {field: last_name, invalid: blank}, Dentist: {field: dentist_id, invalid: blank}, Owes: {field: claimed_balance, invalid: blank}, Mail: {field: email_address, invalid: ignore}}}\n",
			"patients.csv": "id,first_name,last_name,Dentist,Owes,Mail\n1,Al,Ford,,,\n",
		})
		_, err := Import(t.Context(), db, dir, Options{})
		for _, want := range []string{"last_name: invalid: last_name cannot be blank", "Dentist: invalid: is not for references", "Owes: invalid: claimed_balance is only compared, so no value of it rejects a row", "Mail: invalid: must be reject or blank"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		}
	})
}

// A file without rows is a warning, which counts in the report.
func TestEmptyFilesAreWarnings(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		dir := writeFiles(t, map[string]string{
			"mapping.yaml":   "source: old\nfiles:\n" + patientsByName + "  - {file: sources.csv, entity: acquisition_sources}\n  - {file: categories.csv, entity: treatment_categories, only: {Kind: CAT}}\n",
			"patients.csv":   "id,first_name,last_name\n",
			"sources.csv":    "",
			"categories.csv": "id,name,Kind\n1,Fillings,OTHER\n",
		})
		out := t.TempDir()
		report := runImport(t, db, dir, Options{Rejects: out})
		found := readFiles(t, out)[Findings]
		for _, want := range []string{"patients.csv,,,warning,,,,has no rows\n", "sources.csv,,,warning,,,,has no rows\n", "categories.csv,,,warning,,,,\"has no rows that \"\"only\"\" selects\"\n"} {
			if !strings.Contains(found, want) {
				t.Errorf("no finding %s in %s", want, found)
			}
		}
		if report.Warnings != 3 || report.Rejected() != 0 {
			t.Errorf("%+v", report)
		}
		if downloaded := runImport(t, db, dir, Options{Rejects: t.TempDir(), Downloaded: true}); downloaded.Warnings != 0 {
			t.Errorf("downloaded: %+v", downloaded)
		}
	})
}
