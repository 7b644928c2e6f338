package server

import (
	"log/slog"
	"strings"

	"chairside/internal/apierror"
	"chairside/internal/principal"
)

// authenticate finds the caller by the token in the Authorization header or, without one, in
// the query (spec.md, Authentication). Requests without a valid token are limited by their
// address; the token is always looked up, so that other clients' requests cannot lock it out.
func (s *Server) authenticate(x *requestState) error {
	if x.token == "" { // the query loses its token when it is read
		x.token = bearer(x)
	}
	if x.token == "" {
		return s.limitAddress(x, apierror.MissingToken())
	}
	c, lastUseErr, err := s.tokens.Resolve(x.r.Context(), x.token)
	if err != nil {
		return s.limitAddress(x, err)
	}
	if replica, _ := s.replica.now(); lastUseErr != nil && !replica {
		s.Logger.Warn("cannot write the last use of a token",
			slog.String("request_id", x.id), slog.String("token_id", c.TokenID.String()), slog.String("cause", describeError(lastUseErr)))
	}
	x.caller = c
	x.r = x.r.WithContext(principal.With(x.r.Context(), c))
	x.header.Set("X-OAuth-Scopes", c.Scopes.String())
	return nil
}

// bearer returns the access token of the request, or "".
func bearer(x *requestState) string {
	scheme, value, _ := strings.Cut(x.r.Header.Get("Authorization"), " ")
	if value = strings.TrimSpace(value); strings.EqualFold(scheme, "Bearer") && value != "" {
		return value
	}
	// readQuery refuses a malformed query once the caller is known.
	sent, _ := parseQuery(x.r.URL.RawQuery)
	return sent.Get(tokenParameter)
}

// authorize checks that the token has the scope of the operation.
func authorize(x *requestState) error {
	if needed := x.operation.Scope; needed != "" && !x.caller.Scopes.Allows(needed) {
		return apierror.InsufficientScope(needed)
	}
	return nil
}
