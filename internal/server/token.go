package server

import (
	"log/slog"
	"strings"

	"chairside/internal/apierror"
	"chairside/internal/principal"
)

// authenticate finds the caller of the request by its token, in the header or,
// less preferred, in the query (spec.md, Authentication). Where both are sent
// the header counts.
func (s *Server) authenticate(x *requestState) error {
	value := bearer(x)
	if value == "" {
		return apierror.MissingToken()
	}
	c, unnoted, err := s.tokens.Resolve(x.r.Context(), value)
	if err != nil {
		return err
	}
	if unnoted != nil {
		s.Logger.Warn("last use of a token could not be written",
			slog.String("request_id", x.id), slog.String("token_id", c.TokenID.String()), slog.String("cause", describe(unnoted)))
	}
	x.caller = c
	x.r = x.r.WithContext(principal.With(x.r.Context(), c))
	x.header.Set("X-OAuth-Scopes", c.Scopes.String())
	return nil
}

func bearer(x *requestState) string {
	scheme, value, _ := strings.Cut(x.r.Header.Get("Authorization"), " ")
	if value = strings.TrimSpace(value); strings.EqualFold(scheme, "Bearer") && value != "" {
		return value
	}
	// A malformed query is refused later, once it is known who sent it.
	sent, _ := parseQuery(x.r.URL.RawQuery)
	return sent.Get(tokenParameter)
}

// authorize checks that the token holds the scope the operation needs.
func authorize(x *requestState) error {
	if needed := x.operation.Scope; needed != "" && !x.caller.Scopes.Allows(needed) {
		return apierror.InsufficientScope(needed)
	}
	return nil
}
