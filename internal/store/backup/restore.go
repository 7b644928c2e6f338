package backup

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"filippo.io/age"

	"chairside/internal/clock"
	"chairside/internal/durable"
	"chairside/internal/store"
)

var (
	// ErrChecksum means that the bytes of a copy are not those that were written.
	ErrChecksum = errors.New("the copy is damaged: it does not fit its checksum")
	// ErrEncrypted means that a copy is encrypted and there is no identity.
	ErrEncrypted = errors.New("the copy is encrypted: name the file with its secret key with --identity")
	// ErrIdentity means that no identity opens a copy.
	ErrIdentity = errors.New("none of the keys in --identity opens the copy")
)

// ageHeader begins every encrypted file.
const ageHeader = "age-encryption.org/v1\n"

// Stage runs work with a new directory beside a database that only its owner can open, and removes the
// directory. In it a copy is made ready to replace the database, because only a file of the same disk can
// do so at once. Stage fails with ErrBusy.
func Stage(database string, work func(dir string) error) error {
	return locked(database, func() (err error) {
		dir, err := os.MkdirTemp(filepath.Dir(database), stagePrefix(database)+"*")
		if err != nil {
			return fmt.Errorf("copy the copy: %w", err)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		if err := giveToOwnerOf(database, dir); err != nil { // the server removes it if this process is killed
			return err
		}
		return work(dir)
	})
}

// Fetch writes the database in a copy to a new file that only its owner can read, and returns
// whether the copy has a checksum, which it then fits. It fails with ErrChecksum, ErrEncrypted or
// ErrIdentity.
func Fetch(ctx context.Context, from, to string, identities []age.Identity) (checked bool, err error) {
	want, err := readSum(from)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	file, err := os.Open(from)
	if err != nil {
		return false, fmt.Errorf("read the copy: %w", err)
	}
	defer file.Close()
	hash := sha256.New()
	source := bufio.NewReader(io.TeeReader(reader{ctx, file}, hash))
	broken := durable.Create(to, func(w io.Writer) error { return decrypt(w, source, identities) })
	// The rest of a damaged copy is read, too: the checksum says what is wrong with it.
	if _, err := io.Copy(io.Discard, source); err != nil {
		return false, fmt.Errorf("read the copy: %w", err)
	}
	if want != nil && !bytes.Equal(want, hash.Sum(nil)) {
		return false, fmt.Errorf("%s: %w", from, ErrChecksum)
	}
	return want != nil, broken
}

// decrypt writes the plain text of a copy, encrypted or not.
func decrypt(to io.Writer, from *bufio.Reader, identities []age.Identity) error {
	header, err := from.Peek(len(ageHeader))
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	source := io.Reader(from)
	if string(header) == ageHeader {
		if len(identities) == 0 {
			return ErrEncrypted
		}
		if source, err = age.Decrypt(from, identities...); err != nil {
			if errors.As(err, new(*age.NoIdentityMatchError)) {
				return ErrIdentity
			}
			return err
		}
	}
	_, err = io.Copy(to, source)
	return err
}

// Replace puts a complete, closed database in the place of another one, which nothing may have open
// (store.ErrInUse). It keeps the other one and returns its new path, or "" if there was none. The
// database gets the owner of the other one, because root may run the restore and another user the server.
//
// With force it also replaces a file that cannot be read (store.ErrDamaged). Nothing then stops a
// program that still has it open.
func Replace(ctx context.Context, file, path string, force bool) (kept string, err error) {
	if err := giveToOwnerOf(path, file); err != nil {
		return "", err
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		if err := noLog(path); err != nil {
			return "", err
		}
		return "", durable.Rename(file, path)
	}
	release, err := store.TakeOver(ctx, path)
	damaged := errors.Is(err, store.ErrDamaged)
	if err != nil && !(damaged && force) {
		return "", err
	}
	if release != nil {
		defer func() { err = errors.Join(err, release()) }()
	}
	kept = path + ".replaced-" + clock.Now(ctx).UTC().Format(timeForm)
	for {
		if _, err := os.Lstat(kept); errors.Is(err, fs.ErrNotExist) {
			break
		}
		kept += "-2"
	}
	if damaged {
		// Its log could not be merged. The database that takes its place must never meet it.
		for _, suffix := range []string{"-wal", "-shm", "-journal"} {
			if err := os.Rename(path+suffix, kept+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return "", err
			}
		}
	}
	if err := keep(path, kept); err != nil {
		return "", fmt.Errorf("keep the previous database: %w", err)
	}
	if err := os.Rename(file, path); err != nil {
		return "", fmt.Errorf("replace the database, which is now %s: %w", kept, err)
	}
	return kept, durable.SyncDir(filepath.Dir(path))
}

// noLog fails if a log or a journal is where no database is: SQLite would apply it to the restored one.
func noLog(path string) error {
	for _, suffix := range []string{"-wal", "-journal"} {
		if _, err := os.Lstat(path + suffix); !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(err, fmt.Errorf("%s%s belongs to a database that is gone: move it elsewhere", path, suffix))
		}
	}
	return nil
}

// keep gives a file a second name, so that there is always a database under the first one. Where the
// file system has no links, the file loses its first name.
func keep(path, kept string) error {
	if os.Link(path, kept) == nil {
		return nil
	}
	return os.Rename(path, kept)
}
