package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"

	"chairside/ent"
	"chairside/ent/practice"
	"chairside/internal/caller"
	"chairside/internal/localpg/pgproxy"
	"chairside/internal/localpg/pgtest"
)

const (
	things    = "CREATE TABLE things (id integer PRIMARY KEY)"
	addThing  = "INSERT INTO things SELECT $1::integer WHERE " + ent.IfLocked + " RETURNING id"
	manyThing = "SELECT count(*) FROM things WHERE id > $1 AND " + ent.IfLocked
)

// ifLocked has a query depend on the locks that are sent ahead of it.
func ifLocked(s *entsql.Selector) {
	if s.Dialect() == dialect.Postgres {
		s.Where(entsql.ExprP(ent.IfLocked))
	}
}

// asksForLocks counts the transactions that ask again for locks they were refused.
const asksForLocks = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'SELECT CASE WHEN NOT pg_try_advisory_xact_lock%'"

var diaryLock = []Lock{LockOf("diary", 1)}

// beginAlone begins a transaction that may be one statement.
func beginAlone(ctx context.Context, db *DB, locks []Lock) (*sql.Tx, error) {
	return db.SQL.BeginTx(context.WithValue(ctx, heldKey{}, held{locks: locks, oneStatement: new(bool)}), nil)
}

// askAlone asks one statement in such a transaction.
func askAlone(ctx context.Context, db *DB, locks []Lock, text string, args ...any) (n int, err error) {
	tx, err := beginAlone(ctx, db, locks)
	if err != nil {
		return 0, err
	}
	if err := tx.QueryRowContext(ctx, text, args...).Scan(&n); err != nil {
		return 0, errors.Join(err, tx.Rollback())
	}
	return n, tx.Commit()
}

// TestLocksAheadOfWhatIsNoStatement: where lib/pq begins with another message than
// one knows, nothing is sent, and the statement gets a transaction around it.
func TestLocksAheadOfWhatIsNoStatement(t *testing.T) {
	t.Parallel()
	ours, theirs := net.Pipe()
	defer theirs.Close()
	defer ours.Close()
	l := &line{Conn: ours}
	l.precede(diaryLock)
	if n, err := l.Write([]byte("Parse")); n != 0 || !errors.Is(err, errNotAlone) || l.refused == nil {
		t.Errorf("%d bytes written, %v, %v", n, err, l.refused)
	}
}

// aloneReady gives a database of one connection on which addThing and manyThing
// have been prepared; ids below 10 are taken.
func aloneReady(t *testing.T, url string) *DB {
	t.Helper()
	db := openTest(t, url)
	db.SQL.SetMaxOpenConns(1)
	exec(t, db, things)
	for i := range 3 {
		for _, text := range []string{addThing, manyThing} {
			if _, err := askAlone(t.Context(), db, diaryLock, text, i); err != nil {
				t.Fatal(err)
			}
		}
	}
	return db
}

// TestOneStatementTakesOneRoundTrip with its locks, as soon as it is prepared,
// and what it writes is there for others.
func TestOneStatementTakesOneRoundTrip(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t)
	db, other := aloneReady(t, address), openTest(t, address)
	for i, locks := range [][]Lock{diaryLock, nil, {LockOf("a"), LockOf("b"), LockOf("c")}} {
		before := db.RoundTrips()
		if n, err := askAlone(t.Context(), db, locks, addThing, 10+i); err != nil || n != 10+i {
			t.Errorf("with %d locks: %d, %v", len(locks), n, err)
		}
		if trips := db.RoundTrips() - before; trips != 1 {
			t.Errorf("with %d locks: %d round trips", len(locks), trips)
		}
	}
	if got := one(t, other.SQL, "SELECT count(*) FROM things"); got != "6" {
		t.Errorf("another connection sees %s things, want 6", got)
	}
	if got := one(t, other.SQL, "SELECT count(*) FROM pg_locks JOIN pg_database d ON d.oid = database WHERE locktype = 'advisory' AND datname = current_database()"); got != "0" {
		t.Errorf("%s locks are still held", got)
	}
}

// TestOneStatementIsReadCommitted, whatever isolation the database has for its
// default: at REPEATABLE READ it would see what was there before its locks were.
func TestOneStatementIsReadCommitted(t *testing.T) {
	t.Parallel()
	db := aloneReady(t, with(pgtest.New(t), "default_transaction_isolation=repeatable%20read"))
	for i := range 3 {
		n, err := askAlone(t.Context(), db, diaryLock, "SELECT $1::integer WHERE current_setting('transaction_isolation') = 'read committed' AND "+ent.IfLocked, i)
		if err != nil || n != i {
			t.Errorf("%d, %v", n, err)
		}
	}
}

// TestOneStatementIsTriedAgain when another process has given up the lock, and
// sees what was written meanwhile.
func TestOneStatementIsTriedAgain(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t)
	first, second := migrated(t, address), openTest(t, address)
	ctx := caller.System(t.Context())
	tries, want := 0, 0
	try := func(tx *ent.Client) error {
		tries++
		n, err := tx.Practice.Query().Where(practice.SlugNEQ("none"), ifLocked).Count(ctx)
		if err == nil && n != want {
			err = fmt.Errorf("%d practices, want %d", n, want)
		}
		return err
	}
	otherwise := func(*ent.Client) error { return errors.New("not unmet") }
	if err := second.TxTrying(ctx, diaryLock, try, otherwise); err != nil || tries != 1 {
		t.Fatalf("tried %d times: %v", tries, err)
	}
	want = 1
	done := make(chan error, 1)
	err := first.txHolding(ctx, diaryLock, func(tx *ent.Client) error {
		go func() { done <- second.TxTrying(ctx, diaryLock, try, otherwise) }()
		for one(t, first.SQL, asksForLocks) == "0" && len(done) == 0 {
		}
		_, err := addPractice(ctx, tx, "new")
		return err
	})
	if err := errors.Join(err, <-done); err != nil || tries != 3 {
		t.Errorf("tried %d times, want 3: %v", tries, err)
	}
}

// TestOneStatementIsNotTheWholeOfIt: where conditions do not hold, something else
// is done: in a transaction of its own on PostgreSQL, or in the same one.
func TestOneStatementIsNotTheWholeOfIt(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		db := migrated(t, address)
		ctx := caller.System(t.Context())
		err := db.TxTrying(ctx, diaryLock, func(tx *ent.Client) error {
			_, err := tx.Practice.Query().Where(practice.Slug("new"), ifLocked).Count(ctx)
			return errors.Join(err, ent.ErrUnmet)
		}, func(tx *ent.Client) error {
			_, err := addPractice(ctx, tx, "new")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		err = db.TxTrying(ctx, diaryLock, func(*ent.Client) error { return ent.ErrUnmet }, func(tx *ent.Client) error {
			_, err := addPractice(ctx, tx, "newer")
			return errors.Join(err, errNotOne)
		})
		if !errors.Is(err, errNotOne) {
			t.Errorf("%v", err)
		}
		if n, err := db.Ent.Practice.Query().Count(ctx); err != nil || n != 1 {
			t.Errorf("%d practices, %v; want the one that was added without an error", n, err)
		}
	})
}

// TestOneStatementOnAConnectionThatIsGone, or has lost what was prepared, is asked
// on another one or another way.
func TestOneStatementOnAConnectionThatIsGone(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t)
	db, other := migrated(t, address), openTest(t, address)
	db.SQL.SetMaxOpenConns(1)
	ctx := caller.System(t.Context())
	for _, lose := range []func(){
		func() {},
		func() {
			exec(t, other, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'")
			const left = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'"
			for one(t, other.SQL, left) != "1" {
			}
		},
		func() { exec(t, db, "DEALLOCATE chairside_lock") },
		func() { exec(t, db, "DEALLOCATE ALL") },
		func() { exec(t, db, "ALTER TABLE practices ADD COLUMN added integer") },
	} {
		for range 2 {
			lose()
			err := db.TxTrying(ctx, diaryLock, func(tx *ent.Client) error {
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

// TestOneStatementThatFails leaves nothing behind, gives the error that came
// first, and its connection goes on.
func TestOneStatementThatFails(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t)
	db, other := aloneReady(t, with(address, "lock_timeout=50ms")), openTest(t, address)
	for _, test := range []struct {
		name string
		ask  func() error
		want string
	}{
		{"a refused row", func() error { _, err := askAlone(t.Context(), db, diaryLock, addThing, 1); return err }, "duplicate key"},
		{"a value that PostgreSQL does not read", func() error { _, err := askAlone(t.Context(), db, diaryLock, addThing, "x"); return err }, "invalid input syntax"},
		{"a value that is never sent", func() error { _, err := askAlone(t.Context(), db, diaryLock, addThing, make(chan int)); return err }, "unsupported type"},
		{"too many values", func() error { _, err := askAlone(t.Context(), db, diaryLock, addThing, 1, 2); return err }, "parameters"},
		{"a row that cannot be committed", func() error {
			exec(t, other, "CREATE TABLE parts (thing integer REFERENCES things DEFERRABLE INITIALLY DEFERRED)")
			var err error
			for range 3 {
				_, err = askAlone(t.Context(), db, diaryLock, "INSERT INTO parts SELECT $1::integer WHERE "+ent.IfLocked+" RETURNING thing", 99)
			}
			return err
		}, "violates foreign key"},
		{"a lock that another has", func() error {
			holder, err := other.SQL.BeginTx(context.WithValue(t.Context(), heldKey{}, held{locks: diaryLock}), nil)
			if err != nil {
				return err
			}
			defer func() { _ = holder.Rollback() }()
			_, err = askAlone(t.Context(), db, []Lock{LockOf("a"), diaryLock[0], LockOf("b")}, addThing, 30)
			return err
		}, "another transaction holds a lock"},
		{"a statement that does not depend on its locks", func() error {
			_, err := askAlone(t.Context(), db, diaryLock, "INSERT INTO things SELECT $1::integer RETURNING id", 31)
			return err
		}, errNotAlone.Error()},
		{"a second statement", func() error {
			tx, err := beginAlone(t.Context(), db, nil)
			if err != nil {
				return err
			}
			defer func() { _ = tx.Rollback() }()
			one(t, tx, manyThing, 0)
			return tx.QueryRowContext(t.Context(), manyThing, 0).Scan(new(int))
		}, errNotOne.Error()},
		{"a statement of the caller's own", func() error {
			tx, err := beginAlone(t.Context(), db, nil)
			if err != nil {
				return err
			}
			defer func() { _ = tx.Rollback() }()
			_, err = tx.PrepareContext(t.Context(), manyThing)
			return err
		}, errNotOne.Error()},
		{"a text that is not prepared", func() error {
			_, err := askAlone(t.Context(), db, diaryLock, manyThing+strings.Repeat(" ", maxStatementText), 1)
			return err
		}, errNotAlone.Error()},
		{"a request that is given up", func() error {
			const sleep = "SELECT 1 FROM pg_sleep($1) WHERE " + ent.IfLocked
			if _, err := askAlone(t.Context(), db, diaryLock, sleep, 0); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := askAlone(ctx, db, diaryLock, sleep, 60)
			return err
		}, "cancel"},
		{"an error that nobody has looked at", func() error {
			tx, err := beginAlone(t.Context(), db, diaryLock)
			if err != nil {
				return err
			}
			_ = tx.QueryRowContext(t.Context(), addThing, 1).Scan(new(int))
			return tx.Commit()
		}, "duplicate key"},
		{"an error in preparing that nobody has looked at", func() error {
			tx, err := beginAlone(t.Context(), db, diaryLock)
			if err != nil {
				return err
			}
			_ = tx.QueryRowContext(t.Context(), "SELECT 1 FROM nowhere WHERE 1 = $1", 1).Scan(new(int))
			return tx.Commit()
		}, "nowhere"},
	} {
		if err := test.ask(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
		before := db.RoundTrips()
		if n, err := askAlone(t.Context(), db, diaryLock, manyThing, 0); err != nil || n != 2 {
			t.Errorf("after %s: %d things above 0, %v; want 2", test.name, n, err)
		}
		if trips := db.RoundTrips() - before; trips != 1 {
			t.Errorf("after %s: %d round trips", test.name, trips)
		}
	}
}

// TestOneStatementWithNotices: what the server tells beside the answers comes through.
func TestOneStatementWithNotices(t *testing.T) {
	t.Parallel()
	db := aloneReady(t, with(pgtest.New(t), "client_min_messages=debug5"))
	for i := range 3 {
		if n, err := askAlone(t.Context(), db, diaryLock, addThing, 50+i); err != nil || n != 50+i {
			t.Errorf("%d, %v", n, err)
		}
	}
}

// TestOneStatementBehindTLS, where nothing can be sent ahead, begins and commits.
func TestOneStatementBehindTLS(t *testing.T) {
	t.Parallel()
	db := aloneReady(t, pgproxy.TLS(t, pgtest.New(t)))
	before := db.RoundTrips()
	if n, err := askAlone(t.Context(), db, diaryLock, addThing, 60); err != nil || n != 60 {
		t.Errorf("%d, %v", n, err)
	}
	if trips := db.RoundTrips() - before; trips != 3 {
		t.Errorf("%d round trips, want those of BEGIN, the statement and COMMIT", trips)
	}
	if got := one(t, db.SQL, manyThing, 0); got != "3" {
		t.Errorf("%s things above 0, want 3", got)
	}
}

// TestOneStatementIsKept by both databases, prepared or not.
func TestOneStatementIsKept(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		db := openTest(t, address)
		exec(t, db, things)
		text := "INSERT INTO things SELECT " + parameter(db) + " RETURNING id"
		if db.postgres() {
			text = addThing
		}
		for i := range 4 {
			n, err := askAlone(t.Context(), db, diaryLock, text, i)
			if err != nil || n != i {
				t.Errorf("%d, %v", n, err)
			}
		}
		if got := one(t, db.SQL, "SELECT count(*) FROM things"); got != "4" {
			t.Errorf("%s things, want 4", got)
		}
	})
}
