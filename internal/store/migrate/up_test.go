package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"chairside/internal/store/storetest"
	"chairside/internal/test/localpg/pgtest"
)

// outsideFiles are twoFiles and a file of statements that are not in a transaction.
func outsideFiles(url, statements string) map[string]string {
	files := twoFiles(url)
	files["20260103000000_outside.sql"] = "-- atlas:txmode none\n\n" + statements
	return files
}

// eventually waits until query, which counts, finds something.
func eventually(t *testing.T, db *testDB, query string) {
	t.Helper()
	for deadline := time.Now().Add(storetest.Timeout); ; {
		var n int
		if err := db.SQL.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		if n > 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: nothing", query)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// begin begins a transaction with a statement; it is rolled back after the test.
func begin(t *testing.T, db *testDB, statement string) *sql.Tx {
	t.Helper()
	tx, err := db.SQL.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback() })
	if _, err := tx.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
	return tx
}

const (
	lockWaits = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = '%s'::regclass"
	building  = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'CREATE %INDEX CONCURRENTLY%' AND wait_event_type = 'Lock' AND datname = current_database()"
)

// A file outside a transaction goes on at the statement that failed, also when
// the failure lasts for several attempts.
func TestMigrationOutsideATransactionIsResumed(t *testing.T) {
	t.Parallel()
	url := pgtest.New(t)
	db := openWith(t, url, outsideFiles(url, `CREATE INDEX CONCURRENTLY memos_body ON memos (body);
INSERT INTO memos VALUES (7, (SELECT body FROM needed));
SELECT 1;`))
	for range 2 {
		applied, err := db.Up(t.Context())
		if err == nil || len(applied) > 2 || !strings.Contains(err.Error(), "20260103000000_outside.sql: INSERT INTO memos") {
			t.Fatalf("%v %v", applied, err)
		}
		if err := db.Check(t.Context()); !errors.Is(err, ErrPending) || !strings.Contains(err.Error(), "1 of 3 statements") {
			t.Errorf("Check: %v", err)
		}
		if list, err := db.Status(t.Context()); err != nil || len(list) != 3 || !list[2].AppliedAt.IsZero() || list[2].Applied != 1 || list[2].Statements != 3 {
			t.Errorf("Status: %v %v", list, err)
		}
	}
	storetest.Exec(t, db.DB, "CREATE TABLE needed (body text)")
	if applied, err := db.Up(t.Context()); err != nil || len(applied) != 1 {
		t.Fatalf("%v %v", applied, err)
	}
	if err := db.Check(t.Context()); err != nil {
		t.Error(err)
	}
	// Later migrations have been applied: it is too late to go on.
	storetest.Exec(t, db.DB, "UPDATE atlas_schema_revisions SET applied = 1 WHERE version = '20260103000000'")
	storetest.Exec(t, db.DB, "INSERT INTO atlas_schema_revisions SELECT '20260104000000', 'later', type, total, total, executed_at, 0, '', '', '', NULL, '' FROM atlas_schema_revisions LIMIT 1")
	if err := db.Check(t.Context()); !errors.Is(err, ErrHalfApplied) {
		t.Errorf("Check: %v", err)
	}
	if list, err := db.Status(t.Context()); !errors.Is(err, ErrHalfApplied) || len(list) != 4 || !list[2].AppliedAt.IsZero() || list[2].Applied != 1 || list[2].Statements != 3 {
		t.Errorf("Status: %v %v", list, err)
	}
}

// A build that is killed leaves an invalid index, which the next attempt replaces.
func TestKilledIndexBuildIsRepeated(t *testing.T) {
	t.Parallel()
	url := pgtest.New(t)
	files := outsideFiles(url, "CREATE UNIQUE INDEX CONCURRENTLY \"memos_body\" ON memos (body);\nSELECT 1;")
	db := openWith(t, url, twoFiles(url))
	if _, err := db.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	db = openWith(t, url, files)
	old := begin(t, db, "INSERT INTO memos VALUES (1, 'x')") // the build waits for it
	var migrating sync.WaitGroup
	migrating.Go(func() {
		if _, err := db.Up(t.Context()); err == nil {
			t.Error("the killed build has ended well")
		}
	})
	eventually(t, db, building)
	storetest.Exec(t, db.DB, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'CREATE UNIQUE INDEX%' AND datname = current_database()")
	migrating.Wait()
	eventually(t, db, "SELECT count(*) FROM pg_index WHERE indexrelid = 'memos_body'::regclass AND NOT indisvalid")
	if err := old.Commit(); err != nil {
		t.Fatal(err)
	}
	var said []string
	if applied, err := db.Up(t.Context(), func(s string) { said = append(said, s) }); err != nil || len(applied) != 1 {
		t.Fatalf("%v %v", applied, err)
	}
	eventually(t, db, "SELECT count(*) FROM pg_index WHERE indexrelid = 'memos_body'::regclass AND indisvalid")
	if len(said) != 1 || !strings.Contains(said[0], "invalid index") {
		t.Errorf("reported: %q", said)
	}
}

// An index that cannot be built does not stay behind: invalid, it would still
// refuse rows.
func TestFailedUniqueIndexIsDropped(t *testing.T) {
	t.Parallel()
	url := pgtest.New(t)
	files := outsideFiles(url, "CREATE UNIQUE INDEX CONCURRENTLY memos_body ON memos (body);")
	files["20260102000000_second.sql"] += "\nINSERT INTO memos VALUES (1, 'x'), (2, 'x');"
	db := openWith(t, url, files)
	if _, err := db.Up(t.Context()); err == nil {
		t.Fatal("two equal rows are unique")
	}
	storetest.Exec(t, db.DB, "INSERT INTO memos VALUES (3, 'x')")
	storetest.Exec(t, db.DB, "DELETE FROM memos WHERE id > 1")
	if _, err := db.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	// A valid index is taken for our own only where this migration was broken off.
	files["20260104000000_again.sql"] = files["20260103000000_outside.sql"]
	if _, err := openWith(t, url, files).Up(t.Context()); err == nil || !strings.Contains(err.Error(), "already exists") {
		t.Errorf("the index is there: %v", err)
	}
}

// A build waits for old transactions longer than for any lock.
func TestIndexBuildOutlastsOldTransactions(t *testing.T) {
	t.Parallel()
	url := pgtest.New(t)
	db := openWith(t, url, twoFiles(url))
	if _, err := db.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	db = openWith(t, url, outsideFiles(url, "CREATE INDEX CONCURRENTLY memos_body ON memos (body);"))
	db.lockRetry = 0
	old := begin(t, db, "INSERT INTO memos VALUES (1, 'x')")
	var migrating sync.WaitGroup
	migrating.Go(func() {
		if _, err := db.Up(t.Context()); err != nil {
			t.Error(err)
		}
	})
	eventually(t, db, building)
	storetest.Exec(t, db.DB, "SELECT pg_sleep(1.5)") // longer than other statements wait for a lock
	if err := old.Commit(); err != nil {
		t.Fatal(err)
	}
	migrating.Wait()
}

// A migration that does not get its lock gives up, changes nothing, and names
// who holds the lock; once the holder ends while it retries, it goes through.
func TestMigrationWaitsForLocks(t *testing.T) {
	t.Parallel()
	for kind, third := range map[string]string{
		"in a transaction":      "CREATE TABLE more (id bigint);\nALTER TABLE memos ADD COLUMN colour text NULL;",
		"outside a transaction": "-- atlas:txmode none\n\nALTER TABLE memos ADD COLUMN colour text NULL;",
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			url := pgtest.New(t)
			db := openWith(t, url, twoFiles(url))
			if _, err := db.Up(t.Context()); err != nil {
				t.Fatal(err)
			}
			files := twoFiles(url)
			files["20260103000000_third.sql"] = third
			db = openWith(t, url, files)
			db.lockRetry = 0
			holder := begin(t, openTest(t, storetest.With(url, "application_name=nightly")), "SELECT count(*) FROM memos WHERE body <> 'a secret'")
			var process int
			if err := holder.QueryRow("SELECT pg_backend_pid()").Scan(&process); err != nil {
				t.Fatal(err)
			}
			_, err := db.Up(t.Context())
			if !errors.Is(err, ErrLocked) {
				t.Fatalf("Up beside a reader: %v", err)
			}
			for _, part := range []string{"20260103000000_third.sql", "ALTER TABLE memos", "AccessExclusiveLock on memos", fmt.Sprintf("process %d (nightly, idle in transaction", process)} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q lacks %q", err, part)
				}
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("%q holds the text of a query", err)
			}
			db.lockRetry = retryFor
			var migrating sync.WaitGroup
			migrating.Go(func() {
				if applied, err := db.Up(t.Context()); err != nil || len(applied) != 1 {
					t.Errorf("%v %v", applied, err)
				}
			})
			eventually(t, db, fmt.Sprintf(lockWaits, "memos"))
			if err := holder.Commit(); err != nil {
				t.Fatal(err)
			}
			migrating.Wait()
		})
	}
}

// In a deadlock between a migration and a client the migration gives way.
func TestMigrationGivesWayInADeadlock(t *testing.T) {
	t.Parallel()
	url := pgtest.New(t)
	files := twoFiles(url)
	files["20260102500000_tags.sql"] = "CREATE TABLE tags (id bigint);"
	db := openWith(t, url, files)
	if _, err := db.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	files["20260103000000_third.sql"] = "ALTER TABLE memos ADD COLUMN colour text NULL;\nALTER TABLE tags ADD COLUMN colour text NULL;"
	db = openWith(t, url, files)
	client := begin(t, db, "INSERT INTO tags VALUES (1)")
	var migrating sync.WaitGroup
	migrating.Go(func() {
		if _, err := db.Up(t.Context()); err != nil {
			t.Error(err)
		}
	})
	eventually(t, db, fmt.Sprintf(lockWaits, "tags"))
	if _, err := client.Exec("INSERT INTO memos (id) VALUES (1)"); err != nil {
		t.Errorf("the client: %v", err)
	}
	if err := client.Commit(); err != nil {
		t.Error(err)
	}
	migrating.Wait()
}

// Giving up ends the waiting.
func TestMigrationCanBeInterrupted(t *testing.T) {
	t.Parallel()
	url := pgtest.New(t)
	db := openWith(t, url, twoFiles(url))
	if _, err := db.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	files := twoFiles(url)
	files["20260103000000_third.sql"] = "ALTER TABLE memos ADD COLUMN colour text NULL;"
	db = openWith(t, url, files)
	begin(t, db, "SELECT * FROM memos")
	ctx, stop := context.WithCancel(t.Context())
	var migrating sync.WaitGroup
	migrating.Go(func() {
		if _, err := db.Up(ctx); err == nil {
			t.Error("it is not interrupted")
		}
	})
	eventually(t, db, fmt.Sprintf(lockWaits, "memos"))
	stop()
	migrating.Wait()
}
