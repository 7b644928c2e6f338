// Package rowsecurity is the second wall between practices: PostgreSQL's row-level security.
//
// The first wall is the filter that every query of Ent carries (schema/mixin.go). Behind it, the
// role that serves requests sees only rows of the practice that its connection names, whatever
// the statement says:
//
//	a request ─▶ principal ─▶ SET chairside.practice ─▶ statement ─▶ policy of each table
//	            (package principal) (dbconn/practice.go)             (this package)
//
// Two roles divide the work:
//
//	serving   runs requests; confined by the policies; may do with each table only what
//	          requests do (Table.serving)
//	system    runs what has no caller or no practice: token look-ups, sign-in, counters, the
//	          change feed, webhooks, migrations' checks; bypasses the policies
//
// Neither owns a table nor is a superuser. Package store chooses the pool by the context of a
// statement: with a principal it is serving's, without one it is system's.
//
//	tables.go    which column of a table holds its practice; what the roles may do with it
//	roles.go     the statements that create roles, policies and grants; Apply
//	inspect.go   what a database lacks; Inspect
//	deletion.go  the function that deletes what is append-only, of a practice that is due
//	search.go    the view that lets a search use its index
//
// # A new table
//
// A table with a column practice_id needs nothing: it gets the policy and may be read and
// written. A table whose rows are never changed or deleted is named in appendOnly, one without a practice
// in installation, one that only the owner may write in ownersOnly too. A test fails for a table that is neither. Of a partitioned table only the whole
// has a policy and privileges: nobody but the owner may name a partition.
//
// # Indexes
//
// PostgreSQL applies a policy before any condition whose operator is not leak-proof, so such a
// condition cannot use an index. The operators of our B-tree indexes are leak-proof; a test lists
// the exceptions. The search of patients is one, hence its view (search.go).
package rowsecurity
