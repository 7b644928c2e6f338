package dbconn_test

import (
	"database/sql"
	"database/sql/driver"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"chairside/internal/principal"
	"chairside/internal/store/dbconn"
	"chairside/internal/test/localpg/pgtest"
)

// connectTo returns a connector to a server without a pooler, or as if there was none.
func connectTo(t *testing.T, address string) *dbconn.Connector {
	t.Helper()
	config, err := pq.NewConfig(address)
	if err != nil {
		t.Fatal(err)
	}
	probe, err := dbconn.NewProbe(config)
	if err != nil {
		t.Fatal(err)
	}
	connector, err := dbconn.NewServer(probe, dbconn.Said).Connector(config)
	if err != nil {
		t.Fatal(err)
	}
	return connector
}

// confined returns a pool of one connection that confine makes, and the number of its round trips.
func confined(t *testing.T, address string, confine func(*dbconn.Connector, *atomic.Int64, dbconn.Names) driver.Connector) (pool *sql.DB, trips *atomic.Int64) {
	t.Helper()
	trips = &atomic.Int64{}
	pool = sql.OpenDB(confine(connectTo(t, address), trips, nil))
	pool.SetMaxOpenConns(1)
	t.Cleanup(func() { pool.Close() })
	return pool, trips
}

const ownPractice = "SELECT coalesce(current_setting('chairside.practice', true), '') || $1::text"

// TestPracticeTravelsWithTheStatement counts round trips: setting the practice takes none of its
// own, except over TLS.
func TestPracticeTravelsWithTheStatement(t *testing.T) {
	t.Parallel()
	for name, encrypted := range map[string]bool{"plain": false, "TLS": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool, trips := confined(t, pgtest.New(t), dbconn.CachedConfined)
			if encrypted {
				conn, err := pool.Conn(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if err := conn.Raw(func(c any) error { dbconn.Encrypt(c); return nil }); err != nil {
					t.Fatal(err)
				}
				conn.Close()
			}
			read := func(practice uuid.UUID, query func(string, ...any) *sql.Row, want int64) {
				t.Helper()
				before := trips.Load()
				var got string
				if err := query(ownPractice, "").Scan(&got); err != nil || got != practice.String() {
					t.Errorf("the practice is %q, want %s; %v", got, practice, err)
				}
				if n := trips.Load() - before; n != want {
					t.Errorf("%d round trips, want %d", n, want)
				}
			}
			a, b := uuid.New(), uuid.New()
			in := func(practice uuid.UUID) func(string, ...any) *sql.Row {
				ctx := principal.With(t.Context(), &principal.Principal{PracticeID: practice})
				return func(text string, args ...any) *sql.Row { return pool.QueryRowContext(ctx, text, args...) }
			}
			change := int64(1)
			if encrypted {
				change = 2
			}
			read(a, in(a), change)
			read(a, in(a), 1)
			read(b, in(b), change)
			read(a, in(a), change)

			// Its result is not that of a lock, and an error ends both.
			if _, err := pool.ExecContext(principal.With(t.Context(), &principal.Principal{PracticeID: b}), "SELECT 1 / $1::int", 0); err == nil {
				t.Error("a division by zero succeeded")
			}
			read(a, in(a), change)
			rows, err := pool.QueryContext(principal.With(t.Context(), &principal.Principal{PracticeID: b}), "SELECT 1 / (3 - i) FROM generate_series($1::int, 5) AS i", 1)
			if err != nil {
				t.Fatal(err)
			}
			for rows.Next() {
			}
			if rows.Err() == nil {
				t.Error("a division by zero succeeded")
			}
			rows.Close()
			read(b, in(b), change)
			read(b, in(b), 1)

			// A transaction sets it with BEGIN, and its rollback takes it back.
			ctx := principal.With(t.Context(), &principal.Principal{PracticeID: a})
			before := trips.Load()
			tx, err := pool.BeginTx(ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			if n := trips.Load() - before; n != 1 {
				t.Errorf("BEGIN takes %d round trips", n)
			}
			read(a, func(text string, args ...any) *sql.Row { return tx.QueryRowContext(t.Context(), text, args...) }, 1)
			if err := tx.Rollback(); err != nil {
				t.Fatal(err)
			}
			read(b, in(b), change)

			// Without a principal, outside a transaction, there is no practice.
			var got string
			if err := pool.QueryRowContext(t.Context(), ownPractice, "").Scan(&got); got != uuid.Nil.String() || err != nil {
				t.Errorf("without a principal the practice is %q, %v", got, err)
			}
			// Statements may be lost, as after DISCARD ALL.
			if _, err := pool.ExecContext(ctx, "DISCARD ALL"); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				err = in(b)(ownPractice, "").Scan(&got)
			}
			if got != b.String() || err != nil {
				t.Errorf("after DISCARD ALL the practice is %q, %v", got, err)
			}
		})
	}
}
