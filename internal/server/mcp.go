package server

import (
	"net/http"
	"sync"

	"chairside/internal/mcp"
	"chairside/internal/oauth"
)

// assistants serves the Model Context Protocol. It needs a token in the header, and counts each
// message as a request; the requests that a tool makes count as well. It has no CORS headers.
// The tools take 2 MB, so they are made for the first message.
func (s *Server) assistants() http.Handler {
	tools := sync.OnceValue(s.tools)
	serveTools := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { tools().ServeHTTP(w, r) })
	serve := s.bounded(serveTools, userAgent, postOnly(http.MethodPost), headerToken, s.authenticate, s.limit)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := stateOf(r.Context())
		x.resource = s.BaseURL + oauth.ResourcePath + mcp.Path
		private(x.header)
		serve.ServeHTTP(w, r)
	})
}

// tools returns the tools for assistants. Their requests pass the whole server, from begin on.
// It panics if the OpenAPI document is malformed: servers of a build differ only in its base URL.
func (s *Server) tools() http.Handler {
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) })
	server, err := mcp.New(mcp.Options{
		API: mcp.InProcess(api), BaseURL: s.BaseURL, Document: s.document,
		AllowWrites: s.MCPAllowWrites, Logger: s.Logger,
	})
	if err != nil {
		panic(err)
	}
	return server.Handler()
}

// headerToken ignores a token in the query, where the protocol does not allow one.
func headerToken(x *requestState) error {
	x.r.URL.RawQuery = ""
	return nil
}
