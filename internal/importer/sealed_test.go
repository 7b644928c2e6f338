package importer

import (
	"strings"
	"testing"

	"chairside/ent"
	"chairside/ent/patient"
	"chairside/internal/principal"
	"chairside/internal/seal"
	"chairside/internal/store"
)

// TestSealedColumnsAreImported: they are sealed for their row, search finds the numbers, and a file
// with the same texts changes nothing.
func TestSealedColumnsAreImported(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		const header = "id,first_name,last_name,nhs_number,ni_number,medical_alert_text\n"
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": "source: old\nfiles:\n" + patientsByName,
			"patients.csv": header + "1,Al,Ford,943 476 5919,QQ123456C,Latex\n2,Bo,Lee,,,\n3,Cy,Fox," + strings.Repeat("9", 256) + ",,\n",
		})
		find := func(name string) *ent.Patient {
			t.Helper()
			p := db.Ent.Patient.Query().Where(patient.FirstName(name)).OnlyX(principal.AsSystem(t.Context()))
			if !strings.HasPrefix(p.NhsNumber.String()+p.NiNumber.String()+p.MedicalAlertText.String(), "sealed:") && name == "Al" {
				t.Errorf("%s is stored as %+v", name, p)
			}
			if err := p.Unseal(db.Keys); err != nil {
				t.Fatal(err)
			}
			return p
		}
		if report := runImport(t, db, dir, Options{}); report.Files[0].Created != 2 || report.Rejected() != 1 {
			t.Fatalf("%+v", report.Files[0])
		}
		key, err := db.SearchKey(principal.AsSystem(t.Context()), db.Ent, find("Al").PracticeID)
		if err != nil || key == "" {
			t.Fatalf("the search key is %q, %v", key, err)
		}
		al, bo := find("Al"), find("Bo")
		hash := seal.Hash(key, "9434765919")
		if !al.NhsNumber.Holds("943 476 5919") || !al.NiNumber.Holds("QQ123456C") || !al.MedicalAlertText.Holds("Latex") || *al.NhsNumberHash != hash || !strings.Contains(al.SearchText, hash) || strings.Contains(al.SearchText, "9434765919") {
			t.Errorf("%+v", al)
		}
		if !bo.NhsNumber.IsNull() || bo.NhsNumberHash != nil {
			t.Errorf("%+v", bo)
		}
		rewrite(t, dir, "patients.csv", header+"1,Al,Ford,943 476 5919,QQ123456C,Latex\n2,Bo,Lee,,QQ123456D,\n")
		if report := runImport(t, db, dir, Options{}); report.Files[0].Updated != 1 || report.Files[0].Created != 0 {
			t.Errorf("again: %+v", report.Files[0])
		}
		if !find("Bo").NiNumber.Holds("QQ123456D") || find("Al").NhsNumber.String() != al.NhsNumber.String() {
			t.Error("the second file changed more than Bo's number")
		}
	})
}

// With "invalid: blank", a good value is sealed and stored, and a bad one is left out.
func TestInvalidSealedValuesMayBeBlank(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		dir := writeFiles(t, map[string]string{
			"mapping.yaml": "source: old\nfiles:\n" + strings.TrimSuffix(patientsByName, "}\n") + ", columns: {NHS: {field: nhs_number, invalid: blank}}}\n",
			"patients.csv": "id,first_name,last_name,NHS\n1,Al,Ford,943 476 5919\n2,Bo,Lee," + strings.Repeat("9", 256) + "\n",
		})
		if report := runImport(t, db, dir, Options{Rejects: t.TempDir()}); report.Files[0].Created != 2 || report.Warnings != 1 {
			t.Errorf("%+v", report)
		}
		checkInts(t, db, map[string]int{
			"SELECT count(*) FROM patients WHERE first_name = 'Al' AND nhs_number IS NOT NULL": 1,
			"SELECT count(*) FROM patients WHERE first_name = 'Bo' AND nhs_number IS NULL":     1,
		})
	})
}
