// Package store opens the database, migrates it, and gives its errors their
// meaning. It alone imports the drivers and the migration engine; everything
// else works with the generated client it returns.
//
//	db, err := store.Open(ctx, "sqlite:chairside.db")
//	applied, err := db.Migrate(ctx)
//	err = db.Tx(ctx, func(tx *ent.Client) error { … })
//	return store.APIError(ctx, err)
//
// # Addresses and limits
//
// sqlite:PATH is an embedded database in a file, which is created readable by
// its owner alone. It runs in WAL mode with 2 connections per processor, at least 4,
// and 3 more; a transaction waits up to 2 s for those of its own process, then up to
// 2 s for another's write. The
// first 128 MiB of the file are read as memory: tools count them as the process's,
// once for each connection, but the system takes them back when it needs them. A
// disk that fails to read them ends the process.
//
// postgres://USER:PASSWORD@HOST/DATABASE is a PostgreSQL server (13 or later). Its
// parameters are those of lib/pq, any setting of the server, and two of ours:
//
//	pool_size=20            connections of this process, at most; idle ones are
//	                        closed after 5 minutes, all after 30
//	statement_cache=on      off behind a pooler in transaction mode (PgBouncer):
//	                        every statement then gets a transaction of its own
//
// Every connection sets statement_timeout=30s, lock_timeout=2s,
// idle_in_transaction_session_timeout=60s, timezone=UTC and
// application_name=chairside, and connecting takes at most 5 s, each unless the
// URL says otherwise. PgBouncer has to be told to ignore the time limits
// (ignore_startup_parameters; set them with ALTER ROLE instead), and migrations
// go past it, straight to the server: they hold a session's advisory lock.
//
// # Admission
//
// Ent, Tx and View reach the pool through a gate (gated.go, package admission): what
// waits for a connection is refused after 2 s, and no practice and no kind of request
// takes the last ones. Of 20 connections one kind of one practice gets at most 14, those
// beyond 10 only while no work with a smaller share waits; 2 are for probes and work in
// the background, which use DB.SQL. A transaction that names its locks waits for them
// before that, up to 2 s (queue.go), so that those who book one practitioner hold no
// connections.
//
// Ready reads every table over a connection of its own, within 2 s.
//
// # Connections
//
// Package dbconn has what lies under database/sql: prepared statements, deadlines that
// hold even if a connection is lost without an error, and transactions of a single
// statement. Its doc says what happens to lost connections.
//
// # Counters
//
// Triggers maintain the counts that lists show (package counters, DB.Counters).
//
// # Migrations
//
// The files are embedded (package migrations), written by the command in diff/,
// and applied by Migrate. The record of them is the Atlas command line's own
// table, so that "atlas migrate status --env postgres" tells the truth.
//
// On PostgreSQL clients work on while a migration runs:
//
//	file in a transaction      waits for its locks less than deadlock_timeout in
//	                           all, then rolls back and tries again, for 2 minutes
//	-- atlas:txmode none       each statement by itself, counted in the record, so
//	                           that Migrate goes on with the next one after a break;
//	                           an invalid index of its name is dropped and rebuilt
//	CREATE INDEX CONCURRENTLY  waits 30 minutes for old transactions
//	counters                   Counters.Plan: a short transaction replaces the triggers,
//	                           one statement without a lock counts
//
// An embedded database is copied before it is migrated (apply_copy.go).
//
// Desired is what the schema's tables are rewritten to before they are compared,
// Describe what a server makes of them, PlanFunctions and PlanSettings what Ent
// cannot declare, Counters.Plan what the triggers lack. Package plan writes the
// files, package lint judges them.
package store
