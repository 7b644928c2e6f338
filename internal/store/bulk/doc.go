// Package bulk writes many rows at a time, past Ent: with COPY on PostgreSQL, with prepared
// multi-row inserts on SQLite. Imports, dumps, the seed and tests use it.
//
//	Load, Join ─▶ Tx ─▶ Table ─▶ RowWriter ─▶ COPY or INSERT     bulk.go
//	                    copytext.go    rows as COPY reads them
//	                    ids.go         ids that nobody else gets
//	                    in.go          conditions on thousands of values
//	                    update.go      updates of thousands of rows
//	                    unindexed.go   loading empty tables without their indexes
//	                    statistics.go  what SQLite plans statements by
//
// No hook runs: the caller fills derived columns with the functions of the schema. The
// database's own rules (keys, checks, counters) hold as always.
//
// # When to reach for it
//
// Use it for thousands of rows, outside requests. For fewer use Ent's CreateBulk, which runs
// the hooks.
package bulk
