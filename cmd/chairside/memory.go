package main

import "runtime/debug"

// The garbage collector's targets, in percent of the live heap (GOGC).
const (
	// A server has a live heap of about 10 MB and allocates as much in a few hundred
	// requests: at Go's default of 100, collection takes an eighth of its time. There
	// is no limit in bytes: near it, a server with many connections would do little
	// but collect.
	serverGCPercent = 200

	// An import shares its machine with a server, so it takes less memory than by
	// default: for 200,000 patients 189 MB and 32.7 s on PostgreSQL, at 200 261 MB
	// and 31.3 s, at 40 159 MB and 36.0 s. On SQLite it takes 267 MB and 40.0 s, at
	// 200 345 MB and 39.1 s.
	importGCPercent = 80
)

// tuneGarbageCollector sets by how many percent the heap may grow between two
// collections. It changes nothing if GOGC is set; a GOGC of exactly 100
// looks the same as the default, so use 101.
func tuneGarbageCollector(percent int) {
	const goDefault = 100
	if previous := debug.SetGCPercent(percent); previous != goDefault {
		debug.SetGCPercent(previous)
	}
}
