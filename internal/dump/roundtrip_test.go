package dump

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"chairside/internal/store"
	"chairside/internal/store/migrate"
	"chairside/internal/store/storetest"
	"chairside/internal/test/testkeys"
)

// addRareRows adds rows and values that the demo practices do not have.
func addRareRows(t *testing.T, db *store.DB) {
	t.Helper()
	const allEscapes = "quote \" comma , backslash \\ \\N line\nreturn\r\nend\ttab é 漢 🦷 </script> \u2028"
	first := storetest.Int(t, db, "SELECT min(id) FROM patients")
	alert := testkeys.Seal(storetest.Value(t, db.SQL, "SELECT practice_id FROM patients WHERE id = "+strconv.Itoa(first)), "patients", "medical_alert_text", first, allEscapes)
	storetest.Exec(t, db, "UPDATE patients SET medical_alert_text = $1, custom_field_1 = $2, metadata = $3 WHERE id = $4", alert, allEscapes, `{"z": "<&>", "a": "é", "mm": "\\"}`, first)
	storetest.Exec(t, db, "UPDATE patients SET occupation = $1, preferred_name = $2 WHERE id = (SELECT max(id) FROM patients)", `\N`, "")
	storetest.Exec(t, db, "UPDATE accounts SET opening_balance = -5, current_balance = current_balance - 5 WHERE id = (SELECT min(id) FROM accounts)")
	practice := "(SELECT id FROM practices WHERE slug = 'demo')"
	storetest.Exec(t, db, `INSERT INTO audit_events (practice_id, at, resource, record_id, action, fields, details) VALUES (`+practice+`, $1, 'Patient', '1', 'update', '["town","county"]', '{"new":{"town":"York"}}')`, time.Date(2026, 7, 1, 9, 15, 0, 123456000, time.UTC))
	storetest.Exec(t, db, "INSERT INTO imported_records (practice_id, source, resource, legacy_id, record_id) VALUES ("+practice+", 'old', 'patients', 'É-1', '1')")
	storetest.Exec(t, db, "INSERT INTO access_tokens (id, practice_id, created_at, updated_at, hash, name, scopes, user_id) VALUES ('01890a5d-ac96-774b-bcce-b302099a8057', "+practice+", $1, $1, $2, 'x', 'patient', (SELECT min(id) FROM users))",
		time.Date(1999, 12, 31, 23, 59, 59, 0, time.UTC), []byte{0, 1, 255})
	storetest.Exec(t, db, "INSERT INTO passkeys (id, practice_id, created_at, updated_at, user_id, name, host, credential_id, public_key, sign_count, transports, backup_eligible, backed_up, aaguid) VALUES ('01890a5d-ac96-774b-bcce-b302099a8058', "+practice+", $1, $1, (SELECT min(id) FROM users), 'Laptop', 'localhost', $2, $2, 4294967295, '[\"internal\",\"hybrid\"]', true, false, '00000000-0000-0000-0000-000000000000')",
		time.Date(2026, 7, 1, 9, 15, 0, 0, time.UTC), []byte{0, 1, 255})
	// The row with the last ID is deleted.
	for _, table := range []string{"recalls", "treatment_appointments", "waiting_lists"} {
		storetest.Exec(t, db, "UPDATE "+table+" SET appointment_id = NULL WHERE appointment_id = (SELECT max(id) FROM appointments)")
	}
	storetest.Exec(t, db, "DELETE FROM appointments WHERE id = (SELECT max(id) FROM appointments)")
}

// An export that is restored and exported again is the same to the byte, on either database.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	for _, format := range []Format{NDJSON, CSV} {
		for from := range databases {
			t.Run(string(format)+" from "+from, func(t *testing.T) {
				t.Parallel()
				source := openDemo(t, from)
				addRareRows(t, source)
				first := filepath.Join(t.TempDir(), "first")
				if err := Export(t.Context(), source, first, ExportOptions{Format: format}); err != nil {
					t.Fatal(err)
				}
				want := readFiles(t, first)
				lastAppointment := storetest.Int(t, source, "SELECT max(id) FROM appointments")
				for to := range databases {
					t.Run("to "+to, func(t *testing.T) {
						target := open(t, databases[to](t))
						done, err := Restore(t.Context(), target, first, RestoreOptions{})
						if err != nil || done.Rows == 0 || done.Already {
							t.Fatalf("%+v, %v", done, err)
						}
						second := filepath.Join(t.TempDir(), "second")
						if err := Export(t.Context(), target, second, ExportOptions{Format: format}); err != nil {
							t.Fatal(err)
						}
						got := readFiles(t, second)
						for name := range want {
							if got[name] != want[name] {
								t.Errorf("%s differs", name)
							}
						}
						if len(got) != len(want) {
							t.Errorf("%d files, want %d", len(got), len(want))
						}
						if err := migrate.Verify(t.Context(), target); err != nil {
							t.Error(err)
						}
						if again, err := Restore(t.Context(), target, first, RestoreOptions{}); err != nil || !again.Already {
							t.Errorf("a second restore: %+v, %v", again, err)
						}
						storetest.Exec(t, target, "INSERT INTO appointments (practice_id, created_at, updated_at, start_time, finish_time, duration, practitioner_id, reason, state, booked_via_api, metadata, pending_at, confirmed_at, arrived_at, in_surgery_at, completed_at, cancelled_at, did_not_attend_at) SELECT practice_id, created_at, updated_at, start_time, finish_time, duration, practitioner_id, reason, state, booked_via_api, metadata, pending_at, confirmed_at, arrived_at, in_surgery_at, completed_at, cancelled_at, did_not_attend_at FROM appointments WHERE id = $1", lastAppointment)
						if id := storetest.Int(t, target, "SELECT max(id) FROM appointments"); id != lastAppointment+2 {
							t.Errorf("the next appointment is %d, want %d", id, lastAppointment+2)
						}
					})
				}
			})
		}
	}
}

func TestExportDirectory(t *testing.T) {
	t.Parallel()
	db := openDemo(t, "sqlite")
	dir := filepath.Join(t.TempDir(), "out")
	if err := os.MkdirAll(dir+partial, 0o700); err != nil { // of an interrupted export
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir+partial, "remains"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Export(t.Context(), db, dir, ExportOptions{}); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %v, %v", entry.Name(), info.Mode(), err)
		}
		for table := range notExported {
			if strings.HasPrefix(entry.Name(), table+".") {
				t.Errorf("%s was exported", entry.Name())
			}
		}
	}
	if _, err := os.Stat(dir + partial); !os.IsNotExist(err) {
		t.Errorf("the partial directory is still there: %v", err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory has the mode %v, %v", info.Mode(), err)
	}
	if err := Export(t.Context(), db, dir, ExportOptions{}); !errors.Is(err, ErrOccupied) {
		t.Errorf("a second export: %v", err)
	}
	missing := open(t, databases["sqlite"](t))
	storetest.Exec(t, missing, "DROP TABLE nhs_claims")
	broken := filepath.Join(t.TempDir(), "broken")
	if err := Export(t.Context(), missing, broken, ExportOptions{}); err == nil {
		t.Error("an export without a table succeeded")
	}
	for _, name := range []string{broken, broken + partial} {
		if _, err := os.Stat(name); !os.IsNotExist(err) {
			t.Errorf("a failed export left %s: %v", name, err)
		}
	}
}

// A restore refuses an export that was changed or is another version's.
func TestRestoreRefusesAlteredExports(t *testing.T) {
	t.Parallel()
	source := openDemo(t, "sqlite")
	export := filepath.Join(t.TempDir(), "export")
	if err := Export(t.Context(), source, export, ExportOptions{}); err != nil {
		t.Fatal(err)
	}
	change := func(name string, edit func(string) string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, name)
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(edit(string(content))), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	inManifest := func(edit func(m *manifest)) func(t *testing.T, dir string) {
		return change(manifestName, func(s string) string {
			var m manifest
			if err := json.Unmarshal([]byte(s), &m); err != nil {
				t.Fatal(err)
			}
			edit(&m)
			b, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		})
	}
	for name, test := range map[string]struct {
		alter func(t *testing.T, dir string)
		want  error
	}{
		"no manifest":                 {func(_ *testing.T, dir string) { os.Remove(filepath.Join(dir, manifestName)) }, os.ErrNotExist},
		"not JSON":                    {change(manifestName, func(string) string { return "{" }), ErrManifest},
		"another layout":              {inManifest(func(m *manifest) { m.Layout = "chairside-export-9" }), ErrManifest},
		"another schema":              {inManifest(func(m *manifest) { m.Schema = "20200101000000" }), ErrManifest},
		"another format":              {inManifest(func(m *manifest) { m.Format = "xml" }), ErrManifest},
		"a file in another directory": {inManifest(func(m *manifest) { m.Files[0].File = "../../etc/passwd" }), ErrManifest},
		"a missing entry":             {inManifest(func(m *manifest) { m.Files = m.Files[1:] }), ErrManifest},
		"another number of rows":      {inManifest(func(m *manifest) { m.Files[len(m.Files)-1].Rows++ }), ErrAltered},
		"a changed byte":              {change("patients.ndjson", func(s string) string { return strings.Replace(s, "Mr", "Ms", 1) }), ErrAltered},
		"a missing file":              {func(_ *testing.T, dir string) { os.Remove(filepath.Join(dir, "patients.ndjson")) }, ErrAltered},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "copy")
			if err := os.CopyFS(dir, os.DirFS(export)); err != nil {
				t.Fatal(err)
			}
			test.alter(t, dir)
			db := open(t, databases["sqlite"](t))
			if _, err := Restore(t.Context(), db, dir, RestoreOptions{}); !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
			if n := storetest.Int(t, db, "SELECT (SELECT count(*) FROM practices) + (SELECT count(*) FROM import_runs)"); n != 0 {
				t.Errorf("%d rows were written", n)
			}
		})
	}
	if _, err := Restore(t.Context(), source, export, RestoreOptions{}); !errors.Is(err, ErrInUse) {
		t.Errorf("into a database with rows: %v", err)
	}
	db := open(t, databases["sqlite"](t))
	if done, err := Restore(t.Context(), db, export, RestoreOptions{DryRun: true}); err != nil || done.Rows == 0 {
		t.Errorf("dry: %+v, %v", done, err)
	}
	if n := storetest.Int(t, db, "SELECT (SELECT count(*) FROM practices) + (SELECT count(*) FROM import_runs)"); n != 0 {
		t.Errorf("a dry run wrote %d rows", n)
	}
}

// A deletion that is scheduled moves with the installation, so that it can be cancelled there.
func TestScheduledDeletionIsRestored(t *testing.T) {
	t.Parallel()
	for kind := range databases {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			source := openDemo(t, kind)
			at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
			storetest.Exec(t, source, "UPDATE practices SET closes_at = $1 WHERE slug = 'demo'", at)
			storetest.Exec(t, source, "INSERT INTO practice_deletions (id, requested_at, due_at, kept_elsewhere) SELECT id, closes_at, closes_at, 'x' FROM practices WHERE slug = 'demo'")
			dir := filepath.Join(t.TempDir(), "out")
			if err := Export(t.Context(), source, dir, ExportOptions{}); err != nil {
				t.Fatal(err)
			}
			target := open(t, databases[kind](t))
			if _, err := Restore(t.Context(), target, dir, RestoreOptions{}); err != nil {
				t.Fatal(err)
			}
			if n := storetest.Int(t, target, "SELECT count(*) FROM practice_deletions AS d JOIN practices AS p ON p.id = d.id AND p.closes_at = d.due_at"); n != 1 {
				t.Errorf("%d deletions were restored", n)
			}
		})
	}
}
