package store_test

import (
	"errors"
	"fmt"
	"testing"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"

	"chairside/ent"
	"chairside/ent/practice"
	"chairside/internal/entx"
	"chairside/internal/principal"
	"chairside/internal/store"
	"chairside/internal/store/storetest"
	"chairside/internal/test/localpg/pgtest"
)

var diaryLock = []store.Lock{store.LockOf("diary", 1)}

// ifLocked makes a query depend on its pipelined locks.
func ifLocked(s *entsql.Selector) {
	if s.Dialect() == dialect.Postgres {
		s.Where(entsql.ExprP(entx.IfLocked))
	}
}

// asksForLocks is the query that counts the transactions polling for their locks.
const asksForLocks = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'SELECT CASE WHEN NOT pg_try_advisory_xact_lock%'"

// TestSingleStatementRunsAgain checks that fast runs again once another process has released the
// lock, and sees what was written meanwhile.
func TestSingleStatementRunsAgain(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t)
	first, second := migrated(t, address), storetest.Open(t, address)
	ctx := principal.AsSystem(t.Context())
	tries, want := 0, 0
	fast := func(tx *ent.Client) error {
		tries++
		n, err := tx.Practice.Query().Where(practice.SlugNEQ("none"), ifLocked).Count(ctx)
		if err == nil && n != want {
			err = fmt.Errorf("%d practices, want %d", n, want)
		}
		return err
	}
	fallback := func(*ent.Client) error { return errors.New("fallback ran although no condition failed") }
	if err := second.TxSingleStatement(ctx, diaryLock, fast, fallback); err != nil || tries != 1 {
		t.Fatalf("tried %d times: %v", tries, err)
	}
	want = 1
	done := make(chan error, 1)
	err := first.TxHolding(ctx, diaryLock, func(tx *ent.Client) error {
		go func() { done <- second.TxSingleStatement(ctx, diaryLock, fast, fallback) }()
		for storetest.Value(t, first.SQL, asksForLocks) == "0" && len(done) == 0 {
		}
		_, err := addPractice(ctx, tx, "new")
		return err
	})
	if err := errors.Join(err, <-done); err != nil || tries != 3 {
		t.Errorf("tried %d times, want 3: %v", tries, err)
	}
}

// TestSingleStatementFallsBack checks that fallback runs if a condition fails: in a transaction of
// its own on PostgreSQL, in the same one on SQLite.
func TestSingleStatementFallsBack(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		db := migrated(t, address)
		ctx := principal.AsSystem(t.Context())
		err := db.TxSingleStatement(ctx, diaryLock, func(tx *ent.Client) error {
			_, err := tx.Practice.Query().Where(practice.Slug("new"), ifLocked).Count(ctx)
			return errors.Join(err, entx.ErrConditionFailed)
		}, func(tx *ent.Client) error {
			_, err := addPractice(ctx, tx, "new")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		refusal := errors.New("refused")
		err = db.TxSingleStatement(ctx, diaryLock, func(*ent.Client) error { return entx.ErrConditionFailed }, func(tx *ent.Client) error {
			_, err := addPractice(ctx, tx, "newer")
			return errors.Join(err, refusal)
		})
		if !errors.Is(err, refusal) {
			t.Errorf("%v", err)
		}
		if n, err := db.Ent.Practice.Query().Count(ctx); err != nil || n != 1 {
			t.Errorf("%d practices, %v; want only the one added without an error", n, err)
		}
	})
}

// TestSingleStatementOnALostConnection checks that the statement succeeds if its connection, or
// its prepared statements, have been lost.
func TestSingleStatementOnALostConnection(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t)
	db, other := migrated(t, address), storetest.Open(t, address)
	db.SQL.SetMaxOpenConns(1)
	ctx := principal.AsSystem(t.Context())
	for _, lose := range []func(){
		func() {},
		func() {
			storetest.Exec(t, other, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'")
			const left = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'"
			for storetest.Value(t, other.SQL, left) != "1" {
			}
		},
		func() { storetest.Exec(t, db, "DEALLOCATE chairside_lock") },
		func() { storetest.Exec(t, db, "DEALLOCATE ALL") },
		func() { storetest.Exec(t, db, "ALTER TABLE practices ADD COLUMN added integer") },
	} {
		for range 2 {
			lose()
			err := db.TxSingleStatement(ctx, diaryLock, func(tx *ent.Client) error {
				_, err := tx.Practice.Query().Where(practice.SlugNEQ("none"), ifLocked).All(ctx)
				return err
			}, nil)
			if err != nil {
				t.Error(err)
			}
			lose = func() {}
		}
	}
}
