// Package lint judges migration files before they are released.
//
//	findings, err := lint.Check(ctx, db, files) // db is an empty scratch database
//
// It applies the files one statement at a time. It does not judge the first file, the
// baseline, which finds no rows. It judges every later one by
//
//   - the analyzers of Atlas: destructive (dropped tables and columns), data_depend
//     (fails on some data), incompatible (breaks the previous release), condrop
//     (dropped foreign keys);
//   - those of our own, in analyzers.go: narrowed (a type that holds less),
//     data_depend (new checks and foreign keys), destructive (TRUNCATE);
//   - on PostgreSQL, blocking (blocking.go): statements that make clients wait, and
//     statements outside a transaction that cannot be repeated after a break.
//
// A finding is an error. A comment above the statement allows it, with the reason:
//
//	-- atlas:nolint destructive
//	-- Because: the town moved to addresses in release 1.4
//	ALTER TABLE "patients" DROP COLUMN "town";
//
// # When to reach for it
//
// The command diff runs it, also on files written by hand (-check). Add a rule here when a
// migration has stopped clients or lost data in a way that it did not find.
package lint
