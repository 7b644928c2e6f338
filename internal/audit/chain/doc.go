// Package chain makes the audit log evidence: it seals entries into chains of hashes, signs
// checkpoints outside the database, and verifies both.
//
//	write          entry in the transaction of the write (package store)
//	  │ within about a second
//	seal.go        one block a practice: of each entry its id and digest, and the hash of the block before
//	  │ every minute
//	checkpoint.go  a signed line in a file outside the database: the last block of each practice, and
//	               the hash of the line before
//	verify.go      compares blocks with each other and with the checkpoints; verify_known.go reads those,
//	               verify_entries.go compares entries with blocks, verify_reads.go the index of reads
//	prune.go       deletes the oldest blocks with their entries, and signs the cut
//	month.go       the same for a whole month, whose partitions PostgreSQL drops
//	keep.go        what a server runs
//
// An entry is sealed after its commit, so that writers do not wait for each other. Until then,
// at most a few seconds, and for as long as an older transaction of the database is open,
// someone who may write to the table can change an entry unnoticed. After that, verify finds the
// change. Checkpoints reveal a chain that was recomputed as a whole, or that lost its end.
package chain
