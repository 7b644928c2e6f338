// Package contract holds the tests that cut across all operations: what
// every operation owes to every client, to every practice and to every patient.
//
// No test here names the operations one by one. They come from the published
// document and from the table the server itself works with, so that a new
// operation is tested on the day it is added:
//
//	operations_test.go   the operations, and a request that succeeds for each
//	exchange_test.go     what is checked of every single response
//	access_test.go       tokens and scopes
//	protocol_test.go     methods, paths, headers, HEAD, OPTIONS
//	conditional_test.go  ETag, If-None-Match, If-Match
//	document_test.go     responses and examples against the document
//	breaking_test.go     the document against the last released one
//	tenancy_test.go      another practice's rows
//	site_test.go         another site's rows
//	caller_test.go       work on behalf of nobody
//	foreignkey_test.go   what the database itself refuses
//	change_test.go       the record of changes
//	readlog_test.go      the record of accesses
//	privacy_test.go      what must never be seen in logs, errors and metrics
//	attack_*_test.go     hostile bodies, queries and headers; fuzz targets
//	ratelimit_test.go    limits
//	lifecycle_test.go    the life of a token
//	cost_test.go         queries to the database for each operation
//	outage_test.go       a database that goes away and comes back
package contract
