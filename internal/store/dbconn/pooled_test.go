package dbconn_test

import (
	"testing"

	"chairside/internal/store/storetest"
	"chairside/internal/test/localpg/pgtest"
)

func TestPooledStatementsHaveTheirOwnTransaction(t *testing.T) {
	url := pgtest.New(t)
	db, other := storetest.Open(t, storetest.With(url, "statement_cache=off&pool_size=2")), storetest.Open(t, url)
	storetest.Exec(t, db, "CREATE TABLE things (id integer PRIMARY KEY)")

	// A lock that lasts as long as the transaction shows when it ends.
	const lock = "SELECT pg_advisory_xact_lock($1), generate_series(1, 3)"
	free := func() bool {
		return storetest.Value(t, other.SQL, "SELECT pg_try_advisory_xact_lock($1)", 7) == "true"
	}
	rows, err := db.SQL.QueryContext(t.Context(), lock, 7)
	if err != nil {
		t.Fatal(err)
	}
	if free() {
		t.Error("the statement runs outside a transaction")
	}
	if err := rows.Close(); err != nil {
		t.Error(err)
	}
	if !free() {
		t.Error("the transaction outlives its rows")
	}

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
