// Package store opens the database, migrates it, and gives its errors their
// meaning. It alone imports the drivers and the migration engine; everything
// else works with the generated client it returns.
//
//	db, err := store.Open(ctx, "sqlite:chairside.db")
//	applied, err := db.Migrate(ctx)
//	err = db.Tx(ctx, func(tx *ent.Client) error { … })
//	return store.Fault(ctx, err)
//
// # Addresses and limits
//
// sqlite:PATH is an embedded database in a file, which is created readable by
// its owner alone. It runs in WAL mode with 2 connections per processor, at
// least 4, which do not lock themselves (sqlite_threads.go); a transaction waits up
// to 10 s for those of its own process, then up to 10 s for another's write. The
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
// Every connection sets statement_timeout=30s, lock_timeout=10s,
// idle_in_transaction_session_timeout=60s, timezone=UTC and
// application_name=chairside, and connecting takes at most 5 s, each unless the
// URL says otherwise. PgBouncer has to be told to ignore the time limits
// (ignore_startup_parameters; set them with ALTER ROLE instead), and migrations
// go past it, straight to the server: they hold a session's advisory lock.
//
// # Statements
//
// Each connection keeps up to 200 prepared statements (statements.go). Reading
// one row through Ent takes 55 µs with it and 150 µs without on PostgreSQL, 22 µs
// on SQLite (BenchmarkGet). SQLite plans them once only where it has no samples
// of values (sqlitePlanOnce).
//
// On PostgreSQL a transaction of one statement takes one round trip, the locks it
// waits for included (DB.TxTrying, ahead.go), except over TLS and with
// statement_cache=off. For that a connection keeps a prepared lock, and READ
// COMMITTED for its session.
//
// # Kept totals
//
// Triggers keep the totals that the schema declares (contract.Kept), so that a
// list need not count its rows:
//
//	a row changes ─trigger─▶ total_changes ─FoldTotals─▶ kept_totals     PostgreSQL
//	a row changes ─trigger──────────────────────────────▶ kept_totals     SQLite
//	Totals.Of (ent/kept.go) ◀── kept_totals + total_changes, in one statement
//
// triggers.go writes them, the command in diff/ puts them into migrations,
// Verify compares them, CheckTotals and RepairTotals compare the totals with the
// rows. Only SQLite's INSERT OR REPLACE by hand, which runs no trigger for the
// row it replaces, gets past them. PostgreSQL's find their tables by the search
// path: data that pg_dump wrote without the schema, which clears the path, goes in
// with --disable-triggers, then "chairside totals repair".
//
// # Migrations
//
// The files are embedded (package migrations), written by the command in diff/,
// and applied by Migrate. The record of them is the Atlas command line's own
// table, so that "atlas migrate status --env postgres" tells the truth.
// Desired is what the schema's tables are rewritten to before they are compared,
// Describe what a server makes of them, PlanFunctions and PlanSettings what Ent
// cannot declare, PlanTotals what the triggers lack. Package plan writes the
// files, package lint judges them.
package store
