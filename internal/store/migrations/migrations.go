// Package migrations holds the versioned migration files of both databases.
//
//	postgres/20261123000000_baseline.sql    everything up to the first release
//	postgres/atlas.sum                      checksums of all files
//	sqlite/...                              the same for SQLite
//
// A file that has been released is never changed. A new one is written from
// the difference between the schema and the files so far:
//
//	go run ./internal/store/diff NAME
//
// It refuses what may lose data and prints the flags that decide it (go doc
// ./internal/store/diff). Statements the schema cannot express (data) are written
// by hand into such a file, after which
//
//	go run ./internal/store/diff -hash
//
// updates atlas.sum. Indexes on functions, the functions and settings such as a
// replica identity are declared in internal/store/expressions.go. A change has to
// work while the previous release still runs: add a column nullable, fill it,
// constrain it one release later.
//
// Each file is applied in one transaction. On PostgreSQL a file whose first
// line is "-- atlas:txmode none" is applied statement by statement and resumed
// after a break, so it may only hold what can be repeated: CREATE INDEX
// CONCURRENTLY, DROP INDEX CONCURRENTLY IF EXISTS, VALIDATE CONSTRAINT, and
// backfills in batches (DO $$ … LOOP … COMMIT; END LOOP … $$).
//
// go run ./internal/store/diff -check applies all files to empty databases and
// fails when the schema differs from them, or a file after the baseline loses
// data or blocks clients (package lint).
//
// To squash unreleased migrations into one baseline, delete the files and write
// it anew; nothing in it is written by hand:
//
//	rm internal/store/migrations/*/*.sql
//	go run ./internal/store/diff baseline
package migrations

import (
	"embed"
	"io/fs"
)

//go:embed postgres sqlite
var files embed.FS

// Postgres gives the files for PostgreSQL: NAME.sql and atlas.sum.
func Postgres() fs.FS { return sub("postgres") }

// SQLite gives the files for SQLite: NAME.sql and atlas.sum.
func SQLite() fs.FS { return sub("sqlite") }

func sub(dir string) fs.FS {
	tree, err := fs.Sub(files, dir)
	if err != nil {
		panic(err) // only for a path that is not one
	}
	return tree
}
