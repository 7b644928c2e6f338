// Package backup keeps copies of an embedded database in files, and puts one in the database's place.
//
//	folder.go    a directory of copies named by time; keeps the newest
//	schedule.go  the job of a server that makes them
//	write.go     one copy: complete and on disk before it has its name, with a checksum beside it
//	restore.go   the way back: Stage a directory, Fetch a copy to it, then Replace the database
//	sweep.go     removes the plain text that killed processes left beside the database
//	owner_*.go   files that root makes beside a database belong to the database's owner
//
// A copy COPY has its SHA-256 in COPY.sha256, in the form of sha256sum. It appears under its name
// after its checksum, and both are on disk by then, so a copy without one was not made here. Until
// then it is in a hidden file (.COPY.partial), which the next copy removes if the process was killed.
//
// The lock of a database (.DATABASE.backup.lock beside it) admits one process at a time, so of
// several servers one makes the copy, and nobody removes what another one is writing. A restore holds
// it, too.
package backup
