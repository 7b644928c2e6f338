// Package importer reads the CSV files of other systems into a practice.
//
//	report, err := importer.Import(ctx, db, "oldsoft", importer.Options{Practice: "bright"})
//
// mapping.md, which "chairside import --help" prints, describes mappings and what becomes of
// the rows. Tables, columns, their order and references come from ent.Tables: a new entity is
// imported without a change here. The files are read in the order of dependencies, 2500 rows
// at a time:
//
//	import.go      the whole import
//	plan.go        how to read a file: mapping × header × entity, made once (mapping.go, target.go, phrase.go, entity.go)
//	source.go      a row of the file, its line, its bytes
//	ahead.go       reads rows while earlier ones are stored; keeps the order of batches stored at the same time
//	record.go      texts → values: foreign.go, calendar.go, then the API's codec.Field
//	batch.go       a transaction: which row a record is already
//	references.go  what it refers to; unique.go: rows of which there can be only one
//	rules.go       rules and derived columns, with the functions of package schema
//	write.go       new rows, changed rows, the audit log (children.go, explain.go)
//	progress.go    how far the import has come, in the same transaction
//	settle.go      then the totals of the practice
//	compare.go     and what the files said of them; report.go: rejects, findings, the report
//
// # Cost
//
// Most of the time PostgreSQL writes three rows for each row of a file: the row, the record
// of its change, the memory of its legacy id. So the import
//
//   - writes rows with COPY, in the order of their ids
//   - looks rows up with one argument for the whole batch, and not at all where nothing of
//     the kind was imported before
//   - reads ahead while a batch is stored
//   - stores two batches at a time, on two connections, where the rows of a file have nothing
//     to do with each other (treatments, sources and the like)
//
// BenchmarkImport measures it.
package importer
