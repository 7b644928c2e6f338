package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"filippo.io/age"
	"github.com/gofrs/flock"

	"chairside/internal/durable"
	"chairside/internal/store"
)

// ErrBusy is returned while another process copies or restores the same database.
var ErrBusy = errors.New("another process copies or restores this database")

const (
	sumSuffix     = ".sha256"
	partialSuffix = ".partial"
)

// Write writes a copy to a new file, with its checksum beside it, encrypted if there are recipients.
// Only the owner can read it. It fails with fs.ErrExist or ErrBusy.
func Write(ctx context.Context, db *store.DB, path string, to []age.Recipient) error {
	return locked(db.File, func() error { return write(ctx, db, path, to) })
}

// beside is the path of a hidden file beside a database.
func beside(database, suffix string) string {
	return filepath.Join(filepath.Dir(database), "."+filepath.Base(database)+suffix)
}

// locked runs work while it holds the lock of a database, which the system releases if the process is
// killed. It first removes what a killed process left.
func locked(database string, work func() error) (err error) {
	lock := flock.New(beside(database, ".backup.lock"), flock.SetPermissions(0o600))
	switch held, err := lock.TryLock(); {
	case err != nil:
		return fmt.Errorf("lock the database against other copies: %w", err)
	case !held:
		return ErrBusy
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }() // the file stays: another process may wait for it
	if err := giveToOwnerOf(database, lock.Path()); err != nil {
		return fmt.Errorf("lock the database against other copies: %w", err)
	}
	if err := removeLeftovers(database); err != nil {
		return err
	}
	return work()
}

// write is Write for a caller that has the lock.
func write(ctx context.Context, db *store.DB, path string, to []age.Recipient) (err error) {
	if err := vacant(path); err != nil {
		return err
	}
	partial := hidden(path)
	if err := remove(partial); err != nil { // left by a killed process
		return err
	}
	defer func() { err = errors.Join(err, remove(partial)) }()
	if len(to) == 0 {
		err = db.Backup(ctx, partial)
	} else {
		err = writeEncrypted(ctx, db, partial, to)
	}
	if err != nil {
		return fmt.Errorf("write the copy: %w", err)
	}
	sum, err := sumOf(partial)
	if err != nil {
		return err
	}
	if err := writeSum(path, sum); err != nil {
		return err
	}
	if err := place(partial, path); err != nil {
		return errors.Join(fmt.Errorf("write the copy: %w", err), remove(path+sumSuffix))
	}
	return durable.SyncDir(filepath.Dir(path))
}

// vacant fails with fs.ErrExist if there is a file at path, or one that only seems to be its
// checksum.
func vacant(path string) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, fmt.Errorf("create the copy: %s: %w", path, fs.ErrExist))
	}
	if _, err := os.Lstat(path + sumSuffix); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	// A process that is killed between its last two steps leaves a checksum without a copy.
	if _, err := readSum(path); err != nil {
		return fmt.Errorf("create the copy: %s: %w", path+sumSuffix, fs.ErrExist)
	}
	return nil
}

// hidden is the name of a file until it is complete.
func hidden(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+partialSuffix)
}

// writeEncrypted writes an encrypted copy. Until it is complete, a plain one is in the database's
// directory, which may be on a safer disk than the copy.
func writeEncrypted(ctx context.Context, db *store.DB, path string, to []age.Recipient) (err error) {
	plain := plainCopy(db.File)
	defer func() { err = errors.Join(err, remove(plain)) }()
	if err := db.Backup(ctx, plain); err != nil {
		return err
	}
	from, err := os.Open(plain)
	if err != nil {
		return fmt.Errorf("encrypt the copy: %w", err)
	}
	defer from.Close()
	return durable.Create(path, func(file io.Writer) error {
		encrypted, err := age.Encrypt(file, to...)
		if err != nil {
			return err
		}
		if _, err := io.Copy(encrypted, reader{ctx, from}); err != nil {
			return err
		}
		return encrypted.Close()
	})
}

// reader reads until its context ends.
type reader struct {
	ctx context.Context
	io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

func sumOf(path string) (sum []byte, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the copy: %w", err)
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return nil, fmt.Errorf("read the copy: %w", err)
	}
	return hash.Sum(nil), nil
}

// writeSum writes the checksum of the copy that will be at path.
func writeSum(path string, sum []byte) error {
	partial := hidden(path + sumSuffix)
	if err := remove(partial); err != nil {
		return err
	}
	err := durable.Create(partial, func(file io.Writer) error {
		_, err := fmt.Fprintf(file, "%x  %s\n", sum, filepath.Base(path))
		return err
	})
	if err == nil {
		err = os.Rename(partial, path+sumSuffix)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write the checksum: %w", err), remove(partial))
	}
	return durable.SyncDir(filepath.Dir(path))
}

// errSumForm means that a file does not have the form of sha256sum.
var errSumForm = errors.New("the file holds no checksum in the form of sha256sum")

var sumForm = regexp.MustCompile(`^([0-9a-f]{64}) [ *]([^\n]+)\n$`)

// readSum returns the checksum beside a copy. It fails with fs.ErrNotExist or errSumForm.
func readSum(path string) ([]byte, error) {
	text, err := os.ReadFile(path + sumSuffix)
	if err != nil {
		return nil, fmt.Errorf("read the checksum: %w", err)
	}
	found := sumForm.FindSubmatch(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))
	if found == nil {
		return nil, fmt.Errorf("read the checksum: %s: %w", path+sumSuffix, errSumForm)
	}
	return hex.DecodeString(string(found[1]))
}

// place gives a complete file its name. It never replaces another file.
func place(partial, path string) error {
	err := os.Link(partial, path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	// Some file systems have no links. The lock keeps other copies out.
	if err := vacant(path); err != nil {
		return err
	}
	return os.Rename(partial, path)
}

// remove removes a file if there is one, and what SQLite has beside it while it writes.
func remove(path string) (err error) {
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
		if removed := os.Remove(path + suffix); !errors.Is(removed, fs.ErrNotExist) {
			err = errors.Join(err, removed)
		}
	}
	return err
}
