package oauth

import (
	"net/http"

	"chairside/internal/scope"
)

// metadata is the discovery document (RFC 8414, section 2).
type metadata struct {
	Issuer                      string   `json:"issuer"`
	AuthorizationEndpoint       string   `json:"authorization_endpoint"`
	TokenEndpoint               string   `json:"token_endpoint"`
	RevocationEndpoint          string   `json:"revocation_endpoint"`
	IntrospectionEndpoint       string   `json:"introspection_endpoint"`
	ServiceDocumentation        string   `json:"service_documentation"`
	ScopesSupported             []string `json:"scopes_supported"`
	ResponseTypesSupported      []string `json:"response_types_supported"`
	ResponseModesSupported      []string `json:"response_modes_supported"`
	GrantTypesSupported         []string `json:"grant_types_supported"`
	TokenAuthMethods            []string `json:"token_endpoint_auth_methods_supported"`
	RevocationAuthMethods       []string `json:"revocation_endpoint_auth_methods_supported"`
	IntrospectionAuthMethods    []string `json:"introspection_endpoint_auth_methods_supported"`
	CodeChallengeMethods        []string `json:"code_challenge_methods_supported"`
	AuthorizationResponseIssuer bool     `json:"authorization_response_iss_parameter_supported"`
}

// Metadata returns the handler of the discovery document.
func (s *Server) Metadata() http.Handler {
	secret := []string{"client_secret_basic", "client_secret_post"}
	document := metadata{
		Issuer:                      s.issuer,
		AuthorizationEndpoint:       s.issuer + AuthorizePath,
		TokenEndpoint:               s.issuer + TokenPath,
		RevocationEndpoint:          s.issuer + RevokePath,
		IntrospectionEndpoint:       s.issuer + IntrospectPath,
		ServiceDocumentation:        s.issuer + "/docs",
		ScopesSupported:             scope.All(),
		ResponseTypesSupported:      []string{"code"},
		ResponseModesSupported:      []string{"query"},
		GrantTypesSupported:         []string{"authorization_code", "refresh_token"},
		TokenAuthMethods:            append(secret[:2:2], "none"),
		RevocationAuthMethods:       append(secret[:2:2], "none"),
		IntrospectionAuthMethods:    secret,
		CodeChallengeMethods:        []string{"S256"},
		AuthorizationResponseIssuer: true,
	}
	return readOnly(document)
}

// resource describes a protected resource (RFC 9728, section 2). It has no scopes_supported:
// clients of the Model Context Protocol would request all of them, and be refused.
type resource struct {
	Resource             string   `json:"resource"`
	AuthorizationServers []string `json:"authorization_servers"`
	BearerMethods        []string `json:"bearer_methods_supported"`
	Name                 string   `json:"resource_name"`
	Documentation        string   `json:"resource_documentation"`
}

// Resource returns the handler of the metadata of the protected resource at path; "" is the API.
func (s *Server) Resource(path string) http.Handler {
	return readOnly(resource{
		Resource:             s.issuer + path,
		AuthorizationServers: []string{s.issuer},
		BearerMethods:        []string{"header"},
		Name:                 "Chairside",
		Documentation:        s.issuer + "/docs",
	})
}

// readOnly serves a document for GET and HEAD.
func readOnly(document any) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			writeError(w, &Error{Status: http.StatusMethodNotAllowed, Code: "invalid_request", Description: "The method must be GET."})
			return
		}
		writeJSON(w, http.StatusOK, document)
	})
}
