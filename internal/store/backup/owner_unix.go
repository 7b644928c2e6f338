//go:build unix

package backup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// giveToOwnerOf gives a file that root made to the owner of a database, or of its directory if there is
// none yet. The server's user could not open root's file. SQLite does the same with its log.
func giveToOwnerOf(database, path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(database)
	if errors.Is(err, fs.ErrNotExist) {
		info, err = os.Stat(filepath.Dir(database))
	}
	if err != nil {
		return fmt.Errorf("find the owner of the database: %w", err)
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || owner.Uid == 0 {
		return nil
	}
	return os.Lchown(path, int(owner.Uid), int(owner.Gid))
}
