// Package dump exports a whole installation and restores it, between databases of either
// kind:
//
//	export   snapshot → one file for each table → manifest → rename the directory    export.go
//	restore  manifest → checksums → decode → bulk.Tx → sequences → compare totals    restore.go
//	files    NDJSON or CSV                                                           format.go
//	manifest what an export holds                                                    manifest.go
//
// Tables, columns and their order come from ent.Tables: a new entity is exported without a
// change here.
//
// # Files
//
// An export has one file for each table, in the order of dependencies, with the rows in the
// order of their ids, and manifest.json: layout, latest migration, and for each file its rows,
// its SHA-256 and the last id that the table gave out. All files show the database at one
// moment. The same data give the same bytes, whichever database they are in.
//
//   - NDJSON: one object a line with every column. Amounts are strings with two fraction
//     digits, times RFC 3339 in UTC, bytes base64.
//   - CSV: the same texts under a header. \N is null, a backslash is \\, a carriage return \r.
//   - Left out (leftBehind): sessions, authorization codes, sign-in attempts, progress of imports.
//
// # Restore
//
// A restore needs an empty database with the same migrations. It is one transaction: if it is
// killed, nothing is left, and it can start again. A second restore of the same export does
// nothing. Memory does not grow with the rows.
//
// # From SQLite to PostgreSQL
//
// Stop the server, and
//
//	chairside export out --database-url sqlite:chairside.db
//	chairside migrate up --database-url postgres://…
//	chairside import out --database-url postgres://…
//
// Users, passwords, tokens, ids and the audit log stay the same; people sign in
// again. The other direction works as well.
package dump
