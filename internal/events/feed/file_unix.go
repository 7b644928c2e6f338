//go:build unix

package feed

import (
	"io/fs"
	"syscall"
)

// fileNumber returns the number of a file, which a copy of it does not have.
func fileNumber(file fs.FileInfo) uint64 {
	if stat, ok := file.Sys().(*syscall.Stat_t); ok {
		return stat.Ino
	}
	return 0
}
