//go:build !unix

package feed

import "io/fs"

// fileNumber returns 0: only the epoch identifies the database.
func fileNumber(fs.FileInfo) uint64 { return 0 }
