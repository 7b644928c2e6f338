package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"

	"chairside/internal/config"
	"chairside/internal/store"
)

// exposedFiles returns a problem for each file with patients' data or keys that all users of this
// machine can open. A group may: secrets that a container gets are often a group's.
func exposedFiles(db *store.DB, d config.Database) (problems []string, err error) {
	if runtime.GOOS == "windows" { // its files have no such permissions
		return nil, nil
	}
	files := []string{d.KeysFile, d.AuditKey}
	if db.File != "" {
		files = append(files, db.File, keysBeside(db))
	}
	for _, file := range files {
		if file == "" {
			continue
		}
		info, err := os.Stat(file)
		switch {
		case errors.Is(err, fs.ErrNotExist): // such as the keys beside a database whose keys are elsewhere
		case err != nil:
			return problems, fmt.Errorf("check the permissions: %w", err)
		case info.Mode().Perm()&0o007 != 0:
			problems = append(problems, fmt.Sprintf("all users of this machine can open %s: run \"chmod 600 %s\"", file, file))
		}
	}
	return problems, nil
}
