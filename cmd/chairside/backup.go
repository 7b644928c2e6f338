package main

import (
	"context"
	"errors"
	"fmt"
	"os"

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

	// SQLite writes into an existing file only if it is empty; made here, it
	// is never readable by others, not even while it is written.
	file, err := os.OpenFile(b.File, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("create the copy: %w", err)
	}
	if err := copyInto(c, db, file); err != nil {
		return errors.Join(fmt.Errorf("write the copy: %w", err), os.Remove(b.File))
	}
	return nil
}

// copyInto fills file, and returns when the copy is on the disk.
func copyInto(ctx context.Context, db *store.DB, file *os.File) error {
	_, err := db.SQL.ExecContext(ctx, "VACUUM INTO ?", file.Name())
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}
