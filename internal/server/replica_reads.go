package server

import (
	"context"
	"net/http"
	"strings"

	"chairside/internal/store"
)

// positionHeader is how far a client has seen the database. A response of a server with replicas has it;
// a client that talks to several servers sends back the last one that it got, so that no server shows it
// an older state.
const positionHeader = "Chairside-Position"

// after returns the position that the client has seen through another server.
func (x *requestState) after() store.Position {
	if sent := x.r.Header.Get(positionHeader); sent != "" {
		return store.ParsePosition(sent)
	}
	return store.Position{}
}

// readReplica runs an operation that reads on a replica. If it returns false, the primary must run it.
// Only a success is a replica's last word: what is missing there may have been created a moment ago.
//
// The response has no position in the change feed, because the positions that this server knows are the
// primary's.
func (s *Server) readReplica(x *requestState) (done bool) {
	if !s.DB.HasReplicas() || x.operation.ID == "" || x.r.Method != http.MethodGet {
		return false
	}
	sent := x.r
	done, err := s.DB.OnReplica(sent.Context(), store.Reading{After: x.after()}, func(ctx context.Context) error {
		x.r = sent.WithContext(ctx)
		x.known = strings.Join(sent.Header.Values("If-None-Match"), ", ")
		x.serve.ServeHTTP(x.response, x.r)
		return x.err
	})
	x.r = sent
	if done {
		x.err = err
		return true
	}
	x.response.reset()
	x.err = nil
	x.header.Del("Link")
	return false
}

// reached notes what a client has seen of the primary, unless it has written: the transaction has done so.
func (s *Server) reached(x *requestState) {
	if wrote := x.err == nil && x.r.Method != http.MethodGet; !wrote {
		s.DB.Reached(x.r.Context(), x.err)
	}
}

// setPosition sets the header that says how far the client has seen the database.
func (s *Server) setPosition(x *requestState) {
	if position := s.DB.PositionOf(x.r.Context()); position != "" {
		x.header.Set(positionHeader, position)
	}
}
