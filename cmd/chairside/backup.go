package main

import (
	"errors"

	"chairside/internal/config"
	"chairside/internal/store"
)

type backupCommand struct {
	config.Database
	File string `arg:"" help:"Where to write the copy. The file must not exist yet."`
}

// Help is the text of --help.
func (backupCommand) Help() string {
	return "Writes a consistent copy of an embedded database while a server uses it. The copy is readable by its owner alone; it holds patients' data, so keep it as safe as the original. Use pg_dump for a PostgreSQL database."
}

// Run writes the copy.
func (b *backupCommand) Run(c *console) (err error) {
	if !b.Embedded() {
		return errors.New("backup copies an embedded database only; copy a PostgreSQL database with pg_dump")
	}
	db, err := store.OpenExisting(c, b.DatabaseURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()

	return db.Backup(c, b.File)
}
