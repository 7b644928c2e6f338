package main

import "runtime/debug"

// How much may pile up before it is collected, in per cent of what is in use.
const (
	// A server has some 10 MB in use, and makes as much garbage in a few hundred
	// requests: with Go's own 100 an eighth of its time goes into collecting.
	// There is no limit in bytes: beyond it, a server with many connections would
	// do little else.
	serverGarbage = 200

	// An import has four batches in use and is done with them in moments: with 100
	// a quarter of its own time goes into collecting.
	importGarbage = 400
)

// useMemory trades some memory for speed, unless whoever runs the program has
// set GOGC. (An explicit 100 cannot be told from none; 101 can.)
func useMemory(garbage int) {
	const untouched = 100
	if before := debug.SetGCPercent(garbage); before != untouched {
		debug.SetGCPercent(before)
	}
}
