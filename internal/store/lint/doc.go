// Package lint judges migration files before they are released.
//
//	findings, err := lint.Check(ctx, db, files) // db is an empty scratch database
//
// It applies the files one statement at a time. The first file, the baseline,
// finds no rows and is not judged. Every later one is judged by
//
//   - the analyzers of Atlas: destructive (dropped tables and columns), data_depend
//     (fails on some data), incompatible (breaks the previous release), condrop
//     (dropped foreign keys);
//   - those of our own, in analyzers.go: narrowed (a type that holds less),
//     data_depend (new checks and foreign keys), destructive (TRUNCATE);
//   - on PostgreSQL, blocking (blocking.go): statements that make clients wait, and
//     statements outside a transaction that cannot be repeated after a break.
//
// A finding is an error. A statement that has to do it anyway says so above
// itself, with the reason:
//
//	-- atlas:nolint destructive
//	-- Because: the town moved to addresses in release 1.4
//	ALTER TABLE "patients" DROP COLUMN "town";
package lint
