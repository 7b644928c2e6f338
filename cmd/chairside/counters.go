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

type countersCheck struct {
	config.Database
	listing
}

// Help is the text of --help.
func (countersCheck) Help() string {
	return "Triggers in the database maintain the totals that lists show. Prints each total that differs from the rows, and fails if any does. Reads every row. Safe while the server runs."
}

// Run prints each difference and fails if there is any.
func (t *countersCheck) Run(c *console) error {
	return c.withDatabase(t.Database, func(db *store.DB) error {
		found, err := db.Counters.Check(c)
		if err != nil {
			return err
		}
		if len(found) > 0 {
			var rows [][]any
			for _, d := range found {
				rows = append(rows, []any{d.Counter, d.Practice.String(), d.Key, d.Stored, d.Counted})
			}
			if err := t.print(c, []string{"COUNTER", "PRACTICE", "KEY", "STORED", "ROWS"}, rows); err != nil {
				return err
			}
			return errors.New(`some totals are wrong: run "chairside counters repair"`)
		}
		fmt.Fprintln(c.err, "all totals are correct")
		return nil
	})
}

type countersRepair struct{ config.Database }

// Help is the text of --help.
func (countersRepair) Help() string {
	return "Prints each total that it corrects. Writes to a table wait while its rows are counted."
}

// Run prints the corrected totals, even on an error.
func (t *countersRepair) Run(c *console) error {
	return c.withDatabase(t.Database, func(db *store.DB) error {
		repaired, err := db.Counters.Repair(c)
		for _, difference := range repaired {
			fmt.Fprintln(c.out, difference)
		}
		switch {
		case err != nil:
		case len(repaired) == 0:
			fmt.Fprintln(c.err, "nothing to do")
		default:
			fmt.Fprintf(c.err, "corrected totals: %d\n", len(repaired))
		}
		return err
	})
}
