// Package mcp lets assistants use the API through the Model Context Protocol: every operation
// is a tool.
//
//	assistant ── stdio ──> Serve     stdio.go ─┐
//	assistant ── POST ───> Handler   http.go ──┤
//	                                           v
//	New          mcp.go        tools/list shows what the token's scopes allow
//	operations   document.go   operations of the OpenAPI document, and the rule for those left out
//	tool         tool.go       one input schema from path, query, header and body (schema.go)
//	request      request.go    arguments to an HTTP request
//	call         call.go       reads, and writes with confirm: true
//	preview      preview.go    writes without it: Prefer: dry-run, and what would change
//	                                           │
//	                                           v
//	RoundTripper               the API: in this process (inprocess.go), or another server
//
// Tools are derived from the OpenAPI document when the program starts; none is written by hand.
// Each call is a request to the API with the caller's token, so authorisation, rate limits,
// validation and the access log are the API's own. This package has no access to the database.
//
// # Writes
//
// Without Options.AllowWrites the tools that write do not exist. With it, one function
// (operation.request) builds every request, and adds Prefer: dry-run to a write unless its
// arguments have confirm: true. An operation that does not declare that preference in the
// document cannot be previewed, and no request is sent.
//
// # Limits
//
// Over HTTP there are no sessions: each POST is a request of its own and its response is JSON,
// so nothing stays open or in memory between requests. Request bodies and results are bounded
// (MaxMessage, maxResult). JSON-RPC batches are refused. There are no CORS headers, and requests
// from pages of other origins are refused: a browser never needs this endpoint.
//
// Tools have no output schemas: they would triple the size of tools/list, which an assistant
// reads into its context, and the results describe themselves.
package mcp
