package subject_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"chairside/ent/patient"
	"chairside/internal/seed"
	"chairside/internal/subject"
	"chairside/internal/test/harness"
	"chairside/schema"
)

// TestBundlesAreFHIR validates bundles against the published definitions of FHIR R4, by an
// independent validator (npm fhir).
func TestBundlesAreFHIR(t *testing.T) {
	dir, err := validator()
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("no Node, or no way to install its modules: ", err)
	}
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		ids, err := e.DB.Ent.Patient.Query().Order(patient.ByID()).Limit(20).IDs(e.As(t, seed.DemoSlug))
		if err != nil {
			t.Fatal(err)
		}
		// One patient has a value in each column that FHIR has a form for.
		e.Patch(t, "/v1/patients"+harness.ID(ids[0]), token, map[string]any{"patient": map[string]any{
			"middle_name": "Ann", "preferred_name": "Nan", "nhs_number": "999 000 0018", "address_line_2": "Flat 2", "work_phone": "020 7946 0123",
			"emergency_contact_name": "Jo", "emergency_contact_relationship": "Sister", "emergency_contact_phone": "020 7946 0124", "medical_alert": true, "medical_alert_text": "Latex",
		}}).Status(t, 200)
		kinds := map[string]int{}
		for _, id := range ids {
			file, _, d := read(t, e, id)
			var out bytes.Buffer
			if err := file.WriteFHIR(&out); err != nil {
				t.Fatal(err)
			}
			if problems := validate(t, dir, bytes.NewReader(out.Bytes())); problems != "" {
				t.Errorf("patient %d:\n%s", id, problems)
			}
			var b bundle
			if err := json.Unmarshal(out.Bytes(), &b); err != nil {
				t.Fatal(err)
			}
			got, urns := map[string]int{}, map[string]bool{}
			for _, entry := range b.Entry {
				got[entry.Resource.Type]++
				urns[entry.URL] = true
				if invoice := entry.Resource; invoice.Type == "Invoice" {
					for _, row := range d.Records["invoices"] {
						if amount := invoice.Total.Value.String() + " " + invoice.Total.Currency; fmt.Sprint(row["id"]) == invoice.ID && amount != fmt.Sprint(row["amount"], " GBP") {
							t.Errorf("invoice %s: %s, want %v GBP", invoice.ID, amount, row["amount"])
						}
					}
				}
			}
			for _, urn := range regexp.MustCompile(`"urn:uuid:[^"]+"`).FindAllString(out.String(), -1) {
				if !urns[strings.Trim(urn, `"`)] {
					t.Errorf("patient %d: %s leads nowhere", id, urn)
				}
			}
			if rows := d.Records; got["Patient"] != 1 || got["Appointment"] != len(rows["appointments"]) || got["Invoice"] != len(rows["invoices"]) ||
				got["Account"] != len(rows["accounts"]) || got["Procedure"]+got["ServiceRequest"] != len(rows["treatment_plan_items"]) {
				t.Errorf("patient %d: %v", id, got)
			}
			for kind, n := range got {
				kinds[kind] += n
			}
		}
		if len(kinds) != 7 {
			t.Errorf("the bundles have only %v", kinds)
		}
	})
	t.Run("the validator finds mistakes", func(t *testing.T) {
		wrong := `{"resourceType": "Bundle", "type": "collection", "entry": [{"resource": {"resourceType": "Patient", "id": "1", "gender": "x", "colour": "red"}}]}`
		if problems := validate(t, dir, strings.NewReader(wrong)); !strings.Contains(problems, "gender") || !strings.Contains(problems, "colour") {
			t.Errorf("found %q", problems)
		}
	})
}

// bundle is what the test reads of a bundle.
type bundle struct {
	Entry []struct {
		URL      string `json:"fullUrl"`
		Resource struct {
			Type  string `json:"resourceType"`
			ID    string `json:"id"`
			Total struct {
				Value    json.Number `json:"value"`
				Currency string      `json:"currency"`
			} `json:"totalGross"`
		} `json:"resource"`
	} `json:"entry"`
}

// TestEveryStateHasAWordOfFHIR: no state of an appointment or an invoice is left out.
func TestEveryStateHasAWordOfFHIR(t *testing.T) {
	t.Parallel()
	for _, state := range schema.AppointmentState("").Values() {
		if subject.FHIRStates[schema.AppointmentState(state)] == "" {
			t.Errorf("appointments: %s", state)
		}
	}
	for _, status := range schema.InvoiceStatus("").Values() {
		if subject.FHIRInvoices[schema.InvoiceStatus(status)] == "" {
			t.Errorf("invoices: %s", status)
		}
	}
}

// validate returns what the validator says of a bundle.
func validate(t *testing.T, dir string, text io.Reader) string {
	t.Helper()
	node := exec.Command("node", "validate.mjs")
	node.Dir, node.Stdin = dir, text
	var complaints bytes.Buffer
	node.Stderr = &complaints
	out, err := node.Output()
	if err != nil || !strings.Contains(complaints.String(), "resources") {
		t.Fatalf("%v %s", err, complaints.String())
	}
	return string(out)
}

// validator installs the validator once and returns its directory.
var validator = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "chairside-fhir-*")
	if err != nil {
		return "", err
	}
	leftOver = dir
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "fhir"))); err != nil {
		return "", err
	}
	npm := exec.Command("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
	npm.Dir, npm.Stderr = dir, os.Stderr
	return dir, npm.Run()
})

// leftOver is the directory that TestMain removes.
var leftOver string
