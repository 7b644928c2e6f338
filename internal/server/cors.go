package server

import (
	"maps"
	"net/http"
)

// Values of the CORS headers (spec.md, General conventions).
const (
	corsMethods = "GET, POST, PUT, PATCH, DELETE"
	corsHeaders = "X-Requested-With, X-Prototype-Version, Content-Type, Authorization"
	corsExposed = "ETag, X-OAuth-Scopes"
	// preflightHeaders are accepted beyond the specification; only the answer
	// to a preflight names them (behaviour.md section 1).
	preflightHeaders = corsHeaders + ", If-Match, If-None-Match, Prefer"
)

// corsAnswer is on every answer but those of pages for people (visit). Like all
// headers that never vary it is copied into each, so that its values are shared:
// nobody changes a value in place.
var corsAnswer = http.Header{
	"Access-Control-Allow-Origin":   {"*"},
	"Access-Control-Allow-Methods":  {corsMethods},
	"Access-Control-Allow-Headers":  {corsHeaders},
	"Access-Control-Expose-Headers": {corsExposed},
}

// cors lets scripts of any origin call what next serves, and answers OPTIONS
// for it. Nothing here is authorised by a cookie, so any origin may.
func (s *Server) cors(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		maps.Copy(h, corsAnswer)
		if r.Method != http.MethodOptions {
			next.ServeHTTP(w, r)
			return
		}
		of(r.Context()).name = "preflight"
		h.Set("Access-Control-Allow-Headers", preflightHeaders)
		private(h)
		w.WriteHeader(http.StatusNoContent)
	})
}
