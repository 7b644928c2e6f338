package server

import (
	"context"
	"net/http"

	"chairside/internal/apierror"
	"chairside/internal/principal"
	"chairside/internal/store/admission"
)

// explain gives the meaning of an error, and logs what is our failure.
func (s *Server) explain(ctx context.Context, err error) *apierror.Error {
	return s.asFault(of(ctx), err)
}

// visited notes on whose behalf a page reads.
func (s *Server) visited(ctx context.Context, who *principal.Principal) { of(ctx).caller = who }

// endpoint serves an address of the authorization server that applications
// call, from any origin: no cookie counts there.
func (s *Server) endpoint(serve http.Handler) http.Handler {
	return s.cors(s.bounded(serve, userAgent))
}

// visit serves a page for people. No other origin may read it, and its
// failures are pages as well.
func (s *Server) visit(serve http.Handler) http.Handler {
	page := s.bounded(serve, userAgent)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		of(r.Context()).draw = s.site.Problem
		page.ServeHTTP(w, r)
	})
}

// bounded serves what is outside the API, for any method, and gives up when the
// page's time is over.
func (s *Server) bounded(serve http.Handler, checks ...check) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := of(r.Context())
		x.name, x.pattern = r.Pattern, r.Pattern
		ctx, cancel := context.WithTimeout(admission.With(r.Context(), kindOf(x.pattern), x.pattern), timeFor(x.pattern))
		defer cancel()
		x.r = r.WithContext(ctx)
		if s.passes(w, x, checks) {
			serve.ServeHTTP(w, x.r)
		}
	})
}
