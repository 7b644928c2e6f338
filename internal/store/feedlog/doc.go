// Package feedlog records every change of the change feed's resources, no matter what makes it:
// the API, an import, COPY, or SQL by hand. Package events/feed reads what it records.
//
//	a row changes ─trigger─▶ feed_changes, without a seq ─Sequence─▶ with a seq     PostgreSQL
//	a row changes ─trigger─▶ feed_changes, with a seq                               SQLite
//
//	triggers.go  the SQL of the triggers
//	plan.go      the statements of a migration that changes them
//	sequence.go  numbering changes after their commit; sweeping old ones
//	suspend.go   loading empty tables past the triggers
//
// A change is written by an AFTER trigger, so its record is already locked: of two changes of
// one record, the later one has the higher id. But ids are drawn before the commit, so a reader
// that followed them would miss a change that commits late. Sequence therefore numbers the
// committed changes, one run at a time: a seq that a reader can see has no lower one that it
// cannot see yet. Decision 14 compares this with other designs.
package feedlog
