package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"chairside/internal/principal"
	"chairside/internal/store"
	"chairside/internal/store/storetest"
)

// TestSQLiteStatementJournal checks that SQLite creates no file for a statement that changes as
// many pages as a new appointment does, but does for a larger one. It does not run in parallel,
// because it would also find the files of other tests.
func TestSQLiteStatementJournal(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux lists the files that are open")
	}
	for _, pages := range []int{25, 40} {
		db := storetest.Open(t, "sqlite:"+t.TempDir()+"/test.db")
		createVisits(t, db, pages)
		tx, err := db.SQL.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		if _, err := tx.ExecContext(t.Context(), "UPDATE visits SET note = 'new' WHERE id < $1", pages); err != nil {
			t.Fatal(err)
		}
		if made, want := hasTemporaryFile(t), pages*page > store.StatementJournal; made != want {
			t.Errorf("%d pages: a temporary file is open: %v", pages, made)
		}
	}
}

// hasTemporaryFile reports whether SQLite has a temporary file open.
func hasTemporaryFile(t *testing.T) bool {
	t.Helper()
	files, err := filepath.Glob("/proc/self/fd/*")
	if err != nil || len(files) == 0 {
		t.Fatal(len(files), "open files", err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		target, err := os.Readlink(file) // fails where it was closed since
		return err == nil && strings.Contains(target, "etilqs_")
	})
}

// createVisits creates a table of as many pages. A CHECK refuses the note "new" in its last row.
func createVisits(t *testing.T, db *store.DB, pages int) {
	t.Helper()
	storetest.Exec(t, db, "CREATE TABLE visits (id integer NOT NULL PRIMARY KEY, note text NOT NULL CHECK (note <> 'new' OR id < "+fmt.Sprint(pages)+"), padding blob NOT NULL)")
	storetest.Exec(t, db, "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < $1) INSERT INTO visits SELECT n, 'old', randomblob($2) FROM n", pages, page/2+1)
}

// page is the size of SQLite's pages, in bytes.
const page = 4096

// TestSQLiteUndoesFailedStatements checks that a statement that fails on its last row changes
// nothing, however many pages it has written, and that the transaction can continue.
func TestSQLiteUndoesFailedStatements(t *testing.T) {
	t.Parallel()
	const most = store.StatementJournal / page // pages that fit into memory
	for _, pages := range []int{10, most - 2, most - 1, most, most + 1, most + 2, 2 * most, 2000} {
		t.Run(fmt.Sprint(pages, " pages"), func(t *testing.T) {
			t.Parallel()
			db := storetest.Open(t, "sqlite:"+t.TempDir()+"/test.db")
			createVisits(t, db, pages)

			ctx := principal.AsSystem(t.Context())
			tx, err := db.SQL.BeginTx(ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Rollback()
			write := func(text string) error {
				_, err := tx.ExecContext(ctx, text)
				return err
			}
			if err := write("UPDATE visits SET note = 'before' WHERE id = 1"); err != nil {
				t.Fatal(err)
			}
			if err := write("UPDATE visits SET note = 'new'"); err == nil || !strings.Contains(err.Error(), "CHECK constraint failed") {
				t.Fatalf("the last row is refused with %v", err)
			}
			if err := write("UPDATE visits SET note = 'after' WHERE id = 2"); err != nil {
				t.Fatal(err)
			}
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
			var got string
			const each = "SELECT group_concat(note || ' ' || n, ', ') FROM (SELECT note, count(*) AS n FROM visits GROUP BY note ORDER BY note)"
			if err := db.SQL.QueryRowContext(ctx, each).Scan(&got); err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprintf("after 1, before 1, old %d", pages-2); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}
