package dbconn_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"chairside/internal/entx"
	"chairside/internal/store"
	"chairside/internal/store/dbconn"
	"chairside/internal/store/storetest"
	"chairside/internal/test/localpg/pgproxy"
	"chairside/internal/test/localpg/pgtest"
)

const (
	things      = "CREATE TABLE things (id integer PRIMARY KEY)"
	insertThing = "INSERT INTO things SELECT $1::integer WHERE " + entx.IfLocked + " RETURNING id"
	countThings = "SELECT count(*) FROM things WHERE id > $1 AND " + entx.IfLocked
)

var diaryLock = []store.Lock{store.LockOf("diary", 1)}

// beginSingle begins a single-statement transaction where possible.
func beginSingle(ctx context.Context, db *store.DB, locks []store.Lock) (*sql.Tx, error) {
	return db.SQL.BeginTx(dbconn.WithTxOptions(ctx, dbconn.TxOptions{Locks: locks, Single: new(bool)}), nil)
}

// querySingle runs a query in a transaction of beginSingle.
func querySingle(ctx context.Context, db *store.DB, locks []store.Lock, text string, args ...any) (n int, err error) {
	tx, err := beginSingle(ctx, db, locks)
	if err != nil {
		return 0, err
	}
	if err := tx.QueryRowContext(ctx, text, args...).Scan(&n); err != nil {
		return 0, errors.Join(err, tx.Rollback())
	}
	return n, tx.Commit()
}

// openSingle opens a database with one connection on which insertThing and countThings are
// prepared. It contains the things 0 to 2.
func openSingle(t *testing.T, url string) *store.DB {
	t.Helper()
	db := storetest.Open(t, url)
	db.SQL.SetMaxOpenConns(1)
	storetest.Exec(t, db, things)
	for i := range 3 {
		for _, text := range []string{insertThing, countThings} {
			if _, err := querySingle(t.Context(), db, diaryLock, text, i); err != nil {
				t.Fatal(err)
			}
		}
	}
	return db
}

// TestSingleStatementTakesOneRoundTrip checks that a prepared statement takes one round trip,
// locks and commit included.
func TestSingleStatementTakesOneRoundTrip(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t)
	db, other := openSingle(t, address), storetest.Open(t, address)
	for i, locks := range [][]store.Lock{diaryLock, nil, {store.LockOf("a"), store.LockOf("b"), store.LockOf("c")}} {
		before := db.RoundTrips()
		if n, err := querySingle(t.Context(), db, locks, insertThing, 10+i); err != nil || n != 10+i {
			t.Errorf("with %d locks: %d, %v", len(locks), n, err)
		}
		if trips := db.RoundTrips() - before; trips != 1 {
			t.Errorf("with %d locks: %d round trips", len(locks), trips)
		}
	}
	if got := storetest.Value(t, other.SQL, "SELECT count(*) FROM things"); got != "6" {
		t.Errorf("another connection sees %s things, want 6", got)
	}
	if got := storetest.Value(t, other.SQL, "SELECT count(*) FROM pg_locks JOIN pg_database d ON d.oid = database WHERE locktype = 'advisory' AND datname = current_database()"); got != "0" {
		t.Errorf("%s locks are still held", got)
	}
}

// TestSingleStatementIsReadCommitted checks that the default isolation of the database does not
// matter: at REPEATABLE READ the statement would see a snapshot older than its locks.
func TestSingleStatementIsReadCommitted(t *testing.T) {
	t.Parallel()
	db := openSingle(t, storetest.With(pgtest.New(t), "default_transaction_isolation=repeatable%20read"))
	for i := range 3 {
		n, err := querySingle(t.Context(), db, diaryLock, "SELECT $1::integer WHERE current_setting('transaction_isolation') = 'read committed' AND "+entx.IfLocked, i)
		if err != nil || n != i {
			t.Errorf("%d, %v", n, err)
		}
	}
}

// TestSingleStatementFails checks that a failure returns the first error, writes nothing, and
// leaves the connection usable.
func TestSingleStatementFails(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t)
	db, other := openSingle(t, storetest.With(address, "lock_timeout=50ms")), storetest.Open(t, address)
	for _, test := range []struct {
		name string
		run  func() error
		want string
	}{
		{"a duplicate key", func() error { _, err := querySingle(t.Context(), db, diaryLock, insertThing, 1); return err }, "duplicate key"},
		{"a value with invalid syntax", func() error { _, err := querySingle(t.Context(), db, diaryLock, insertThing, "x"); return err }, "invalid input syntax"},
		{"a value that cannot be sent", func() error {
			_, err := querySingle(t.Context(), db, diaryLock, insertThing, make(chan int))
			return err
		}, "unsupported type"},
		{"too many values", func() error { _, err := querySingle(t.Context(), db, diaryLock, insertThing, 1, 2); return err }, "parameters"},
		{"a row that cannot be committed", func() error {
			storetest.Exec(t, other, "CREATE TABLE parts (thing integer REFERENCES things DEFERRABLE INITIALLY DEFERRED)")
			var err error
			for range 3 {
				_, err = querySingle(t.Context(), db, diaryLock, "INSERT INTO parts SELECT $1::integer WHERE "+entx.IfLocked+" RETURNING thing", 99)
			}
			return err
		}, "violates foreign key"},
		{"a lock that another transaction holds", func() error {
			holder, err := other.SQL.BeginTx(dbconn.WithTxOptions(t.Context(), dbconn.TxOptions{Locks: diaryLock}), nil)
			if err != nil {
				return err
			}
			defer func() { _ = holder.Rollback() }()
			_, err = querySingle(t.Context(), db, []store.Lock{store.LockOf("a"), diaryLock[0], store.LockOf("b")}, insertThing, 30)
			return err
		}, "another transaction holds a lock"},
		{"a statement that does not depend on its locks", func() error {
			_, err := querySingle(t.Context(), db, diaryLock, "INSERT INTO things SELECT $1::integer RETURNING id", 31)
			return err
		}, dbconn.ErrNotSingle.Error()},
		{"a second statement", func() error {
			tx, err := beginSingle(t.Context(), db, nil)
			if err != nil {
				return err
			}
			defer func() { _ = tx.Rollback() }()
			storetest.Value(t, tx, countThings, 0)
			return tx.QueryRowContext(t.Context(), countThings, 0).Scan(new(int))
		}, dbconn.ErrSecondStatement.Error()},
		{"a statement prepared by the caller", func() error {
			tx, err := beginSingle(t.Context(), db, nil)
			if err != nil {
				return err
			}
			defer func() { _ = tx.Rollback() }()
			_, err = tx.PrepareContext(t.Context(), countThings)
			return err
		}, dbconn.ErrSecondStatement.Error()},
		{"a text too long to be prepared", func() error {
			_, err := querySingle(t.Context(), db, diaryLock, countThings+strings.Repeat(" ", dbconn.MaxStatementText), 1)
			return err
		}, dbconn.ErrNotSingle.Error()},
		{"a cancelled request", func() error {
			const sleep = "SELECT 1 FROM pg_sleep($1) WHERE " + entx.IfLocked
			if _, err := querySingle(t.Context(), db, diaryLock, sleep, 0); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := querySingle(ctx, db, diaryLock, sleep, 60)
			return err
		}, "cancel"},
		{"an error that the caller ignores", func() error {
			tx, err := beginSingle(t.Context(), db, diaryLock)
			if err != nil {
				return err
			}
			_ = tx.QueryRowContext(t.Context(), insertThing, 1).Scan(new(int))
			return tx.Commit()
		}, "duplicate key"},
		{"an error of preparing that the caller ignores", func() error {
			tx, err := beginSingle(t.Context(), db, diaryLock)
			if err != nil {
				return err
			}
			_ = tx.QueryRowContext(t.Context(), "SELECT 1 FROM nowhere WHERE 1 = $1", 1).Scan(new(int))
			return tx.Commit()
		}, "nowhere"},
	} {
		if err := test.run(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
		before := db.RoundTrips()
		if n, err := querySingle(t.Context(), db, diaryLock, countThings, 0); err != nil || n != 2 {
			t.Errorf("after %s: %d things above 0, %v; want 2", test.name, n, err)
		}
		if trips := db.RoundTrips() - before; trips != 1 {
			t.Errorf("after %s: %d round trips", test.name, trips)
		}
	}
}

// TestSingleStatementIsNotTakenBack checks that a rollback fails once a row was written, and
// succeeds if none was.
func TestSingleStatementIsNotTakenBack(t *testing.T) {
	t.Parallel()
	db := openSingle(t, pgtest.New(t))
	for text, want := range map[string]error{insertThing: dbconn.ErrCommitted, "INSERT INTO things SELECT $1::integer WHERE false AND " + entx.IfLocked + " RETURNING id": nil} {
		tx, err := beginSingle(t.Context(), db, diaryLock)
		if err != nil {
			t.Fatal(err)
		}
		if err := tx.QueryRowContext(t.Context(), text, 40).Scan(new(int)); err != nil && !errors.Is(err, sql.ErrNoRows) {
			t.Fatal(err)
		}
		if err := tx.Rollback(); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
	}
	if got := storetest.Value(t, db.SQL, countThings, 10); got != "1" {
		t.Errorf("%s things, want 1", got)
	}
}

// TestSingleStatementPassesNotices checks that notices between the results do not disturb the
// removal of the locks' results.
func TestSingleStatementPassesNotices(t *testing.T) {
	t.Parallel()
	db := openSingle(t, storetest.With(pgtest.New(t), "client_min_messages=debug5"))
	for i := range 3 {
		if n, err := querySingle(t.Context(), db, diaryLock, insertThing, 50+i); err != nil || n != 50+i {
			t.Errorf("%d, %v", n, err)
		}
	}
}

// TestSingleStatementOverTLS checks that an ordinary transaction replaces the single statement
// over TLS, where messages cannot be added.
func TestSingleStatementOverTLS(t *testing.T) {
	t.Parallel()
	db := openSingle(t, pgproxy.TLS(t, pgtest.New(t)))
	before := db.RoundTrips()
	if n, err := querySingle(t.Context(), db, diaryLock, insertThing, 60); err != nil || n != 60 {
		t.Errorf("%d, %v", n, err)
	}
	if trips := db.RoundTrips() - before; trips != 3 {
		t.Errorf("%d round trips, want 3: BEGIN, the statement and COMMIT", trips)
	}
	if got := storetest.Value(t, db.SQL, countThings, 0); got != "3" {
		t.Errorf("%s things above 0, want 3", got)
	}
}

// TestSingleStatementCommits checks that rows are committed in both databases, before and after
// the statement is prepared.
func TestSingleStatementCommits(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		db := storetest.Open(t, address)
		storetest.Exec(t, db, things)
		text := "INSERT INTO things SELECT " + storetest.Parameter(db) + " RETURNING id"
		if storetest.Postgres(db) {
			text = insertThing
		}
		for i := range 4 {
			n, err := querySingle(t.Context(), db, diaryLock, text, i)
			if err != nil || n != i {
				t.Errorf("%d, %v", n, err)
			}
		}
		if got := storetest.Value(t, db.SQL, "SELECT count(*) FROM things"); got != "4" {
			t.Errorf("%s things, want 4", got)
		}
	})
}
