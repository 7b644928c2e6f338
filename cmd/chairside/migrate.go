package main

import (
	"errors"
	"fmt"
	"text/tabwriter"

	"chairside/internal/config"
	"chairside/internal/store"
	"chairside/internal/store/migrate"
)

type migrateCommands struct {
	Up     migrateUp     `cmd:"" help:"Apply all pending migrations."`
	Status migrateStatus `cmd:"" help:"List the migrations and when each was applied."`
	Verify migrateVerify `cmd:"" help:"Check that the database has exactly the tables, columns and indexes that this program needs."`
}

type migrateUp struct{ config.Database }

// Help is the text of --help.
func (migrateUp) Help() string {
	return `Prints each migration it applies. Several processes may run it at once: one applies, the others wait.

An embedded database that is in use is copied first, to a file beside it (NAME.before-VERSION, readable by its owner alone); the last two copies are kept.

On PostgreSQL the server may go on working meanwhile. A migration waits for locks in short attempts, for two minutes, then names the process that holds the lock. Run it again to continue: what broke off is resumed.`
}

// Run applies what is pending and prints it.
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
	if err == nil && len(applied) == 0 {
		fmt.Fprintln(c.err, "nothing to do")
	}
	return err
}

type migrateStatus struct{ config.Database }

// Run lists the migrations; it lists what can be told beside an error, too.
func (m *migrateStatus) Run(c *console) (err error) {
	db, err := store.OpenExisting(c, m.DatabaseURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	list, err := migrate.Status(c, db)
	table := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	for _, step := range list {
		state := "pending"
		switch {
		case !step.AppliedAt.IsZero():
			state = "applied " + step.AppliedAt.Format("2006-01-02 15:04:05 UTC")
		case step.Statements > 0:
			state = fmt.Sprintf("interrupted: %d of %d statements applied", step.Applied, step.Statements)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", step.Version, step.Name, state)
	}
	return errors.Join(table.Flush(), err)
}

type migrateVerify struct{ config.Database }

// Run prints each difference on a line of its own and fails where there is one.
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
		return errors.New("the database is not what its migrations made")
	}
	if err == nil {
		fmt.Fprintln(c.err, "the database equals the schema")
	}
	return err
}
