package dump

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chairside/internal/store"
	"chairside/internal/store/migrate"
	"chairside/internal/store/storetest"
)

// enrich gives a seeded database the rows and values that are rarest.
func enrich(t *testing.T, db *store.DB) {
	t.Helper()
	const nasty = "quote \" comma , backslash \\ \\N line\nreturn\r\nend\ttab é 漢 🦷 </script> \u2028"
	storetest.Exec(t, db, "UPDATE patients SET medical_alert_text = $1, metadata = $2 WHERE id = (SELECT min(id) FROM patients)", nasty, `{"z": "<&>", "a": "é", "mm": "\\"}`)
	storetest.Exec(t, db, "UPDATE patients SET occupation = $1, preferred_name = $2 WHERE id = (SELECT max(id) FROM patients)", `\N`, "")
	storetest.Exec(t, db, "UPDATE accounts SET opening_balance = -5, current_balance = current_balance - 5 WHERE id = (SELECT min(id) FROM accounts)")
	practice := "(SELECT id FROM practices WHERE slug = 'demo')"
	storetest.Exec(t, db, `INSERT INTO changes (practice_id, at, resource, record_id, action, fields) VALUES (`+practice+`, $1, 'Patient', '1', 'update', '["town","county"]')`, time.Date(2026, 7, 1, 9, 15, 0, 123456000, time.UTC))
	storetest.Exec(t, db, "INSERT INTO imported_records (practice_id, source, resource, legacy_id, record_id) VALUES ("+practice+", 'old', 'patients', 'É-1', '1')")
	storetest.Exec(t, db, "INSERT INTO access_tokens (id, practice_id, created_at, updated_at, hash, name, scopes, user_id) VALUES ('01890a5d-ac96-774b-bcce-b302099a8057', "+practice+", $1, $1, $2, 'x', 'patient', (SELECT min(id) FROM users))",
		time.Date(1999, 12, 31, 23, 59, 59, 0, time.UTC), []byte{0, 1, 255})
	// The last appointment that was given an id is deleted again.
	storetest.Exec(t, db, "DELETE FROM appointments WHERE id = (SELECT max(id) FROM appointments)")
}

// An export that is imported into an empty database and exported again is the
// same to the byte, whichever kinds of database they are.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	for _, format := range []Format{NDJSON, CSV} {
		for from := range kinds {
			t.Run(string(format)+" from "+from, func(t *testing.T) {
				t.Parallel()
				source := seeded(t, from)
				enrich(t, source)
				first := filepath.Join(t.TempDir(), "first")
				if err := Export(t.Context(), source, first, ExportOptions{Format: format}); err != nil {
					t.Fatal(err)
				}
				want := contents(t, first)
				lastAppointment := storetest.Int(t, source, "SELECT max(id) FROM appointments")
				for to := range kinds {
					t.Run("to "+to, func(t *testing.T) {
						target := open(t, kinds[to](t))
						done, err := Restore(t.Context(), target, first, RestoreOptions{})
						if err != nil || done.Rows == 0 || done.Already {
							t.Fatalf("%+v, %v", done, err)
						}
						second := filepath.Join(t.TempDir(), "second")
						if err := Export(t.Context(), target, second, ExportOptions{Format: format}); err != nil {
							t.Fatal(err)
						}
						got := contents(t, second)
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
							t.Errorf("a second import: %+v, %v", again, err)
						}
						storetest.Exec(t, target, "INSERT INTO appointments (practice_id, created_at, updated_at, start_time, finish_time, duration, practitioner_id, reason, state, booked_via_api, metadata, pending_at, confirmed_at, arrived_at, in_surgery_at, completed_at, cancelled_at, did_not_attend_at) SELECT practice_id, created_at, updated_at, start_time, finish_time, duration, practitioner_id, reason, state, booked_via_api, metadata, pending_at, confirmed_at, arrived_at, in_surgery_at, completed_at, cancelled_at, did_not_attend_at FROM appointments WHERE id = $1", lastAppointment)
						if id := storetest.Int(t, target, "SELECT max(id) FROM appointments"); id != lastAppointment+2 {
							t.Errorf("the next appointment is %d after %d, which was deleted", id, lastAppointment+1)
						}
					})
				}
			})
		}
	}
}

func TestExportKeepsToItsDirectory(t *testing.T) {
	t.Parallel()
	db := seeded(t, "sqlite")
	dir := filepath.Join(t.TempDir(), "out")
	if err := os.MkdirAll(dir+partial, 0o700); err != nil { // of an export that was killed
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir+partial, "rest"), nil, 0o600); err != nil {
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
				t.Errorf("%s is there", entry.Name())
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
		t.Errorf("a second export into it: %v", err)
	}
	missing := open(t, kinds["sqlite"](t))
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

// Nothing that is not exactly an export of this program's gets in.
func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	source := seeded(t, "sqlite")
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
		break_ func(t *testing.T, dir string)
		want   error
	}{
		"no manifest":         {func(_ *testing.T, dir string) { os.Remove(filepath.Join(dir, manifestName)) }, os.ErrNotExist},
		"not JSON":            {change(manifestName, func(string) string { return "{" }), ErrManifest},
		"another layout":      {inManifest(func(m *manifest) { m.Layout = "chairside-export-9" }), ErrManifest},
		"another schema":      {inManifest(func(m *manifest) { m.Schema = "20200101000000" }), ErrManifest},
		"another format":      {inManifest(func(m *manifest) { m.Format = "xml" }), ErrManifest},
		"a file elsewhere":    {inManifest(func(m *manifest) { m.Files[0].File = "../../etc/passwd" }), ErrManifest},
		"a file less":         {inManifest(func(m *manifest) { m.Files = m.Files[1:] }), ErrManifest},
		"another count":       {inManifest(func(m *manifest) { m.Files[len(m.Files)-1].Rows++ }), ErrAltered},
		"a changed byte":      {change("patients.ndjson", func(s string) string { return strings.Replace(s, "Mr", "Ms", 1) }), ErrAltered},
		"a file that is gone": {func(_ *testing.T, dir string) { os.Remove(filepath.Join(dir, "patients.ndjson")) }, ErrAltered},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "copy")
			if err := os.CopyFS(dir, os.DirFS(export)); err != nil {
				t.Fatal(err)
			}
			test.break_(t, dir)
			db := open(t, kinds["sqlite"](t))
			if _, err := Restore(t.Context(), db, dir, RestoreOptions{}); !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
			if n := storetest.Int(t, db, "SELECT (SELECT count(*) FROM practices) + (SELECT count(*) FROM import_runs)"); n != 0 {
				t.Errorf("%d rows were written", n)
			}
		})
	}
	if _, err := Restore(t.Context(), source, export, RestoreOptions{}); !errors.Is(err, ErrInUse) {
		t.Errorf("into a database in use: %v", err)
	}
	db := open(t, kinds["sqlite"](t))
	if done, err := Restore(t.Context(), db, export, RestoreOptions{DryRun: true}); err != nil || done.Rows == 0 {
		t.Errorf("dry: %+v, %v", done, err)
	}
	if n := storetest.Int(t, db, "SELECT (SELECT count(*) FROM practices) + (SELECT count(*) FROM import_runs)"); n != 0 {
		t.Errorf("a dry run wrote %d rows", n)
	}
}
