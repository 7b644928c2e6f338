package main

import (
	"errors"
	"fmt"

	"chairside/internal/config"
	"chairside/internal/store"
)

type countersCommands struct {
	Check  countersCheck  `cmd:"" help:"Compare the totals of lists with the rows."`
	Repair countersRepair `cmd:"" help:"Correct totals that differ from the rows."`
}

type countersCheck struct{ config.Database }

// Help is the text of --help.
func (countersCheck) Help() string {
	return "The database maintains the totals that lists show. Prints each total that differs from the number of rows and fails if there is one. Reads every row; may run while the server is up."
}

// Run prints each difference and fails where there is one.
func (t *countersCheck) Run(c *console) error {
	return c.withDatabase(t.Database, func(db *store.DB) error {
		found, err := db.Counters.Check(c)
		if err != nil {
			return err
		}
		for _, difference := range found {
			fmt.Fprintln(c.out, difference)
		}
		if len(found) > 0 {
			return errors.New(`some totals are wrong: run "chairside counters repair"`)
		}
		fmt.Fprintln(c.err, "every total is right")
		return nil
	})
}

type countersRepair struct{ config.Database }

// Help is the text of --help.
func (countersRepair) Help() string {
	return "Prints each total that it changes. Writes to a table wait while its rows are counted."
}

// Run prints what it has changed, also beside an error.
func (t *countersRepair) Run(c *console) error {
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
