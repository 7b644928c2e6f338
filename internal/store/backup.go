package store

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// Backup writes a consistent copy of an embedded database to a new file, which
// only its owner may read, and returns once it is on the disk. It leaves nothing
// behind when it fails.
func (db *DB) Backup(ctx context.Context, path string) error {
	// SQLite writes into an existing file only if it is empty; made here, it
	// is never readable by others, not even while it is written.
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
