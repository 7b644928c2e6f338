package importer

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"chairside/ent/patient"
	"chairside/internal/clock"
	"chairside/internal/dump"
	"chairside/internal/entx/table"
	"chairside/internal/store"
	"chairside/internal/test/testkeys"
)

// The environment variables that make a process of this test binary only import.
const (
	importDir      = "IMPORTER_TEST_DIR"
	importDatabase = "IMPORTER_TEST_DATABASE"
	importRejects  = "IMPORTER_TEST_REJECTS"
)

// importAndExit imports the files that the environment names.
func importAndExit() {
	ctx := clock.With(context.Background(), now)
	db, err := store.Open(ctx, os.Getenv(importDatabase))
	if err == nil {
		db.Keys = testkeys.Keys()
		_, err = Import(ctx, db, os.Getenv(importDir), Options{Rejects: os.Getenv(importRejects)})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// An import that is killed several times and resumed has the same result as an undisturbed one:
// rows, audit log, rejects and findings.
func TestKilledImportResumes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeBigPractice(t, dir, 3000) // more than a batch
	for kind, url := range databases {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			base := filepath.Join(t.TempDir(), "base")
			template := open(t, databases["sqlite"](t))
			createPractice(t, template)
			var practice string
			if err := template.SQL.QueryRowContext(t.Context(), "SELECT id FROM practices").Scan(&practice); err != nil {
				t.Fatal(err)
			}
			// Each import of a practice without a search key would make another one.
			if _, err := template.SQL.ExecContext(t.Context(), "UPDATE practices SET search_key = $1", testkeys.Seal(practice, "practices", "search_key", practice, "search")); err != nil {
				t.Fatal(err)
			}
			if err := dump.Export(t.Context(), template, base, dump.ExportOptions{}); err != nil {
				t.Fatal(err)
			}
			newDatabase := func() (*store.DB, string) {
				address := url(t)
				db := open(t, address)
				if _, err := dump.Restore(t.Context(), db, base, dump.RestoreOptions{}); err != nil {
					t.Fatal(err)
				}
				return db, address
			}
			undisturbed, _ := newDatabase()
			wantRejects := t.TempDir()
			want := runImport(t, undisturbed, dir, Options{Rejects: wantRejects})

			killed, address := newDatabase()
			gotRejects := t.TempDir()
			for _, after := range []int{1, 8000, 14_000} {
				if !killAfter(t, killed, after, importDir+"="+dir, importDatabase+"="+address, importRejects+"="+gotRejects) {
					t.Fatalf("the import ended before it was killed after %d rows", after)
				}
			}
			got := runImport(t, killed, dir, Options{Rejects: gotRejects})
			if !got.Resumed || want.Resumed {
				t.Errorf("resumed: %v, undisturbed: %v", got.Resumed, want.Resumed)
			}
			got.Resumed = false
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("the report is %+v, want %+v", got, want)
			}
			sameFiles(t, readFiles(t, gotRejects), readFiles(t, wantRejects))
			sameFiles(t, dumpTables(t, killed), dumpTables(t, undisturbed))
		})
	}
}

// An import whose rejects are missing starts from the beginning: it matches the stored rows and
// writes the rejects again.
func TestImportWithoutItsRejectsStartsAgain(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, db *store.DB) {
		createPractice(t, db)
		dir := filepath.Join("testdata", "oldsoft")
		first, second := t.TempDir(), t.TempDir()
		want := runImport(t, db, dir, Options{Rejects: first})
		for _, stage := range []string{stageLoad, stageCheck} {
			var content []byte
			if err := db.SQL.QueryRowContext(t.Context(), "SELECT progress FROM import_runs").Scan(&content); err != nil {
				t.Fatal(err)
			}
			var c checkpoint
			if err := json.Unmarshal(content, &c); err != nil {
				t.Fatal(err)
			}
			c.Stage = stage
			content, err := json.Marshal(c)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.SQL.ExecContext(t.Context(), "UPDATE import_runs SET finished_at = NULL, progress = $1", content); err != nil {
				t.Fatal(err)
			}
			if report := runImport(t, db, dir, Options{Rejects: second}); report.Resumed || report.Files[0].Created != 0 || report.Differences != want.Differences {
				t.Errorf("%s: %+v", stage, report)
			}
			got, refused := readFiles(t, second), readFiles(t, first)
			delete(got, Findings) // some warnings are only for new rows
			delete(refused, Findings)
			sameFiles(t, got, refused)
			second = t.TempDir()
		}
	})
}

// killAfter imports in another process and kills it when that has stored this many rows. It
// reports whether the import was interrupted.
func killAfter(t *testing.T, db *store.DB, rows int, env ...string) bool {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), env...)
	var output strings.Builder
	command.Stderr = &output
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	for {
		select {
		case err := <-ended:
			t.Logf("the process ended: %v\n%s", err, output.String())
			return false
		default:
		}
		var content []byte
		if err := db.SQL.QueryRowContext(t.Context(), "SELECT progress FROM import_runs WHERE finished_at IS NULL").Scan(&content); err != nil {
			continue // it has not started
		}
		var c checkpoint
		if err := json.Unmarshal(content, &c); err != nil {
			t.Fatal(err)
		}
		stored := 0
		for _, f := range c.Files {
			stored += f.Rows
		}
		if stored >= rows {
			if err := command.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			<-ended
			return queryInt(t, db, "SELECT count(*) FROM import_runs WHERE finished_at IS NULL") == 1
		}
	}
}

func sameFiles(t *testing.T, got, want map[string]string) {
	t.Helper()
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s differs", name)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d files, want %d", len(got), len(want))
	}
}

// positions are the positions of IDs in their table, by table and ID.
type positions map[string]map[string]int

// dumpTables returns the rows of a database as text, by table. PostgreSQL skips IDs when a
// transaction is killed, so each ID is replaced by its position in the table.
func dumpTables(t *testing.T, db *store.DB) map[string]string {
	t.Helper()
	execSQL(t, db, "UPDATE audit_events SET xid = NULL") // transaction ids differ between the runs
	list := slices.DeleteFunc(slices.Clone(entities), func(e *entity) bool {
		return slices.Contains([]string{"import_runs", "feed_changes", "feed_state"}, e.Name) // they tell of the kills
	})
	ids := positions{}
	for _, e := range list {
		ids[e.Name] = idPositions(t, db, e)
	}
	tables := map[string]string{}
	for _, e := range list {
		tables[e.Name] = dumpTable(t, db, e, ids)
	}
	return tables
}

// orderOf returns the order of a table's rows. The ID of an item that an import makes is derived from
// the number of its invoice, so skipped numbers give other IDs in another order.
func orderOf(e *entity) string {
	if e.Name == "invoice_items" {
		return "invoice_id, id"
	}
	return "id"
}

func idPositions(t *testing.T, db *store.DB, e *entity) map[string]int {
	t.Helper()
	rows, err := db.SQL.QueryContext(t.Context(), "SELECT id FROM "+table.Quote(e.Name)+" ORDER BY "+orderOf(e))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	ids := map[string]int{}
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		ids[id] = len(ids) + 1
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return ids
}

func dumpTable(t *testing.T, db *store.DB, e *entity, ids positions) string {
	t.Helper()
	rows, err := db.SQL.QueryContext(t.Context(), "SELECT "+table.Quote(e.Names()...)+" FROM "+table.Quote(e.Name)+" ORDER BY "+orderOf(e))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var b strings.Builder
	values, places := table.Scan(len(e.Columns))
	for rows.Next() {
		if err := rows.Scan(places...); err != nil {
			t.Fatal(err)
		}
		resource := "" // of an audit entry or a legacy ID
		for i, c := range e.Columns {
			text, ok, err := c.Stored.Format(values[i])
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case c.Name == "id":
				text = fmt.Sprint(ids[e.Name][text])
			case c.Name == "resource":
				resource = text
			case c.Name == "record_id":
				for _, other := range entities {
					if resource == other.Name || resource == other.Type {
						text = fmt.Sprint(other.Name, ids[other.Name][text])
					}
				}
			case c.Name == "patient_id" && ok: // that of an audit entry is no foreign key
				text = fmt.Sprint(ids[patient.Table][text])
			case c.References != "":
				text = fmt.Sprint(ids[c.References][text])
			}
			fmt.Fprintf(&b, "%s=%v %s\t", c.Name, ok, text)
		}
		b.WriteByte('\n')
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
