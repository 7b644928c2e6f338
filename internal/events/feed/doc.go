// Package feed reads the change feed: which records of a practice were created, updated and
// deleted, in an order that every reader sees. Package store/feedlog records it.
//
//	GET /v1/changes   Feed.Read  ─▶ Sequence ─▶ one statement: state and changes ─▶ documents
//	    wait=         Feed.Wait, then Read again
//	GET /v1/snapshot  Feed.Snapshot ─▶ one transaction: state, then all records
//
//	cursor.go    cursors: where a reader is, and in which database
//	state.go     the first and last numbers of the feed, and the identity of the database
//	read.go      a page of changes that the caller may see
//	site.go      what of it a caller limited to a site may see
//	wait.go      waiting for changes without a connection
//	snapshot.go  all records, and the cursor to go on from
//	position.go  whether anything has changed since a list was read
//	run.go       work in the background: numbering and sweeping changes
//
// # What a caller sees
//
// A change is of the record's own row, or of rows that are part of it (apispec.FeedPart).
// Members that come from a linked record, such as an appointment's patient_name, change with
// that record: the feed then has a change of the patient alone.
//
// A token limited to a site sees the records that it can read now. Deleted records, and those
// that have moved to another site, it sees as deleted if they were at its site. If a record
// moves that other records have their site from, such as a patient, these have no change of
// their own: cursors of both sites expire.
package feed
