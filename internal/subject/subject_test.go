package subject_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"chairside/ent"
	"chairside/ent/patient"
	"chairside/internal/seed"
	"chairside/internal/store/storetest"
	"chairside/internal/subject"
	"chairside/internal/test/harness"
	"chairside/internal/test/localpg/pgtest"
	"chairside/schema"
)

func TestMain(m *testing.M) {
	status := pgtest.With{M: m}.Run()
	if leftOver != "" {
		os.RemoveAll(leftOver)
	}
	os.Exit(status)
}

// TestEveryTableIsAccountedFor: a table has rows about patients, or a reason why not.
func TestEveryTableIsAccountedFor(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, table := range ent.Tables {
		known[table.Name] = true
		patients := 0
		for _, c := range table.Columns {
			if c.References == "patients" {
				patients++
				if c.Null && table.Name != "appointments" { // a pause of the diary has no patient
					t.Errorf("%s.%s can be null: whose are such rows?", table.Name, c.Name)
				}
			}
		}
		reason := subject.NotAboutPatients[table.Name]
		switch personal := subject.Condition(table) != "" || subject.IsLog(table); {
		case patients > 1:
			t.Errorf("%s references several patients, and a row would be in the file of one", table.Name)
		case patients > 0 && reason != "":
			t.Errorf("notAboutPatients names %s, which references a patient", table.Name)
		case !personal && reason == "":
			t.Errorf("%s: no row references a patient; say in notAboutPatients why none is about one", table.Name)
		}
	}
	for name := range subject.NotAboutPatients {
		if !known[name] {
			t.Errorf("notAboutPatients names %s, which does not exist", name)
		}
	}
}

// documentOf is a file as JSON.
type documentOf struct {
	PatientID int64                       `json:"patient_id"`
	Records   map[string][]map[string]any `json:"records"`
}

func read(t *testing.T, e *harness.Env, id int64) (file *subject.File, text string, d documentOf) {
	t.Helper()
	file, err := subject.Read(e.As(t, seed.DemoSlug), e.DB, id)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := file.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	return file, b.String(), d
}

// TestFilesCoverThePractice: each row about a patient is in that patient's file, in no other, and
// no file names another patient.
func TestFilesCoverThePractice(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		ctx := e.As(t, seed.DemoSlug)
		patients, err := e.DB.Ent.Patient.Query().Order(patient.ByID()).Limit(40).All(ctx)
		if err != nil {
			t.Fatal(err)
		}
		last := patients[len(patients)-1].ID
		seen := map[string]map[string]int{} // table → id → files
		for _, p := range patients {
			_, text, d := read(t, e, p.ID)
			if d.PatientID != p.ID || len(d.Records["patients"]) != 1 {
				t.Errorf("the file of %d is of %d, with %d patients", p.ID, d.PatientID, len(d.Records["patients"]))
			}
			for name, rows := range d.Records {
				if seen[name] == nil {
					seen[name] = map[string]int{}
				}
				for _, row := range rows {
					seen[name][fmt.Sprint(row["id"])]++
					if of := row["patient_id"]; of != nil && of != float64(p.ID) {
						t.Errorf("the file of %d has a row of %s of %v", p.ID, name, of)
					}
				}
			}
			for _, other := range patients {
				if other.ID != p.ID && other.EmailAddress != nil && strings.Contains(text, *other.EmailAddress) {
					t.Errorf("the file of %d has the address of %d", p.ID, other.ID)
				}
			}
		}
		owned := 0
		for _, table := range ent.Tables {
			if subject.Condition(table) == "" || subject.IsLog(table) {
				continue
			}
			where := " WHERE patient_id <= " + strconv.FormatInt(last, 10)
			switch {
			case table.Name == "patients":
				where = " WHERE id <= " + strconv.FormatInt(last, 10)
			case table.Name == "invoice_items", table.Name == "payment_explanations":
				where += " AND invoices.id = " + table.Name + ".invoice_id"
				where = " WHERE EXISTS (SELECT 1 FROM invoices" + where + ")"
			case !table.Has("patient_id"):
				t.Errorf("the test does not know whose the rows of %s are", table.Name)
				continue
			}
			want := storetest.Int(t, e.DB, "SELECT count(*) FROM "+table.Name+where+" AND practice_id = (SELECT id FROM practices WHERE slug = 'demo')")
			if got := len(seen[table.Name]); got != want {
				t.Errorf("%d rows of %s are in the files, want %d", got, table.Name, want)
			}
			for id, files := range seen[table.Name] {
				if files > 1 {
					t.Errorf("row %s of %s is in %d files", id, table.Name, files)
				}
			}
			owned += want
		}
		if owned < 200 {
			t.Errorf("only %d rows: too few to test anything", owned)
		}
	})
}

// TestLogsAreInTheFile: the entries of logs about the patient and about the patient's records, and
// about no others.
func TestLogsAreInTheFile(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		patients := e.Get(t, "/v1/patients?per_page=2", token).Status(t, 200).Column(t, "patients", "id")
		for _, id := range patients {
			e.Patch(t, "/v1/patients/"+id, token, map[string]any{"patient": map[string]any{"occupation": "of " + id}}).Status(t, 200)
		}
		note := e.Post(t, "/v1/notes", token, map[string]any{"note": map[string]any{"patient_id": json.Number(patients[0]), "body": "Prefers mornings."}}).Status(t, 201).Text(t, "note.id")
		e.Settle()
		id, err := strconv.ParseInt(patients[0], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		// Room 1 is not the patient, though it has the same number.
		for _, row := range [][2]string{{"patients", patients[0]}, {"patients", patients[1]}, {"rooms", patients[0]}} {
			storetest.Exec(t, e.DB, "INSERT INTO imported_records (practice_id, source, resource, legacy_id, record_id) SELECT id, 'old', $1, 'L'||$2, $3 FROM practices WHERE slug = 'demo'", row[0], row[0]+row[1], row[1])
		}
		file, _, d := read(t, e, id)
		if rows := d.Records["imported_records"]; len(rows) != 1 || rows[0]["legacy_id"] != "Lpatients"+patients[0] {
			t.Errorf("imported records: %v", rows)
		}
		var got []string
		for _, row := range d.Records["audit_events"] {
			if row["action"] == "read" {
				continue
			}
			got = append(got, fmt.Sprint(row["resource"], " ", row["record_id"], " ", row["user"]))
		}
		if want := []string{"Patient " + patients[0], "Note " + note}; len(got) != 2 || !strings.HasPrefix(got[0], want[0]+" ") || !strings.HasPrefix(got[1], want[1]+" ") || strings.HasSuffix(got[0], "<nil>") {
			t.Errorf("audit log: %q, want %q, each by a user with a name", got, want)
		}
		var page bytes.Buffer
		if err := file.WriteHTML(&page); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"Prefers mornings.", "of " + patients[0], "Note versions", "NHS claims", "<dt>Gender</dt><dd>"} {
			if !strings.Contains(page.String(), text) {
				t.Errorf("the page lacks %q", text)
			}
		}
		if strings.Contains(page.String(), "<dt>Gender</dt><dd>Yes") || strings.Contains(page.String(), "<dt>Gender</dt><dd>No") {
			t.Error("the page answers yes or no to the gender")
		}
		if strings.Contains(page.String(), "of "+patients[1]) {
			t.Error("the page has the other patient's occupation")
		}
	})
}

// TestAnotherPersonsPayment: an invoice is in the file of its patient, the payment in that of the
// person who paid, and what joins them in both.
func TestAnotherPersonsPayment(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		treated := storetest.Int(t, e.DB, "SELECT min(patient_id) FROM invoices WHERE practice_id = (SELECT id FROM practices WHERE slug = 'demo') AND id IN (SELECT invoice_id FROM payment_explanations)")
		invoice := storetest.Int(t, e.DB, "SELECT min(invoice_id) FROM payment_explanations WHERE invoice_id IN (SELECT id FROM invoices WHERE patient_id = "+strconv.Itoa(treated)+")")
		payment := storetest.Int(t, e.DB, "SELECT min(payment_id) FROM payment_explanations WHERE invoice_id = "+strconv.Itoa(invoice))
		payer := storetest.Int(t, e.DB, "SELECT max(id) FROM patients WHERE practice_id = (SELECT id FROM practices WHERE slug = 'demo')")
		storetest.Exec(t, e.DB, "UPDATE payments SET patient_id = $1 WHERE id = $2", payer, payment)
		has := func(id int, table string, row int) bool {
			_, _, d := read(t, e, int64(id))
			return slices.ContainsFunc(d.Records[table], func(r map[string]any) bool {
				return r["id"] == float64(row) || table == "payment_explanations" && r["payment_id"] == float64(row)
			})
		}
		for name, ok := range map[string]bool{
			"the patient has the invoice":   has(treated, "invoices", invoice),
			"the payer has the payment":     has(payer, "payments", payment),
			"the patient has the link":      has(treated, "payment_explanations", payment),
			"the payer has the link":        has(payer, "payment_explanations", payment),
			"the payer lacks the invoice":   !has(payer, "invoices", invoice),
			"the patient lacks the payment": !has(treated, "payments", payment),
			"the payer lacks what was bought": func() bool {
				_, _, d := read(t, e, int64(payer))
				return !slices.ContainsFunc(d.Records["invoice_items"], func(r map[string]any) bool { return r["invoice_id"] == float64(invoice) })
			}(),
		} {
			if !ok {
				t.Errorf("it is not true that %s", name)
			}
		}
	})
}

// TestFilesOverHTTP: managers download the files, receptionists do not, and the access log names the patient; nobody
// reads another practice's patients.
func TestFilesOverHTTP(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		id := storetest.Int(t, e.DB, "SELECT min(id) FROM patients WHERE practice_id = (SELECT id FROM practices WHERE slug = 'demo')")
		other := storetest.Int(t, e.DB, "SELECT min(id) FROM patients WHERE practice_id <> (SELECT id FROM practices WHERE slug = 'demo')")
		admin := e.Browser(t).SignIn(seed.DemoAdmin)
		path := "/settings/patient-data/" + strconv.Itoa(id)
		admin.Get("/settings/patient-data?patient="+strconv.Itoa(id)).Status(t, http.StatusOK).Has(t, "Appointments", "Readable page (HTML)")
		for extension, mediaType := range map[string]string{"html": "text/html; charset=utf-8", "json": "application/json", "fhir.json": "application/fhir+json"} {
			before := len(e.Log.String())
			p := admin.Get(path+"."+extension).Status(t, http.StatusOK)
			if got := p.Header.Get("Content-Type"); got != mediaType {
				t.Errorf("%s: %s", extension, got)
			}
			if got, want := p.Header.Get("Content-Disposition"), "attachment; filename=patient-"+strconv.Itoa(id)+"."+extension; got != want {
				t.Errorf("%s: %s, want %s", extension, got, want)
			}
			e.Settle()
			for waited := 0; storetest.Int(t, e.DB, "SELECT count(*) FROM audit_events WHERE action = 'export' AND user_id IS NOT NULL AND record_id = 'patient-"+strconv.Itoa(id)+"."+extension+"'") != 1; waited++ {
				if waited > 100 {
					t.Fatalf("%s: the audit log has no entry of the export", extension)
				}
				time.Sleep(100 * time.Millisecond)
			}
			if !strings.Contains(e.Log.String()[before:], `"patients":["`+strconv.Itoa(id)+`"]`) || !strings.Contains(e.Log.String()[before:], `"appointments":[`) {
				t.Errorf("%s: the access log does not name the patient and the appointments", extension)
			}
		}
		reception := e.Browser(t).SignIn(storetest.Value(t, e.DB.SQL, "SELECT min(email) FROM users WHERE role = '"+string(schema.RoleReceptionist)+"' AND active AND practice_id = (SELECT id FROM practices WHERE slug = 'demo')"))
		reception.Get(path+".json").Status(t, http.StatusForbidden)
		for _, wrong := range []string{strconv.Itoa(other) + ".json", "x.json", "0.json", path + ".exe", strconv.Itoa(id), strconv.Itoa(id) + ".json.html", "99999999999999999999.json"} {
			admin.Get("/settings/patient-data/"+strings.TrimPrefix(wrong, "/settings/patient-data/")).Status(t, http.StatusNotFound)
		}
		for _, wrong := range []string{strconv.Itoa(other), "x", "", "-1"} {
			admin.Get("/settings/patient-data?patient="+wrong).Status(t, http.StatusUnprocessableEntity).Has(t, "No patient has this ID.")
		}
	})
}
