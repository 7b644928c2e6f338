package store

import (
	"fmt"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// statementJournal is the maximum size, in bytes, of the statement journal in memory. The journal
// holds the pages that a statement has changed, so that SQLite can undo the statement; beyond
// this size SQLite moves it to a file. With SQLite's default of 64 KiB it would create a file
// for every new appointment, which changes some twenty pages of indexes. The size must be less
// than 128 KiB: SQLite moves the journal with a single write, and a write of that size fails as
// if the disk were full (seekAndWriteFd in os_unix.c).
const statementJournal = 127 << 10

// The setting belongs to the whole process and must be made before SQLite is first used:
// https://sqlite.org/c3ref/c_config_covering_index_scan.html (STMTJRNL_SPILL).
func init() {
	thread := libc.NewTLS()
	defer thread.Close()
	argument := libc.NewVaList(int32(statementJournal))
	defer libc.Xfree(thread, argument)
	code := sqlite3.Xsqlite3_config(thread, sqlite3.SQLITE_CONFIG_STMTJRNL_SPILL, argument)
	if code != sqlite3.SQLITE_OK {
		panic(fmt.Sprintf("store: SQLite refuses the size of the statement journal: error %d", code))
	}
}
