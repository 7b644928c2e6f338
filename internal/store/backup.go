package store

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// Backup writes a consistent copy of an embedded database to a new file that only its owner
// can read. It returns once the copy is on disk, and removes the file if it fails.
func (db *DB) Backup(ctx context.Context, path string) error {
	// SQLite would create a file that others can read. It also writes into an existing file if
	// that is empty, so the file is created here with the right mode.
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("create the copy: %w", err)
	}
	_, err = db.SQL.ExecContext(ctx, "VACUUM INTO ?", path)
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return errors.Join(fmt.Errorf("write the copy: %w", err), os.Remove(path))
	}
	return nil
}
