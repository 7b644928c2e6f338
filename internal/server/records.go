package server

import (
	"net/http"

	"chairside/internal/apierror"
	"chairside/internal/principal"
	"chairside/internal/scope"
)

// recordReader returns a function that sends a GET request to the API for the visitor of a page, with
// the given scopes. The request passes all functions of the API except those that need a token, so a
// page has no way of its own to read records. It has the id of the page's request, and a line in the
// log and an entry in the audit log of its own.
func (s *Server) recordReader() func(r *http.Request, scopes scope.Effective, address string) (status int, body []byte) {
	single := s.begin(s.accessLog(s.recoverPanic(s.api(userAgent, s.route, readOnly, accept, ofSession, authorize, prefer, readQuery))))
	return func(r *http.Request, scopes scope.Effective, address string) (int, []byte) {
		visitor := *principal.Must(r.Context())
		visitor.Scopes = scopes
		q, err := http.NewRequestWithContext(principal.With(r.Context(), &visitor), http.MethodGet, address, nil)
		if err != nil { // pages build the address from paths of the document
			panic(err)
		}
		q.RemoteAddr, q.TLS, q.RequestURI = r.RemoteAddr, r.TLS, address
		q.Header.Set("User-Agent", r.UserAgent())
		q.Header.Set("X-Request-Id", stateOf(r.Context()).id)
		response := &resultWriter{header: http.Header{}}
		single.ServeHTTP(response, q)
		return response.status, response.body.Bytes()
	}
}

// ofSession finds the caller of a request by recordReader, which authenticate finds by a token.
func ofSession(x *requestState) error {
	c, err := principal.From(x.r.Context())
	session, ok := principal.Session(x.r.Context())
	if err != nil || !ok {
		return apierror.MissingToken()
	}
	x.caller, x.session = c, session
	return nil
}
