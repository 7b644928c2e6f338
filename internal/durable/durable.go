// Package durable writes files that survive a power failure: their content and their names. It imports
// nothing of ours.
package durable

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// Create creates a file that only its owner can read, and returns once content and name are on disk, as far
// as SyncDir can tell. It fails with os.ErrExist if there is a file. If fill fails, the partial file stays: the
// caller removes it.
func Create(path string, fill func(io.Writer) error) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err = fill(file); err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// Rename gives a file or a directory another name beside the old one. If only the sync fails, it has the new name.
func Rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(to))
}

// SyncDir returns once the names in a directory are on disk. It does nothing on Windows, on file systems that
// cannot sync a directory, and for a directory that the process cannot read.
func SyncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	directory, err := os.Open(path)
	if err == nil {
		err = errors.Join(directory.Sync(), directory.Close())
	}
	if errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}
