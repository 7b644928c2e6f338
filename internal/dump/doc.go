// Package dump exports a whole installation or one practice to files and reads them again, on
// PostgreSQL and SQLite:
//
//	export.go    snapshot → one file for each table → manifest → rename the directory
//	restore.go   manifest → checksums → decode → insert → sequences → check totals
//	leaving.go   what an export of one practice has, and leaves out
//	practice.go  imports one practice beside others: check all → reserve ids → insert
//	idmap.go     new IDs where they collide
//	format.go    reads and writes NDJSON and CSV
//	manifest.go  describes the files of an export
//
// Tables, columns and their order come from ent.Tables: a new entity is exported without a
// change here.
//
// # Files
//
// An export has one file for each table, with the rows in the order of their IDs, and
// manifest.json: layout, latest migration, and for each file its number of rows, its SHA-256 and
// the last ID that the table assigned. A table comes after those that it refers to. All files are
// of one snapshot of the database. The same data give the same bytes on either database.
//
//   - NDJSON: one JSON object per line with every column. Amounts are strings with two fraction
//     digits, times RFC 3339 in UTC, bytes base64.
//   - CSV: the same values under a header. \N is null, a backslash is \\, a carriage return \r.
//   - Left out (notExported): sessions, authorization codes, sign-in attempts, progress of imports,
//     idempotency keys, holds.
//
// # Restore
//
// A restore needs an empty database with the same migrations. It is one transaction: if it is
// interrupted, the database stays empty, and it can start again. Restoring the same export again
// does nothing. Memory use does not depend on the number of rows.
//
// # One practice
//
// An export of one practice has the same form and another layout in the manifest. Every table with
// a practice leaves unless leftBehind or notExported names it with the reason; a test fails for a
// table or a possible reference without a decision. Secrets are emptied (withheld).
//
// ImportPractice reads the files twice: first it checks every row and finds the IDs and names that
// are taken, then it writes. An integer ID up to the last one that the database assigned moves
// by a number that is above all IDs of both sides, so that the rule needs no memory and covers
// references to deleted rows. New UUIDs keep the time in old ones. On PostgreSQL other practices
// can write meanwhile; on SQLite they wait.
//
// # From SQLite to PostgreSQL
//
// Stop the server and run:
//
//	chairside export out --database-url sqlite:chairside.db
//	chairside migrate up --database-url postgres://…
//	chairside import out --database-url postgres://…
//
// Users, passwords, tokens, IDs and the audit log stay the same. Users sign in again. The other
// direction works as well.
package dump
