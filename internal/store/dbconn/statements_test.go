package dbconn_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"chairside/internal/apierror"
	"chairside/internal/entx/rowscan"
	"chairside/internal/store"
	"chairside/internal/store/dbconn"
	"chairside/internal/store/storetest"
	"chairside/internal/test/localpg/pgtest"

	"github.com/google/uuid"
	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
)

func TestStatementsArePreparedOnce(t *testing.T) {
	db := storetest.Open(t, storetest.With(pgtest.New(t), "pool_size=2"))
	c, err := db.SQL.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for i := range 5 {
		if got := storetest.Value(t, c, "SELECT $1::text", fmt.Sprint(i)); got != fmt.Sprint(i) {
			t.Errorf("got %s, want %d", got, i)
		}
	}
	// Within a transaction the same statement serves.
	tx, err := c.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	storetest.Value(t, tx, "SELECT $1::text", "x")
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if got := storetest.Value(t, c, "SELECT count(*) FROM pg_prepared_statements"); got != "1" {
		t.Errorf("%s prepared statements, want 1", got)
	}
}

func TestStatementCacheIsBounded(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := storetest.Open(t, url)
		c, err := db.SQL.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for i := range dbconn.MaxStatements + 50 {
			rows, err := c.QueryContext(t.Context(), fmt.Sprintf("SELECT CAST(%s AS text), %d", storetest.Parameter(db), i), "x")
			if err != nil {
				t.Fatal(err)
			}
			rows.Close()
		}
		if storetest.Postgres(db) {
			if got := storetest.Value(t, c, "SELECT count(*) FROM pg_prepared_statements"); got != fmt.Sprint(dbconn.MaxStatements) {
				t.Errorf("%s prepared statements, want %d", got, dbconn.MaxStatements)
			}
		}
		err = c.Raw(func(raw any) error {
			if prepared := dbconn.Prepared(raw); prepared != dbconn.MaxStatements {
				t.Errorf("%d statements in the cache, want %d", prepared, dbconn.MaxStatements)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		long := "SELECT CAST(" + storetest.Parameter(db) + " AS text) -- " + strings.Repeat("x", dbconn.MaxStatementText)
		if got := storetest.Value(t, c, long, "long"); got != "long" {
			t.Errorf("got %s", got)
		}
	})
}

func TestStatementRunsAgainWhileItsRowsAreRead(t *testing.T) {
	db := storetest.Open(t, "sqlite:"+t.TempDir()+"/x.db")
	tx, err := db.SQL.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	const text = "WITH RECURSIVE n(i) AS (SELECT ?1 UNION ALL SELECT i+1 FROM n WHERE i < 3) SELECT i FROM n"
	var got string
	storetest.Value(t, tx, text, 1) // prepares it
	outer, err := tx.QueryContext(t.Context(), text, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer outer.Close()
	for outer.Next() {
		inner, err := tx.QueryContext(t.Context(), text, 1)
		if err != nil {
			t.Fatal(err)
		}
		for inner.Next() {
			var i int
			if err := inner.Scan(&i); err != nil {
				t.Fatal(err)
			}
			got += fmt.Sprint(i)
		}
		inner.Close()
	}
	if got != "123123123" {
		t.Errorf("got %s", got)
	}
}

func TestStatementsUnderConcurrency(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := storetest.Open(t, url)
		storetest.Exec(t, db, "CREATE TABLE counters (id integer PRIMARY KEY, n integer NOT NULL)")
		storetest.Exec(t, db, "INSERT INTO counters VALUES (1, 0)")
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() {
				for range 25 {
					tx, err := db.SQL.BeginTx(t.Context(), nil)
					if err != nil {
						t.Error(err)
						return
					}
					if _, err := tx.ExecContext(t.Context(), "UPDATE counters SET n = n + 1 WHERE id = "+storetest.Parameter(db), 1); err != nil {
						t.Error(err)
					}
					if err := tx.Commit(); err != nil {
						t.Error(err)
					}
					if _, err := db.SQL.QueryContext(t.Context(), "SELECT "+storetest.Parameter(db)+" FROM no_such_table", 1); err == nil {
						t.Error("read a table that does not exist")
					}
				}
			})
		}
		wait.Wait()
		if got := storetest.Value(t, db.SQL, "SELECT n FROM counters WHERE id = "+storetest.Parameter(db), 1); got != "200" {
			t.Errorf("counted %s, want 200", got)
		}
	})
}

func TestStatementsSurviveAMigration(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := storetest.Open(t, url)
		storetest.Exec(t, db, "CREATE TABLE grown (id integer PRIMARY KEY)")
		storetest.Exec(t, db, "INSERT INTO grown VALUES (1)")
		c, err := db.SQL.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		text := "SELECT * FROM grown WHERE id = " + storetest.Parameter(db)
		columns := func(q interface {
			QueryContext(context.Context, string, ...any) (*sql.Rows, error)
		}) (int, error) {
			rows, err := q.QueryContext(t.Context(), text, 1)
			if err != nil {
				return 0, err
			}
			defer rows.Close()
			names, err := rows.Columns()
			return len(names), err
		}
		for range 2 { // prepares it
			if n, err := columns(c); n != 1 || err != nil {
				t.Fatal(n, err)
			}
		}
		storetest.Exec(t, db, "ALTER TABLE grown ADD COLUMN a integer")
		for range 3 { // prepares it again
			if n, err := columns(c); n != 2 || err != nil {
				t.Errorf("after the first change %d columns, %v", n, err)
			}
		}
		storetest.Exec(t, db, "ALTER TABLE grown ADD COLUMN b integer")

		// Inside a transaction the error has aborted everything. The client may try again,
		// which then succeeds.
		tx, err := c.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = columns(tx)
		if storetest.Postgres(db) {
			var server *pq.Error
			if !errors.As(err, &server) || server.Code != pqerror.FeatureNotSupported {
				t.Errorf("in a transaction: %v", err)
			}
			var f *apierror.Error
			if !errors.As(store.APIError(t.Context(), err), &f) || f.Status != http.StatusServiceUnavailable {
				t.Errorf("not reported as unavailable: %v", err)
			}
		} else if err != nil {
			t.Error(err)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		if n, err := columns(c); n != 3 || err != nil {
			t.Errorf("after the second change %d columns, %v", n, err)
		}
	})
}

// TestRawRows reads rows as one column each, for every way in which a statement is sent: without
// arguments, prepared, in a transaction, and while its rows are still being read.
func TestRawRows(t *testing.T) {
	test := func(t *testing.T, url string) {
		db := storetest.Open(t, url)
		id, bytes := uuid.MustParse("00000000-0000-7000-a000-0000000000ff"), "x'0000000000007000A0000000000000FF'"
		if storetest.Postgres(db) {
			bytes = "uuid_send('" + id.String() + "')"
		}
		read := func(db interface {
			QueryContext(context.Context, string, ...any) (*sql.Rows, error)
		}, also func(), text string, args ...any) {
			t.Helper()
			rows, err := db.QueryContext(rowscan.RawRows(t.Context()), text, args...)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			err = rowscan.ForEach(rows, 4, func(r *rowscan.Scanner) {
				also()
				got = append(got, fmt.Sprintf("%d %s %v %s", r.Int64(0), r.Text(1), r.Null(2), r.UUID(3)))
			})
			if want := []string{"1 a true " + id.String(), "2 b true " + id.String()}; err != nil || !slices.Equal(got, want) {
				t.Errorf("%q: %q, want %q: %v", text, got, want, err)
			}
		}
		nothing := func() {}
		read(db.SQL, nothing, "SELECT 1, 'a', NULL, "+bytes+" UNION ALL SELECT 2, 'b', NULL, "+bytes+" ORDER BY 1")
		text := "SELECT 1, 'a', NULL, " + bytes + " WHERE 7 = " + storetest.Parameter(db) + " UNION ALL SELECT 2, 'b', NULL, " + bytes + " ORDER BY 1"
		for range 3 {
			read(db.SQL, nothing, text, 7)
		}
		tx, err := db.SQL.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		read(tx, nothing, text, 7)
		if !storetest.Postgres(db) { // lib/pq reads one result at a time
			read(tx, func() { read(tx, nothing, text, 7) }, text, 7)
		}
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
		rows, err := db.SQL.QueryContext(t.Context(), text, 7)
		if err != nil {
			t.Fatal(err)
		}
		if err := rowscan.ForEach(rows, 4, func(*rowscan.Scanner) {}); err == nil {
			t.Error("ForEach read rows that are not raw")
		}
		if got := storetest.Value(t, db.SQL, "SELECT 'a' WHERE 7 = "+storetest.Parameter(db), 7); got != "a" {
			t.Errorf("without such a context: %s", got)
		}
	}
	storetest.Each(t, test)
	t.Run("pooled", func(t *testing.T) { test(t, storetest.With(pgtest.New(t), "statement_cache=off")) })
}

// TestIdleConnectionsAreReused longer than a statement's silence may last: a new connection would have to prepare
// its statements again.
func TestIdleConnectionsAreReused(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, pgtest.New(t))
	db.SQL.SetMaxOpenConns(1)
	ctx, cancel := context.WithTimeout(t.Context(), dbconn.MaxSilence)
	var before int64
	if err := db.SQL.QueryRowContext(ctx, "SELECT pg_backend_pid() WHERE $1::int = 1", 1).Scan(&before); err != nil {
		t.Fatal(err)
	}
	cancel()
	time.Sleep(2 * dbconn.MaxSilence)
	if !sameProcess(t, db.SQL, before) {
		t.Error("the connection was replaced")
	}
}
