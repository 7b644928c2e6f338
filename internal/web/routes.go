package web

import (
	"net/http"

	"chairside/internal/scope"
)

// Route is a path with its actions. A nil action means that the method is not
// allowed. The navigation has the levels from here (menu.go).
type Route struct {
	Path      string // a pattern of http.ServeMux
	get, post action
	level     scope.Level // lowest permission level
	rules     rules
}

// rules are what a route needs or allows beside its level.
type rules uint8

const (
	proofToGet      rules = 1 << iota // GET needs a recent proof of the password or the second factor
	proofToPost                       // POST does
	proofToDownload                   // GET does if the path names a file of a report
	proofToAllow                      // all but a refusal do, once the request of the application is checked (checkRequest)
	beforeSetUp                       // also for visitors who must set up two-factor authentication first

	plain rules = 0
	proof       = proofToGet | proofToPost
)

// action serves a request, or returns an error that fail shows as a page.
type action func(w http.ResponseWriter, r *http.Request) error

// The lowest permission levels of the routes.
const (
	anyone  = scope.Level(0) // also signed-out visitors
	user    = scope.Reception
	manager = scope.Manager

	administrator = scope.Administrator
)

// Routes returns all pages.
func (s *Site) Routes() []Route {
	return []Route{
		{FrontPath, s.front, nil, anyone, beforeSetUp},
		{homePath, s.home, nil, user, plain},

		{"/sign-in", s.signInPage, s.signIn, anyone, beforeSetUp},
		{"/sign-in/code", s.signInCodePage, s.signInCode, anyone, beforeSetUp},
		{passkeyOptionsPath, nil, s.passkeyOptions, anyone, beforeSetUp}, // for the three pages around it
		{confirmPath, s.confirmPage, s.confirm, anyone, beforeSetUp},     // for locked sessions, which have no visitor
		{invitationPath, s.invitationPage, s.acceptInvitation, anyone, beforeSetUp},
		{"/sign-out", nil, s.signOut, anyone, beforeSetUp},
		{"/oauth/authorize", s.consentPage, s.consent, anyone, proofToAllow | beforeSetUp}, // checks the request before it asks to sign in or to set up two-factor authentication

		{"/settings", s.settings, nil, user, plain},
		{"/settings/tokens", s.tokens, s.createToken, user, proofToPost},
		{"/settings/tokens/new", s.newToken, nil, user, proof},
		{"/settings/tokens/{id}/revoke", nil, s.revokeToken, user, plain},
		{"/settings/applications", s.applications, s.registerApplication, manager, proofToPost},
		{"/settings/applications/new", s.newApplication, nil, manager, proof},
		{"/settings/applications/{id}", s.application, s.editApplication, manager, proofToPost},
		{"/settings/applications/{id}/secret", nil, s.rotateSecret, manager, proof},
		{"/settings/applications/{id}/delete", nil, s.deleteApplication, manager, plain},
		{requestsPath, s.requests, nil, user, plain}, // shows users below managers their own requests
		{webhooksPath, s.webhooks, s.createWebhook, administrator, proofToPost},
		{webhooksPath + "/new", s.newWebhook, nil, administrator, proof},
		{webhooksPath + "/{id}", s.webhook, s.editWebhook, administrator, proofToPost},
		{webhooksPath + "/{id}/pause", nil, s.pauseWebhook, administrator, plain},
		{webhooksPath + "/{id}/resume", nil, s.resumeWebhook, administrator, proof},
		{webhooksPath + "/{id}/secret", nil, s.rotateWebhookSecret, administrator, proof},
		{webhooksPath + "/{id}/test", nil, s.testWebhook, administrator, proof},
		{webhooksPath + "/{id}/delete", nil, s.deleteWebhook, administrator, plain},
		{webhooksPath + "/{id}/deliveries/{delivery}", s.webhookDelivery, nil, administrator, plain},
		{webhooksPath + "/{id}/deliveries/{delivery}/redeliver", nil, s.redeliver, administrator, proof},
		{webhooksPath + "/{id}/deliveries/{delivery}/retry", nil, s.retryDelivery, administrator, proof},
		{usersPath, s.users, s.createUser, administrator, proofToPost},
		{usersPath + "/new", s.newUser, nil, administrator, proof},
		{usersPath + "/{id}", s.user, s.editUser, administrator, proofToPost},
		{usersPath + "/{id}/invitation", nil, s.inviteUser, administrator, proof},
		{usersPath + "/{id}/end-sessions", nil, s.endUserSessions, administrator, plain},
		{usersPath + "/{id}/second-factor-off", nil, s.resetUserFactor, administrator, proof},
		{usersPath + "/{id}/disable", nil, s.disableUser, administrator, plain},
		{usersPath + "/{id}/enable", nil, s.enableUser, administrator, proof},
		{patientDataPath, s.patientData, nil, manager, proof},
		{patientDataPath + "/{file}", s.patientDataFile, nil, manager, proof},
		{auditPath, s.auditLog, nil, manager, plain},
		{recordsPath, s.recordIndex, nil, manager, plain},
		{recordsPath + "/{resource}", s.recordList, nil, manager, plain},
		{recordsPath + "/{resource}/{id}", s.record, nil, manager, plain},
		{practiceSettingsPath, s.practiceSettings, s.savePracticeSettings, manager, proofToPost},
		{siteLimitsPath, s.siteLimits, nil, manager, plain},
		{siteLimitsPath + "/{id}/lift", nil, s.liftSiteLimit, manager, proof},
		{siteLimitsPath + "/{id}/restore", nil, s.restoreSiteLimit, manager, plain},
		{statusPath, s.status, nil, administrator, plain},
		{signInsPath, s.signIns, nil, user, plain},
		{signInsPath + "/dismiss", nil, s.dismissSignIns, user, plain},
		{"/settings/authorizations", s.authorizations, nil, user, plain},
		{"/settings/authorizations/{id}/revoke", nil, s.revokeAuthorization, user, plain},
		{"/settings/sessions", s.sessionList, nil, user, plain},
		{"/settings/sessions/end-others", nil, s.endOtherSessions, user, plain},
		{"/settings/sessions/{id}/end", nil, s.endSession, user, plain},
		{"/settings/security", s.security, nil, user, plain},
		{"/settings/password", nil, s.changePassword, user, plain},
		{passkeysPath, s.passkeys, s.addPasskey, user, proofToPost | beforeSetUp},
		{passkeysPath + "/new", s.newPasskey, nil, user, proof | beforeSetUp},
		{passkeyAddPath, nil, s.newPasskeyOptions, user, proof | beforeSetUp},
		{passkeysPath + "/{id}/rename", nil, s.renamePasskey, user, plain},
		{passkeysPath + "/{id}/remove", nil, s.removePasskey, user, proof},
		{"/settings/second-factor", s.secondFactor, s.enableSecondFactor, user, proof | beforeSetUp},
		{"/settings/second-factor/off", nil, s.disableSecondFactor, user, plain},
		{"/settings/second-factor/recovery-codes", nil, s.renewRecoveryCodes, user, plain},

		{"/reports", s.reports, nil, user, plain},
		{"/reports/{name}/definitions", s.reportDefinitions, nil, user, plain}, // as the report
		{"/reports/{name}", s.report, nil, user, proofToDownload},              // checks the role against the report's scopes

		{referencePath, s.reference, nil, anyone, plain},
		{referencePath + "/operations/{id}", s.operation, nil, anyone, plain},
		{referencePath + "/schemas/{name}", s.schema, nil, anyone, plain},
		{referencePath + "/search", s.searchReference, nil, anyone, plain},
		{dataPath, s.dataDictionary, nil, anyone, plain},
		{diagramPath, s.entityDiagram, nil, anyone, plain},

		{diaryPath, s.diaryDay, nil, user, plain}, // checks the role as the report does
		{weekPath, s.diaryWeek, nil, user, plain},

		{guidesPath + "{$}", s.guides, nil, anyone, plain},
		{guidesPath + "{name}", s.guide, nil, anyone, plain},
	}
}
