// Package dbconn is the layer between database/sql and the drivers. Package store builds
// its pools from it; only the packages below store import it.
//
//	database/sql
//	   │
//	cachedConn    statements.go        prepared statements, per connection (both databases)
//	   │          singlestatement.go   BeginTx that sends nothing: single-statement transactions
//	pooledConn    pooled.go            behind a pooler, where nothing can be pipelined: a transaction for each statement
//	   │
//	conn          conn.go, lock.go     counts round trips; BEGIN and locks in one round trip
//	   │          copy.go              rows of a COPY as text
//	   │
//	boundedConn   deadline.go          PostgreSQL: the deadline of each context, for the socket
//	   │
//	lib/pq, modernc.org/sqlite
//	   │
//	pipelineConn  pipelinedlock.go     adds locks to what lib/pq sends, hides their results
//	   │          sharedstatements.go  behind a pooler: names statements so that all connections share them
//	   │
//	socket        socket.go, dial.go   limits the time of every read and write
//	   │          greeting.go          reads the server's process from the beginning of the connection
//	   │          broken_unix.go       detects idle connections that have ended
//	monitor       monitor.go           asks the server what it is doing for a silent connection
//
// errors.go classifies the errors of this layer.
//
// # Lost connections
//
// A connection to PostgreSQL can be lost without an error. Every read and write ends:
//
//	1 s after the context's deadline    if the server does not confirm that it has
//	                                    cancelled the statement
//	about 3 s after bytes were lost     after 2 s of silence we ask the server, over a new
//	                                    connection, whether it still works for this one;
//	                                    not possible behind a pooler
//	20 s after the peer has vanished    by TCP keep-alive and TCP_USER_TIMEOUT
//	after LimitSilence                  if the server does not say what it is doing: 1 h, in a
//	                                    server 1 min, on a replica 5 s; behind a pooler only
//	                                    without a deadline
//
// The connection is then closed, and connections that were idle meanwhile are not reused. A
// statement that may have run is never sent again. Unavailable holds for the error, and if a
// commit was under way, it is unknown whether it was done. Tests break the connection at
// every byte, in both directions (break_test.go).
//
// # When to reach for it
//
// Use a single-statement transaction (TxOptions.Single, store.DB.TxSingleStatement) only
// for a write that one statement can do and that many clients do at once. It saves two of
// three round trips, except over TLS, where it becomes an ordinary transaction.
package dbconn
