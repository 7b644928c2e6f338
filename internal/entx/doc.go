// Package entx is the part of the generated Ent code that does not depend on the schema.
// Generated code calls it with the names of a table; hand-written code calls it for
// conditions and observers.
//
//	confine.go     restricts a query or mutation to the rows that its principal may see
//	condition.go   EXISTS and NOT EXISTS, checked before an INSERT or inside it; locks
//	rows.go        columns and joins of queries that package rowscan reads
//	predicate.go   predicates with one plan for all arguments
//	write.go       writes a row and its audit log entry and reads the row back, in one statement
//	counters.go    reads the maintained counts of a practice
//
// It imports neither ent nor schema, so it builds when ent/ is deleted.
package entx
