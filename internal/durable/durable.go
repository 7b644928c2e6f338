// Package durable writes files that survive a power failure: their content and their names. It imports
// nothing of ours.
package durable

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// Create creates a file that only its owner can read, and returns once content and name are on disk.
// It fails with os.ErrExist if there is a file. If it fails otherwise, it leaves what was written.
func Create(path string, fill func(io.Writer) error) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("create a file: %w", err)
	}
	if err = fill(file); err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// Rename gives a file another name in the same directory, or a directory another name.
func Rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(to))
}

// SyncDir returns once the names in a directory are on disk. Windows cannot do that, nor can some file
// systems, and a directory that may not be read cannot be opened: then it does nothing.
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
