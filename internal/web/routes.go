package web

import (
	"net/http"

	"chairside/internal/scope"
)

// Route is one address. An action that is nil is a method that the address
// does not have; a route with neither is there to say that there is no such page.
type Route struct {
	Path      string // a pattern of http.ServeMux
	get, post action
	level     scope.Level // least permission level of the visitor
}

// action answers a request, or returns an error that becomes a page.
type action func(w http.ResponseWriter, r *http.Request) error

// The least permission levels.
const (
	anyone  = scope.Level(0) // nobody need have signed in
	user    = scope.Reception
	manager = scope.Manager
)

// Routes are all the pages there are.
func (s *Site) Routes() []Route {
	return []Route{
		{"/sign-in", s.signInPage, s.signIn, anyone},
		{"/sign-in/code", s.signInCodePage, s.signInCode, anyone},
		{"/sign-out", nil, s.signOut, anyone},
		{"/oauth/authorize", s.consentPage, s.consent, anyone}, // the request is checked first

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
		{"/reports/{name}", s.report, nil, user}, // whose role may hold what the report reads
		{"/reports/", nil, nil, anyone},
	}
}
