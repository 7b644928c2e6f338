// Package extract writes the records of a practice to files for other programs, such as a data
// warehouse: first all of them, then in each run what has changed.
//
//	columns.go  the columns of a resource's files, from the generated members of its documents
//	extract.go  a run: records of the feed → files → schemas → manifest
//	folder.go   the folder: its lock, its manifests, what an interrupted run left
//	ndjson.go   rows as NDJSON
//	parquet.go  rows as Parquet: row groups of limited size
//	schema.go   JSON Schema of the rows, from the OpenAPI document
//
// # Folder
//
//	manifests/000002.json    the second run: its cursor and its files; written last
//	schema/patients.json     JSON Schema of the rows
//	patients/000001.parquet  the first run: all patients
//	patients/000002.parquet  the second run: patients that were created, changed or deleted since
//
// A run writes each file under another name, and renames all of them once they are complete. The
// manifest comes last: a file that no manifest names is from an interrupted run, and the next one
// removes it. Files of earlier runs never change. Memory use does not depend on the number of rows.
//
// # Rows
//
// A row has the record as the API shows it in a list, without members that are not the record's own
// (codec.Member): those change without a change of the record, so no run would write them again. The
// last row of an id counts. Sealed columns are left out unless asked for.
package extract
