// Command diff writes the next migration files from the difference between the
// schema and the files so far. Run it from the root of the repository:
//
//	go run ./internal/store/migrate/diff NAME      write VERSION_NAME.sql for each database that changed
//	go run ./internal/store/migrate/diff -check    write nothing; fail on a difference or an unsafe file
//	go run ./internal/store/migrate/diff -hash     update atlas.sum after editing a file by hand
//
// It refuses changes that may lose data or fail on existing rows, and prints the flags that allow
// them. Each flag may be repeated:
//
//	--rename patients.town=city            the column has a new name
//	--rename-table notes=remarks           the table has a new name
//	--drop patients.town --because "…"     the column (or table, or foreign key) is dropped, with its data
//	--retype patients.code --because "…"   its type narrows, and every value fits
//	--backfill patients.city="upper(town)" the value for rows that have none
//	--assert patients.NAME --because "…"   rows satisfy the new unique index, check or foreign key
//
// The reasons become comments in the files. Package plan describes the files, package lint what
// diff and -check refuse (in files written by hand, too), and package migrate how the files are
// applied.
//
// To rewrite an unreleased migration, delete its files first. To squash all
// migrations into one baseline, delete all files, atlas.sum included, then run it
// with the name baseline.
//
// It applies the files to a temporary database of each kind. It needs the server programs of
// PostgreSQL, or the URL of an empty database (-postgres URL).
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	c, err := parse(os.Args[1:], os.Stdout)
	if err == nil {
		err = c.run(ctx)
	}
	var usage *usageError
	switch {
	case errors.As(err, &usage):
		fmt.Fprintln(os.Stderr, err)
		stop()
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		stop()
		os.Exit(1)
	}
}
