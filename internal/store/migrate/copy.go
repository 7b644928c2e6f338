package migrate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"chairside/internal/durable"
	"chairside/internal/store"
)

const (
	// copyMark is the part of a copy's name between that of the database and the version of
	// the migration that followed.
	copyMark = ".before-"
	// copiesKept is the number of copies that are kept beside a database.
	copiesKept = 2
)

// copyVersion matches the version at the end of a copy's name.
var copyVersion = regexp.MustCompile(`^[0-9]+$`)

// keepCopy copies an embedded database before its first pending migration, to a file such as
// chairside.db.before-20270101000000, unless the database is new. It is called in the
// transaction of the migration, which holds the write lock, so that the copy has everything
// that the migration sees. The two newest copies are kept.
func (a *applier) keepCopy(ctx context.Context, s *state) error {
	if a.copied || len(s.applied) == 0 {
		a.copied = true // a new database is empty, and needs no copy for later migrations either
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

// copyTo writes a copy of an embedded database to path. The file appears there only once it is
// complete and on disk.
func copyTo(ctx context.Context, db *store.DB, path string) error {
	partial := path + ".partial"
	if err := os.Remove(partial); err != nil && !errors.Is(err, fs.ErrNotExist) { // left by a killed process
		return err
	}
	if err := db.Backup(ctx, partial); err != nil {
		return err
	}
	if err := os.Rename(partial, path); err != nil {
		return errors.Join(err, os.Remove(partial))
	}
	return durable.SyncDir(filepath.Dir(path))
}

// removeOldCopies removes all but the newest copies of the database at path.
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
