package main

import (
	"errors"
	"fmt"

	"chairside/internal/config"
	"chairside/internal/store"
	"chairside/internal/store/migrate"
)

type migrateCommands struct {
	Up     migrateUp     `cmd:"" help:"Apply all pending migrations."`
	Status migrateStatus `cmd:"" help:"List migrations and when each was applied."`
	Verify migrateVerify `cmd:"" help:"Check that the database's tables, columns and indexes match the schema."`
}

type migrateUp struct{ config.Database }

// Help is the text of --help.
func (migrateUp) Help() string {
	return `Prints each migration that it applies. If several processes run it at once, one applies and the others wait.

An embedded database that holds data is first copied to a file beside it (NAME.before-VERSION, readable only by its owner). The last two copies are kept.

On PostgreSQL the server can keep running. A migration waits for a lock in short attempts, for two minutes in all, then fails and names the process that holds it. Run the command again to resume. The audit log gets a partition for each month until two years from now: run the command at least once a year.`
}

// Run applies the pending migrations and prints them.
func (m *migrateUp) Run(c *console) (err error) {
	db, err := store.Open(c, m.DatabaseURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	applied, err := migrate.Up(c, db, c.progress)
	for _, step := range applied {
		fmt.Fprintln(c.out, step.Version, step.Name)
	}
	if err != nil {
		return err
	}
	added, err := migrate.AddMonths(c, db)
	if added > 0 {
		fmt.Fprintf(c.err, "added %s to the audit log\n", count(added, "partition"))
	}
	switch {
	case err != nil:
	case len(applied) > 0:
		fmt.Fprintf(c.err, "applied migrations: %d\n", len(applied))
	case added == 0:
		fmt.Fprintln(c.err, "nothing to do")
	}
	return err
}

type migrateStatus struct {
	config.Database
	listing
}

// Run lists the migrations, as far as they are known, even on an error.
func (m *migrateStatus) Run(c *console) (err error) {
	db, err := store.OpenExisting(c, m.DatabaseURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	list, err := migrate.Status(c, db)
	var cells [][]any
	for _, step := range list {
		state := "pending"
		switch {
		case !step.AppliedAt.IsZero():
			state = "applied " + step.AppliedAt.Format("2006-01-02 15:04:05 UTC")
		case step.Statements > 0:
			state = fmt.Sprintf("interrupted: %d of %d statements applied", step.Applied, step.Statements)
		}
		cells = append(cells, []any{step.Version, step.Name, state})
	}
	return errors.Join(m.print(c, []string{"VERSION", "NAME", "STATE"}, cells), err)
}

type migrateVerify struct{ config.Database }

// Run prints each difference on a line and fails if there is any.
func (m *migrateVerify) Run(c *console) (err error) {
	db, err := store.OpenExisting(c, m.DatabaseURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	err = migrate.Verify(c, db)
	if drift := (*migrate.DriftError)(nil); errors.As(err, &drift) {
		for _, difference := range drift.Differences {
			fmt.Fprintln(c.out, difference)
		}
		return errors.New("the database differs from the schema")
	}
	if err == nil {
		fmt.Fprintln(c.err, "the database matches the schema")
	}
	return err
}
