package store_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"chairside/ent"
	"chairside/internal/store"
	"chairside/internal/store/dbconn"
	"chairside/internal/store/storetest"
	"chairside/internal/test/localpg/pgtest"
)

// TestTransactionsHoldingLocks runs transactions with and without locks one after the other on
// one connection.
func TestTransactionsHoldingLocks(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := storetest.Open(t, url)
		db.SQL.SetMaxOpenConns(1)
		storetest.Exec(t, db, "CREATE TABLE things (id integer PRIMARY KEY)")
		locks := []store.Lock{store.LockOf("b"), store.LockOf("a"), store.LockOf("b")}
		nothing := func(*ent.Client) error { return nil }
		for range 5 {
			ctx, cancel := context.WithCancel(t.Context())
			if err := db.Tx(ctx, nothing); err != nil {
				t.Fatal(err)
			}
			before := db.RoundTrips()
			if err := db.TxHolding(ctx, locks, nothing); err != nil {
				t.Fatal(err)
			}
			if trips := db.RoundTrips() - before; trips != 2 {
				t.Errorf("%d round trips to begin and to commit", trips)
			}
			if err := db.TxHolding(ctx, locks[:1], func(tx *ent.Client) error { return store.TakeLocks(ctx, tx, locks...) }); err != nil {
				t.Fatal(err)
			}
			cancel()
		}
	})
}

// TestLockTimesOut checks that waiting for a lock ends with Unavailable, and that the connection
// can be used again.
func TestLockTimesOut(t *testing.T) {
	t.Parallel()
	url := pgtest.New(t)
	holder, waiter := storetest.Open(t, url), storetest.Open(t, url)
	waiter.SQL.SetMaxOpenConns(1)
	locks := []store.Lock{store.LockOf("diary", 1)}
	nothing := func(*ent.Client) error { return nil }
	err := holder.TxHolding(t.Context(), locks, func(*ent.Client) error {
		err := waiter.TxHolding(t.Context(), locks, nothing)
		if !isUnavailable(store.APIError(t.Context(), err)) {
			t.Errorf("while another transaction has the lock: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := waiter.TxHolding(t.Context(), locks, nothing); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// TestWaitingTakesNoConnection checks that transactions waiting for a lock of their own process
// hold no connection, run one at a time, and stop waiting when they are cancelled.
func TestWaitingTakesNoConnection(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := storetest.Open(t, url)
		db.SQL.SetMaxOpenConns(3)
		locks := []store.Lock{store.LockOf("diary", 1), store.LockOf("diary", 2)}
		var waiting, ended sync.WaitGroup
		var inside, most atomic.Int64
		gone, leave := context.WithCancel(t.Context())
		err := db.TxHolding(t.Context(), locks, func(*ent.Client) error {
			for i := range 40 {
				waiting.Add(1)
				ended.Go(func() {
					ctx := t.Context()
					if i%4 == 0 {
						ctx = gone
					}
					waiting.Done()
					err := db.TxHolding(ctx, locks[i%2:], func(*ent.Client) error {
						most.Store(max(most.Load(), inside.Add(1)))
						inside.Add(-1)
						return nil
					})
					if wrong := i%4 == 0; wrong != errors.Is(err, context.Canceled) {
						t.Errorf("transaction %d: %v", i, err)
					}
				})
			}
			waiting.Wait()
			leave()
			for range 20 { // statements without locks do not wait
				if _, err := db.SQL.ExecContext(t.Context(), "SELECT 1"); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		ended.Wait()
		if most.Load() != 1 {
			t.Errorf("%d transactions held the same lock at once", most.Load())
		}
	})
}

// TestIsolationIsNotTheDatabasesDefault checks that transactions are READ COMMITTED in any
// database: at REPEATABLE READ a transaction would not see what the previous holder of its
// lock wrote.
func TestIsolationIsNotTheDatabasesDefault(t *testing.T) {
	t.Parallel()
	url := pgtest.New(t)
	first, second := storetest.Open(t, url), storetest.Open(t, storetest.With(url, "default_transaction_isolation=repeatable%20read"))
	storetest.Exec(t, first, "CREATE TABLE things (id integer PRIMARY KEY)")
	locks := []store.Lock{store.LockOf("diary", 1)}
	seen := make(chan int, 1)
	err := first.TxHolding(t.Context(), locks, func(*ent.Client) error {
		go func() {
			n := -1
			defer func() { seen <- n }()
			tx, err := second.SQL.BeginTx(dbconn.WithTxOptions(t.Context(), dbconn.TxOptions{Locks: locks}), nil)
			if err != nil {
				t.Error(err)
				return
			}
			defer tx.Rollback()
			if err := tx.QueryRow("SELECT count(*) FROM things").Scan(&n); err != nil {
				t.Error(err)
			}
		}()
		for waiting := 0; waiting == 0; {
			if err := first.SQL.QueryRowContext(t.Context(), asksForLocks).Scan(&waiting); err != nil {
				return err
			}
		}
		storetest.Exec(t, first, "INSERT INTO things VALUES (1)") // committed by another connection, while it waits
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := <-seen; n != 1 {
		t.Errorf("saw %d things, want 1", n)
	}
}
