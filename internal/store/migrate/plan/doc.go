// Package plan writes the migration files that bring a database to the schema.
//
//	files, unused, err := plan.Write(ctx, db, old, tables, request) // db is an empty scratch database
//
// It applies the old files to db, compares the result with the tables, applies
// what it writes, and fails unless db then equals the tables. Its files
// lose no data and keep no client waiting:
//
//   - A column or table that is gone may have been renamed. Only the request can
//     tell (Request.Renames, Request.Drops): without it, Write refuses.
//   - Rows that exist may break a new rule. The request gives their value
//     (Request.Backfills) or the reason why they satisfy it (Request.Asserts).
//   - On SQLite, which has one writer, all is one file.
//   - On PostgreSQL the steps are files of their own.
//
// A migration NAME becomes as many of these as it needs, with consecutive versions:
//
//	NAME, NAME_TABLE   tables, columns, renames; one file for each existing table
//	NAME_backfill      values of rows that have none              outside a transaction
//	NAME_index         CREATE INDEX CONCURRENTLY                  outside a transaction
//	NAME_constrain     checks and foreign keys, NOT VALID
//	NAME_validate      VALIDATE CONSTRAINT                        outside a transaction
//	NAME_require       NOT NULL
//	NAME_settings      what Ent cannot declare
//	NAME_counters, NAME_count   triggers of counters, and their counting
//
// Without old files it writes the baseline: one complete file, functions,
// triggers and settings included.
//
//	plan.go       Write: the order of the steps, and the text of the files
//	request.go    what only the author of the migration knows
//	rename.go     renames, before anything is compared
//	judge.go      refuses what the request does not decide
//	steps.go      PostgreSQL: one file for each step
//	backfill.go   UPDATE, in batches on PostgreSQL
//	counters.go   the steps of counters
//
// # When to reach for it
//
// The command diff is its only caller. Change this package when a kind of change of the
// schema needs another order of statements.
package plan
