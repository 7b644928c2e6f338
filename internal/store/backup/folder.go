package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"filippo.io/age"

	"chairside/internal/clock"
	"chairside/internal/store"
)

// timeForm is the form of the time in a copy's name, in UTC.
const timeForm = "20060102T150405Z"

// clockSlack is how far in the future the newest copy may be.
const clockSlack = time.Minute

// Folder is a directory with copies of one database: chairside-20270101T093000Z.db, or
// chairside-20270101T093000Z.db.age for an encrypted one. Other files in it are left alone.
type Folder struct {
	Dir        string
	Keep       int // copies that are kept; 0 for all
	Recipients []age.Recipient
}

// copied is a copy in a folder.
type copied struct {
	path string
	at   time.Time
}

// Write adds a copy and deletes those beyond the newest Keep. It returns the path of the new one and
// the number of deleted ones. An error after path is set is one of deleting: the copy is complete.
func (f Folder) Write(ctx context.Context, db *store.DB) (path string, deleted int, err error) {
	err = locked(db.File, func() error {
		path, deleted, err = f.write(ctx, db)
		return err
	})
	return path, deleted, err
}

// write is Write for a caller that has the lock.
func (f Folder) write(ctx context.Context, db *store.DB) (path string, deleted int, err error) {
	if err := f.sweep(db); err != nil {
		return "", 0, fmt.Errorf("remove what a killed copy left: %w", err)
	}
	newest, future, err := f.Newest(ctx, db)
	switch {
	case err != nil:
		return "", 0, err
	case future != "":
		return "", 0, fmt.Errorf("%s is from the future: set the clock, or move that copy elsewhere", future)
	}
	at, suffix := clock.Now(ctx).UTC().Truncate(time.Second), ".db"
	if !at.After(newest) { // the new one must not be the oldest when copies are deleted
		at = newest.Add(time.Second)
	}
	if len(f.Recipients) > 0 {
		suffix += ".age"
	}
	path = filepath.Join(f.Dir, stem(db)+"-"+at.Format(timeForm)+suffix)
	if err := write(ctx, db, path, f.Recipients); err != nil {
		return "", 0, err
	}
	if f.Keep == 0 {
		return path, 0, nil
	}
	all, err := f.copies(db)
	if err != nil {
		return path, 0, err
	}
	for _, old := range all[min(f.Keep, len(all)):] {
		// The copy goes first: without its checksum it would not count, and never be deleted.
		err := os.Remove(old.path)
		if err == nil {
			err = remove(old.path + sumSuffix)
		}
		if err != nil {
			return path, deleted, fmt.Errorf("delete an old copy: %w", err)
		}
		deleted++
	}
	return path, deleted, nil
}

// stem is the beginning of the names of a database's copies.
func stem(db *store.DB) string {
	return strings.TrimSuffix(filepath.Base(db.File), filepath.Ext(db.File))
}

// forms matches the names of copies, with their times, and the names that a killed process leaves.
func forms(db *store.DB) (complete, partial *regexp.Regexp) {
	name := regexp.QuoteMeta(stem(db)) + `-(\d{8}T\d{6}Z)\.db(?:\.age)?`
	return regexp.MustCompile("^" + name + "$"), regexp.MustCompile(`^(?:\.` + name + `(?:\.sha256)?\.partial(?:-journal|-wal|-shm)?|(` + name + `)\.sha256)$`)
}

// copies returns the complete copies of a database, the newest first.
func (f Folder) copies(db *store.DB) (all []copied, err error) {
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		return nil, fmt.Errorf("list the copies: %w", err)
	}
	names := map[string]bool{}
	for _, e := range entries {
		if e.Type().IsRegular() {
			names[e.Name()] = true
		}
	}
	complete, _ := forms(db)
	for name := range names {
		found := complete.FindStringSubmatch(name)
		if found == nil || !names[name+sumSuffix] {
			continue
		}
		if at, err := time.Parse(timeForm, found[1]); err == nil {
			all = append(all, copied{filepath.Join(f.Dir, name), at})
		}
	}
	slices.SortFunc(all, func(a, b copied) int { return b.at.Compare(a.at) })
	return all, nil
}

// Newest returns the time of the newest copy, zero without one. It ignores copies from the future and returns
// the path of one of them: while one is there, no copy can be made.
func (f Folder) Newest(ctx context.Context, db *store.DB) (newest time.Time, future string, err error) {
	all, err := f.copies(db)
	latest := clock.Now(ctx).Add(clockSlack)
	for _, c := range all {
		if !c.at.After(latest) {
			return c.at, future, nil
		}
		future = c.path
	}
	return time.Time{}, future, err
}

// sweep removes what killed processes left: partial files, and checksums without a copy.
func (f Folder) sweep(db *store.DB) error {
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		return err
	}
	_, partial := forms(db)
	for _, e := range entries {
		if !e.Type().IsRegular() || !partial.MatchString(e.Name()) {
			continue
		}
		if name, isSum := strings.CutSuffix(e.Name(), sumSuffix); isSum {
			if _, err := os.Lstat(filepath.Join(f.Dir, name)); !errors.Is(err, fs.ErrNotExist) {
				continue
			}
		}
		if err := remove(filepath.Join(f.Dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}
