// Package server puts HTTP around the API: it decides who may call what, turns
// every request into the one canonical form that the generated code expects,
// and every failure into the one body that clients expect.
//
// The path of a request, in the order of behaviour.md section 6:
//
//	begin         exchange.go    request id, client address, the clock's reading
//	observe       observe.go     one log line, metrics, the record of accesses
//	rescue        rescue.go      a panic becomes a 500
//	mounts        server.go      what is not the API branches off here
//	cors          cors.go        headers for browsers; answers OPTIONS
//	userAgent     route.go       403 missing_user_agent
//	route         route.go       404, 405; /v1 is optional; PUT is PATCH, HEAD is GET
//	accept        route.go       406
//	authenticate  token.go       401, 403 account_disabled
//	limit         ratelimit.go   429
//	authorize     token.go       403 insufficient_scope
//	readQuery     query.go       400 invalid_parameter
//	readBody      body.go        415, 413, 400 malformed_json
//	ifMatch       body.go        the If-Match header, for the method that writes
//	hold          load.go        a place at the database for what reads, or 503 unavailable
//	call          respond.go     the generated server and the method in internal/api
//	encode        respond.go     what that gives, into the answer's memory
//	send          respond.go     ETag, 304, HEAD; the place is free again
//	write         unsent.go      in parts, to readers who keep reading
//
// What applications call of package oauth, and the pages of package web, are
// mounted by site.go: without the API's checks, and with pages for failures of
// pages.
//
// The checks from userAgent on are functions that return an error; the first
// error ends the request, and errors.go alone writes it. A check that learns
// something about the request puts it where it is looked for: into the
// request's context for internal/api, into the exchange for the other layers.
//
// # Load
//
// Every request ends in time: an operation after 4.5 s, a page after 10 s, a report after
// 25 s (load.go), waiting included. Its context names its kind, the first segment of
// its path, by which requests share the connections of the database (package
// admission). New operations and pages have a kind by their address.
//
// Memory is bounded by what may be in it at once: operations that read hold a place at
// the database until they are encoded, and encoded answers that wait for their readers
// take at most 32 MiB (unsent.go).
package server
