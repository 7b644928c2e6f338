// Package importer imports CSV files of another system into a practice.
//
//	report, err := importer.Import(ctx, db, "oldsoft", importer.Options{Practice: "bright"})
//
// The directory has the files and mapping.yaml, which says which entity and column each column of
// a file goes to. mapping.md, which "chairside import --help" prints, is its documentation. Tables,
// columns and references come from ent.Tables: a new entity can be imported without a change here.
//
// # Phases
//
// Import first plans every file: it resolves the mapping against the header and the entity, and
// reports all mistakes at once in a MappingError. Then it runs four phases:
//
//  1. load: stores the rows of each file, in the order in which entities refer to each other
//  2. updateTotals: computes the practice's totals, such as balances, from the stored rows
//  3. check: compares totals in the files with the computed ones, and looks for double bookings
//  4. finishRun: marks the import as finished
//
// load reads a file in chunks of 2500 rows. A chunk becomes a batch, which is one transaction:
//
//	source row → record        decode, translate, convert, and check each value as the API does
//	resolveReferences          IDs of the records that a record refers to
//	matchByLegacyID            the row that an earlier import made of the record
//	readParents                referenced records, and columns inherited from them
//	matchByUniqueKey           an existing row with the same unique key
//	mergeByName          an existing row with the same name, if the mapping says so
//	rejectErased               locks the patients, so that none is erased before the commit
//	applyRules                 rules between columns, derived columns, defaults
//	rejectDuplicates           a second record with the same unique key
//	write                      rows, related rows, audit log, legacy IDs
//	saveCheckpoint             how far the import has come
//
// A step rejects records that it finds wrong, and the next step gets the others. If a constraint of
// the database refuses a record, the batch is retried in halves until that record is alone.
//
// # What is stored
//
//   - the rows, and an entry in the audit log for each
//   - imported_records: the legacy ID of each record in the other system, and the ID of its row.
//     Later imports find the row by it and update what differs.
//   - import_runs: the checkpoint of each import. A hash of the practice, the mapping and the
//     files identifies it.
//   - in the rejects directory: the rejected rows of each source file as CSV, and findings.csv,
//     which lists what to check about imported rows
//
// # Resuming
//
// A batch commits its rows and the checkpoint together. If the import is interrupted and starts
// again with the same files, it continues in the stage of the checkpoint, skips the rows that the
// checkpoint counts, and cuts rejects and findings to the sizes in it. If those files are missing,
// it starts from the beginning and matches the rows that are in the database.
//
// # Files
//
//	import.go        Import and its phases
//	mapping.go       mapping.yaml; ready.go: those of well-known systems, in mappings
//	plan.go          plan: how to read one file; planner.go makes it
//	target.go        a field and the columns it comes from; template.go: "{Column}" in texts
//	entity.go        tables as the importer sees them
//	source.go        reads CSV files in any encoding, and skips invalid rows
//	record.go        one row on its way; legacyid.go: its legacy ID; values.go: its values
//	convert.go       converts values; amount.go: money; calendar.go, layout.go: dates and times
//	load.go          loads a file; chunks.go reads ahead; order.go orders concurrent batches
//	duplicates.go    on which lines records occur
//	batch.go         the transaction and its steps; query.go: its queries
//	references.go    resolves references; parents.go: reads the referenced records
//	match.go         matches records with rows by legacy ID; unique.go: by unique key; merge.go: by name
//	erased.go        keeps erased patients as they are
//	rules.go         rules of tables; appointments.go, invoices.go, patients.go: the longer ones
//	write.go         inserts, updates, audit log, legacy IDs
//	related.go       rows that are written along with others, such as accounts
//	explanations.go  which payments pay which invoices
//	totals.go        computes totals
//	reread.go        reads stored rows again; check.go compares totals
//	checkpoint.go    progress in import_runs
//	report.go        rejects, findings and the report; csvlog.go: their files
//
// # Cost
//
// PostgreSQL spends most of the time writing three rows for each row of a file: the row, its entry
// in the audit log, and its legacy ID. So the import
//
//   - writes with COPY, in the order of the IDs
//   - looks rows up with one query for the whole batch, and not at all on the first import
//   - reads the next chunks while a batch is stored
//   - stores two batches at a time, on two connections, if the rows of a file are independent,
//     or are patients
//
// BenchmarkImport measures it.
package importer
