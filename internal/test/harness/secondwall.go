package harness

import (
	"database/sql"
	"regexp"
	"sync"
	"testing"

	"chairside/internal/store"
	"chairside/internal/store/rowsecurity"
	"chairside/internal/test/localpg/pgproxy"
	"chairside/internal/test/testdb"
)

// practiceFilter matches a condition of the practice filter that every query of Ent carries.
var practiceFilter = regexp.MustCompile(`(?:"\w+"\.)?(?:"?practice_id"?|"applications"\."owner_id"|"practices"\."id") = (\$\d+)`)

// SecondWall returns the URL of a new copy of the seeded database with both roles, through a
// proxy that takes Ent's practice filter out of each statement of the serving role. What then
// still separates practices is row-level security alone. It skips the test without a server.
func SecondWall(t testing.TB) string { t.Helper(); return secondWall(t, testdb.Practice.Postgres(t)) }

func secondWall(t testing.TB, address string) string {
	t.Helper()
	db, err := store.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.CreateRoles(t.Context(), rowsecurity.DefaultRoles); err != nil {
		t.Fatal(err)
	}
	return pgproxy.Rewrite(t, address, rowsecurity.DefaultRoles.Serving, func(statement []byte) []byte {
		return practiceFilter.ReplaceAll(statement, []byte("(${0} OR true)"))
	})
}

// Owner returns a pool that may do everything with the tables. With row-level security it is
// that of the role that signed in; otherwise it is the only one.
func (e *Env) Owner() *sql.DB { return e.owner() }

// ownerOf returns a function that opens that pool once, and one that closes it.
func ownerOf(db *store.DB) (owner func() *sql.DB, closeOwner func()) {
	if !db.Confined() {
		return func() *sql.DB { return db.SQL }, func() {}
	}
	closePool := func() {}
	owner = sync.OnceValue(func() *sql.DB {
		pool := db.Maintenance()
		closePool = func() { pool.Close() }
		return pool
	})
	return owner, func() { closePool() }
}
