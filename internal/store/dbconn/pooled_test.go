package dbconn_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"chairside/internal/store"
	"chairside/internal/store/dbconn"
	"chairside/internal/store/storetest"
	"chairside/internal/test/localpg"
	"chairside/internal/test/localpg/pgproxy"
	"chairside/internal/test/localpg/pgtest"
)

// TestPoolerIsFound opens a database through PgBouncer and directly. Only the first one's
// statements have no names, unless the URL says otherwise. A pooler in session mode counts as one in
// transaction mode: no query can prove that it will keep a connection's process.
func TestPoolerIsFound(t *testing.T) {
	t.Parallel()
	direct := pgtest.New(t)
	pooled, sessions := pgtest.Pooled(t, direct), startPooler(t, direct, "pool_mode = session", "default_pool_size = 40")
	for address, want := range map[string]bool{
		direct: false, pooled: true, sessions: true, storetest.With(sessions, "statement_cache=on"): false,
		storetest.With(direct, "statement_cache=off"): true, storetest.With(direct, "statement_cache=on"): false,
	} {
		db := storetest.Open(t, address)
		if got := db.Pooled(); got != want {
			t.Errorf("%s: pooled is %v", address, got)
		}
		storetest.Value(t, db.SQL, "SELECT $1::int", 1)
		named := storetest.Value(t, db.SQL, "SELECT count(*) FROM pg_prepared_statements WHERE $1 > 0", 1) != "0"
		if named == want {
			t.Errorf("%s: prepared statements with names: %v", address, named)
		}
	}
}

// TestPoolerBehindTLSIsFound although TLS hides which process it announces: also one that hands out its
// connections in turn, and not a server without a pooler, or a pooler that keeps sessions.
func TestPoolerBehindTLSIsFound(t *testing.T) {
	t.Parallel()
	direct := pgtest.New(t)
	start := func(settings ...string) string { return startPooler(t, direct, settings...) }
	for name, c := range map[string]struct {
		address string
		want    bool
	}{
		"none":               {direct, false},
		"transactions":       {start(), true},
		"in turn":            {start("server_round_robin = 1", "min_pool_size = 2", "default_pool_size = 2"), true},
		"in turn, of three":  {start("server_round_robin = 1", "min_pool_size = 3", "default_pool_size = 3"), true},
		"sessions":           {start("pool_mode = session", "default_pool_size = 40"), false},
		"told of by the URL": {storetest.With(direct, "statement_cache=off"), true},
		"denied by the URL":  {storetest.With(start(), "statement_cache=on"), false},
	} {
		address := pgproxy.TLS(t, c.address)
		warm := storetest.Open(t, address) // so that the pooler has more than one connection
		var clients sync.WaitGroup
		for range 4 {
			clients.Go(func() { _, _ = warm.SQL.ExecContext(t.Context(), "SELECT pg_sleep(0.1)") })
		}
		clients.Wait()
		for range 3 {
			db := storetest.Open(t, address)
			if got := db.Pooled(); got != c.want {
				t.Errorf("%s: pooled is %v", name, got)
			}
		}
	}
}

// TestPoolerThatComesLater is refused, as a server that cannot be reached, and the database is not ready.
func TestPoolerThatComesLater(t *testing.T) {
	t.Parallel()
	direct := pgtest.New(t)
	proxy, address := pgproxy.New(t, direct)
	db := storetest.Open(t, address)
	storetest.Value(t, db.SQL, "SELECT $1::int", 1)
	proxy.Target(t, startPooler(t, direct))
	proxy.Reset()
	for range 3 {
		if _, err := db.SQL.ExecContext(t.Context(), "SELECT 1"); !dbconn.Unavailable(err) {
			t.Errorf("%v, want an error that means unavailable", err)
		}
		if err := db.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "restart the program") {
			t.Errorf("ready: %v", err)
		}
	}
}

// startPooler starts a PgBouncer in front of the server of direct, and returns the URL of direct's
// database through it, or skips the test.
func startPooler(t *testing.T, direct string, settings ...string) string {
	t.Helper()
	pooler, err := localpg.StartPooler(t.Context(), direct, settings...)
	if errors.Is(err, localpg.ErrNoPooler) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pooler.Stop() })
	address, err := pooler.URL(direct)
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// TestPoolerThatRefusesOurSettings names the setting that PgBouncer needs.
func TestPoolerThatRefusesOurSettings(t *testing.T) {
	t.Parallel()
	direct := pgtest.New(t)
	address := startPooler(t, direct, "ignore_startup_parameters = jit")
	db, err := store.Open(t.Context(), address)
	if err == nil || !strings.Contains(err.Error(), `ignore_startup_parameters in pgbouncer.ini to "default_transaction_read_only,idle_in_transaction_session_timeout,jit,lock_timeout,statement_timeout"`) {
		t.Errorf("%v", err)
	}
	if db != nil {
		_ = db.Close()
	}
}

// TestPooledClientsDoNotMixStatements runs different statements on a few shared server
// connections at once: outside transactions, in them, with errors and cancelled.
func TestPooledClientsDoNotMixStatements(t *testing.T) {
	t.Parallel()
	direct := pgtest.New(t)
	db := storetest.Open(t, pgtest.Pooled(t, direct))
	storetest.Exec(t, db, "CREATE TABLE things (client integer, n integer, PRIMARY KEY (client, n))")
	var clients sync.WaitGroup
	for client := range 20 {
		clients.Go(func() {
			// Each client has statements of its own, of other types and numbers of arguments.
			query := fmt.Sprintf("SELECT %d + $1::int", client)
			if client%2 == 1 {
				query = fmt.Sprintf("SELECT ($2 || '%d')::int + $1::int - $3", client)
			}
			insert := fmt.Sprintf("INSERT INTO things VALUES (%d, $1)", client)
			for n := range 40 {
				args, want := []any{n}, client+n
				if client%2 == 1 {
					args = []any{n, "0", 0}
				}
				var got int
				if err := db.SQL.QueryRowContext(t.Context(), query, args...).Scan(&got); err != nil || got != want {
					t.Errorf("client %d: %d, want %d: %v", client, got, want, err)
				}
				switch n % 4 {
				case 0:
					ctx, cancel := context.WithCancel(t.Context())
					cancel()
					_, _ = db.SQL.ExecContext(ctx, insert, n)
				case 1:
					if _, err := db.SQL.ExecContext(t.Context(), insert, n-1); err != nil {
						t.Error(err)
					}
				case 2:
					if _, err := db.SQL.ExecContext(t.Context(), insert, n-2); err == nil {
						t.Error("a duplicate was inserted")
					}
				case 3:
					inTransaction(t, db.SQL, insert, n)
				}
			}
		})
	}
	clients.Wait()
	if got := storetest.Value(t, db.SQL, "SELECT count(*) > 0 FROM pg_prepared_statements"); got != "true" {
		t.Error("no statement has a name")
	}
	if got := storetest.Value(t, db.SQL, "SELECT count(*) FROM things"); got != "400" {
		t.Errorf("%s rows, want 400", got)
	}
}

// inTransaction inserts a row twice: the first time it rolls back.
func inTransaction(t *testing.T, db *sql.DB, insert string, n int) {
	for _, end := range []func(*sql.Tx) error{(*sql.Tx).Rollback, (*sql.Tx).Commit} {
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Error(err)
			return
		}
		if _, err := tx.ExecContext(t.Context(), insert, n); err != nil {
			t.Error(err)
		}
		if err := end(tx); err != nil {
			t.Error(err)
		}
	}
}

// TestPooledStatementsSeeMigrations changes a table under statements that lib/pq has described.
func TestPooledStatementsSeeMigrations(t *testing.T) {
	t.Parallel()
	direct := pgtest.New(t)
	db, other := storetest.Open(t, storetest.With(pgtest.Pooled(t, direct), "pool_size=2")), storetest.Open(t, direct)
	storetest.Exec(t, other, "CREATE TABLE things (id integer PRIMARY KEY, n integer)")
	storetest.Exec(t, other, "INSERT INTO things VALUES (1, 7)")
	const query = "SELECT n FROM things WHERE id = $1"
	var clients sync.WaitGroup
	for range 4 { // so that each server connection has the statement
		clients.Go(func() {
			for range 50 {
				var got string
				if err := db.SQL.QueryRowContext(t.Context(), query, 1).Scan(&got); err != nil || got != "7" {
					t.Errorf("%q, %v", got, err)
				}
			}
		})
	}
	clients.Wait()
	storetest.Exec(t, other, "ALTER TABLE things ALTER n TYPE bigint USING n::bigint + 5000000000")
	for range 30 {
		if got := storetest.Value(t, db.SQL, query, 1); got != "5000000007" {
			t.Errorf("got %s", got)
		}
	}
	const runs = 2 * runsToName
	if got := trips(db, func() {
		for range runs {
			storetest.Value(t, db.SQL, query, 1)
		}
	}); got != runs {
		t.Errorf("long after the migration, %d runs take %d round trips", runs, got)
	}
}

func TestPooledStatementsAreTransactions(t *testing.T) {
	t.Parallel()
	url := pgtest.New(t)
	db, other := storetest.Open(t, storetest.With(url, "statement_cache=off&pool_size=2")), storetest.Open(t, url)
	storetest.Exec(t, db, "CREATE TABLE things (id integer PRIMARY KEY)")
	storetest.Exec(t, db, "INSERT INTO things VALUES ($1)", 1)
	if _, err := db.SQL.ExecContext(t.Context(), "INSERT INTO things VALUES ($1)", 1); err == nil {
		t.Error("a duplicate was inserted")
	}
	if _, err := db.SQL.QueryContext(t.Context(), "SELECT 1 / $1", 0); err == nil {
		t.Error("a division by zero succeeded")
	}
	tx, err := db.SQL.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), "INSERT INTO things VALUES ($1)", 2); err != nil {
		t.Error(err)
	}
	storetest.Value(t, tx, "SELECT id FROM things WHERE id = $1", 2)
	if err := tx.Rollback(); err != nil {
		t.Error(err)
	}
	if got := storetest.Value(t, other.SQL, "SELECT count(*) FROM things"); got != "1" {
		t.Errorf("%s rows, want only the committed one", got)
	}
}
