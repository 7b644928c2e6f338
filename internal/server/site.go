package server

import (
	"cmp"
	"context"
	"net/http"

	"chairside/internal/apierror"
	"chairside/internal/principal"
	"chairside/internal/store/admission"
)

// explain returns what an error means to the client, and logs internal errors.
func (s *Server) explain(ctx context.Context, err error) *apierror.Error {
	return s.asAPIError(stateOf(ctx), err)
}

// visited sets the principal of a page, for the log.
func (s *Server) visited(ctx context.Context, p *principal.Principal) {
	x := stateOf(ctx)
	x.caller = p
	x.session, _ = principal.Session(ctx)
}

// endpoint serves an endpoint of the authorization server. Any origin may call it, because
// it ignores cookies.
func (s *Server) endpoint(serve http.Handler) http.Handler {
	return s.cors(s.bounded(serve, userAgent))
}

// htmlPage serves a page. Other origins cannot read it, and browsers get its errors as pages.
func (s *Server) htmlPage(serve http.Handler) http.Handler {
	page := s.bounded(serve, userAgent)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stateOf(r.Context()).errorPage = s.site.Problem
		page.ServeHTTP(w, r)
	})
}

// bounded serves an address outside the API, for any method, within the time limit of pages.
func (s *Server) bounded(serve http.Handler, checks ...check) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := stateOf(r.Context())
		x.named(cmp.Or(r.Pattern, x.name), r.Pattern)
		ctx, cancel := context.WithTimeout(admission.With(r.Context(), kindOf(x.pattern), x.pattern), timeFor(x.pattern))
		defer cancel()
		x.r = r.WithContext(ctx)
		if s.passes(w, x, checks) {
			serve.ServeHTTP(w, x.r)
		}
	})
}
