package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"filippo.io/age"

	"chairside/internal/audit/trail"
	"chairside/internal/config"
	"chairside/internal/store"
)

type backupCommand struct {
	config.Database
	File      string   `arg:"" help:"Path of the copy. The file must not exist."`
	EncryptTo []string `placeholder:"RECIPIENT" help:"Encrypt the copy to an age public key (age1…), so that only its secret key opens it: age --decrypt --identity KEY FILE. Repeat the flag for each recipient."`
}

// Help is the text of --help.
func (backupCommand) Help() string {
	return "Writes a consistent copy of an embedded database while a server uses it. Only the file's owner can read it. The audit log records the copy, and the status page its time. It holds patients' data: keep it as safe as the original, or encrypt it. The file of keys that seal columns is not in it: keep a copy of that elsewhere. For PostgreSQL use pg_dump."
}

// Validate reports every mistake in the flags; the parser calls it.
func (b backupCommand) Validate() error {
	_, err := b.recipients()
	return errors.Join(b.Database.Validate(), err)
}

func (b backupCommand) recipients() (all []age.Recipient, err error) {
	var m config.Mistakes
	for _, text := range b.EncryptTo {
		r, err := age.ParseX25519Recipient(text)
		if err != nil {
			m = append(m, "--encrypt-to: must be an age public key, which begins with age1")
			continue
		}
		all = append(all, r)
	}
	if len(m) > 0 {
		return nil, m
	}
	return all, nil
}

// Run writes the copy.
func (b *backupCommand) Run(c *console) (err error) {
	if !b.Embedded() {
		return errors.New("backup copies only embedded databases: use pg_dump for PostgreSQL")
	}
	recipients, err := b.recipients()
	if err != nil {
		return err
	}
	db, err := store.OpenExisting(c, b.DatabaseURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	what := "a copy"
	if len(recipients) == 0 {
		err = db.Backup(c, b.File)
	} else {
		what, err = "an encrypted copy", encryptedBackup(c, db, b.File, recipients)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(c.err, "wrote %s of the database to %s\n", what, b.File)
	// A database that waits for migrations may have no audit log yet: its copy is all the more needed.
	if err := c.audited(c, db, trail.Entry{Action: "export", Record: store.BackupRecord}); err != nil {
		fmt.Fprintf(c.err, "the copy is complete, but the audit log does not have it: %s\n", packageName.ReplaceAllString(err.Error(), ""))
	}
	return nil
}

// encryptedBackup writes an encrypted copy. Until it is complete, a plain one is in the database's
// directory, which may be on a safer disk than the copy.
func encryptedBackup(ctx context.Context, db *store.DB, path string, recipients []age.Recipient) (err error) {
	dir, err := os.MkdirTemp(filepath.Dir(db.File), ".backup-*")
	if err != nil {
		return fmt.Errorf("create the copy: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	plain := filepath.Join(dir, "copy")
	if err := db.Backup(ctx, plain); err != nil {
		return err
	}
	from, err := os.Open(plain)
	if err != nil {
		return fmt.Errorf("encrypt the copy: %w", err)
	}
	defer from.Close()
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("create the copy: %w", err)
	}
	err = encrypt(to, from, recipients)
	if err == nil {
		err = to.Sync()
	}
	if err = errors.Join(err, to.Close()); err != nil {
		return errors.Join(fmt.Errorf("write the copy: %w", err), os.Remove(path))
	}
	return nil
}

func encrypt(to io.Writer, from io.Reader, recipients []age.Recipient) error {
	encrypted, err := age.Encrypt(to, recipients...)
	if err != nil {
		return err
	}
	if _, err := io.Copy(encrypted, from); err != nil {
		return err
	}
	return encrypted.Close()
}
