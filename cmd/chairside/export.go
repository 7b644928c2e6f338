package main

import (
	"chairside/internal/config"
	"chairside/internal/dump"
	"chairside/internal/store"
)

type exportCommand struct{ config.ExportFlags }

// Help is the text of --help.
func (exportCommand) Help() string {
	return `Writes one file per kind of record, and a manifest with counts and checksums, as everything was at one moment; the server may go on working. "chairside import" reads it into an empty database of either kind, which is how a practice moves from an embedded database to PostgreSQL.

The directory appears when it is complete. It holds patients' data and hashes of passwords, and is readable by its owner alone: keep it safe. Sessions, sign-in attempts and unfinished sign-ins stay behind.`
}

// Run writes the export.
func (e *exportCommand) Run(c *console) error {
	flags, err := e.Read()
	if err != nil {
		return err
	}
	return c.withDatabase(flags.Database, func(db *store.DB) error {
		show, finish := c.bar()
		defer finish()
		return dump.Export(c, db, flags.Dir, dump.ExportOptions{Format: dump.Format(flags.Format), Progress: show})
	})
}
