package backup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// plainCopy is the file beside a database that holds the plain text of an encrypted copy until that is complete.
func plainCopy(database string) string { return beside(database, ".backup"+partialSuffix) }

// stagePrefix begins the names of the directories in which copies are made ready for a restore.
func stagePrefix(database string) string { return filepath.Base(beside(database, ".restore-")) }

// Sweep removes the plain text that killed processes left beside a database: what an encrypted copy was
// made from, and what a restore had decrypted. While another process copies or restores it does nothing.
func Sweep(database string) error {
	left, err := leftovers(database)
	if err != nil || len(left) == 0 {
		return err
	}
	if err := locked(database, func() error { return nil }); !errors.Is(err, ErrBusy) {
		return err
	}
	return nil
}

// removeLeftovers is Sweep for a caller that has the lock.
func removeLeftovers(database string) error {
	left, err := leftovers(database)
	for _, path := range left {
		err = errors.Join(err, os.RemoveAll(path))
	}
	if err != nil {
		return fmt.Errorf("remove what a killed process left: %w", err)
	}
	return nil
}

// leftovers returns what killed processes left beside a database. Unless the caller has the lock, a
// running process may still need it.
func leftovers(database string) (all []string, err error) {
	dir := filepath.Dir(database)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	plain, stage := filepath.Base(plainCopy(database)), stagePrefix(database)
	for _, e := range entries {
		name := e.Name()
		if name == plain || strings.HasPrefix(name, plain+"-") || e.IsDir() && strings.HasPrefix(name, stage) {
			all = append(all, filepath.Join(dir, name))
		}
	}
	return all, nil
}
