package migrate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"

	"chairside/internal/store"
)

const (
	// copyMark stands between the name of an embedded database and the version of
	// the migration before which a copy was made.
	copyMark = ".before-"
	// copiesKept is the number of copies that stay beside a database.
	copiesKept = 2
)

// copyVersion is how the name of a copy ends.
var copyVersion = regexp.MustCompile(`^[0-9]+$`)

// keepCopy copies an embedded database in use before its first pending migration:
// chairside.db.before-20270101000000. Called in the transaction that migrates, it
// holds the write lock, so that the copy lacks nothing that the migration sees.
// The newest two copies are kept.
func (a *applier) keepCopy(ctx context.Context, s *state) error {
	if a.copied || len(s.applied) == 0 {
		a.copied = true // a new database holds nothing, also after its first migration
		return nil
	}
	a.copied = true
	path := a.db.File + copyMark + s.pending[0].Version()
	if err := copyTo(ctx, a.db, path); err != nil {
		return fmt.Errorf("%w, nothing was changed; make room or let the program write to %s, then try again: %w", ErrNoCopy, filepath.Dir(path), err)
	}
	a.report("before migrating, the database was copied to %[1]s; to go back, stop the program, remove %[2]s-wal and %[2]s-shm, and rename the copy to %[2]s", path, a.db.File)
	if err := removeOldCopies(a.db.File); err != nil {
		a.report("an old copy of the database could not be removed: %v", err)
	}
	return nil
}

// copyTo writes a copy of an embedded database to path. Either all of it is on
// the disk under that name, or nothing.
func copyTo(ctx context.Context, db *store.DB, path string) error {
	partial := path + ".partial"
	if err := os.Remove(partial); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a killed process
		return err
	}
	if err := db.Backup(ctx, partial); err != nil {
		return err
	}
	if err := os.Rename(partial, path); err != nil {
		return errors.Join(err, os.Remove(partial))
	}
	return syncDirectory(filepath.Dir(path))
}

// removeOldCopies removes all copies of the database at path but the newest.
func removeOldCopies(path string) error {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return err
	}
	var copies []fs.FileInfo
	for _, e := range entries {
		prefix := filepath.Base(path) + copyMark
		if len(e.Name()) <= len(prefix) || e.Name()[:len(prefix)] != prefix || !copyVersion.MatchString(e.Name()[len(prefix):]) || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		copies = append(copies, info)
	}
	slices.SortFunc(copies, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for _, old := range copies[min(copiesKept, len(copies)):] {
		if err := os.Remove(filepath.Join(filepath.Dir(path), old.Name())); err != nil {
			return err
		}
	}
	return nil
}

// syncDirectory puts the names in a directory on the disk.
func syncDirectory(path string) error {
	if runtime.GOOS == "windows" {
		return nil // it has no such call
	}
	directory, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(directory.Sync(), directory.Close())
}
