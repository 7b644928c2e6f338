package web

import (
	"net/http"

	"chairside/internal/scope"
)

// Route is a path with its actions. A nil action means that the method is not
// allowed; a route without actions answers 404.
type Route struct {
	Path      string // a pattern of http.ServeMux
	get, post action
	level     scope.Level // lowest permission level
}

// action serves a request, or returns an error that fail shows as a page.
type action func(w http.ResponseWriter, r *http.Request) error

// The lowest permission levels of the routes.
const (
	anyone  = scope.Level(0) // also signed-out visitors
	user    = scope.Reception
	manager = scope.Manager
)

// Routes returns all pages.
func (s *Site) Routes() []Route {
	return []Route{
		{"/sign-in", s.signInPage, s.signIn, anyone},
		{"/sign-in/code", s.signInCodePage, s.signInCode, anyone},
		{"/sign-out", nil, s.signOut, anyone},
		{"/oauth/authorize", s.consentPage, s.consent, anyone}, // checks the request before it asks to sign in

		{"/settings", s.settings, nil, user},
		{"/settings/tokens", s.tokens, s.createToken, user},
		{"/settings/tokens/new", s.newToken, nil, user},
		{"/settings/tokens/{id}/revoke", nil, s.revokeToken, user},
		{"/settings/applications", s.applications, s.registerApplication, manager},
		{"/settings/applications/new", s.newApplication, nil, manager},
		{"/settings/applications/{id}", s.application, s.editApplication, manager},
		{"/settings/applications/{id}/secret", nil, s.rotateSecret, manager},
		{"/settings/applications/{id}/delete", nil, s.deleteApplication, manager},
		{"/settings/authorizations", s.authorizations, nil, user},
		{"/settings/authorizations/{id}/revoke", nil, s.revokeAuthorization, user},
		{"/settings/sessions", s.sessionList, nil, user},
		{"/settings/sessions/end-others", nil, s.endOtherSessions, user},
		{"/settings/sessions/{id}/end", nil, s.endSession, user},
		{"/settings/security", s.security, nil, user},
		{"/settings/password", nil, s.changePassword, user},
		{"/settings/second-factor", s.secondFactor, s.enableSecondFactor, user},
		{"/settings/second-factor/off", nil, s.disableSecondFactor, user},
		{"/settings/second-factor/recovery-codes", nil, s.renewRecoveryCodes, user},
		{"/settings/", nil, nil, anyone},

		{"/reports", s.reports, nil, user},
		{"/reports/{name}", s.report, nil, user}, // checks the role against the report's scopes
		{"/reports/", nil, nil, anyone},

		{guidesPath + "{$}", s.guides, nil, anyone},
		{guidesPath + "{name}", s.guide, nil, anyone},
	}
}
