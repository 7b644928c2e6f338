// Package entx is the part of the generated Ent code that does not depend on the
// schema. Templates in internal/codegen call it with what they know of a table; the
// rest of the program calls it for conditions and observers.
//
//	confine.go     keeps a query or mutation to the rows its principal may see
//	condition.go   EXISTS and NOT EXISTS, asked before a row or as part of its INSERT
//	rows.go        lists of columns, joins and UNION ALL, read by package rowscan
//	predicate.go   predicates that keep one plan for all arguments
//	write.go       a row, its audit entry and what is read back, in one statement
//	counters.go    reads the maintained counts of a practice
//
// It imports neither ent nor schema: it builds when ent/ is deleted.
package entx
