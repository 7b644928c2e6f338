package store_test

import (
	"errors"
	"testing"

	"chairside/ent"
	"chairside/internal/entx"
	"chairside/internal/principal"
	"chairside/internal/store"
	"chairside/internal/store/storetest"
)

func TestTxOnceDoesNotWaitForItsLock(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		first, second := migrated(t, url), storetest.Open(t, url)
		ctx := principal.AsSystem(t.Context())
		lock, nothing := store.LockOf("once"), func(*ent.Client) error { return nil }
		others := []*store.DB{first}
		if first.Dialect == "postgres" { // on SQLite the other process waits for the transaction
			others = append(others, second)
		}
		err := first.TxOnce(ctx, lock, func(*ent.Client) error {
			for _, db := range others {
				if err := db.TxOnce(ctx, lock, nothing); !errors.Is(err, store.ErrLocked) {
					t.Errorf("a second transaction with the lock: %v", err)
				}
			}
			return errors.New("roll back")
		})
		if err == nil || err.Error() != "roll back" {
			t.Errorf("the transaction: %v", err)
		}
		for _, db := range []*store.DB{first, second} {
			if err := db.TxOnce(ctx, lock, nothing); err != nil {
				t.Errorf("the lock is still held: %v", err)
			}
		}
	})
}

func TestDryRunsRollBack(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := migrated(t, url)
		ctx := principal.AsSystem(t.Context())
		dry := store.DryRun(ctx)
		add := func(tx *ent.Client) error {
			_, err := addPractice(dry, tx, "new")
			return err
		}
		failed := func(*ent.Client) error { return entx.ErrConditionFailed }
		for name, run := range map[string]func() error{
			"Tx":                            func() error { return db.Tx(dry, add) },
			"TxOnce":                        func() error { return db.TxOnce(dry, store.LockOf("once"), add) },
			"TxSingleStatement":             func() error { return db.TxSingleStatement(dry, diaryLock, add, failed) },
			"fallback of TxSingleStatement": func() error { return db.TxSingleStatement(dry, diaryLock, failed, add) },
		} {
			if err := run(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if n, err := db.Ent.Practice.Query().Count(ctx); err != nil || n != 0 {
				t.Errorf("%s: %d practices, %v", name, n, err)
			}
		}
		if err := db.Tx(dry, func(*ent.Client) error { return errRefused }); !errors.Is(err, errRefused) {
			t.Errorf("a refusal in a dry run: %v", err)
		}
	})
}

var errRefused = errors.New("refused")

// TestOnceRefusesOtherTransactions: a request with an idempotency key writes with TxOnce.
func TestOnceRefusesOtherTransactions(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := migrated(t, url)
		once := store.Once(principal.AsSystem(t.Context()))
		ran := func(*ent.Client) error { t.Error("a transaction ran"); return nil }
		if err := db.Tx(once, ran); err == nil {
			t.Error("Tx is not refused")
		}
		if err := db.TxSingleStatement(once, diaryLock, ran, ran); err == nil {
			t.Error("TxSingleStatement is not refused")
		}
		if err := db.TxOnce(once, store.LockOf("once"), func(*ent.Client) error { return nil }); err != nil {
			t.Error(err)
		}
	})
}
