// Package server is the HTTP server around the operations. It authenticates and authorises
// callers, turns each request into the canonical form that the generated code expects, and
// writes every error in one form.
//
// A request passes these functions, in the order of behaviour.md section 6:
//
//	begin         request_state.go  request id, client address, clock reading
//	accessLog     access_log.go     log lines and metrics
//	recoverPanic  recover.go        turns a panic into a 500
//	mounts        server.go         pages, documents and probes branch off here
//	cors          cors.go           headers for browsers; responds to OPTIONS
//	userAgent     route.go          403 missing_user_agent
//	route         route.go          404, 405; /v1 is optional; PUT is PATCH, HEAD is GET
//	accept        route.go          406
//	authenticate  token.go          401, 403 account_disabled, practice_closed; 429 for the address
//	limit         ratelimit.go      429 for the token or its practice (package ratelimit)
//	authorize     token.go          403 insufficient_scope
//	prefer        write.go          Prefer: handling=strict, dry-run
//	readQuery     query.go          400 invalid_parameter
//	readBody      body.go           415, 413, 400 malformed_json
//	ifMatch       body.go           passes the If-Match header to operations that write
//	idempotencyKey  write.go        400 invalid_parameter; passes the key to operations that write
//	readReplica   replica_reads.go  runs a read on a replica, if there is one that may answer; if not:
//	hold          load.go           takes a place at the database for a read, or 503 unavailable
//	unchanged     unchanged.go      304 for a list that is still the same
//	call          respond.go        the generated server and the method in internal/api
//	encode        respond.go        encodes the response into memory
//	send          respond.go        ETag, 304, HEAD
//	drop          unread.go         reads what is left of the body of a request that was refused
//	write         unsent.go         sends the response in parts, to clients that keep reading
//
// mcp.go mounts the tools for assistants (package mcp). Each tool call is a request of its own
// that passes all of these functions again.
//
// records.go sends the reads of the record browser (package web) through all of these functions,
// with the session in place of a token.
//
// batch.go runs the requests of a batch through all of these functions, one after the other.
// An atomic batch does so in one transaction (store.Join).
//
// site.go mounts the endpoints of package oauth and the pages of package web. They have none
// of the API's checks, and errors of pages are pages. browsers.go gives browsers a page at addresses
// that nothing else has.
//
// replica.go stops the work in the background that writes while the database is a read-only replica.
//
// status.go collects what administrators see of the server, jobs.go the runs of the work in the
// background, and diagnose.go makes the checks that "chairside doctor" makes, too.
//
// The checks, from userAgent on, return an error. The first error ends the request, and
// errors.go writes it. A check stores what it finds in the request's context for
// internal/api, or in requestState for the other functions.
//
// # Load
//
// Every request ends in time, waiting included: an operation after 4.5 s, a page after 10 s,
// a report after 25 s (load.go). Requests share the database's connections by kind (package
// admission). The kind is the first segment of the path, so every new operation or page has
// one.
//
// Memory is bounded. Operations that read stay admitted until their response is encoded, and
// encoded responses that wait for their clients take at most 32 MiB (unsent.go).
package server
