package oauth

import (
	"context"
	"net/http"
	"strings"

	"chairside/internal/apierror"
	"chairside/internal/store"
)

// Addresses of the authorization server, below the base URL.
const (
	AuthorizePath  = "/oauth/authorize"
	TokenPath      = "/oauth/token"
	RevokePath     = "/oauth/revoke"
	IntrospectPath = "/oauth/introspect"
	MetadataPath   = "/.well-known/oauth-authorization-server"
)

// Options are what an authorization server needs.
type Options struct {
	DB *store.DB
	// Issuer is the server's public address: the iss of RFC 9207.
	Issuer string
	// Explain gives the meaning of an error that is not the application's, and
	// logs it.
	Explain func(context.Context, error) *apierror.Error
}

// Server is the authorization server. It keeps nothing in memory.
type Server struct {
	db      *store.DB
	issuer  string
	explain func(context.Context, error) *apierror.Error
}

// New makes an authorization server.
func New(o Options) *Server {
	return &Server{o.DB, strings.TrimRight(o.Issuer, "/"), o.Explain}
}

// Token is the token endpoint.
func (s *Server) Token() http.Handler { return s.endpoint(s.token) }

// Revoke is the revocation endpoint.
func (s *Server) Revoke() http.Handler { return s.endpoint(s.revoke) }

// Introspect is the introspection endpoint.
func (s *Server) Introspect() http.Handler { return s.endpoint(s.introspect) }
