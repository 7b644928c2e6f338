package dbconn_test

import (
	"database/sql"
	"database/sql/driver"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"chairside/internal/entx"
	"chairside/internal/principal"
	"chairside/internal/store"
	"chairside/internal/store/dbconn"
	"chairside/internal/store/storetest"
	"chairside/internal/test/localpg"
	"chairside/internal/test/localpg/pgtest"
)

// runsToName is how often a connection runs a statement until its name is used: the last run
// parses it by its name.
const runsToName = dbconn.NameAfter + 1

const (
	named     = "SELECT count(*) FROM pg_prepared_statements WHERE name LIKE 'chairside%'"
	forgetAll = "DEALLOCATE ALL"
	increment = "SELECT $1::int + 1"
)

// startShared starts a PgBouncer that has one connection to the server, and prepares nothing itself.
// It returns the URL of a database through it.
func startShared(t *testing.T, settings ...string) string {
	t.Helper()
	return startPooler(t, pgtest.New(t), append(settings, "default_pool_size = 1", localpg.Untracked)...)
}

func openShared(t *testing.T, settings ...string) *store.DB {
	t.Helper()
	return storetest.Open(t, startShared(t, settings...))
}

func pooledConfined(connector *dbconn.Connector, roundTrips *atomic.Int64, names dbconn.Names) driver.Connector {
	return dbconn.PooledConfined(connector, roundTrips, names, "")
}

// trips returns how many round trips f takes.
func trips(db *store.DB, f func()) int64 {
	before := db.RoundTrips()
	f()
	return db.RoundTrips() - before
}

// TestFrequentStatementsKeepTheirPlan behind a pooler: one that runs often is parsed and planned
// once for all clients.
func TestFrequentStatementsKeepTheirPlan(t *testing.T) {
	t.Parallel()
	db := openShared(t)
	for n := range 20 {
		if got := trips(db, func() { storetest.Value(t, db.SQL, increment, n) }); n > 0 && got != 1 {
			t.Errorf("run %d took %d round trips", n, got)
		}
	}
	if got := storetest.Value(t, db.SQL, "SELECT generic_plans > 0 FROM pg_prepared_statements WHERE statement LIKE '"+increment+" /* schema ________________ */'"); got != "true" {
		t.Errorf("kept its plan: %s", got)
	}
}

// TestStatementsThatRunOnceHaveNoName, so that a server connection keeps few.
func TestStatementsThatRunOnceHaveNoName(t *testing.T) {
	t.Parallel()
	db := openShared(t)
	for i := range 50 {
		storetest.Value(t, db.SQL, fmt.Sprintf("SELECT %d + $1::int", i), 1)
	}
	if got := storetest.Value(t, db.SQL, named); got != "0" {
		t.Errorf("%s named statements", got)
	}
}

// TestNamedStatementsAreBounded although each of many statements runs often.
func TestNamedStatementsAreBounded(t *testing.T) {
	t.Parallel()
	db := openShared(t)
	for i := range dbconn.MaxNamed + 50 {
		for range runsToName {
			storetest.Value(t, db.SQL, fmt.Sprintf("SELECT %d + $1::int", i), 1)
		}
	}
	if got := storetest.Value(t, db.SQL, named); got != fmt.Sprint(dbconn.MaxNamed) {
		t.Errorf("%s named statements, want %d", got, dbconn.MaxNamed)
	}
}

// TestClientsParseWhatTheyName: a pooler that tracks statements knows only those that the client has
// parsed itself.
func TestClientsParseWhatTheyName(t *testing.T) {
	t.Parallel()
	address := startShared(t)
	var parsed []string
	for range 2 {
		db := storetest.Open(t, address)
		for range runsToName {
			storetest.Value(t, db.SQL, increment, 1)
		}
		parsed = append(parsed, storetest.Value(t, db.SQL, "SELECT prepare_time FROM pg_prepared_statements WHERE statement LIKE '"+increment+" /*%'"))
	}
	if parsed[0] == parsed[1] {
		t.Errorf("the second client did not parse the statement of %s", parsed[0])
	}
}

// TestMissingStatementsAreParsedAgain when a server connection lacks them, and each is done once.
func TestMissingStatementsAreParsedAgain(t *testing.T) {
	t.Parallel()
	db := openShared(t)
	storetest.Exec(t, db, things)
	for name, run := range map[string]func(n int) error{
		"query": func(n int) error {
			if got := storetest.Value(t, db.SQL, increment, n); got != fmt.Sprint(n+1) {
				return fmt.Errorf("%d + 1 = %s", n, got)
			}
			return nil
		},
		"exec": func(n int) error {
			_, err := db.SQL.ExecContext(t.Context(), "INSERT INTO things VALUES ($1)", n)
			return err
		},
		"single-statement transaction": func(n int) error {
			_, err := querySingle(t.Context(), db, diaryLock, insertThing, 1000+n)
			return err
		},
		"without locks": func(n int) error {
			_, err := querySingle(t.Context(), db, nil, insertThing, 2000+n)
			return err
		},
	} {
		for n := range 12 {
			want := int64(1)
			if n == 10 {
				storetest.Exec(t, db, forgetAll)
				want = 2
			}
			got := trips(db, func() {
				if err := run(n); err != nil {
					t.Errorf("%s, run %d: %v", name, n, err)
				}
			})
			if n > 0 && got != want {
				t.Errorf("%s, run %d: %d round trips, want %d", name, n, got, want)
			}
		}
	}
	if got := storetest.Value(t, db.SQL, "SELECT count(*) FROM things"); got != "36" {
		t.Errorf("%s things, want 36", got)
	}
}

// TestMissingLockIsParsedAgain although the statement after it is new to the connection, and the other way round.
func TestMissingLockIsParsedAgain(t *testing.T) {
	t.Parallel()
	db := openShared(t)
	storetest.Exec(t, db, things)
	for i := range 3 {
		text := fmt.Sprintf("SELECT $1::integer + %d WHERE %s", i, entx.IfLocked)
		for n := range 2 * runsToName {
			if n == runsToName-1 || n == runsToName {
				storetest.Exec(t, db, forgetAll)
			}
			if got, err := querySingle(t.Context(), db, diaryLock, text, n); err != nil || got != n+i {
				t.Errorf("statement %d, run %d: %d, %v", i, n, got, err)
			}
		}
	}
}

// TestTransactionsDoNotDependOnNames: an error would abort them.
func TestTransactionsDoNotDependOnNames(t *testing.T) {
	t.Parallel()
	db := openShared(t)
	for range 10 {
		storetest.Value(t, db.SQL, increment, 1)
	}
	tx, err := db.SQL.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), forgetAll); err != nil {
		t.Fatal(err)
	}
	for n := range 10 {
		if got := storetest.Value(t, tx, increment, n); got != fmt.Sprint(n+1) {
			t.Errorf("%d + 1 = %s", n, got)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Error(err)
	}
}

// TestPracticeIsParsedAgain when the server connection lacks its statement: the practice is never
// another one's.
func TestPracticeIsParsedAgain(t *testing.T) {
	t.Parallel()
	address := startShared(t)
	pool, trips := confined(t, address, pooledConfined)
	other := storetest.Open(t, address)
	for n := range 20 {
		want := int64(1)
		if n == 15 {
			if _, err := pool.ExecContext(t.Context(), forgetAll); err != nil {
				t.Fatal(err)
			}
			want = 2
		}
		practice, before := uuid.New(), trips.Load()
		var got string
		err := pool.QueryRowContext(principal.With(t.Context(), &principal.Principal{PracticeID: practice}), ownPractice, "").Scan(&got)
		if err != nil || got != practice.String() {
			t.Errorf("the practice is %q, want %s; %v", got, practice, err)
		}
		if n := trips.Load() - before; n != want {
			t.Errorf("%d round trips, want %d", n, want)
		}
		if left := storetest.Value(t, other.SQL, "SELECT coalesce(current_setting('chairside.practice', true), '')"); left != "" {
			t.Errorf("the practice %s stays with the server connection", left)
		}
	}
}

// TestNamesSurviveRefusals: a pooler that sometimes lacks a statement does not cost the names.
func TestNamesSurviveRefusals(t *testing.T) {
	t.Parallel()
	db := openShared(t)
	for range dbconn.MaxRefused + 100 {
		for range 2 {
			storetest.Value(t, db.SQL, increment, 1)
		}
		storetest.Exec(t, db, forgetAll)
	}
	storetest.Value(t, db.SQL, increment, 1)
	if got := storetest.Value(t, db.SQL, named); got != "1" {
		t.Errorf("%s named statements", got)
	}
}

// TestNamesHaveTheTypesOfColumns: PostgreSQL keeps those of a named statement's arguments, so a program with
// another schema uses another name.
func TestNamesHaveTheTypesOfColumns(t *testing.T) {
	t.Parallel()
	address := startShared(t)
	connector := connectTo(t, address)
	insert := func(pool *sql.DB, from int) {
		for n := range 2 * runsToName {
			if _, err := pool.ExecContext(t.Context(), "INSERT INTO things VALUES ($1)", from+n); err != nil {
				t.Errorf("%d: %v", from+n, err)
			}
		}
	}
	for version, from := range []int{0, 5_000_000_000} {
		pool := sql.OpenDB(dbconn.Pooled(connector, &atomic.Int64{}, nil, fmt.Sprint(version)))
		defer pool.Close()
		change := things
		if version == 1 {
			change = "ALTER TABLE things ALTER id TYPE bigint"
		}
		if _, err := pool.ExecContext(t.Context(), change); err != nil {
			t.Fatal(err)
		}
		insert(pool, from)
		var names int
		if err := pool.QueryRowContext(t.Context(), named+" AND statement LIKE 'INSERT%'").Scan(&names); err != nil || names != version+1 {
			t.Errorf("%d names of the statement, want %d; %v", names, version+1, err)
		}
	}
}

// TestArgumentsThatCannotBeSent do not make a connection bind what it has not parsed: the pooler may have
// parsed it for another client only.
func TestArgumentsThatCannotBeSent(t *testing.T) {
	t.Parallel()
	db := openShared(t)
	const text = "SELECT $1::int WHERE " + entx.IfLocked
	for range 2 {
		if _, err := querySingle(t.Context(), db, diaryLock, text, 1, 2); err == nil {
			t.Error("two arguments were sent for one")
		}
	}
	for n := range runsToName {
		got := trips(db, func() {
			if _, err := querySingle(t.Context(), db, diaryLock, text, n); err != nil {
				t.Error(err)
			}
		})
		if got != 1 {
			t.Errorf("run %d: %d round trips", n, got)
		}
	}
}

// TestPoolerThatForgets its statements after each transaction: names are given up.
func TestPoolerThatForgets(t *testing.T) {
	t.Parallel()
	db := openShared(t, "server_reset_query = DISCARD ALL", "server_reset_query_always = 1")
	run := func(n int) {
		if got := storetest.Value(t, db.SQL, increment, n); got != fmt.Sprint(n+1) {
			t.Errorf("%d + 1 = %s", n, got)
		}
	}
	for n := range dbconn.MaxRefused + 100 {
		run(n)
	}
	if got := trips(db, func() { run(0) }); got != 1 {
		t.Errorf("%d round trips", got)
	}
}
