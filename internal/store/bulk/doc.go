// Package bulk writes many rows at a time, past Ent: with COPY on PostgreSQL, with prepared
// multi-row inserts on SQLite. Imports, dumps, the seed and tests use it.
//
//	Load, Join ─▶ Tx ─▶ Table ─▶ RowWriter ─▶ COPY or INSERT     bulk.go
//	                    copytext.go    rows as COPY reads them
//	                    ids.go         reserved ids
//	                    in.go          conditions on thousands of values
//	                    update.go      updates of thousands of rows
//	                    unindexed.go   loading empty tables without their indexes
//	                    statistics.go  the statistics of SQLite's query planner
//
// No hooks run: the caller must set derived columns with the functions of package schema. The
// rules in the database (keys, checks, counters) apply as always.
//
// # When to reach for it
//
// Use it for thousands of rows, outside requests. For fewer use Ent's CreateBulk, which runs
// the hooks.
package bulk
