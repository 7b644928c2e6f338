package web

import (
	"net/url"
	"strings"

	"chairside/ent"
	"chairside/internal/oauth"
	"chairside/internal/scope"
)

// connection holds what an integrator needs to connect an application.
type connection struct {
	*ent.Application
	Secret  string // "" unless this request generated it
	BaseURL string
}

// Authorize is the authorization endpoint.
func (c connection) Authorize() string { return c.BaseURL + oauth.AuthorizePath }

// Token is the token endpoint.
func (c connection) Token() string { return c.BaseURL + oauth.TokenPath }

// Revoke is the revocation endpoint.
func (c connection) Revoke() string { return c.BaseURL + oauth.RevokePath }

// Metadata is the address of the discovery document (RFC 8414).
func (c connection) Metadata() string { return c.BaseURL + oauth.MetadataPath }

// ReturnTo is the first redirect URI; the examples use it.
func (c connection) ReturnTo() string { return c.RedirectUris[0] }

// Link is a complete authorization URL.
func (c connection) Link() string {
	q := url.Values{
		"response_type": {"code"}, "client_id": {c.ID.String()}, "redirect_uri": {c.ReturnTo()},
		"scope": {c.Scopes}, "state": {"CHOOSE-A-RANDOM-VALUE"},
	}
	if c.Public {
		q.Set("code_challenge", "YOUR-CODE-CHALLENGE")
		q.Set("code_challenge_method", "S256")
	}
	return c.Authorize() + "?" + q.Encode()
}

// Exchange is the command that exchanges a code for a token.
func (c connection) Exchange() string {
	lines := []string{
		"curl " + c.Token(),
		"-d grant_type=authorization_code",
		"-d code=CODE",
		"--data-urlencode redirect_uri='" + strings.ReplaceAll(c.ReturnTo(), "'", "%27") + "'",
	}
	switch {
	case c.Public:
		lines = append(lines, "-d client_id="+c.ID.String(), "-d code_verifier=YOUR-CODE-VERIFIER")
	case c.Secret != "":
		lines[0] += " -u " + c.ID.String() + ":" + c.Secret
	default:
		lines[0] += " -u " + c.ID.String() + ":CLIENT-SECRET"
	}
	return strings.Join(lines, " \\\n  ")
}

// Request is a first API request with the token.
func (c connection) Request() string {
	return firstRequest(c.BaseURL, "ACCESS-TOKEN", strings.Fields(c.Scopes))
}

// firstRequest is a command that reads a resource within these scopes.
func firstRequest(baseURL, value string, scopes scope.Set) string {
	path := "/rate_limit" // needs no scope
	for _, family := range []struct{ name, path string }{
		{"user", "/v1/user"}, {"treatments", "/v1/treatments"}, {"financials", "/v1/invoices"},
		{"practice", "/v1/practice"}, {"patient", "/v1/patients"}, {"appointment", "/v1/appointments"},
	} {
		if scopes.Allows(family.name + ":read") {
			path = family.path
		}
	}
	return "curl -H 'Authorization: Bearer " + value + "' \\\n  " + baseURL + path
}
