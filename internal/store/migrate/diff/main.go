// Command diff writes the next migration files from the difference between the
// schema and the files so far. Run it from the root of the repository:
//
//	go run ./internal/store/migrate/diff NAME      write VERSION_NAME.sql for each database that changed
//	go run ./internal/store/migrate/diff -check    write nothing; fail on a difference or an unsafe file
//	go run ./internal/store/migrate/diff -hash     update atlas.sum after editing a file by hand
//
// It refuses what may lose data or fail on the rows of a practice, and prints the
// flags that decide it. Each flag may be repeated:
//
//	--rename patients.town=city            the column has a new name
//	--rename-table notes=remarks           the table has a new name
//	--drop patients.town --because "…"     the column (or table, or foreign key) goes, with its data
//	--retype patients.code --because "…"   its type narrows, and every value fits
//	--backfill patients.city="upper(town)" the value of rows that have none
//	--assert patients.NAME --because "…"   rows satisfy the new unique index, check or foreign key
//
// The reasons become comments in the files. Package plan describes what it writes, package
// lint what it and -check refuse, also in a file written by hand. Package migrate shows
// where the files go from here.
//
// To write an unreleased migration anew, delete its files first. To squash all
// migrations into one baseline, delete all files, atlas.sum included, then run it
// with the name baseline.
//
// It applies the files to a throw-away database of each kind. PostgreSQL's server
// programs must be installed, or -postgres URL name an empty database.
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
