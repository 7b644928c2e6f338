package main

import "runtime/debug"

// garbage is how much may pile up before it is collected, in per cent of what
// is in use. A server has some 10 MB in use, and makes as much garbage in a few
// hundred requests: with Go's own 100 an eighth of its time goes into
// collecting. There is no limit in bytes: beyond it, a server with many
// connections would do little else.
const garbage = 200

// useMemory lets a server trade some memory for speed, unless whoever runs it
// has set GOGC. (An explicit 100 cannot be told from none; 101 can.)
func useMemory() {
	const untouched = 100
	if before := debug.SetGCPercent(garbage); before != untouched {
		debug.SetGCPercent(before)
	}
}
