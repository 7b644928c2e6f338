package main

import (
	"context"
	"fmt"

	"chairside/internal/audit/trail"
	"chairside/internal/config"
	"chairside/internal/dump"
	"chairside/internal/principal"
	"chairside/internal/store"
)

type exportCommand struct{ config.ExportFlags }

// Help is the text of --help.
func (exportCommand) Help() string {
	return `Writes one file per table, and a manifest with counts and checksums, from one snapshot of the database. Safe while the server runs. "chairside import" reads the export into an empty SQLite or PostgreSQL database: that is how a practice moves from one to the other.

The directory appears once it is complete. It holds patients' data and password hashes, and only its owner can read it: keep it safe. Columns that are sealed in the database are sealed in the export, too, and need the same keys: --unsealed writes them in plain text. Sessions and sign-in attempts are not exported.

With --practice it writes the rows of one practice, for "chairside import" into another installation. It prints what it leaves out and why: no password, token or other secret of this installation is in the directory.`
}

// Run writes the export.
func (e *exportCommand) Run(c *console) error {
	flags, err := e.Read()
	if err != nil {
		return err
	}
	return c.withDatabase(flags.Database, func(db *store.DB) error {
		show, finish := c.progressBar()
		defer finish()
		options := dump.ExportOptions{Format: dump.Format(flags.Format), Unsealed: flags.Unsealed, Progress: show}
		ctx := context.Context(c)
		if flags.Practice != "" {
			p, err := findPractice(c, db.Ent, flags.Practice)
			if err != nil {
				return err
			}
			options.Practice = p.ID.String()
			ctx = principal.With(c, &principal.Principal{PracticeID: p.ID})
		}
		if err := c.audited(ctx, db, trail.Entry{Action: "export", Details: map[string]any{"unsealed": flags.Unsealed}}); err != nil {
			return err
		}
		if err := dump.Export(c, db, flags.Dir, options); err != nil {
			return err
		}
		finish()
		what := "all data"
		if flags.Practice != "" {
			what = "the practice's data"
		}
		fmt.Fprintf(c.err, "exported %s to %s\n", what, flags.Dir)
		if flags.Practice == "" {
			return nil
		}
		rows := [][]string{{"LEFT OUT", "WHY"}}
		for _, left := range dump.PracticeLeavesOut() {
			rows = append(rows, []string{left.Name, left.Reason})
		}
		return printWrapped(c.out, rows)
	})
}
