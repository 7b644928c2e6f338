package store_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/lib/pq"

	"chairside/internal/apierror"
	"chairside/internal/store"
	"chairside/internal/store/storetest"
	"chairside/internal/test/localpg/pgtest"
)

func isUnavailable(err error) bool {
	var f *apierror.Error
	return errors.As(err, &f) && f.Status == http.StatusServiceUnavailable
}

func TestAPIErrorKeepsOtherErrors(t *testing.T) {
	known := apierror.NotFound()
	for _, err := range []error{nil, known, errors.New("other"), context.Canceled} {
		if got := store.APIError(t.Context(), err); got != err {
			t.Errorf("APIError(%v) = %v", err, got)
		}
	}
}

func TestRefusedOnReplica(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err     pq.Error
		refused bool
	}{
		{pq.Error{Code: "25006"}, true},                                    // an INSERT
		{pq.Error{Code: "0A000", Routine: "call_bool_check_hook"}, true},   // SET TRANSACTION READ WRITE
		{pq.Error{Code: "0A000", Routine: "RevalidateCachedQuery"}, false}, // a statement that a migration has outdated
		{pq.Error{Code: "42501"}, false},
	} {
		if got := store.RefusedOnReplica(&test.err); got != test.refused {
			t.Errorf("%s of %s: %t", test.err.Code, test.err.Routine, got)
		}
	}
}

func TestAPIErrorOfALostConnection(t *testing.T) {
	if err := store.APIError(t.Context(), driver.ErrBadConn); !isUnavailable(err) {
		t.Error(err)
	}
	_, err := store.Open(t.Context(), "postgres://user@127.0.0.1:1/db?sslmode=disable")
	if !isUnavailable(store.APIError(t.Context(), err)) {
		t.Errorf("refused connection: %v", err)
	}
	db := storetest.Open(t, pgtest.New(t))
	ctx, cancel := context.WithTimeout(t.Context(), storetest.Timeout)
	defer cancel()
	_, err = db.SQL.ExecContext(ctx, "SELECT pg_terminate_backend(pg_backend_pid())")
	if !isUnavailable(store.APIError(ctx, err)) {
		t.Errorf("terminated: %v", err)
	}
	if got := storetest.Value(t, db.SQL, "SELECT 1"); got != "1" {
		t.Errorf("the pool does not recover: %s", got)
	}
}

func TestAPIErrorOfASlowQuery(t *testing.T) {
	db := storetest.Open(t, storetest.With(pgtest.New(t), "statement_timeout=50ms&pool_size=2"))
	_, err := db.SQL.ExecContext(t.Context(), "SELECT pg_sleep(10)")
	if !isUnavailable(store.APIError(t.Context(), err)) {
		t.Errorf("statement_timeout: %v", err)
	}

	// The same SQLSTATE, but the client has disconnected.
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := db.SQL.ExecContext(ctx, "SELECT pg_sleep(10)"); err == nil || isUnavailable(store.APIError(ctx, err)) {
		t.Errorf("cancelled: %v", err)
	}

	ctx, cancel = context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := db.SQL.ExecContext(ctx, "SELECT pg_sleep(10)"); !isUnavailable(store.APIError(ctx, err)) {
		t.Errorf("deadline: %v", err)
	}
}

func TestAPIErrorOfAnExhaustedPool(t *testing.T) {
	db := storetest.Open(t, storetest.With(pgtest.New(t), "pool_size=2"))
	for range 2 {
		c, err := db.SQL.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := db.SQL.PingContext(ctx); !isUnavailable(store.APIError(ctx, err)) {
		t.Error(err)
	}
}

func TestAPIErrorOfALock(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := storetest.Open(t, url)
		storetest.Exec(t, db, "CREATE TABLE things (id integer PRIMARY KEY)")
		holder, err := db.SQL.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer holder.Rollback()
		wait := "PRAGMA busy_timeout = 10"
		if storetest.Postgres(db) {
			wait = "SET lock_timeout = '10ms'"
			if _, err := holder.ExecContext(t.Context(), "LOCK TABLE things"); err != nil {
				t.Fatal(err)
			}
		}
		c, err := db.SQL.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.ExecContext(t.Context(), wait); err != nil {
			t.Fatal(err)
		}
		_, err = c.ExecContext(t.Context(), "INSERT INTO things VALUES ("+storetest.Parameter(db)+")", 1)
		if !isUnavailable(store.APIError(t.Context(), err)) {
			t.Errorf("a lock that another transaction holds: %v", err)
		}
	})
}

func TestAPIErrorKeepsConstraintErrors(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := storetest.Open(t, url)
		storetest.Exec(t, db, "CREATE TABLE things (id integer PRIMARY KEY)")
		storetest.Exec(t, db, "INSERT INTO things VALUES (1)")
		_, err := db.SQL.ExecContext(t.Context(), "INSERT INTO things VALUES (1)")
		if err == nil || store.APIError(t.Context(), err) != err {
			t.Errorf("a duplicate key: %v", err)
		}
	})
}
