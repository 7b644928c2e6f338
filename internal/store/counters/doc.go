// Package counters maintains the counts of rows that lists show, so that a list need not
// count its rows. The schema declares them (apispec.Counter); triggers maintain them,
// whatever writes the rows.
//
//	a row changes ─trigger─▶ counter_changes ─Compact─▶ counters     PostgreSQL
//	a row changes ─trigger──────────────────────────▶ counters     SQLite
//	entx.Counters.Of     ◀── counters + counter_changes, in one statement
//
//	counters.go   the tables, and Counters, which store.DB has
//	triggers.go   the SQL of the triggers
//	compact.go    adding pending changes to the counters, every second
//	check.go      comparing counters with rows, and correcting them
//	plan.go       the steps of a migration that changes triggers, without stopping writers
//	drift.go      comparing triggers with the schema, for verification
//	suspend.go    counting at the end of a bulk load
//
// Only SQLite's INSERT OR REPLACE by hand, which runs no trigger for the row it replaces,
// gets past the triggers.
//
// A dump of PostgreSQL is restored without the triggers, whose definitions it holds last.
// Data dumped apart from the schema needs pg_dump --disable-triggers: it includes the
// counters, which the triggers would count again. (The triggers find their tables by the
// search path, which such a dump clears, so without the flag the restore fails instead. A
// search_path of their own would cost each change as much again as the counting: 10 µs.)
//
// # When to reach for it
//
// A counter costs every write some 10 µs. Declare one only for a list that grows with the
// years and is paged through with its total.
package counters
