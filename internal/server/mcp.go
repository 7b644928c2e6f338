package server

import (
	"net/http"

	"chairside/internal/mcp"
	"chairside/internal/oauth"
)

// newMCP returns the tools for assistants. Their requests pass the whole server, from begin on.
func (s *Server) newMCP() (*mcp.Server, error) {
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) })
	return mcp.New(mcp.Options{
		API: mcp.InProcess(api), BaseURL: s.BaseURL, Document: s.document,
		AllowWrites: s.MCPAllowWrites, Logger: s.Logger,
	})
}

// assistants serves the Model Context Protocol. It needs a token in the header, and counts each
// message as a request; the requests that a tool makes count as well. It has no CORS headers.
func (s *Server) assistants() http.Handler {
	serve := s.bounded(s.mcp.Handler(), userAgent, postOnly(http.MethodPost), headerToken, s.authenticate, s.limit)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := stateOf(r.Context())
		x.resource = s.BaseURL + oauth.ResourcePath + mcp.Path
		private(x.header)
		serve.ServeHTTP(w, r)
	})
}

// headerToken ignores a token in the query, where the protocol does not allow one.
func headerToken(x *requestState) error {
	x.r.URL.RawQuery = ""
	return nil
}
