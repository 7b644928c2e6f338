package main

import (
	"errors"

	"chairside/internal/config"
	"chairside/internal/store"
)

type backupCommand struct {
	config.Database
	File string `arg:"" help:"Path of the copy. The file must not exist."`
}

// Help is the text of --help.
func (backupCommand) Help() string {
	return "Writes a consistent copy of an embedded database while a server uses it. Only the file's owner can read it. It holds patients' data: keep it as safe as the original. For PostgreSQL use pg_dump."
}

// Run writes the copy.
func (b *backupCommand) Run(c *console) (err error) {
	if !b.Embedded() {
		return errors.New("backup copies only embedded databases: use pg_dump for PostgreSQL")
	}
	db, err := store.OpenExisting(c, b.DatabaseURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()

	return db.Backup(c, b.File)
}
