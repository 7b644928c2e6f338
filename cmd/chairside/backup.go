package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"chairside/internal/audit/trail"
	"chairside/internal/config"
	"chairside/internal/store"
	"chairside/internal/store/backup"
)

type backupCommand struct{ config.BackupFlags }

// Help is the text of --help.
func (backupCommand) Help() string {
	return `Writes a consistent copy of an embedded database while a server uses it. Only the file's owner can read it. Beside the copy is its checksum (NAME.sha256), for "sha256sum --check" and "chairside restore". Until it is complete, the copy has another name.

In a directory the copy is named by its time, such as chairside-20270101T093000Z.db. With --keep, older copies of a database of this name are deleted, and no other files: give each database a directory of its own. "chairside serve --backup-dir" does the same at an interval.

The audit log records the copy, and the status page its time. It holds patients' data: keep it as safe as the original, or encrypt it. The key file of sealed columns is not in it: keep a copy of that elsewhere. For PostgreSQL use pgBackRest or pg_dump.`
}

// Run writes the copy.
func (b *backupCommand) Run(c *console) (err error) {
	flags, err := b.Read()
	if err != nil {
		return err
	}
	if !b.Embedded() {
		return errors.New("backup copies only embedded databases: use pgBackRest or pg_dump for PostgreSQL")
	}
	db, err := store.OpenExisting(c, b.DatabaseURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	what, path, deleted := "a copy", flags.Path, 0
	if len(flags.Recipients) > 0 {
		what = "an encrypted copy"
	}
	var failed error // to delete old copies, once the new one is complete
	switch info, err := os.Stat(flags.Path); {
	case err == nil && info.IsDir():
		path, deleted, failed = backup.Folder{Dir: flags.Path, Keep: flags.Keep, Recipients: flags.Recipients}.Write(c, db)
		if path == "" {
			return failed
		}
	case flags.Keep > 0 && (err == nil || errors.Is(err, fs.ErrNotExist)):
		return config.Mistakes{"--keep: needs a directory that exists in place of " + flags.Path}
	default:
		if err := backup.Write(c, db, flags.Path, flags.Recipients); err != nil {
			return err
		}
	}
	fmt.Fprintf(c.err, "wrote %s of the database to %s\n", what, path)
	if deleted > 0 {
		fmt.Fprintf(c.err, "deleted %s\n", countCopies(deleted))
	}
	// A database that waits for migrations may have no audit log yet: its copy is all the more needed.
	if err := c.audited(c, db, trail.Entry{Action: "export", Record: store.BackupRecord}); err != nil {
		fmt.Fprintf(c.err, "the copy is complete, but the audit log does not have it: %s\n", packageName.ReplaceAllString(err.Error(), ""))
	}
	return failed
}

func countCopies(n int) string {
	if n == 1 {
		return "1 older copy"
	}
	return fmt.Sprintf("%d older copies", n)
}
