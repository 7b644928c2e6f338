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

func TestInvalidIsRefusedWhereItCannotApply(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": "source: old\nfiles:\n" + strings.TrimSuffix(patientsByName, "}\n") +
				", columns: {last_name: {field: last_name, invalid: blank}, Dentist: {field: dentist_id, invalid: blank}, Shelf: {field: metadata.shelf, invalid: blank}, Mail: {field: email_address, invalid: ignore}}}\n",
			"patients.csv": "id,first_name,last_name,Dentist,Shelf,Mail\n1,Al,Ford,,,\n",
		})
		_, err := Import(t.Context(), db, dir, Options{})
		for _, want := range []string{"last_name: invalid: last_name cannot be blank", "Dentist: invalid: is not for references", "Shelf: invalid: metadata.shelf takes any value", "Mail: invalid: must be reject or blank"} {
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
	})
}
