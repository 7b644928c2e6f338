package migrate

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	engine "ariga.io/atlas/sql/migrate"

	"chairside/internal/store/storetest"
)

// openWith opens the database at url with migrations of the test's own.
func openWith(t *testing.T, url string, files map[string]string) *testDB {
	t.Helper()
	db := openTest(t, url)
	db.files, db.tables = migrationFiles(t, files), memos()
	return db
}

// twoFiles make the table of memos, in two steps.
func twoFiles(url string) map[string]string {
	text := "varchar COLLATE \"C\""
	if strings.HasPrefix(url, "sqlite") {
		text = "text"
	}
	return map[string]string{
		"20260101000000_first.sql":  "CREATE TABLE memos (id bigint NOT NULL PRIMARY KEY);",
		"20260102000000_second.sql": "ALTER TABLE memos ADD COLUMN body " + text + " NULL;\nINSERT INTO memos VALUES (1, 'x');\nDELETE FROM memos;",
	}
}

func TestUp(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := openWith(t, url, twoFiles(url))
		ctx := t.Context()
		if err := db.Check(ctx); !errors.Is(err, ErrPending) {
			t.Errorf("Check of an empty database: %v", err)
		}
		if err := db.Verify(ctx); !errors.Is(err, ErrPending) {
			t.Errorf("Verify of an empty database: %v", err)
		}
		if list, err := db.Status(ctx); err != nil || len(list) != 2 || !list[0].AppliedAt.IsZero() {
			t.Errorf("Status of an empty database: %v %v", list, err)
		}
		before := time.Now().Add(-time.Second)
		applied, err := db.Up(ctx)
		if err != nil || len(applied) != 2 || applied[1].Version != "20260102000000" || applied[1].Name != "second" {
			t.Fatalf("Up: %v %v", applied, err)
		}
		if applied, err := db.Up(ctx); err != nil || len(applied) != 0 {
			t.Errorf("Up again: %v %v", applied, err)
		}
		list, err := db.Status(ctx)
		if err != nil || len(list) != 2 {
			t.Fatalf("Status: %v %v", list, err)
		}
		for _, m := range list {
			if m.AppliedAt.Before(before) || m.AppliedAt.After(time.Now().Add(time.Second)) {
				t.Errorf("%s was applied at %v", m.Name, m.AppliedAt)
			}
		}
		if err := db.Check(ctx); err != nil {
			t.Error(err)
		}
	})
}

func TestUpByManyAtOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		const processes = 4
		var (
			wait  sync.WaitGroup
			mutex sync.Mutex
			total int
		)
		for range processes {
			db := openWith(t, url, twoFiles(url))
			wait.Go(func() {
				applied, err := db.Up(t.Context())
				if err != nil {
					t.Error(err)
				}
				mutex.Lock()
				defer mutex.Unlock()
				total += len(applied)
			})
		}
		wait.Wait()
		if total != 2 {
			t.Errorf("%d migrations applied, want each of 2 once", total)
		}
	})
}

func TestMigrationThatFailsLeavesNoTrace(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		files := twoFiles(url)
		files["20260102000000_second.sql"] = "CREATE TABLE half (id bigint);\nCREATE TABLE no such thing;"
		db := openWith(t, url, files)
		applied, err := db.Up(t.Context())
		if err == nil || len(applied) != 1 || !strings.Contains(err.Error(), "20260102000000_second.sql") {
			t.Fatalf("%v %v", applied, err)
		}
		if _, err := db.SQL.Exec("SELECT * FROM half"); err == nil {
			t.Error("the failed migration's table is there")
		}
		// Corrected, it applies.
		db = openWith(t, url, twoFiles(url))
		if applied, err := db.Up(t.Context()); err != nil || len(applied) != 1 {
			t.Errorf("%v %v", applied, err)
		}
	})
}

// A migration that another program applied in part, outside a transaction that it
// should have had, and one that later migrations follow cannot be resumed.
func TestMigrationRefusals(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		ctx := t.Context()
		if _, err := openWith(t, url, twoFiles(url)).Up(ctx); err != nil {
			t.Fatal(err)
		}
		refused := func(name string, db *testDB, want error) {
			t.Helper()
			if _, err := db.Up(ctx); !errors.Is(err, want) {
				t.Errorf("%s: Up: %v", name, err)
			}
			if err := db.Check(ctx); !errors.Is(err, want) {
				t.Errorf("%s: Check: %v", name, err)
			}
			if err := db.Verify(ctx); !errors.Is(err, want) {
				t.Errorf("%s: Verify: %v", name, err)
			}
			for _, other := range []error{ErrChanged, ErrNewer, ErrHalfApplied, ErrForeign, ErrOrder, ErrPending} {
				if _, err := db.Up(ctx); other != want && errors.Is(err, other) {
					t.Errorf("%s: also refused as %v: %v", name, other, err)
				}
			}
		}

		files := twoFiles(url)
		files["20260101000000_first.sql"] += " -- edited"
		db := openWith(t, url, files)
		refused("an applied file was changed", db, ErrChanged)
		if _, err := db.Up(ctx); !strings.Contains(err.Error(), "20260101000000_first.sql") || strings.Contains(err.Error(), "second") {
			t.Errorf("the wrong file is named: %v", err)
		}

		db = openWith(t, url, twoFiles(url))
		tree := migrationFiles(t, twoFiles(url))
		tree["20260102000000_second.sql"].Data = []byte("SELECT 1;")
		db.files = tree
		refused("a file does not match atlas.sum", db, ErrChanged)

		older := twoFiles(url)
		delete(older, "20260102000000_second.sql")
		refused("an older program", openWith(t, url, older), ErrNewer)

		inserted := twoFiles(url)
		inserted["20260101120000_between.sql"] = "SELECT 1;"
		_, err := openWith(t, url, inserted).Up(ctx)
		if !errors.Is(err, ErrOrder) {
			t.Errorf("a migration between applied ones: %v", err)
		}

		storetest.Exec(t, db.DB, "UPDATE atlas_schema_revisions SET applied = total - 1, error = 'power cut' WHERE version = '20260102000000'")
		refused("half applied", openWith(t, url, twoFiles(url)), ErrHalfApplied)
	})
}

func TestUpRefusesAForeignDatabase(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := openWith(t, url, twoFiles(url))
		storetest.Exec(t, db.DB, "CREATE TABLE customers (id integer)")
		if _, err := db.Up(t.Context()); !errors.Is(err, ErrForeign) {
			t.Errorf("Up: %v", err)
		}
		if _, err := db.SQL.Exec("SELECT * FROM atlas_schema_revisions"); err == nil {
			t.Error("a record of migrations was created")
		}
	})
}

func TestUpIgnoresTheAtlasCommandLinesNotes(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := openWith(t, url, twoFiles(url))
		if _, err := db.Up(t.Context()); err != nil {
			t.Fatal(err)
		}
		note := &engine.Revision{Version: ".atlas_cloud_identifier", Description: "x", ExecutedAt: time.Now()}
		if err := (history{db.SQL, db.postgres()}).WriteRevision(t.Context(), note); err != nil {
			t.Fatal(err)
		}
		if err := db.Check(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestEmbeddedMigrationKeepsForeignKeys(t *testing.T) {
	files := map[string]string{
		"1_first.sql":  "CREATE TABLE memos (id integer PRIMARY KEY);\nCREATE TABLE tags (note_id integer REFERENCES memos (id));\nINSERT INTO memos VALUES (1);\nINSERT INTO tags VALUES (1);",
		"2_broken.sql": "DELETE FROM memos;",
	}
	db := openWith(t, "sqlite:"+t.TempDir()+"/x.db", files)
	applied, err := db.Up(t.Context())
	if len(applied) != 1 || err == nil || !strings.Contains(err.Error(), "1 rows of tags point at no row of memos") {
		t.Errorf("%v %v", applied, err)
	}
}

// Litestream may copy a database before its first migration, and leaves its tables in each copy.
func TestLitestreamsTablesAreNoDifference(t *testing.T) {
	url := "sqlite:" + t.TempDir() + "/x.db"
	db := openWith(t, url, twoFiles(url))
	storetest.Exec(t, db.DB, "CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)")
	storetest.Exec(t, db.DB, "CREATE TABLE _litestream_lock (id INTEGER)")
	if _, err := db.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := db.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestVerifyNamesEachDifference(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := openWith(t, url, twoFiles(url))
		ctx := t.Context()
		if _, err := db.Up(ctx); err != nil {
			t.Fatal(err)
		}
		if err := db.Verify(ctx); err != nil {
			t.Fatalf("right after migrating: %v", err)
		}
		storetest.Exec(t, db.DB, "CREATE TABLE extra (id integer)")
		storetest.Exec(t, db.DB, "CREATE INDEX by_hand ON memos (body)")
		storetest.Exec(t, db.DB, "ALTER TABLE memos ADD COLUMN colour text")
		want := []string{
			"column memos.colour is not in the schema",
			"index by_hand of memos is not in the schema",
			"table extra is not in the schema",
		}
		if db.postgres() {
			storetest.Exec(t, db.DB, `ALTER TABLE memos ALTER COLUMN body TYPE varchar COLLATE "default"`)
			want = append(want, `column memos.body has the collation "" instead of "C"`)
		}
		err := db.Verify(ctx)
		var drift *DriftError
		if !errors.As(err, &drift) {
			t.Fatalf("Verify: %v", err)
		}
		if len(drift.Differences) != len(want) {
			t.Errorf("differences: %q", drift.Differences)
		}
		for _, difference := range want {
			if !strings.Contains(fmt.Sprint(drift.Differences), difference) {
				t.Errorf("not among the differences: %s: %q", difference, drift.Differences)
			}
		}
	})
}
