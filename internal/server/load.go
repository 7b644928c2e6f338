package server

import (
	"net/http"
	"strings"
	"time"

	"chairside/internal/admission"
)

// How long the server works on a request before it gives up with 503, waiting
// included: for a connection, for locks, for each round trip.
const (
	operationTime = 4500 * time.Millisecond // and 1 s to give up what the database still does: 6 s at most
	pageTime      = 10 * time.Second        // a page asks several questions, and hashes passwords
	reportTime    = 25 * time.Second        // whatever the database does, the answer is out within 30 s
)

// kindOf is the kind of work behind an address: its first segment. So all that is
// done with one resource is of one kind, and so are all reports.
func kindOf(pattern string) string {
	kind, _, _ := strings.Cut(strings.TrimPrefix(pattern, "/"), "/")
	if kind == "" {
		return admission.Other
	}
	return kind
}

// timeFor is how long the server works on a page.
func timeFor(pattern string) time.Duration {
	if kindOf(pattern) == kindOf("/reports") {
		return reportTime
	}
	return pageTime
}

// hold admits an operation that reads as a whole: what it has read stays in memory
// until it is encoded, and so must not pile up between its statements. What writes
// is admitted with its transaction, because it may wait for a diary before that.
func (s *Server) hold(x *exchange) (leave func(), err error) {
	if x.operation.ID == "" || x.r.Method != http.MethodGet {
		return func() {}, nil
	}
	return s.DB.Hold(x.r.Context())
}
