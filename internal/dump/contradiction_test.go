package dump

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"chairside/internal/store/storetest"
)

// forge changes columns in the first line of a file that contains a text, and the checksum in the
// manifest.
func forge(t *testing.T, files map[string]string, name, text string, changes map[string]string) {
	t.Helper()
	before := files[name]
	lines := strings.Split(before, "\n")
	found := false
	for i, line := range lines {
		if !strings.Contains(line, text) || found {
			continue
		}
		found = true
		for column, value := range changes {
			cell := regexp.MustCompile(`"` + column + `":("[^"]*"|[^,}]*)`)
			if !cell.MatchString(line) {
				t.Fatalf("%s has no %s", name, column)
			}
			line = cell.ReplaceAllLiteralString(line, `"`+column+`":`+value)
		}
		lines[i] = line
	}
	if !found {
		t.Fatalf("no line of %s contains %s", name, text)
	}
	files[name] = strings.Join(lines, "\n")
	sum := func(s string) string { b := sha256.Sum256([]byte(s)); return hex.EncodeToString(b[:]) }
	files[manifestName] = strings.Replace(files[manifestName], sum(before), sum(files[name]), 1)
}

// A restore refuses rows that the API would not write, even if the checksums are right, and the
// database stays empty.
func TestRestoreRefusesContradictions(t *testing.T) {
	t.Parallel()
	first := filepath.Join(t.TempDir(), "first")
	if err := Export(t.Context(), openDemo(t, "sqlite"), first, ExportOptions{}); err != nil {
		t.Fatal(err)
	}
	exported := readFiles(t, first)
	for kind, url := range databases {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			db := open(t, url(t))
			for _, test := range []struct {
				file, text string // the first line of the file with the text is changed
				changes    map[string]string
				want       string // part of the error
			}{
				{"appointments", `"Completed"`, map[string]string{"state": `"Dancing"`}, "state must be one of: Pending, Confirmed"},
				{"appointments", `"Completed"`, map[string]string{"state": `"Pending"`, "pending_at": "null"}, "appointments_state_is_stamped"},
				{"appointments", `"Completed"`, map[string]string{"duration": "7"}, "appointments_duration"},
				{"appointments", `"Completed"`, map[string]string{"reason": `"  "`}, "reason can't be blank"},
				{"patients", `"Letter"`, map[string]string{"dentist_recall_interval": "25"}, "dentist_recall_interval must be between 0 and 24"},
				{"patients", `"Letter"`, map[string]string{"recall_method": `"Pigeon"`}, "recall_method must be one of"},
				{"users", `"administrator"`, map[string]string{"role": `"emperor"`}, "role must be one of"},
				{"invoices", `"void"`, map[string]string{"amount_outstanding": `"1.00"`}, "invoices_status_agrees"},
				{"invoices", `"paid":true`, map[string]string{"paid": "false"}, "invoices_paid_agrees"},
				{"invoice_items", `"quantity":1`, map[string]string{"quantity": "2"}, "invoice_items_total_price"},
				{"invoices", `"new"`, map[string]string{"amount": `"7777.77"`, "amount_outstanding": `"7777.77"`}, "amount is 7777.77, its rows add up to "},
				{"invoices", `"paid":true`, map[string]string{"amount_outstanding": `"0.01"`, "status": `"part_paid"`, "paid": "false", "paid_on": "null"}, "amount_outstanding is 0.01, its rows add up to 0.00"},
				{"invoices", `"paid":true`, map[string]string{"amount_outstanding": `"0.00"`, "status": `"void"`, "paid": "false", "paid_on": "null"}, "amount_unexplained is 0.00, its rows add up to "},
				{"payments", `"amount_unexplained":"0.00"`, map[string]string{"amount_unexplained": `"0.02"`}, "amount_unexplained is 0.02, its rows add up to 0.00"},
				{"accounts", `"current_balance"`, map[string]string{"current_balance": `"12345.67"`}, "current_balance is 12345.67, its rows add up to "},
				{"accounts", `"current_balance"`, map[string]string{"planned_nhs_treatment_value": `"12345.67"`}, "planned_nhs_treatment_value is 12345.67, its rows add up to "},
				{"treatment_plans", `"private_treatment_value"`, map[string]string{"private_treatment_value": `"12345.67"`}, "private_treatment_value is 12345.67, its rows add up to "},
			} {
				name := test.file + ".ndjson"
				forged := maps.Clone(exported)
				forge(t, forged, name, test.text, test.changes)
				dir := t.TempDir()
				for name, content := range forged {
					if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				_, err := Restore(t.Context(), db, dir, RestoreOptions{})
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%s with %v: %v, want %q", test.file, test.changes, err, test.want)
				}
				if strings.Contains(test.want, "add up to") && !errors.Is(err, ErrContradiction) {
					t.Errorf("%v is not ErrContradiction", err)
				}
				if n := storetest.Int(t, db, "SELECT count(*) FROM practices") + storetest.Int(t, db, "SELECT count(*) FROM import_runs"); n != 0 {
					t.Fatalf("%v: %d rows are left", test.changes, n)
				}
			}
			if _, err := Restore(t.Context(), db, first, RestoreOptions{}); err != nil {
				t.Errorf("the original export: %v", err)
			}
		})
	}
}

// An error lists some of many contradictions, and how many there are.
func TestErrorCountsContradictions(t *testing.T) {
	t.Parallel()
	for kind := range databases {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			db := openDemo(t, kind)
			storetest.Exec(t, db, "UPDATE payments SET amount_unexplained = amount_unexplained + 1")
			tx, err := db.SQL.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Rollback() // it was only read
			err = compareTotals(t.Context(), tx, "")
			var payments int
			if err := tx.QueryRowContext(t.Context(), "SELECT count(*) FROM payments").Scan(&payments); err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprintf("payments: amount_unexplained differs in %d rows", payments); !errors.Is(err, ErrContradiction) || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
			if lines := strings.Count(err.Error(), "\n"); lines != shownContradictions+1 {
				t.Errorf("%d lines: %v", lines, err)
			}
		})
	}
}
