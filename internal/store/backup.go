package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"entgo.io/ent/dialect"

	"chairside/ent/feedstate"
	"chairside/internal/store/feedlog"
)

// Backup writes a consistent copy of an embedded database to a new file that only its owner
// can read. It returns once the copy is on disk, and removes the file if it fails.
func (db *DB) Backup(ctx context.Context, path string) error {
	// SQLite would create a file that others can read. It also writes into an existing file if
	// that is empty, so the file is created here with the right mode.
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("create a file: %w", err)
	}
	// A killed process may have left a journal, which SQLite would apply to the new file.
	for _, suffix := range []string{"-journal", "-wal", "-shm"} {
		if removed := os.Remove(path + suffix); removed != nil && !errors.Is(removed, fs.ErrNotExist) {
			err = errors.Join(err, removed)
		}
	}
	if err == nil {
		_, err = db.SQL.ExecContext(ctx, "VACUUM INTO ?", path)
	}
	if err == nil {
		err = renewEpoch(ctx, path)
	}
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// renewEpoch makes the cursors of the change feed expire in the copy: once the copy is put in
// the database's place, what was written since has never happened.
func renewEpoch(ctx context.Context, path string) (err error) {
	if path, err = filepath.Abs(path); err != nil { // a relative path would be the host of the URL
		return err
	}
	copied, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path}).String())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, copied.Close()) }()
	var recorded bool // a database before its migration may have no feed yet
	if err := copied.QueryRowContext(ctx, "SELECT count(*) > 0 FROM sqlite_schema WHERE name = ?", feedstate.Table).Scan(&recorded); err != nil || !recorded {
		return err
	}
	_, err = copied.ExecContext(ctx, feedlog.RenewEpoch(dialect.SQLite))
	return err
}
