package store

import (
	"context"
	"testing"

	"chairside/ent"
	"chairside/internal/localpg/pgtest"
)

// TestTransactionsHoldingLocks: on one connection, transactions with and without
// locks follow each other, whatever became of those before.
func TestTransactionsHoldingLocks(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		db := openTest(t, url)
		db.SQL.SetMaxOpenConns(1)
		exec(t, db, "CREATE TABLE things (id integer PRIMARY KEY)")
		locks := []Lock{LockOf("b"), LockOf("a"), LockOf("b")}
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
			if err := db.TxHolding(ctx, locks[:1], func(tx *ent.Client) error { return TakeLocks(ctx, tx, locks...) }); err != nil {
				t.Fatal(err)
			}
			cancel()
		}
	})
}

// TestLockThatIsNotToBeHad: a transaction whose lock another one has gives up
// when its time is over, as unavailable, and leaves its connection usable.
func TestLockThatIsNotToBeHad(t *testing.T) {
	t.Parallel()
	url := pgtest.New(t)
	holder, waiter := openTest(t, url), openTest(t, with(url, "lock_timeout=50ms"))
	waiter.SQL.SetMaxOpenConns(1)
	locks := []Lock{LockOf("diary", 1)}
	nothing := func(*ent.Client) error { return nil }
	err := holder.TxHolding(t.Context(), locks, func(*ent.Client) error {
		err := waiter.TxHolding(t.Context(), locks, nothing)
		if !isUnavailable(Fault(t.Context(), err)) {
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
