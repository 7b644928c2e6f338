package schedule

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"chairside/internal/durable"
)

// fileMode lets the server's group read the files: that of the directory, if the directory passes its group on.
const fileMode = 0o640

// storeFile writes a file into a directory, under a temporary name until it is whole. write returns its name. The
// temporary file is made first, so that a directory that cannot be written costs no report.
//
// id is the schedule's, and no other's in the directory.
func storeFile(dir, id string, write func(w io.Writer) (name string, err error)) error {
	pattern := fmt.Sprintf(".chairside-report-%s-*", id)
	// Attempts that were killed leave theirs, with patients' data. The directory's own name is no pattern.
	left, err := fs.Glob(os.DirFS(dir), pattern)
	if err != nil {
		return inFolder(err)
	}
	for _, name := range left {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return inFolder(err)
		}
	}
	file, err := os.CreateTemp(dir, pattern) // it does not create the directory, which may be a disk that is not mounted
	if err != nil {
		return inFolder(err)
	}
	name, err := write(file)
	if err == nil {
		err = inFolder(errors.Join(file.Chmod(fileMode), file.Sync()))
	}
	if closing := file.Close(); err == nil {
		err = inFolder(closing)
	}
	if err == nil {
		err = inFolder(durable.Rename(file.Name(), filepath.Join(dir, name)))
	}
	if err != nil {
		_ = os.Remove(file.Name()) // the next attempt removes it otherwise
	}
	return err
}

// inFolder is a failure of the file system, or nil.
func inFolder(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return &failure{"the directory does not exist: create it, or mount its disk", nil}
	}
	return &failure{"the directory cannot be written: " + withoutPath(err).Error(), nil}
}

// withoutPath returns the reason of an error without the path of the file, which may hold a name.
func withoutPath(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}
