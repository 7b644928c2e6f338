// Package migrate migrates a database to the schema of this program, and checks that a database
// has it.
//
//	applied, err := migrate.Up(ctx, db)       apply what is pending
//	list, err := migrate.Status(ctx, db)      applied and pending migrations
//	err = migrate.Check(ctx, db)              nil: exactly this program's migrations
//	err = migrate.Verify(ctx, db)             nil: tables, keys, checks, triggers are the schema's
//
// # From the schema to a database
//
//	schema/ ──go generate──▶ ent/migrate.Tables
//	   │
//	   ▼    tables.go         rewrites them: keys that compare the practice, checks, collation
//	Desired ──────────────────────────────┐
//	   │    describe.go       asks the server for its spelling of them
//	   │    expressions.go    functions, their indexes, settings and partition keys, which Ent cannot declare
//	   │    months.go         partitions by month, which AddMonths adds ahead of time
//	   │    views.go          views for analysts on PostgreSQL (package analyst)
//	   ▼                                  │
//	plan/, called by diff/    writes files; lint/ refuses what loses data or blocks clients
//	   │                                  │
//	   ▼                                  │
//	migrations/postgres, migrations/sqlite, each with atlas.sum
//	   │    files.go          embeds them │
//	   ▼                                  │
//	Up      up.go             lock, then file by file
//	   │    copy.go           an embedded database is copied first
//	   │    locks.go          PostgreSQL: short waits, retries, names the holder of a lock
//	   │    statements.go     PostgreSQL: files outside a transaction, resumed after a break
//	   │    history.go        the history of applied migrations
//	   ▼                                  ▼
//	database ────────────▶ Verify         verify.go, verify_postgres.go
//	   └─────────────────▶ Check, Status  migrate.go
//
// The history is the table of the Atlas command line, so that "atlas migrate status --env
// postgres" agrees with Status.
//
// # Write a migration
//
// A file that has been released is never changed. A new one is written from the difference
// between the schema and the files so far:
//
//	go run ./internal/store/migrate/diff NAME
//
// It refuses what may lose data and prints the flags that decide it (go doc
// ./internal/store/migrate/diff). Statements that the schema cannot express (data) are
// written by hand into such a file; then
//
//	go run ./internal/store/migrate/diff -hash
//
// updates atlas.sum. A change must work while the previous release still runs: add a column
// nullable, fill it, constrain it one release later.
//
// Each file is applied in one transaction. On PostgreSQL a file whose first line is
// "-- atlas:txmode none" is applied statement by statement and resumed after an interruption,
// so it may only contain statements that can be repeated: CREATE INDEX CONCURRENTLY, DROP INDEX CONCURRENTLY IF
// EXISTS, VALIDATE CONSTRAINT, and backfills in batches (DO $$ … LOOP … COMMIT; END LOOP … $$).
//
//	go run ./internal/store/migrate/diff -check
//
// applies all files to empty databases and fails when the schema differs from them, or a
// file after the baseline loses data or blocks clients (package lint).
//
// To squash unreleased migrations into one baseline, delete the files and write a new one;
// nothing in it is written by hand:
//
//	rm internal/store/migrate/migrations/*/*.sql
//	go run ./internal/store/migrate/diff baseline
//
// # While clients work
//
// On PostgreSQL clients can work while a migration runs:
//
//	file in a transaction      waits for its locks less than deadlock_timeout in all, then
//	                           rolls back and tries again, for 2 minutes
//	-- atlas:txmode none       each statement on its own, counted in the history, so that Up
//	                           continues with the next one after an interruption; an
//	                           invalid index of the same name is dropped and rebuilt
//	CREATE INDEX CONCURRENTLY  waits 30 minutes for old transactions
//	counters                   Counters.Plan: a short transaction replaces the triggers, one
//	                           statement without a lock counts
//
// # When to reach for it
//
// Commands call Up or Check before they work with a database, and a readiness probe calls
// Check. Nothing else needs it: package store opens a database and knows no versions.
package migrate
