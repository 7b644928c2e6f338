// Package plan writes the migration files that bring a database to the schema.
//
//	files, unused, err := plan.Write(ctx, db, old, tables, request) // db is an empty scratch database
//
// It applies the old files to db, compares the result with the tables, applies
// what it writes, and fails unless db then equals the tables. Its files
// lose no data and keep no client waiting:
//
//   - A missing column or table may have been renamed or dropped. The request must say
//     which (Request.Renames, Request.Drops); otherwise Write refuses.
//   - Existing rows may violate a new rule. The request must give their value
//     (Request.Backfills) or the reason why they satisfy it (Request.Asserts).
//   - On SQLite, which has one writer, everything is in one file.
//   - On PostgreSQL each step is a file of its own.
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
//	NAME_views     the views for analysts
//
// Without old files it writes the baseline: one complete file, functions,
// triggers and settings included.
//
//	plan.go       Write: the order of the steps, and the text of the files
//	request.go    the decisions of the author
//	rename.go     renames, before anything is compared
//	judge.go      refuses changes that need a decision
//	steps.go      PostgreSQL: one file for each step
//	backfill.go   UPDATE, in batches on PostgreSQL
//	counters.go   the steps of counters
//	views.go      the views for analysts
//
// # When to reach for it
//
// The command diff is its only caller. Change this package when a kind of change of the
// schema needs another order of statements.
package plan
