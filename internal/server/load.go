package server

import (
	"net/http"
	"strings"
	"time"

	"chairside/internal/mcp"
	"chairside/internal/store/admission"
)

// Time limits of requests, waits for connections, locks and round trips included. A
// request that reaches its limit gets a 503.
const (
	operationTime = 4500 * time.Millisecond // plus 1 s to cancel the statement: clients have a response within 6 s
	pageTime      = 10 * time.Second        // pages run several queries and hash passwords
	reportTime    = 25 * time.Second        // leaves 5 s of the 30 s within which every request must end
	mcpTime       = 40 * time.Second        // for a tool that waits for changes; its requests to the API have their own limits
)

// kindOf returns the kind of a route: the first segment of its pattern. All operations
// on one resource share a kind, and so do all reports.
func kindOf(pattern string) string {
	kind, _, _ := strings.Cut(strings.TrimPrefix(pattern, "/"), "/")
	switch kind {
	case "":
		return admission.Other
	case "{$}":
		return "front"
	}
	return kind
}

// timeFor returns the time limit of an address outside the API.
func timeFor(pattern string) time.Duration {
	switch kindOf(pattern) {
	case kindOf("/reports"):
		return reportTime
	case kindOf(mcp.Path):
		return mcpTime
	}
	return pageTime
}

// hold takes a place at the database (package admission) for a GET until its response is
// encoded, because its rows stay in memory that long. Writes take theirs when the transaction
// begins: until then they may wait for a lock, and must not hold a place while they do.
func (s *Server) hold(x *requestState) (leave func(), err error) {
	if x.operation.ID == "" || x.r.Method != http.MethodGet {
		return func() {}, nil
	}
	return s.DB.Hold(x.r.Context())
}
