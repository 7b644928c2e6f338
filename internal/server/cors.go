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
	// preflightHeaders are accepted beyond the specification. Only the response to a
	// preflight request names them (behaviour.md section 1).
	preflightHeaders = corsHeaders + ", If-Match, If-None-Match, Prefer, Idempotency-Key"
)

// corsAllowed are headers of every response except pages (htmlPage). maps.Copy shares their
// values between responses, so a value must not be changed in place.
var corsAllowed = http.Header{
	"Access-Control-Allow-Origin":   {"*"},
	"Access-Control-Allow-Methods":  {corsMethods},
	"Access-Control-Allow-Headers":  {corsHeaders},
	"Access-Control-Expose-Headers": {corsExposed},
}

// cors lets scripts of any origin call next, and responds to OPTIONS. Any origin is safe,
// because next ignores cookies.
func (s *Server) cors(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		maps.Copy(h, corsAllowed)
		if r.Method != http.MethodOptions {
			next.ServeHTTP(w, r)
			return
		}
		stateOf(r.Context()).name = "preflight"
		h.Set("Access-Control-Allow-Headers", preflightHeaders)
		private(h)
		w.WriteHeader(http.StatusNoContent)
	})
}
