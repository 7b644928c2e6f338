package browser

import (
	"net/http"
	"strings"
	"time"

	"chairside/ent"
	"chairside/ent/user"
	"chairside/internal/report"
	"chairside/internal/seed"
	"chairside/schema"
)

// state is a page in one state.
type state struct {
	name   string       // of its screenshots
	who    string       // the signed-in user
	path   string       // start path; practice.names has {app} and so on
	status int          // of the final page, 0 for 200
	then   func(p *tab) // steps on the page, or nil
}

const (
	forbidden = http.StatusForbidden
	wrong     = http.StatusUnprocessableEntity
)

// pages returns all pages in all states that look different.
func pages() []state {
	all := []state{
		{"sign-in", signedOut, "/sign-in", 0, nil},
		{"sign-in-nothing-given", signedOut, "/sign-in", wrong, submit("Sign in")},
		{"sign-in-wrong", signedOut, "/sign-in", wrong, func(p *tab) { p.giveCredentials(seed.DemoAdmin, "wrong-password") }},
		{"sign-in-too-often", signedOut, "/sign-in", http.StatusTooManyRequests, func(p *tab) {
			for range 11 {
				p.giveCredentials("unknown@demo.chairside.test", "wrong-password")
			}
		}},
		{"sign-in-again", admin, "/sign-in", 0, nil},
		{"sign-in-signed-out", admin, "/settings/sessions", 0, submit("Sign out")},
		{"sign-in-code", codePending, "/sign-in/code", 0, nil},
		{"sign-in-code-wrong", codePending, "/sign-in/code", wrong, func(p *tab) { p.fill("Authentication code", "000000").submit("Sign in") }},

		{"front", signedOut, "/", 0, nil},
		{"front-signed-in", reception, "/", 0, nil},
		{"start-of-administrator", admin, "/home", 0, nil},
		{"start-of-practitioner", twoFactor, "/home", 0, nil},
		{"status", admin, "/settings/status", 0, nil},
		{"status-of-owner", owner, "/settings/status", 0, nil},
		{"status-problem", admin, "/settings/status", 0, func(p *tab) {
			if _, err := p.env.DB.SQL.ExecContext(p.t.Context(), "UPDATE counters SET n = n + 1"); err != nil {
				p.t.Fatal(err)
			}
			p.env.Clock.Advance(time.Minute)
			p.visit("/settings/status").has("1 problem found")
		}},
		{"status-of-reception", reception, "/settings/status", forbidden, nil},
		{"mistyped", admin, "/appointmnts", http.StatusNotFound, nil},
		{"mistyped-signed-out", signedOut, "/appointmnts", http.StatusNotFound, nil},

		{"consent", admin, "{consent}", 0, nil},
		{"consent-long-names", admin, "{consent of a long name}", 0, nil},
		{"consent-refused", admin, "{consent to another address}", http.StatusBadRequest, nil},

		{"tokens", admin, "/settings", 0, nil},
		{"tokens-menu", admin, "/settings/tokens", 0, func(p *tab) {
			p.resize(phone, schemes[0])
			p.unfold("Menu")
		}},
		{"tokens-none", owner, "/settings/tokens", 0, nil},
		{"tokens-of-reception", reception, "/settings/tokens", 0, nil},
		{"tokens-revoke", admin, "/settings/tokens", 0, unfold("Revoke Recall letters")},
		{"tokens-revoked", admin, "/settings/tokens", 0, func(p *tab) { p.unfold("Revoke Recall letters").submit("Revoke token Recall letters") }},
		{"token-new", admin, "/settings/tokens/new", 0, nil},
		{"token-new-of-reception", reception, "/settings/tokens/new", 0, nil},
		{"token-new-read-only", admin, "/settings/tokens/new", 0, func(p *tab) { p.press(p.find("radio", readOnlyChoice(p))) }},
		{"token-new-wrong", admin, "/settings/tokens/new", wrong, func(p *tab) { p.pick("Expires (optional)", "2026-06-01").submit("Create token") }},
		{"token-made", admin, "/settings/tokens/new", 0, func(p *tab) {
			p.fill("Name", "Recall letters").grant("patient:read").grant("appointment").submit("Create token")
		}},

		{"applications", admin, "/settings/applications", 0, nil},
		{"applications-none", owner, "/settings/applications", 0, nil},
		{"applications-of-reception", reception, "/settings/applications", forbidden, nil},
		{"application-new", admin, "/settings/applications/new", 0, nil},
		{"application-new-wrong", admin, "/settings/applications/new", wrong, func(p *tab) {
			p.fill("Redirect URIs", "http://perio.example/callback").submit("Register")
		}},
		{"application-made", admin, "/settings/applications/new", 0, func(p *tab) {
			p.fill("Name", "Perio Charting").fill("Redirect URIs", "https://perio.example/callback").grant("patient:read").submit("Register")
		}},
		{"application-made-public", admin, "/settings/applications/new", 0, func(p *tab) {
			p.press(p.find("radio", "In a browser, or on a phone or desktop Public client: it cannot keep a secret and must use PKCE."))
			p.fill("Name", longName).fill("Redirect URIs", "com.example.app:/callback").grant("patient:read").submit("Register")
		}},
		{"application", admin, "/settings/applications/{app}", 0, nil},
		{"application-public", admin, "/settings/applications/{public}", 0, unfold("Show the four steps")},
		{"application-saved", admin, "/settings/applications/{app}", 0, submit("Save changes")},
		{"application-wrong", admin, "/settings/applications/{app}", wrong, func(p *tab) { p.fill("Name", "").submit("Save changes") }},
		{"application-confirm", admin, "/settings/applications/{app}", 0, func(p *tab) { p.unfold("Generate a new client secret").unfold("Delete application") }},
		{"application-new-secret", admin, "/settings/applications/{app}", 0, func(p *tab) { p.unfold("Generate a new client secret").submit("Replace client secret") }},
		{"application-deleted", admin, "/settings/applications/{app}", 0, func(p *tab) { p.unfold("Delete application").submit("Delete Perio Charting") }},

		{"patient-data", admin, "/settings/patient-data", 0, nil},
		{"patient-data-wrong", admin, "/settings/patient-data?patient=x", wrong, nil},
		{"patient-data-found", admin, "/settings/patient-data?patient=1", 0, nil},
		{"patient-data-file-missing", admin, "/settings/patient-data/0.json", http.StatusNotFound, nil},
		{"patient-data-of-reception", reception, "/settings/patient-data", forbidden, nil},
		{"audit", admin, "/settings/audit", 0, nil},
		{"audit-filtered", admin, "/settings/audit", 0, func(p *tab) { p.fill("Patient ID", "999999").submit("Show") }},
		{"audit-wrong", admin, "/settings/audit", wrong, func(p *tab) { p.fill("Patient ID", "Smith").submit("Show") }},
		{"audit-of-reception", reception, "/settings/audit", forbidden, nil},

		{"confirm", late, "/settings/tokens/new", 0, nil},
		{"confirm-wrong", late, "/settings/tokens/new", wrong, submit("Continue")},
		{"confirm-code", lateFactor, "/settings/second-factor", 0, nil},
		{"confirm-code-wrong", lateFactor, "/settings/second-factor", wrong, submit("Continue")},
		{"confirm-locked", idle, "/settings/practice", 0, func(p *tab) {
			p.env.ChangePractice(p.t, func(change *ent.PracticeUpdateOne) { change.SetIdleLockMinutes(5) })
			p.env.Clock.Advance(6 * time.Minute)
			p.fill("Lock idle sessions after (minutes)", "45").submit("Save changes").has("was not used for 5 minutes or more")
		}},
		{"confirm-asked", admin, "/sign-in/confirm", 0, nil},
		{"practice", admin, "/settings/practice", 0, nil},
		{"practice-wrong", admin, "/settings/practice", wrong, func(p *tab) { p.fill("Lock idle sessions after (minutes)", "4").submit("Save changes") }},
		{"practice-saved", admin, "/settings/practice", 0, submit("Save changes")},
		{"practice-of-reception", reception, "/settings/practice", forbidden, nil},
		{"second-factor-required", admin, "/settings/practice", 0, func(p *tab) {
			p.choose("Require two-factor authentication", "Everyone").submit("Save changes").has("requires two-factor authentication")
		}},
		{"site-limits", admin, "/settings/site-limits", 0, nil},
		{"site-limits-none", owner, "/settings/site-limits", 0, nil},
		{"site-limits-wrong", admin, "/settings/site-limits", wrong, func(p *tab) {
			p.unfold("Lift limit of " + longName).submit("Lift for an hour the limit of " + longName)
		}},
		{"site-limits-lifted", admin, "/settings/site-limits", 0, func(p *tab) {
			p.unfold("Lift limit of "+longName).fill("Reason", "The other site has no power.").submit("Lift for an hour the limit of " + longName)
		}},
		{"site-limits-of-reception", reception, "/settings/site-limits", forbidden, nil},
		{"sign-ins", admin, "/settings/sign-ins", 0, nil},
		{"sign-ins-dismissed", admin, "/settings/sign-ins", 0, submit("It was me")},
		{"sign-ins-of-owner", owner, "/settings/sign-ins", 0, nil},

		{"users", admin, "/settings/users", 0, nil},
		{"users-of-reception", reception, "/settings/users", forbidden, nil},
		{"user-new", admin, "/settings/users/new", 0, nil},
		{"user-new-wrong", admin, "/settings/users/new", wrong, func(p *tab) { p.fill("E-mail address", "ann").submit("Add user") }},
		{"user-invited", admin, "/settings/users/new", 0, func(p *tab) {
			p.fill("E-mail address", "ann@new.test").fill("First name", "Ann").fill("Last name", longName).choose("Role", "Dentist").choose("Site", "High Street Dental")
			p.submit("Add user")
		}},
		{"user", admin, "/settings/users/{user}", 0, nil},
		{"user-of-self", admin, "/settings/users/1", 0, nil},
		{"user-saved", admin, "/settings/users/{user}", 0, submit("Save changes")},
		{"user-wrong", admin, "/settings/users/{user}", wrong, func(p *tab) { p.fill("Last name", "").submit("Save changes") }},
		{"user-disabled", admin, "/settings/users/{user}", 0, func(p *tab) { p.unfold("Disable user").submit("Disable " + receptionist(p)) }},
		{"user-signed-out", admin, "/settings/users/{user}", 0, submit("Sign out everywhere")},
		{"user-second-factor", admin, "/settings/users/{factor user}", 0, unfold("Turn off two-factor authentication")},
		{"invitation", admin, "/settings/users/{user}", 0, func(p *tab) { openInvitation(p) }},
		{"invitation-wrong", admin, "/settings/users/{user}", wrong, func(p *tab) {
			openInvitation(p).fill("Password", "short").fill("Confirm password", "short").submit("Save password")
		}},
		{"invitation-ended", signedOut, "/sign-in/invitation?invitation=x", http.StatusNotFound, nil},

		{"webhooks", admin, "/settings/webhooks", 0, nil},
		{"webhooks-none", owner, "/settings/webhooks", 0, nil},
		{"webhooks-of-reception", reception, "/settings/webhooks", forbidden, nil},
		{"webhook-new", admin, "/settings/webhooks/new", 0, nil},
		{"webhook-new-wrong", admin, "/settings/webhooks/new", wrong, func(p *tab) {
			p.fill("URL", "example.com").submit("Create webhook")
		}},
		{"webhook-made", admin, "/settings/webhooks/new", 0, func(p *tab) {
			p.fill("URL", "https://example.com/hooks").tick("Patients", "Created").submit("Create webhook")
		}},
		{"webhook", admin, "/settings/webhooks/{hook}", 0, nil},
		{"webhook-switched-off", admin, "/settings/webhooks/{failed hook}", 0, nil},
		{"webhook-edit", admin, "/settings/webhooks/{hook}", 0, unfold("Change URL and events")},
		{"webhook-saved", admin, "/settings/webhooks/{hook}", 0, func(p *tab) { p.unfold("Change URL and events").submit("Save changes") }},
		{"webhook-wrong", admin, "/settings/webhooks/{hook}", wrong, func(p *tab) {
			p.unfold("Change URL and events").fill("URL", "").submit("Save changes")
		}},
		{"webhook-paused", admin, "/settings/webhooks/{hook}", 0, submit("Pause")},
		{"webhook-resumed", admin, "/settings/webhooks/{failed hook}", 0, submit("Resume")},
		{"webhook-confirm", admin, "/settings/webhooks/{hook}", 0, func(p *tab) { p.unfold("Generate a new signing secret").unfold("Delete webhook") }},
		{"webhook-new-secret", admin, "/settings/webhooks/{hook}", 0, func(p *tab) { p.unfold("Generate a new signing secret").submit("Replace signing secret") }},
		{"webhook-deleted", admin, "/settings/webhooks/{hook}", 0, func(p *tab) { p.unfold("Delete webhook").submit("Delete this webhook") }},
		{"webhook-test", admin, "/settings/webhooks/{failed hook}", 0, submit("Send a test event")},
		{"webhook-delivery", admin, "/settings/webhooks/{hook}/deliveries/{delivery}", 0, unfold("Show the request of attempt 2")},
		{"webhook-redelivered", admin, "/settings/webhooks/{hook}/deliveries/{delivery}", 0, submit("Redeliver")},
		{"webhook-waiting", admin, "/settings/webhooks/{hook}/deliveries/{waiting}", 0, nil},
		{"webhook-retried", admin, "/settings/webhooks/{hook}/deliveries/{waiting}", 0, submit("Retry now")},

		{"requests", admin, "/settings/requests", 0, nil},
		{"requests-of-a-token", admin, "/settings/requests", 0, func(p *tab) { p.choose("Token", "Recall letters").submit("Show") }},
		{"requests-none", owner, "/settings/requests", 0, nil},
		{"requests-not-found", admin, "/settings/requests?request=x", 0, nil},
		{"requests-wrong", admin, "/settings/requests?token=x", wrong, nil},
		{"requests-of-reception", reception, "/settings/requests", 0, nil},
		{"records", admin, "/settings/records", 0, nil},
		{"records-of-reception", reception, "/settings/records", forbidden, nil},
		{"record-list", admin, "/settings/records/patients", 0, nil},
		{"record-list-filtered", admin, "/settings/records/appointments?patient_id=3", 0, nil},
		{"record-list-none", owner, "/settings/records/patients", 0, nil},
		{"record-list-needs-filters", admin, "/settings/records/fees", 0, nil},
		{"record-list-wrong", admin, "/settings/records/appointments?after=soon", wrong, nil},
		{"record", admin, "/settings/records/patients/3", 0, nil},
		{"record-nested", admin, "/settings/records/invoices/3", 0, nil},
		{"record-missing", admin, "/settings/records/patients/0", http.StatusNotFound, nil},

		{"authorizations", admin, "/settings/authorizations", 0, nil},
		{"authorizations-none", owner, "/settings/authorizations", 0, nil},
		{"authorizations-confirm", admin, "/settings/authorizations", 0, unfold("Revoke Second Opinion")},
		{"authorizations-revoked", admin, "/settings/authorizations", 0, func(p *tab) {
			p.unfold("Revoke Second Opinion").submit("Revoke access of Second Opinion")
		}},

		{"sessions", admin, "/settings/sessions", 0, nil},
		{"sessions-one", owner, "/settings/sessions", 0, nil},
		{"sessions-confirm", admin, "/settings/sessions", 0, unfold("Sign out everywhere else")},
		{"sessions-ended", admin, "/settings/sessions", 0, func(p *tab) { p.submit("Revoke session of Firefox on Windows") }},

		{"reference", signedOut, "/docs", 0, nil},
		{"reference-operation", signedOut, "/docs/operations/createAppointment", 0, nil},
		{"reference-schema-signed-in", admin, "/docs/schemas/Appointment", 0, nil},
		{"reference-search", signedOut, "/docs/search?q=appointment", 0, nil},
		{"data", signedOut, "/docs/data", 0, nil},
		{"data-diagram", admin, "/docs/data/diagram", 0, nil},
		{"guides", signedOut, "/docs/guides/", 0, nil},
		{"guides-signed-in", admin, "/docs/guides/", 0, nil},
		{"guide", signedOut, "/docs/guides/errors", 0, nil},
		{"guide-programs", signedOut, "/docs/guides/booking", 0, unfold("On this page")},
		{"guide-tables", signedOut, "/docs/guides/moving", 0, nil},
		{"guide-search", signedOut, "/docs/search?q=retry", 0, nil},
		{"guide-signed-in", admin, "/docs/guides/errors", 0, nil},
		{"guide-unknown", signedOut, "/docs/guides/nothing", http.StatusNotFound, nil},

		{"security", admin, "/settings/security", 0, nil},
		{"security-wrong", admin, "/settings/security", wrong, func(p *tab) {
			p.fill("Current password", seed.Password).fill("New password", "one-password").fill("Confirm new password", "another-password").submit("Change password")
		}},
		{"security-changed", admin, "/settings/security", 0, func(p *tab) {
			p.fill("Current password", seed.Password).fill("New password", newPassword).fill("Confirm new password", newPassword).submit("Change password")
		}},
		{"security-two-factor", twoFactor, "/settings/security", 0, nil},
		{"security-two-factor-wrong", twoFactor, "/settings/security", wrong, func(p *tab) {
			p.unfold("Turn off two-factor authentication").fill("Password", "wrong-password").submit("Turn off")
		}},
		{"security-passkeys", passkeyUser, "/settings/security", 0, func(p *tab) { p.unfold("Rename " + longName).unfold("Remove Laptop at reception") }},
		{"security-passkeys-wrong", passkeyUser, "/settings/security", wrong, func(p *tab) {
			p.unfold("Rename Laptop at reception").fill("Name", "").submit("Rename Laptop at reception")
		}},
		{"security-passkey-renamed", passkeyUser, "/settings/security", 0, func(p *tab) {
			p.unfold("Rename Laptop at reception").fill("Name", "Laptop").submit("Rename Laptop at reception")
		}},
		{"security-passkey-removed", passkeyUser, "/settings/passkeys", 0, func(p *tab) {
			p.unfold("Remove Laptop at reception").submit("Remove passkey Laptop at reception")
		}},
		{"security-passkey-required", passkeyUser, "/settings/tokens", 0, func(p *tab) { requireFactor(p).visit("/settings/security").has("By passkey") }},
		{"passkey-new", admin, "/settings/passkeys/new", 0, nil},
		{"passkey-new-unnamed", admin, "/settings/passkeys/new", 0, func(p *tab) {
			p.fill("Name", "").press(p.find("button", "Add passkey"))
			p.until("the name is refused", func() bool { return strings.Contains(p.text(), "Enter a name.") })
		}},
		{"passkey-required", admin, "/settings/practice", 0, func(p *tab) {
			p.choose("Require two-factor authentication", "Everyone").submit("Save changes").follow("Add a passkey instead")
		}},
		{"sign-in-code-passkey", signedOut, "/sign-in", 0, func(p *tab) {
			requireFactor(p).giveCredentials(someUser(p.t, p.env, schema.RoleHygienist), seed.Password).has("use your passkey")
		}},
		{"sign-in-code-passkey-wrong", signedOut, "/sign-in", wrong, func(p *tab) {
			requireFactor(p).giveCredentials(someUser(p.t, p.env, schema.RoleHygienist), seed.Password)
			p.load(func() { eval[any](p, "document.querySelector('[data-passkey]').submit()") })
		}},
		{"confirm-passkey", latePasskey, "/settings/tokens", 0, func(p *tab) { requireFactor(p).visit("/settings/tokens/new").has("use your passkey") }},
		{"second-factor", admin, "/settings/second-factor", 0, nil},
		{"second-factor-wrong", admin, "/settings/second-factor", wrong, func(p *tab) { p.fill("Authentication code", "000000").submit("Turn on") }},
		{"recovery-codes", twoFactor, "/settings/security", 0, func(p *tab) {
			p.env.Clock.Advance(time.Minute) // a code is taken once
			p.unfold("Generate new recovery codes").fill("Password", seed.Password).fill("Authentication code", code(p.t, p.env, p.key)).submit("Generate new recovery codes")
		}},

		{"not-found", admin, "/settings/nothing", http.StatusNotFound, nil},
		{"not-found-signed-out", signedOut, "/settings/nothing", http.StatusNotFound, nil},
		{"wrong-method", signedOut, "/sign-out", http.StatusMethodNotAllowed, nil},

		{"diary", admin, "/diary", 0, nil},
		{"diary-rooms", reception, "/diary?by=room", 0, nil},
		{"diary-closed", admin, "/diary?to=2026-07-05", 0, nil},
		{"diary-wrong", admin, "/diary?site=0", wrong, nil},
		{"diary-week", admin, "/diary/week", 0, nil},
		{"reports", admin, "/reports", 0, nil},
		{"reports-of-reception", reception, "/reports", 0, nil},
		{"report-of-managers", reception, "/reports/income", forbidden, nil},
		{"report-all-columns", admin, "/reports/recalls", 0, func(p *tab) { p.press(p.find("checkbox", "Show")) }},
		{"report-sorted", admin, "/reports/aged-debt?sort=-over_90", 0, nil},
		{"report-compared", admin, "/reports/income?compare=yes&from=2026-04-01&to=2026-06-30", 0, nil},
		{"report-compared-as-at", admin, "/reports/contract-performance?compare=yes", 0, nil},
		{"report-records", admin, "/reports/income?rows=paid", 0, nil},
		{"report-records-of-a-day", admin, "/reports/day-sheet?rows=visits", 0, nil},
		{"report-no-records", admin, "/reports/claims?rows=claims&in=status:Nothing", 0, nil},
		{"report-definitions", admin, "/reports/contract-performance/definitions", 0, nil},
		{"report-wrong", admin, "/reports/income?from=2026-07-01&to=2026-06-01", wrong, nil},
	}
	for _, r := range report.All {
		all = append(all,
			state{"report-" + r.Name, admin, "/reports/" + r.Name, 0, nil},
			state{"report-" + r.Name + "-empty", owner, "/reports/" + r.Name, 0, nil},
		)
	}
	return all
}

// readOnlyChoice is the accessible name of the choice of all scopes to read.
func readOnlyChoice(p *tab) string {
	p.t.Helper()
	return eval[string](p, "document.querySelector('[name=access][value=read]').parentElement.innerText.replace(/\\s+/g, ' ')")
}

// requireFactor lets the practice require two-factor authentication of everyone.
func requireFactor(p *tab) *tab {
	p.t.Helper()
	p.env.ChangePractice(p.t, func(change *ent.PracticeUpdateOne) { change.SetSecondFactorLevel(1) })
	return p
}

// receptionist is the name of the user {user}.
func receptionist(p *tab) string {
	p.t.Helper()
	u := p.env.DB.Ent.User.Query().Where(user.Email(someUser(p.t, p.env, schema.RoleReceptionist))).OnlyX(p.env.As(p.t, seed.DemoSlug))
	return schema.FullName(u.FirstName, u.LastName)
}

// openInvitation creates an invitation on the page of a user and opens it.
func openInvitation(p *tab) *tab {
	p.t.Helper()
	p.submit("Create a link to choose a password")
	link := eval[string](p, "document.getElementById('invitation-link').textContent")
	return p.visit("/" + strings.SplitN(link, "/", 4)[3])
}

// newPassword is the password that a user changes to.
const newPassword = "kettle mango on the hill"

func submit(button string) func(p *tab) { return func(p *tab) { p.submit(button) } }

func unfold(summary string) func(p *tab) { return func(p *tab) { p.unfold(summary) } }
