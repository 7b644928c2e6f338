// Package contract tests what holds for all operations: protocol, tenancy, scopes,
// privacy and errors.
//
// The tests do not list the operations. They take them from the published document and
// from the server's table, so that a new operation is tested at once:
//
//	operations_test.go   the operations, and a valid request for each
//	exchange_test.go     the checks of every response
//	access_test.go       tokens and scopes
//	protocol_test.go     methods, paths, headers, HEAD, OPTIONS
//	conditional_test.go  ETag, If-None-Match, If-Match
//	document_test.go     responses and examples against the document
//	breaking_test.go     the document against the last released one
//	tenancy_test.go      another practice's rows
//	site_test.go         another site's rows
//	caller_test.go       queries and mutations without a principal
//	foreignkey_test.go   references that the database refuses
//	change_test.go       the audit log
//	readlog_test.go      the access log
//	privacy_test.go      private data in logs, errors and metrics
//	attack_*_test.go     hostile bodies, queries and headers; fuzz targets
//	ratelimit_test.go    limits
//	lifecycle_test.go    expiry and revocation of tokens
//	cost_test.go         database queries per operation
//	assistant_test.go    the operations as tools
//	outage_test.go       database outages and recovery
package contract
