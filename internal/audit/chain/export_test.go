package chain

import (
	"database/sql"
	"testing"

	"chairside/internal/store"
)

// SetPosition gives the last block another position, and the hash that fits.
func SetPosition(t *testing.T, db *store.DB, id, through int64) {
	t.Helper()
	var b block
	err := forEach(t.Context(), db.SQL, "SELECT practice_id, number, at, floor, entries, previous FROM audit_blocks WHERE id = $1",
		func(rows *sql.Rows) error {
			return rows.Scan(&b.practice, &b.number, &b.at, &b.floor, &b.entries, &b.previous)
		}, id)
	if err != nil {
		t.Fatal(err)
	}
	b.through = through
	if _, err := db.SQL.ExecContext(t.Context(), "UPDATE audit_blocks SET through = $1, hash = $2 WHERE id = $3", through, b.sum(), id); err != nil {
		t.Fatal(err)
	}
}
