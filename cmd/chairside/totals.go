package main

import (
	"errors"
	"fmt"

	"chairside/internal/config"
	"chairside/internal/store"
)

type totalsCommands struct {
	Check  totalsCheck  `cmd:"" help:"Compare every kept total with the rows there are."`
	Repair totalsRepair `cmd:"" help:"Set right the totals that differ from the rows there are."`
}

type totalsCheck struct{ config.Database }

// Help is the text of --help.
func (totalsCheck) Help() string {
	return "The totals that lists show are kept up to date by the database itself. Prints each one that is not what counting gives, and fails if there is one. It reads every row, and may run while the program serves."
}

// Run prints each difference and fails where there is one.
func (t *totalsCheck) Run(c *console) error {
	return c.withDatabase(t.Database, func(db *store.DB) error {
		found, err := db.Counters.Check(c)
		if err != nil {
			return err
		}
		for _, difference := range found {
			fmt.Fprintln(c.out, difference)
		}
		if len(found) > 0 {
			return errors.New("there are wrong totals: chairside totals repair")
		}
		fmt.Fprintln(c.err, "every total is right")
		return nil
	})
}

type totalsRepair struct{ config.Database }

// Help is the text of --help.
func (totalsRepair) Help() string {
	return "Prints each total that it changes. Writing to a table waits while its rows are counted."
}

// Run prints what it has changed, also beside an error.
func (t *totalsRepair) Run(c *console) error {
	return c.withDatabase(t.Database, func(db *store.DB) error {
		repaired, err := db.Counters.Repair(c)
		for _, difference := range repaired {
			fmt.Fprintln(c.out, difference)
		}
		if err == nil && len(repaired) == 0 {
			fmt.Fprintln(c.err, "nothing to do")
		}
		return err
	})
}
