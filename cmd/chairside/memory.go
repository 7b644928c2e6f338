package main

import "runtime/debug"

// The garbage collector's targets, in percent of the live heap (GOGC).
const (
	// A server has a live heap of about 10 MB and allocates as much in a few hundred
	// requests: at Go's default of 100, collection takes an eighth of its time. There
	// is no limit in bytes: near it, a server with many connections would do little
	// but collect.
	serverGarbage = 200

	// An import holds four batches, each for a moment: at 100, collection takes a
	// quarter of its time.
	importGarbage = 400
)

// useMemory trades memory for speed, unless GOGC is set. An explicit GOGC=100 looks
// like the default; use 101.
func useMemory(garbage int) {
	const untouched = 100
	if before := debug.SetGCPercent(garbage); before != untouched {
		debug.SetGCPercent(before)
	}
}
