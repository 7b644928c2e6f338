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

	"chairside/internal/clock"
	"chairside/internal/dump"
	"chairside/internal/entx/table"
	"chairside/internal/store"
)

// The environment of a process of this test program that only imports.
const (
	importDir      = "IMPORTER_TEST_DIR"
	importDatabase = "IMPORTER_TEST_DATABASE"
	importRejects  = "IMPORTER_TEST_REJECTS"
)

// importAndExit is what such a process does.
func importAndExit() {
	ctx := clock.With(context.Background(), day)
	db, err := store.Open(ctx, os.Getenv(importDatabase))
	if err == nil {
		_, err = Import(ctx, db, os.Getenv(importDir), Options{Rejects: os.Getenv(importRejects)})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// An import that is killed again and again comes to the same end as one that
// nobody disturbs: rows, audit log, rejects and findings.
func TestKilledImportGoesOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bigPractice(t, dir, 3000) // more than a batch
	for kind, url := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			base := filepath.Join(t.TempDir(), "base")
			template := open(t, kinds["sqlite"](t))
			bright(t, template)
			if err := dump.Export(t.Context(), template, base, dump.ExportOptions{}); err != nil {
				t.Fatal(err)
			}
			place := func() (*store.DB, string) {
				where := url(t)
				db := open(t, where)
				if _, err := dump.Restore(t.Context(), db, base, dump.RestoreOptions{}); err != nil {
					t.Fatal(err)
				}
				return db, where
			}
			calm, _ := place()
			calmRejects := t.TempDir()
			want := importing(t, calm, dir, Options{Rejects: calmRejects})

			killed, where := place()
			killedRejects := t.TempDir()
			for _, after := range []int{1, 8000, 14_000} {
				if !killAfter(t, killed, after, importDir+"="+dir, importDatabase+"="+where, importRejects+"="+killedRejects) {
					t.Fatalf("the import was finished before it could be killed after %d rows", after)
				}
			}
			got := importing(t, killed, dir, Options{Rejects: killedRejects})
			if !got.Resumed || want.Resumed {
				t.Errorf("resumed: %v, undisturbed: %v", got.Resumed, want.Resumed)
			}
			got.Resumed = false
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("the report is %+v, want %+v", got, want)
			}
			sameFiles(t, contents(t, killedRejects), contents(t, calmRejects))
			sameFiles(t, state(t, killed), state(t, calm))
		})
	}
}

// An import whose rejects are not there any more begins anew: its rows are found
// again, and what is wrong is told again.
func TestImportGoesOnElsewhere(t *testing.T) {
	each(t, func(t *testing.T, db *store.DB) {
		bright(t, db)
		dir := filepath.Join("testdata", "oldsoft")
		first, second := t.TempDir(), t.TempDir()
		want := importing(t, db, dir, Options{Rejects: first})
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
			if report := importing(t, db, dir, Options{Rejects: second}); report.Resumed || report.Files[0].Created != 0 || report.Differences != want.Differences {
				t.Errorf("%s: %+v", stage, report)
			}
			got, refused := contents(t, second), contents(t, first)
			delete(got, Findings) // without what is told of new rows alone
			delete(refused, Findings)
			sameFiles(t, got, refused)
			second = t.TempDir()
		}
	})
}

// killAfter imports in a process of its own and kills it when so many rows are
// in, -9. It reports whether the process was still at work.
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
			t.Logf("it ended by itself: %v\n%s", err, output.String())
			return false
		default:
		}
		var content []byte
		if err := db.SQL.QueryRowContext(t.Context(), "SELECT progress FROM import_runs WHERE finished_at IS NULL").Scan(&content); err != nil {
			continue // it has not begun
		}
		var c checkpoint
		if err := json.Unmarshal(content, &c); err != nil {
			t.Fatal(err)
		}
		in := 0
		for _, f := range c.Files {
			in += f.Rows
		}
		if in >= rows {
			if err := command.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			<-ended
			return number(t, db, "SELECT count(*) FROM import_runs WHERE finished_at IS NULL") == 1
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

// state is all that is in a database, by table. PostgreSQL leaves gaps between
// the ids where a transaction was killed, so numbers stand for their place
// among the ids of the table.
func state(t *testing.T, db *store.DB) map[string]string {
	t.Helper()
	places := map[string]map[string]int{}
	list := slices.DeleteFunc(slices.Clone(entities), func(e *entity) bool { return e.Name == "import_runs" })
	for _, e := range list {
		places[e.Name] = map[string]int{}
		rows, err := db.SQL.QueryContext(t.Context(), "SELECT id FROM "+table.Quote(e.Name)+" ORDER BY id")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var id string
			if err := rows.Scan(&id); err != nil {
				t.Fatal(err)
			}
			places[e.Name][id] = len(places[e.Name]) + 1
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	tables := map[string]string{}
	for _, e := range list {
		rows, err := db.SQL.QueryContext(t.Context(), "SELECT "+table.Quote(e.Names()...)+" FROM "+table.Quote(e.Name)+" ORDER BY id")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		var b strings.Builder
		values, scan := table.Scan(len(e.Columns))
		for rows.Next() {
			if err := rows.Scan(scan...); err != nil {
				t.Fatal(err)
			}
			var of string
			for i, c := range e.Columns {
				shown, ok, err := c.Stored.Format(values[i])
				if err != nil {
					t.Fatal(err)
				}
				switch {
				case c.Name == "id":
					shown = fmt.Sprint(places[e.Name][shown])
				case c.Name == "resource":
					of = shown
				case c.Name == "record_id":
					for _, other := range list {
						if of == other.Name || of == other.Type {
							shown = fmt.Sprint(other.Name, places[other.Name][shown])
						}
					}
				case c.References != "":
					shown = fmt.Sprint(places[c.References][shown])
				}
				fmt.Fprintf(&b, "%s=%v %s\t", c.Name, ok, shown)
			}
			b.WriteByte('\n')
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		tables[e.Name] = b.String()
	}
	return tables
}
