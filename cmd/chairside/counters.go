package main

import (
	"errors"
	"fmt"

	"chairside/internal/config"
	"chairside/internal/store"
	"chairside/internal/store/counters"
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
	return "Triggers in the database maintain the totals that lists show. Prints each total that differs from the rows, and fails if any does: the total stored, the rows counted, and the key that a total is for, a practitioner's id or a day (days since 1970), or 0. Reads every row. Safe while the server runs."
}

// Run prints each difference and fails if there is any.
func (t *countersCheck) Run(c *console) error {
	return c.withDatabase(t.Database, func(db *store.DB) error {
		found, err := db.Counters.Check(c)
		if err != nil {
			return err
		}
		if len(found) > 0 {
			if err := printDifferences(c, t.listing, found); err != nil {
				return err
			}
			return errors.New(`some totals are wrong: run "chairside counters repair"`)
		}
		fmt.Fprintln(c.err, "all totals are correct")
		return nil
	})
}

// printDifferences prints totals that differ from the rows.
func printDifferences(c *console, l listing, all []counters.Difference) error {
	var rows [][]any
	for _, d := range all {
		rows = append(rows, []any{d.Counter, d.Practice.String(), d.Key, d.Stored, d.Counted})
	}
	return l.print(c, []string{"COUNTER", "PRACTICE", "KEY", "STORED", "COUNTED"}, rows)
}

type countersRepair struct {
	config.Database
	listing
}

// Help is the text of --help.
func (countersRepair) Help() string {
	return "Prints each total that it corrects, as \"chairside counters check\" does. Writes to a table wait while its rows are counted."
}

// Run prints the corrected totals, even on an error.
func (t *countersRepair) Run(c *console) error {
	return c.withDatabase(t.Database, func(db *store.DB) error {
		repaired, err := db.Counters.Repair(c)
		if len(repaired) > 0 {
			err = errors.Join(err, printDifferences(c, t.listing, repaired))
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
