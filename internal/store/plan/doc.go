// Package plan writes the migration files that bring a database to the schema.
//
//	files, unused, err := plan.Write(ctx, db, old, tables, request) // db is an empty scratch database
//
// It applies the old files to db, compares the result with the tables, applies
// what it writes, and fails unless the tables are then the schema's. Its files
// lose no data and keep no client waiting:
//
//   - A column or table that is gone may have been renamed. Only the request can
//     tell (Request.Renames, Request.Drops): without it, Write refuses.
//   - Rows that exist may break a new rule. The request gives their value
//     (Request.Backfills) or the reason why they satisfy it (Request.Asserts).
//   - On SQLite, which has one writer, all is one file.
//   - On PostgreSQL a migration NAME becomes as many of these as it needs, with
//     consecutive versions: NAME (tables, columns, renames; one file for each
//     existing table, NAME_TABLE from the second on), NAME_backfill, NAME_index,
//     NAME_constrain (NOT VALID), NAME_validate, NAME_require (NOT NULL),
//     NAME_settings, and those of the counters. NAME_backfill, NAME_index and
//     NAME_validate are applied outside a transaction and can be repeated.
//
// Without old files it writes the baseline: one complete file, functions,
// triggers and settings included.
package plan
