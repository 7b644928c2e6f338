package store_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"chairside/ent"
	"chairside/internal/entx"
	"chairside/internal/store"
	"chairside/internal/store/dbconn"
	"chairside/internal/store/storetest"
	"chairside/internal/test/localpg"
	"chairside/internal/test/localpg/pgtest"
)

// TestWaitingForLocksLogsNothing checks that waiting for a lock, in vain or not, leaves no error
// in PostgreSQL's log.
func TestWaitingForLocksLogsNothing(t *testing.T) {
	t.Parallel()
	if pgtest.Missing() != nil {
		pgtest.New(t) // skips
	}
	parent, err := os.MkdirTemp("", "chairside-log-") // the server's account needs access
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(parent)
	if err := os.Chmod(parent, 0o755); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(parent, "server")
	server, err := localpg.StartIn(t.Context(), dir, "logging_collector=on", "log_filename=log")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	holder, waiter := storetest.Open(t, server.URL("postgres")), storetest.Open(t, server.URL("postgres"))
	storetest.Exec(t, waiter, "CREATE TABLE things (id integer PRIMARY KEY)")
	nothing := func(*ent.Client) error { return nil }
	err = holder.TxHolding(t.Context(), diaryLock, func(*ent.Client) error {
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if err := insertThing(t.Context(), waiter); err == nil {
					t.Error("the lock was held twice")
				}
				err := waiter.TxWith(t.Context(), dbconn.TxOptions{Locks: diaryLock}, nothing)
				if !isUnavailable(store.APIError(t.Context(), err)) {
					t.Errorf("lock taken at the beginning: %v", err)
				}
				err = waiter.Tx(t.Context(), func(tx *ent.Client) error { return store.TakeLocks(t.Context(), tx, diaryLock...) })
				if !isUnavailable(store.APIError(t.Context(), err)) {
					t.Errorf("lock taken later: %v", err)
				}
			})
		}
		all.Wait()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := storetest.Value(t, waiter.SQL, "SELECT count(*) FROM things"); got != "0" {
		t.Errorf("%s things were written without the lock", got)
	}
	if _, err := waiter.SQL.ExecContext(t.Context(), "SELECT 1/0"); err == nil {
		t.Fatal("a division by zero succeeded")
	}
	var log []byte
	for deadline := time.Now().Add(storetest.Timeout); !strings.Contains(string(log), "division by zero") && time.Now().Before(deadline); {
		if log, err = os.ReadFile(filepath.Join(dir, "data", "log", "log")); err != nil {
			t.Fatal(err)
		}
	}
	if errors := strings.Count(string(log), "ERROR:"); errors != 1 {
		t.Errorf("the log has %d errors, want only that of the division:\n%s", errors, log)
	}
}

// insertThing inserts in a single-statement transaction that needs diaryLock.
func insertThing(ctx context.Context, db *store.DB) error {
	tx, err := db.SQL.BeginTx(dbconn.WithTxOptions(ctx, dbconn.TxOptions{Locks: diaryLock, Single: new(bool)}), nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	if err := tx.QueryRowContext(ctx, "INSERT INTO things SELECT $1::integer WHERE "+entx.IfLocked+" RETURNING id", 1).Scan(new(int)); err != nil {
		return err
	}
	return tx.Commit()
}
