package main

import "runtime/debug"

// The garbage collector's targets, in percent of the live heap (GOGC).
const (
	// A server has a live heap of about 10 MB and allocates as much in a few hundred
	// requests: at Go's default of 100, collection takes an eighth of its time. There
	// is no limit in bytes: near it, a server with many connections would do little
	// but collect.
	serverGCPercent = 200

	// An import holds five batches, each only briefly. At 200, one of patients takes
	// 165 MB, at 400 it took 250 MB and an eighth less of its own processor time,
	// but PostgreSQL takes most of the time.
	importGCPercent = 200
)

// tuneGarbageCollector trades memory for speed: the heap may grow by this percentage
// between two collections. It changes nothing if GOGC is set; a GOGC of exactly 100
// looks the same as the default, so use 101.
func tuneGarbageCollector(percent int) {
	const goDefault = 100
	if previous := debug.SetGCPercent(percent); previous != goDefault {
		debug.SetGCPercent(previous)
	}
}
