package oauth

import (
	"context"
	"net/http"
	"strings"

	"chairside/internal/apierror"
	"chairside/internal/store"
)

// The paths of the authorization server.
const (
	AuthorizePath  = "/oauth/authorize"
	TokenPath      = "/oauth/token"
	RevokePath     = "/oauth/revoke"
	IntrospectPath = "/oauth/introspect"
	MetadataPath   = "/.well-known/oauth-authorization-server"
	ResourcePath   = "/.well-known/oauth-protected-resource"
)

// Options configure the authorization server.
type Options struct {
	DB *store.DB
	// Issuer is the server's public URL: the iss of RFC 9207.
	Issuer string
	// Explain turns an internal error into an API error and logs it.
	Explain func(context.Context, error) *apierror.Error
}

// Server is the authorization server. It has no state in memory.
type Server struct {
	db      *store.DB
	issuer  string
	explain func(context.Context, error) *apierror.Error
}

// New returns an authorization server.
func New(o Options) *Server {
	return &Server{o.DB, strings.TrimRight(o.Issuer, "/"), o.Explain}
}

// Token returns the token endpoint.
func (s *Server) Token() http.Handler { return s.endpoint(s.token) }

// Revoke returns the revocation endpoint.
func (s *Server) Revoke() http.Handler { return s.endpoint(s.revoke) }

// Introspect returns the introspection endpoint.
func (s *Server) Introspect() http.Handler { return s.endpoint(s.introspect) }
