package main

import (
	"chairside/internal/config"
	"chairside/internal/dump"
	"chairside/internal/store"
)

type exportCommand struct{ config.ExportFlags }

// Help is the text of --help.
func (exportCommand) Help() string {
	return `Writes one file per table, and a manifest with counts and checksums, from one snapshot of the database. Safe while the server runs. "chairside import" reads the export into an empty SQLite or PostgreSQL database: that is how a practice moves from one to the other.

The directory appears once it is complete. It holds patients' data and password hashes, and only its owner can read it: keep it safe. Sessions and sign-in attempts are not exported.`
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
		if err := c.audited(c, db, "export", ""); err != nil {
			return err
		}
		return dump.Export(c, db, flags.Dir, dump.ExportOptions{Format: dump.Format(flags.Format), Progress: show})
	})
}
