package oauth

import (
	"context"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"chairside/ent"
	"chairside/internal/scope"
)

// Request is a valid authorization request (RFC 6749, section 4.1.1).
type Request struct {
	Application *ent.Application
	Owner       *ent.Practice // that registered the application
	RedirectURI string
	Scopes      scope.Set

	sent params
}

// Values returns the parameters of the request, to repeat it.
func (q *Request) Values() url.Values {
	form := url.Values{}
	for name, value := range q.sent {
		form.Set(name, value)
	}
	return form
}

// Refusal is the error for an unknown application or redirect URI. The user sees it,
// and the browser is not redirected.
type Refusal struct{ Message string }

func (r *Refusal) Error() string { return r.Message }

// Redirection is the error for any other invalid request. The browser delivers it to
// the application.
type Redirection struct {
	Address string
	Code    string // of RFC 6749, section 4.1.2.1
}

func (r *Redirection) Error() string { return r.Code }

// requestParams are the parameters of an authorization request. Others are ignored (RFC
// 6749, section 3.1).
var requestParams = []string{
	"client_id", "redirect_uri", "response_type", "response_mode", "scope", "state",
	"code_challenge", "code_challenge_method", "request", "request_uri", resourceParam,
}

// resourceParam names the resource that the token is for (RFC 8707). One that is repeated is
// ignored.
const resourceParam = "resource"

// Check parses and checks an authorization request. It fails with *Refusal, or once
// the application and the redirect URI are known to be valid, with *Redirection.
func (s *Server) Check(ctx context.Context, sent url.Values) (*Request, error) {
	for _, name := range []string{"client_id", "redirect_uri"} {
		switch values := sent[name]; {
		case len(values) > 1:
			return nil, &Refusal{name + " is sent more than once."}
		case len(values) == 0 || values[0] == "":
			return nil, &Refusal{name + " is missing."}
		}
	}
	app, err := s.application(ctx, sent.Get("client_id"))
	switch {
	case err != nil:
		return nil, err
	case app == nil:
		return nil, &Refusal{"The application is unknown. It may have been deleted."}
	case !slices.Contains(app.RedirectUris, sent.Get("redirect_uri")):
		return nil, &Refusal{"The redirect URI is not registered for the application."}
	}
	q := &Request{Application: app, Owner: app.Edges.Owner, RedirectURI: sent.Get("redirect_uri")}
	form := url.Values{}
	for _, name := range requestParams {
		if values, ok := sent[name]; ok && (name != resourceParam || len(values) == 1) {
			form[name] = values
		}
	}
	var repeated []string
	if q.sent, repeated = singleValues(form); len(repeated) > 0 { // a repeated state is not returned
		return nil, s.redirection(q, "invalid_request", repeated[0]+" is sent more than once.")
	}
	if code, description := q.check(); code != "" {
		return nil, s.redirection(q, code, description)
	}
	return q, nil
}

// challenge matches a code_challenge by S256: a SHA-256 in base64url.
var challenge = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

// check returns the error code and description for an invalid request (RFC 6749,
// section 4.1.2.1), and parses the scopes.
func (q *Request) check() (code, description string) {
	sent, app := q.sent, q.Application
	switch {
	case sent["request"] != "":
		return "request_not_supported", "request is not supported."
	case sent["request_uri"] != "":
		return "request_uri_not_supported", "request_uri is not supported."
	case sent["response_type"] == "":
		return "invalid_request", "response_type is missing."
	case sent["response_type"] != "code":
		return "unsupported_response_type", "response_type must be code."
	case sent["response_mode"] != "" && sent["response_mode"] != "query":
		return "invalid_request", "response_mode must be query."
	case sent["code_challenge"] == "" && sent["code_challenge_method"] != "":
		return "invalid_request", "code_challenge is missing."
	case sent["code_challenge"] == "" && app.Public:
		return "invalid_request", "code_challenge is missing: a public application must use PKCE."
	case sent["code_challenge"] != "" && sent["code_challenge_method"] != "S256":
		return "invalid_request", "code_challenge_method must be S256."
	case sent["code_challenge"] != "" && !challenge.MatchString(sent["code_challenge"]):
		return "invalid_request", "code_challenge must be 43 letters, digits, - or _."
	}
	return q.readScopes()
}

// readScopes parses the requested scopes. Only spaces separate them. Without any, a request that
// names a resource is for all scopes that the application is registered for: clients of the
// Model Context Protocol send no others.
func (q *Request) readScopes() (code, description string) {
	asked := strings.Split(q.sent["scope"], " ")
	asked = slices.DeleteFunc(asked, func(s string) bool { return s == "" })
	if len(asked) == 0 && q.sent[resourceParam] != "" {
		asked = strings.Fields(q.Application.Scopes)
	}
	if len(asked) == 0 {
		return "invalid_scope", "scope is missing."
	}
	allowed := scope.Set(strings.Fields(q.Application.Scopes))
	for _, name := range asked {
		switch {
		case !slices.Contains(scope.All(), name):
			return "invalid_scope", "The scope " + printable(name) + " does not exist."
		case !allowed.Allows(name):
			return "invalid_scope", "The application is not registered for the scope " + name + "."
		}
	}
	slices.Sort(asked)
	q.Scopes = slices.Compact(asked)
	return "", ""
}

// redirection returns an error that the browser delivers to the application.
func (s *Server) redirection(q *Request, code, description string) *Redirection {
	return &Redirection{s.responseURL(q, url.Values{"error": {code}, "error_description": {description}}), code}
}

// responseURL returns the URL that delivers a response to the application, with its state
// and our issuer (RFC 9207).
func (s *Server) responseURL(q *Request, response url.Values) string {
	if state := q.sent["state"]; state != "" {
		response.Set("state", state)
	}
	response.Set("iss", s.issuer)
	separator := "?"
	if strings.Contains(q.RedirectURI, "?") {
		separator = "&"
	}
	return q.RedirectURI + separator + response.Encode()
}
