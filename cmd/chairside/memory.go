package main

import "runtime/debug"

// The garbage collector's targets, in percent of the live heap (GOGC).
const (
	// A server has a live heap of about 10 MB and allocates as much in a few hundred
	// requests: at Go's default of 100, collection takes an eighth of its time. Lists
	// of 100 patients (W3 of chairside-bench, two runs), as a ratio to the floor's at 200:
	//
	//	percent   ratio        memory
	//	200       0.78, 0.82   165 MB
	//	300       0.84, 0.87   205 MB
	//	400       0.96, 0.92   237 MB
	//
	// There is no limit in bytes: near it, a server with many connections would do
	// little but collect.
	serverGCPercent = 300

	// An import shares its machine with a server, so it takes less memory than by
	// default. For 200,000 patients:
	//
	//	percent   PostgreSQL       SQLite
	//	40        159 MB, 36.0 s
	//	80        189 MB, 32.7 s   267 MB, 40.0 s
	//	200       261 MB, 31.3 s   345 MB, 39.1 s
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
