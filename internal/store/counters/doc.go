// Package counters maintains the counts of rows that lists show, so that a list need not
// count its rows. The schema declares them (apispec.Counter). Triggers maintain them, no
// matter what writes the rows.
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
//	suspend.go    counting at the end of a bulk load
//
// Only one thing bypasses the triggers: INSERT OR REPLACE, by hand, on SQLite, which runs no
// trigger for the replaced row.
//
// Restoring a full PostgreSQL dump does not run the triggers, because pg_dump writes them last.
// A dump of the data alone needs pg_dump --disable-triggers: it includes the counters, and the
// triggers would count the rows again. (Without the flag the restore fails, because the
// triggers find their tables by the search path, which such a dump clears. Giving the trigger
// functions a search_path of their own would double the cost of counting, 10 µs a change.)
//
// # When to reach for it
//
// A counter costs about 10 µs for each write. Declare one only for a list that grows over the
// years and that clients page through.
package counters
