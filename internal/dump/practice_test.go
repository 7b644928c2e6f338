package dump

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chairside/ent"
	"chairside/internal/entx/table"
	"chairside/internal/store"
	"chairside/internal/store/storetest"
	"chairside/internal/test/testkeys"
)

// practiceID returns the id of a practice.
func practiceID(t testing.TB, db *store.DB, slug string) string {
	t.Helper()
	var id string
	if err := db.SQL.QueryRowContext(t.Context(), "SELECT CAST(id AS text) FROM practices WHERE slug = $1", slug).Scan(&id); err != nil {
		t.Fatal(err)
	}
	return id
}

// addLooseRows adds rows whose references have no foreign key, to each practice, and one whose
// note was deleted.
func addLooseRows(t testing.TB, db *store.DB) {
	t.Helper()
	at := time.Date(2026, 7, 1, 9, 0, 0, 0, time.UTC)
	for _, slug := range []string{"demo", "second"} {
		id := practiceID(t, db, slug)
		patient := storetest.Int(t, db, "SELECT min(id) FROM patients WHERE practice_id = $1", id)
		for i := range 2 {
			text := fmt.Sprint("Note ", i, " of ", slug)
			storetest.Exec(t, db, "INSERT INTO notes (practice_id, created_at, updated_at, body, pinned, kind, patient_id, user_id) VALUES ($1, $2, $2, 'sealed:00000000:AA', false, 'clinical', $3, (SELECT min(id) FROM users WHERE practice_id = $1))", id, at, patient)
			sealLast(t, db, "notes", id, text)
		}
		note := storetest.Int(t, db, "SELECT max(id) FROM notes WHERE practice_id = $1", id)
		for range 2 {
			storetest.Exec(t, db, "INSERT INTO note_versions (practice_id, note_id, patient_id, body, at) VALUES ($1, $2, $3, 'sealed:00000000:AA', $4)", id, note, patient, at)
			sealLast(t, db, "note_versions", id, "Earlier text of "+slug)
		}
		storetest.Exec(t, db, "DELETE FROM notes WHERE id = $1", note)
		storetest.Exec(t, db, "INSERT INTO imported_records (practice_id, source, resource, legacy_id, record_id) VALUES ($1, 'old', 'patients', '7', $2), ($1, 'old', 'sites', '8', (SELECT CAST(min(CAST(id AS text)) AS text) FROM sites WHERE practice_id = $1))", id, fmt.Sprint(patient))
	}
}

// sealLast gives the last row of a table a sealed body.
func sealLast(t testing.TB, db *store.DB, of, practice, text string) {
	t.Helper()
	last := storetest.Int(t, db, "SELECT max(id) FROM "+of)
	storetest.Exec(t, db, "UPDATE "+of+" SET body = $1 WHERE id = $2", testkeys.Seal(practice, of, "body", last, text), last)
}

// rowsOf returns the rows of a table as text, by their ids: those of a practice, or all others.
func rowsOf(t testing.TB, db *store.DB, of *table.Table, practice string, others bool) map[string]map[string]string {
	t.Helper()
	operator := "="
	if others {
		operator = "<>"
	}
	query, args := "SELECT "+table.Quote(of.Names()...)+" FROM "+table.Quote(of.Name), []any{}
	if column := practiceColumn(of); column != "" {
		query, args = query+" WHERE "+column+" "+operator+" $1", []any{practice}
	}
	rows, err := db.SQL.QueryContext(t.Context(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	all := map[string]map[string]string{}
	values, places := table.Scan(len(of.Columns))
	for rows.Next() {
		if err := rows.Scan(places...); err != nil {
			t.Fatal(err)
		}
		row := map[string]string{}
		for i, c := range of.Columns {
			text, ok, err := c.Stored.Format(values[i])
			if err != nil {
				t.Fatal(err)
			}
			if row[c.Name] = text; !ok {
				row[c.Name] = null
			}
		}
		// Equal texts are sealed differently. A value that does not open is compared as it is.
		if practiceColumn(of) != "" && unseal(db.Keys, of, values) == nil {
			for i, c := range of.Columns {
				if text, ok := values[i].(string); ok && c.IsSealed() {
					row[c.Name] = text
				}
			}
		}
		all[row["id"]] = row
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// others returns every row of every table that is not of a practice. feed_state counts the rows
// of all practices.
func others(t testing.TB, db *store.DB, practice string) map[string]map[string]map[string]string {
	t.Helper()
	all := map[string]map[string]map[string]string{}
	for _, of := range ent.Tables {
		if of.Name != "feed_state" && of.Name != "import_runs" {
			all[of.Name] = rowsOf(t, db, of, practice, true)
		}
	}
	return all
}

// readIDMap returns the new ids by table and old id.
func readIDMap(t testing.TB, path string) map[string]map[string]string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]map[string]string{}
	for _, line := range lines[1:] {
		if m[line[0]] == nil {
			m[line[0]] = map[string]string{}
		}
		m[line[0]][line[1]] = line[2]
	}
	return m
}

// newEmails gives every user of a practice another e-mail address.
func newEmails(t testing.TB, db *store.DB, practice string) map[string]string {
	t.Helper()
	emails := map[string]string{}
	for _, row := range rowsOf(t, db, ent.Tables[tableIndex("users")], practice, false) {
		emails[row["email"]] = "moved." + row["email"]
	}
	return emails
}

func tableIndex(name string) int {
	for i, of := range ent.Tables {
		if of.Name == name {
			return i
		}
	}
	panic("no table " + name)
}

// compareMoved compares every row of a practice in two databases. ids are the new ids.
func compareMoved(t *testing.T, from, to *store.DB, old, moved string, ids map[string]map[string]string, emails map[string]string) {
	t.Helper()
	id := func(of, old string) string {
		if id, ok := ids[of][old]; ok {
			return id
		}
		return old
	}
	notes, rows := rowsOf(t, from, ent.Tables[tableIndex("notes")], old, false), 0
	for _, of := range leaving() {
		got := rowsOf(t, to, of, moved, false)
		if isEvidence(of) {
			continue
		}
		want := rowsOf(t, from, of, old, false)
		if len(got) != len(want) {
			t.Errorf("%s: %d rows, want %d", of.Name, len(got), len(want))
		}
		for _, row := range want {
			rows++
			row = maps.Clone(row)
			moved := got[id(of.Name, row["id"])]
			if moved == nil {
				t.Fatalf("%s has no row for %s", of.Name, row["id"])
			}
			for _, c := range of.Columns {
				v := row[c.Name]
				switch name := of.Name + "." + c.Name; {
				case c.Name == "id":
					v = id(of.Name, v)
				case c.Name == "practice_id":
					v = id("practices", v)
				case c.References != "":
					v = id(c.References, v)
				case name == "imported_records.record_id":
					v = id(row["resource"], v)
				case name == "practices.slug":
					v = "moved"
				case name == "users.email":
					v = emails[v]
				case name == "note_versions.note_id":
					if notes[v] != nil {
						v = id("notes", v)
					} else if moved[c.Name] == v { // of a deleted note
						t.Errorf("note_id %s was kept", v)
					} else {
						v = moved[c.Name]
					}
				case withheld[name] != "":
					v = fmt.Sprint(c.Initial)
					if c.Null {
						v = null
					}
				}
				if moved[c.Name] != v {
					t.Errorf("%s %s: %s is %q, want %q", of.Name, row["id"], c.Name, moved[c.Name], v)
				}
			}
		}
	}
	if rows < 500 {
		t.Errorf("only %d rows were compared", rows)
	}
}

// A practice moves into a database with other practices whose ids collide with all of its ids:
// every row arrives, and nothing else changes.
func TestPracticeMovesIntoOccupiedDatabase(t *testing.T) {
	t.Parallel()
	for from := range databases {
		for to := range databases {
			t.Run(from+" to "+to, func(t *testing.T) {
				t.Parallel()
				source := openDemo(t, from)
				addRareRows(t, source)
				addLooseRows(t, source)
				demo := practiceID(t, source, "demo")
				dir := filepath.Join(t.TempDir(), "demo")
				if err := Export(t.Context(), source, dir, ExportOptions{Practice: demo}); err != nil {
					t.Fatal(err)
				}
				target := openDemo(t, to)
				addLooseRows(t, target)
				before := others(t, target, "00000000-0000-0000-0000-000000000000")
				options := PracticeOptions{Slug: "moved", Emails: newEmails(t, source, demo), IDMap: filepath.Join(t.TempDir(), "ids.csv")}
				dry := options
				dry.DryRun = true
				would, err := ImportPractice(t.Context(), target, dir, dry)
				if err != nil {
					t.Fatal(err)
				}
				done, err := ImportPractice(t.Context(), target, dir, options)
				if err != nil {
					t.Fatal(err)
				}
				if done.Rows == 0 || done.Rows != would.Rows || fmt.Sprint(done.NewIDs) != fmt.Sprint(would.NewIDs) || done.ID == demo || done.Audit {
					t.Errorf("%+v, the dry run %+v", done, would)
				}
				ids := readIDMap(t, options.IDMap)
				for name, n := range done.NewIDs {
					if len(ids[name]) != int(n) {
						t.Errorf("the map has %d ids of %s, want %d", len(ids[name]), name, n)
					}
				}
				if ids["practices"][demo] != done.ID || len(ids["patients"]) == 0 || len(ids["rooms"]) == 0 {
					t.Errorf("the map has %v", ids["practices"])
				}
				compareMoved(t, source, target, demo, done.ID, ids, options.Emails)
				after := others(t, target, done.ID)
				for name, rows := range before {
					for id, row := range rows {
						if fmt.Sprint(after[name][id]) != fmt.Sprint(row) {
							t.Errorf("%s %s changed from %v to %v", name, id, row, after[name][id])
						}
					}
					if len(after[name]) != len(rows) {
						t.Errorf("%s has %d rows of others, want %d", name, len(after[name]), len(rows))
					}
				}
				storetest.CheckCounters(t, target)
				again, err := ImportPractice(t.Context(), target, dir, options)
				if err != nil || !again.Already {
					t.Errorf("a second import: %+v, %v", again, err)
				}
				highest := storetest.Int(t, target, "SELECT max(id) FROM notes")
				storetest.Exec(t, target, "INSERT INTO notes (practice_id, created_at, updated_at, body, pinned, kind, patient_id, user_id) SELECT practice_id, created_at, updated_at, body, pinned, kind, patient_id, user_id FROM notes WHERE id = $1", highest)
				if next := storetest.Int(t, target, "SELECT max(id) FROM notes"); next <= highest+1 { // one id belonged to a deleted note
					t.Errorf("the next note is %d, after %d", next, highest)
				}
			})
		}
	}
}

// A practice that was deleted here comes back under another id: the row of its deletion, and its audit chain, keep the id.
func TestDeletedPracticeComesBackUnderAnotherID(t *testing.T) {
	t.Parallel()
	for kind := range databases {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			source, dir := openDemo(t, kind), filepath.Join(t.TempDir(), "second")
			second := practiceID(t, source, "second")
			if err := Export(t.Context(), source, dir, ExportOptions{Practice: second}); err != nil {
				t.Fatal(err)
			}
			target := open(t, databases[kind](t))
			at := time.Date(2026, 7, 1, 9, 0, 0, 0, time.UTC)
			storetest.Exec(t, target, "INSERT INTO practice_deletions (id, requested_at, due_at, deleted_at, kept_elsewhere) VALUES ($1, $2, $2, $2, 'in the archive')", second, at)
			done, err := ImportPractice(t.Context(), target, dir, PracticeOptions{})
			if err != nil || done.ID == second || done.NewIDs["practices"] != 1 || done.Audit {
				t.Errorf("%+v, %v", done, err)
			}
		})
	}
}

// An empty database gets a practice with all of its ids.
func TestPracticeKeepsIDsInEmptyDatabase(t *testing.T) {
	t.Parallel()
	for kind := range databases {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			source := openDemo(t, kind)
			addRareRows(t, source)
			second := practiceID(t, source, "second")
			for _, format := range []Format{NDJSON, CSV} {
				dir := filepath.Join(t.TempDir(), "second")
				if err := Export(t.Context(), source, dir, ExportOptions{Practice: second, Format: format}); err != nil {
					t.Fatal(err)
				}
				target := open(t, databases[kind](t))
				done, err := ImportPractice(t.Context(), target, dir, PracticeOptions{})
				if err != nil || len(done.NewIDs) > 0 || done.ID != second || !done.Audit {
					t.Fatalf("%+v, %v", done, err)
				}
				again := filepath.Join(t.TempDir(), "again")
				if err := Export(t.Context(), target, again, ExportOptions{Practice: second, Format: format}); err != nil {
					t.Fatal(err)
				}
				want, got := readFiles(t, dir), readFiles(t, again)
				for name := range want {
					if name != manifestName && got[name] != want[name] {
						t.Errorf("%s differs", name)
					}
				}
			}
		})
	}
}

// An export of one practice has no row of another one, and no secret.
func TestPracticeExportHasNothingElse(t *testing.T) {
	t.Parallel()
	for kind := range databases {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			db := openDemo(t, kind)
			addLooseRows(t, db)
			storetest.Exec(t, db, "UPDATE users SET totp_secret = 'sealed:00000001:CANARYTOTP', totp_step = 7, recovery_codes = '[\"CANARYCODE\"]', known_browsers = '[]'")
			demo, second := practiceID(t, db, "demo"), practiceID(t, db, "second")
			dir := filepath.Join(t.TempDir(), "out")
			if err := Export(t.Context(), db, dir, ExportOptions{Practice: demo}); err != nil {
				t.Fatal(err)
			}
			files := readFiles(t, dir)
			for name, content := range files {
				for _, canary := range []string{second, "second.chairside.test", "of second", "CANARY", "$argon2"} {
					if strings.Contains(content, canary) {
						t.Errorf("%s contains %q", name, canary)
					}
				}
				if of, _, _ := strings.Cut(name, "."); notExported[of] != "" || leftBehind[of] != "" {
					t.Errorf("%s was exported", name)
				}
			}
			var m manifest
			if err := json.Unmarshal([]byte(files[manifestName]), &m); err != nil || m.Practice == nil || m.Practice.ID != demo || m.Practice.LeftOut["sessions"] == "" || m.Practice.LeftOut["users.password_hash"] == "" {
				t.Errorf("the manifest: %+v, %v", m.Practice, err)
			}
			for i, of := range leaving() {
				if n := int64(len(rowsOf(t, db, of, demo, false))); m.Files[i].Rows != n {
					t.Errorf("%s: %d rows, want %d", of.Name, m.Files[i].Rows, n)
				}
			}
			if err := Export(t.Context(), db, filepath.Join(t.TempDir(), "none"), ExportOptions{Practice: "01890a5d-ac96-774b-bcce-b302099a8057"}); err == nil {
				t.Error("a practice that does not exist was exported")
			}
			if _, err := Restore(t.Context(), open(t, databases[kind](t)), dir, RestoreOptions{}); !errors.Is(err, ErrManifest) {
				t.Errorf("restored as an installation: %v", err)
			}
		})
	}
}

// Values that belong to other practices are all listed, and nothing is written.
func TestPracticeImportListsCollisions(t *testing.T) {
	t.Parallel()
	for kind := range databases {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			db := openDemo(t, kind)
			demo := practiceID(t, db, "demo")
			dir, ids := filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "ids.csv")
			if err := Export(t.Context(), db, dir, ExportOptions{Practice: demo}); err != nil {
				t.Fatal(err)
			}
			before := others(t, db, "00000000-0000-0000-0000-000000000000")
			_, err := ImportPractice(t.Context(), db, dir, PracticeOptions{IDMap: ids, Emails: map[string]string{"no@one.test": "x@y.test"}})
			if !errors.Is(err, ErrTaken) || !strings.Contains(err.Error(), "practices: slug demo") || !strings.Contains(err.Error(), "no user with the e-mail no@one.test") {
				t.Errorf("%v", err)
			}
			for email := range newEmails(t, db, demo) {
				if !strings.Contains(err.Error(), "users: email "+email) {
					t.Errorf("%s is not listed: %v", email, err)
				}
			}
			// A total that contradicts its rows is found after everything was written.
			files := readFiles(t, dir)
			forge(t, files, "accounts.ndjson", `"current_balance"`, map[string]string{"current_balance": `"12345.67"`})
			forged := t.TempDir()
			for name, content := range files {
				if err := os.WriteFile(filepath.Join(forged, name), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			options := PracticeOptions{Slug: "moved", Emails: newEmails(t, db, demo), IDMap: ids}
			if _, err := ImportPractice(t.Context(), db, forged, options); !errors.Is(err, ErrContradiction) {
				t.Errorf("a contradiction: %v", err)
			}
			// A row of another practice is refused.
			files = readFiles(t, dir)
			forge(t, files, "rooms.ndjson", demo, map[string]string{"practice_id": `"` + practiceID(t, db, "second") + `"`})
			for name, content := range files {
				if err := os.WriteFile(filepath.Join(forged, name), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := ImportPractice(t.Context(), db, forged, options); !errors.Is(err, ErrAltered) || !strings.Contains(err.Error(), "practice_id is not the practice") {
				t.Errorf("a row of another practice: %v", err)
			}
			if after := others(t, db, "00000000-0000-0000-0000-000000000000"); fmt.Sprint(after) != fmt.Sprint(before) {
				t.Error("a failed import left rows")
			}
			for _, name := range []string{ids, ids + partial} {
				if _, err := os.Stat(name); !os.IsNotExist(err) {
					t.Errorf("a failed import left %s", name)
				}
			}
		})
	}
}
