package dbconn_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"chairside/internal/entx"
	"chairside/internal/store"
	"chairside/internal/store/dbconn"
	"chairside/internal/store/storetest"
	"chairside/internal/test/localpg/pgproxy"
	"chairside/internal/test/localpg/pgtest"
)

// TestConnectionBreaksAtEveryByte cuts the connection after each number of bytes, in each
// direction, while a statement runs: prepared, in a transaction with locks, and as a
// single-statement transaction with pipelined locks. In every case the statement runs at most
// once, a reported success was committed, Unavailable holds for an error, and the pool
// recovers.
func TestConnectionBreaksAtEveryByte(t *testing.T) {
	t.Parallel()
	const insert = "INSERT INTO marks SELECT $1::bigint WHERE " + entx.IfLocked + " RETURNING id"
	locks := []store.Lock{store.LockOf("a"), store.LockOf("b")}
	inTx := func(options dbconn.TxOptions) func(ctx context.Context, db *store.DB, id int64) error {
		return func(ctx context.Context, db *store.DB, id int64) error {
			options := options // each run has its own
			if options.Single != nil {
				options.Single = new(bool)
			}
			tx, err := db.SQL.BeginTx(dbconn.WithTxOptions(ctx, options), nil)
			if err != nil {
				return err
			}
			defer func() { _ = tx.Rollback() }() // after a commit it does nothing
			if err := tx.QueryRowContext(ctx, insert, id).Scan(new(int64)); err != nil {
				return err
			}
			return tx.Commit()
		}
	}
	for name, write := range map[string]func(ctx context.Context, db *store.DB, id int64) error{
		"prepared": func(ctx context.Context, db *store.DB, id int64) error {
			return db.SQL.QueryRowContext(ctx, insert, id).Scan(new(int64))
		},
		"transaction":      inTx(dbconn.TxOptions{Locks: locks}),
		"single statement": inTx(dbconn.TxOptions{Locks: locks, Single: new(bool)}),
	} {
		for direction, of := range map[pgproxy.Direction]string{pgproxy.ToServer: "to the server", pgproxy.FromServer: "from the server"} {
			t.Run(name+" "+of, func(t *testing.T) {
				t.Parallel()
				address := pgtest.New(t)
				proxy, through := pgproxy.New(t, address)
				db, direct := storetest.Open(t, through), storetest.Open(t, address)
				db.SQL.SetMaxOpenConns(1)
				storetest.Exec(t, direct, "CREATE TABLE marks (id bigint)") // without a key: a second run would show
				breakEverywhere(t, proxy, direction, db, direct, write)
			})
		}
	}
}

// breakEverywhere cuts the connection of db after 0, 1, 2, … bytes, until write ends before the
// cut.
func breakEverywhere(t *testing.T, proxy *pgproxy.Proxy, direction pgproxy.Direction, db, direct *store.DB, write func(context.Context, *store.DB, int64) error) {
	ctx := t.Context()
	failures := 0
	for n := 0; ; n++ {
		for range 3 { // prepares the statements
			if err := write(ctx, db, -1); err != nil {
				t.Fatalf("before %d bytes: %v", n, err)
			}
		}
		var backend int64
		if err := db.SQL.QueryRowContext(ctx, "SELECT pg_backend_pid()").Scan(&backend); err != nil {
			t.Fatal(err)
		}
		proxy.Cut(direction, n)
		err := write(ctx, db, int64(n))
		wait(t, direct, backend, err)
		var rows int
		if err := direct.SQL.QueryRowContext(ctx, "SELECT count(*) FROM marks WHERE id = $1", n).Scan(&rows); err != nil {
			t.Fatal(err)
		}
		switch {
		case rows > 1:
			t.Errorf("after %d bytes the statement ran %d times", n, rows)
		case err == nil && rows != 1:
			t.Errorf("after %d bytes a success was reported, and nothing was written", n)
		case err != nil && !dbconn.Unavailable(err):
			t.Errorf("after %d bytes: %v", n, err)
		}
		if err == nil && sameProcess(t, db.SQL, backend) {
			break // all bytes passed before the limit
		}
		failures++
	}
	if failures < 30 {
		t.Errorf("only %d cuts: did the proxy cut the connection?", failures)
	}
}

// wait waits until the server process of a cut connection has ended.
func wait(t *testing.T, direct *store.DB, backend int64, err error) {
	t.Helper()
	if err == nil {
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), storetest.Timeout)
	defer cancel()
	for there := true; there; {
		if err := direct.SQL.QueryRowContext(ctx, "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1)", backend).Scan(&there); err != nil {
			t.Fatal(fmt.Errorf("the server's process %d: %w", backend, err))
		}
	}
}

// sameProcess reports whether the pool still uses the same server process.
func sameProcess(t *testing.T, pool *sql.DB, backend int64) bool {
	t.Helper()
	var now int64
	if err := pool.QueryRowContext(t.Context(), "SELECT pg_backend_pid()").Scan(&now); err != nil {
		return false
	}
	return now == backend
}
