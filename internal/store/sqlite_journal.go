package store

import (
	"fmt"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// statementJournal is how much SQLite keeps in memory of what a statement changes,
// in bytes, in case it has to be taken back. Of more it makes a file, in the middle
// of the statement: with its own 64 KiB for every new appointment, whose indexes
// are in some twenty pages. It may not be 128 KiB: SQLite then writes what it has
// kept to that file at one go, of which it fails to write that much (seekAndWriteFd
// in os_unix.c), and calls the disk full.
const statementJournal = 127 << 10

// SQLite is told before anything opens it, as the whole process has one setting:
// https://sqlite.org/c3ref/c_config_covering_index_scan.html (STMTJRNL_SPILL).
func init() {
	thread := libc.NewTLS()
	defer thread.Close()
	argument := libc.NewVaList(int32(statementJournal))
	defer libc.Xfree(thread, argument)
	code := sqlite3.Xsqlite3_config(thread, sqlite3.SQLITE_CONFIG_STMTJRNL_SPILL, argument)
	if code != sqlite3.SQLITE_OK {
		panic(fmt.Sprintf("store: SQLite does not take a setting: %d", code))
	}
}
