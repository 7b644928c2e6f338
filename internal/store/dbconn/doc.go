// Package dbconn is the layer between database/sql and the drivers. Package store builds
// its pools from it; only the packages below store import it.
//
//	database/sql
//	   │
//	cachedConn    statements.go        prepared statements, per connection (both databases)
//	   │          singlestatement.go   BeginTx that sends nothing: a transaction of one statement
//	pooledConn    pooled.go            instead of cachedConn behind a pooler: a transaction each
//	   │
//	conn          conn.go, lock.go     counts round trips; BEGIN and locks in one round trip
//	   │          copy.go              rows of a COPY as text
//	   │
//	boundedConn   deadline.go          PostgreSQL: the deadline of each context, for the socket
//	   │
//	lib/pq, modernc.org/sqlite
//	   │
//	pipelineConn  pipelinedlock.go     adds locks to what lib/pq sends, hides their answers
//	   │
//	socket        socket.go, dial.go   ends every read and write in time
//	   │          broken_unix.go       whether an idle connection has ended
//	monitor       monitor.go           asks the server what it does for a silent connection
//
// errors.go classifies errors that only this layer knows.
//
// # Lost connections
//
// A connection to PostgreSQL can be lost without an error. Every read and write ends:
//
//	1 s after the deadline of the context    the server did not even confirm that it
//	                                         cancelled the statement
//	about 3 s after bytes were lost          after 2 s of silence the server is asked, over
//	                                         a new connection, whether it works for this
//	                                         one; not behind a pooler
//	20 s after the peer has vanished         TCP keep-alive, TCP_USER_TIMEOUT
//	1 h                                      work without a deadline, if the server cannot
//	                                         be asked
//
// The connection is then closed, and others that were idle meanwhile are not reused. What
// may have run is never sent again: the error is one for which Unavailable holds, and
// whether a commit under way was done is unknown. Tests break the connection at every
// byte, in both directions (break_test.go).
//
// # When to reach for it
//
// Use a single-statement transaction (TxOptions.Single, store.DB.TxSingleStatement) only
// for a write that one statement can do and that many clients do at once. It saves two of
// three round trips, except over TLS and behind a pooler, where it becomes an ordinary
// transaction.
package dbconn
