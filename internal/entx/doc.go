// Package entx supports the generated Ent code: what does not depend on the schema is here
// instead of in templates. Generated code passes the names of its table; hand-written code
// uses the conditions and observers.
//
//	confine.go     restricts a query or mutation to the rows that its principal may see
//	condition.go   EXISTS and NOT EXISTS, checked before an INSERT or as part of it; UNION ALL; locks
//	rows.go        columns and joins of queries that package rowscan reads
//	predicate.go   predicates that have one query plan for all arguments
//	write.go       writes a row and its audit log entry and reads the row back, in one statement
//	counters.go    reads the maintained counts of a practice
//
// It imports neither ent nor schema, so it builds when ent/ is deleted.
package entx
