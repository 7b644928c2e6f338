package browser

import (
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/pquerna/otp/totp"

	"chairside/ent"
	"chairside/ent/site"
	"chairside/ent/user"
	"chairside/internal/oauth"
	"chairside/internal/principal"
	"chairside/internal/provision"
	"chairside/internal/seal"
	"chairside/internal/seed"
	"chairside/internal/signin/password"
	"chairside/internal/test/harness"
	"chairside/schema"
)

// The users who see the table's pages.
const (
	signedOut   = ""
	admin       = "admin"        // has some of everything
	owner       = "owner"        // of a new, empty practice
	reception   = "reception"    // has the fewest permissions
	twoFactor   = "two-factor"   // has two-factor authentication
	codePending = "code-pending" // has entered the password but no code
	late        = "late"         // signed in more than ten minutes ago
	lateFactor  = "late-factor"  // as late, with two-factor authentication
	idle        = "idle"         // has a locked session
	passkeyUser = "passkey"      // has passkeys and no authenticator app
	latePasskey = "late-passkey" // signed in more than ten minutes ago, with passkeys
)

const ownerEmail = "owner@new.chairside.test"

// practice is a database with data for every page, and the users' sessions.
type practice struct {
	database string // of SQLite; each page gets a copy
	cookies  map[string]*http.Cookie
	names    map[string]string // {name} in the table's paths → value
	key      string            // of the authenticator of the user with two-factor authentication
}

// buildPractice creates the practice, oldest data first, because the clock only moves
// forward.
func buildPractice(t *testing.T) *practice {
	t.Helper()
	e := start(t)
	p := &practice{database: filepath.Join(t.TempDir(), "practice.db"), cookies: map[string]*http.Cookie{}, names: map[string]string{}}
	openPractice(t, e)
	users := map[string]string{
		admin: seed.DemoAdmin, owner: ownerEmail,
		reception: someUser(t, e, schema.RoleReceptionist), twoFactor: someUser(t, e, schema.RoleDentist),
		passkeyUser: someUser(t, e, schema.RoleHygienist),
	}

	e.Clock.Set(harness.Now.AddDate(0, 0, -20))
	makeToken(t, e.Browser(t).SignIn(users[admin]), "Old export", url.Values{"scopes": {"financials:read"}})

	e.Clock.Set(harness.Now.AddDate(0, 0, -3))
	b := e.Browser(t).SignIn(users[admin])
	used := makeToken(t, b, "Recall letters", url.Values{"scopes": {"patient:read", "appointment:read"}})
	makeToken(t, b, longName, url.Values{
		"scopes":  {"appointment", "patient", "practice", "financials", "treatments", "user"},
		"site_id": {someSite(t, e)}, "expires_on": {"2026-12-31"},
	})
	perio := register(t, b, "Perio Charting", "confidential", "https://perio.example/callback")
	public := register(t, b, longName, "public", "com.example.app:/callback\nhttp://localhost/callback\nhttps://"+strings.Repeat("long-name.", 12)+"example/oauth/callback")
	foreign := register(t, e.Browser(t).SignIn(seed.SecondAdmin), "Second Opinion", "confidential", "http://127.0.0.1/callback")
	e.Get(t, "/v1/patients", authorise(t, e, b, perio)).Status(t, http.StatusOK)
	authorise(t, e, b, foreign)
	p.names["{app}"], p.names["{public}"] = perio.id, public.id
	p.names["{consent}"] = perio.ask()
	p.names["{consent of a long name}"] = public.ask() + "&code_challenge_method=S256&code_challenge=" + strings.Repeat("x", 43)
	p.names["{consent to another address}"] = strings.Replace(perio.ask(), "perio.example", "evil.example", 1)

	for name, email := range map[string]string{"{user}": users[reception], "{factor user}": users[passkeyUser]} {
		p.names[name] = strconv.FormatInt(e.DB.Ent.User.Query().Where(user.Email(email)).OnlyX(e.As(t, seed.DemoSlug)).ID, 10)
	}
	addWebhooks(t, e, p)

	e.Clock.Set(harness.Now.Add(-time.Hour))
	e.Get(t, "/v1/patients", used).Status(t, http.StatusOK)
	for path, status := range map[string]int{"/v1/patients/0": 404, "/v1/invoices": 403, "/v1/appointments?after=soon": 400} {
		e.Get(t, path, used).Status(t, status)
	}
	for range 8 {
		e.Get(t, "/v1/appointments", used).Status(t, http.StatusOK)
	}
	for _, agent := range []string{
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0",
		"an unknown program",
	} {
		b := e.Browser(t)
		b.Header.Set("User-Agent", agent)
		b.SignIn(users[admin])
	}
	p.key = enableTwoFactor(t, e, e.Browser(t).SignIn(users[twoFactor]))
	addPasskeys(t, e, users[twoFactor], "Phone")
	addPasskeys(t, e, users[passkeyUser], "Laptop at reception", longName)

	e.Clock.Set(harness.Now.Add(-40 * time.Minute))
	p.cookies[idle] = e.Browser(t).SignIn(users[admin]).Cookies()[0]
	e.Clock.Set(harness.Now.Add(-15 * time.Minute))
	p.cookies[late] = e.Browser(t).SignIn(users[admin]).Cookies()[0]
	p.cookies[latePasskey] = e.Browser(t).SignIn(users[passkeyUser]).Cookies()[0]
	slow := e.Browser(t).SignIn(users[twoFactor])
	slow.Post("/sign-in/code", url.Values{"code": {code(t, e, p.key)}}).Status(t, http.StatusSeeOther)
	p.cookies[lateFactor] = slow.Cookies()[0]

	e.Clock.Set(harness.Now)
	for who, email := range users {
		b := e.Browser(t).SignIn(email)
		if who == twoFactor {
			p.cookies[codePending] = b.Cookies()[0]
			b = e.Browser(t).SignIn(email)
			b.Post("/sign-in/code", url.Values{"code": {code(t, e, p.key)}}).Status(t, http.StatusSeeOther)
		}
		p.cookies[who] = b.Cookies()[0]
	}
	e.Settle() // writes the audit log
	if _, err := e.DB.SQL.ExecContext(t.Context(), "VACUUM INTO ?", p.database); err != nil {
		t.Fatal(err)
	}
	return p
}

// addPasskeys gives a user passkeys, without keys that sign. Each is synced and was used, unless it
// has a long name.
func addPasskeys(t *testing.T, e *harness.Env, email string, names ...string) {
	t.Helper()
	ctx := e.As(t, seed.DemoSlug)
	u := e.DB.Ent.User.Query().Where(user.Email(email)).OnlyX(ctx)
	for _, name := range names {
		e.Tx(t, ctx, func(tx *ent.Client) error {
			add := tx.Passkey.Create().SetUserID(u.ID).SetName(name).SetHost("localhost").SetCredentialID([]byte(email + name)).SetPublicKey([]byte("none")).
				SetSignCount(0).SetBackupEligible(true).SetBackedUp(name != longName).SetAaguid(uuid.Nil)
			if name != longName {
				add.SetLastUsedAt(harness.Now.Add(-time.Hour))
			}
			return add.Exec(ctx)
		})
	}
}

// addWebhooks creates a webhook with a log, and one that failures switched off.
func addWebhooks(t *testing.T, e *harness.Env, p *practice) {
	t.Helper()
	ctx, at := e.As(t, "demo"), harness.Now.AddDate(0, 0, -1)
	var hook, failed *ent.Webhook
	e.Tx(t, ctx, func(tx *ent.Client) (err error) {
		hook, err = tx.Webhook.Create().SetURL("https://example.com/hooks").SetEvents([]string{"patients.*", "appointments.created"}).
			SetSecret(seal.Plain("secret")).SetSuccessfulDeliveries(412).SetFailedDeliveries(3).SetLastDeliveredAt(at).Save(ctx)
		if err != nil {
			return err
		}
		failed, err = tx.Webhook.Create().SetURL("http://127.0.0.1:9/" + strings.Repeat("long-path/", 12)).SetEvents([]string{"*"}).SetSecret(seal.Plain("secret")).
			SetFailedDeliveries(50).SetActive(false).SetDisabledAt(at).SetDisabledReason("50 deliveries in a row failed").Save(ctx)
		return err
	})
	p.names["{hook}"], p.names["{failed hook}"] = hook.ID.String(), failed.ID.String()
	add := func(event, resource, record string, attempts int) *ent.WebhookDeliveryCreate {
		return e.DB.Ent.WebhookDelivery.Create().SetWebhookID(hook.ID).SetEventID("evt_0197c311-9980-7000-a2f6-00114deeb39f").SetEvent(event).SetResource(resource).
			SetRecordID(record).SetChangedAt(at).SetDueAt(at).SetLeasedUntil(at).SetAttempt(attempts)
	}
	delivered := add("patients.updated", "patients", "17", 2).SetSettledAt(at).SetSucceeded(true).SaveX(ctx)
	add("appointments.created", "appointments", "4021", 13).SetSettledAt(at).SaveX(ctx)
	waiting := add("patients.created", "patients", "812", 3).SetDueAt(harness.Now.AddDate(90, 0, 0)).SaveX(ctx)
	add("patients.deleted", "patients", "812", 0).SaveX(ctx)
	p.names["{delivery}"], p.names["{waiting}"] = strconv.FormatInt(delivered.ID, 10), strconv.FormatInt(waiting.ID, 10)
	attempt := func() *ent.WebhookAttemptCreate {
		return e.DB.Ent.WebhookAttempt.Create().SetDeliveryID(delivered.ID).SetAt(at).SetRecords([]byte("{}")).SetBody(seal.Plain(`{"id":"evt_0197c311","event":"patients.updated","object":"patients","data":{"id":17,"first_name":"Ada"},"user":{"id":1}}`)).
			SetHeaders(map[string]string{"Content-Type": "application/json", "webhook-id": "evt_0197c311", "webhook-signature": "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4="})
	}
	attempt().SetStatus(502).SetResponse(seal.Plain("<html><h1>Bad Gateway</h1></html>")).SetDurationMs(1204).SaveX(ctx)
	attempt().SetStatus(200).SetDurationMs(87).SaveX(ctx)
}

// longName has the maximum length of a name.
const longName = "Patient letters, recalls and reminders for Rhosllanerchrugog & Llanfairpwllgwyngyll (test, new) 2026"

// openPractice creates a practice without patients.
func openPractice(t *testing.T, e *harness.Env) {
	t.Helper()
	chosen, err := password.Unchecked(t.Context(), seed.Password)
	if err != nil {
		t.Fatal(err)
	}
	e.Tx(t, principal.AsSystem(t.Context()), func(tx *ent.Client) error {
		_, err := provision.Practice(principal.AsSystem(t.Context()), tx, provision.NewPractice{
			Name: "New Street Dental", TimeZone: "Europe/London", Country: "GB",
			First: provision.Person{FirstName: "Ola", LastName: "Newman", Email: ownerEmail, Password: chosen},
		})
		return err
	})
}

// someUser returns the e-mail address of a user of the main practice.
func someUser(t testing.TB, e *harness.Env, role schema.Role) string {
	t.Helper()
	u, err := e.DB.Ent.User.Query().Where(user.RoleEQ(role), user.Active(true)).Order(user.ByID()).First(e.As(t, "demo"))
	if err != nil {
		t.Fatal(err)
	}
	return u.Email
}

// someSite returns the id of a site that a token can be limited to.
func someSite(t *testing.T, e *harness.Env) string {
	t.Helper()
	found, err := e.DB.Ent.Site.Query().Where(site.Active(true)).Order(site.ByID()).First(e.As(t, "demo"))
	if err != nil {
		t.Fatal(err)
	}
	return found.ID.String()
}

// makeToken creates a personal access token.
func makeToken(t *testing.T, b *harness.Browser, name string, values url.Values) string {
	t.Helper()
	values.Set("name", name)
	form := b.Get("/settings/tokens/new").Form(t, "/settings/tokens")
	return b.Submit(form, values).Status(t, http.StatusOK).Value(t, "token")
}

// application is a registered application.
type application struct{ id, secret, redirect string }

// asked are the scopes that the applications request.
const asked = "appointment patient:read patient:update user:read"

// register registers an application, of kind "confidential" or "public", on the pages.
func register(t *testing.T, b *harness.Browser, name, kind, redirects string) application {
	t.Helper()
	form := b.Get("/settings/applications/new").Form(t, "/settings/applications")
	made := b.Submit(form, url.Values{
		"name": {name}, "kind": {kind}, "redirect_uris": {redirects},
		"scopes": strings.Fields(asked),
	}).Status(t, http.StatusOK)
	a := application{id: made.Value(t, "client-id")}
	a.redirect, _, _ = strings.Cut(redirects, "\n")
	if kind == "confidential" {
		a.secret = made.Value(t, "client-secret")
	}
	return a
}

// ask returns the path of the application's authorization request.
func (a application) ask() string {
	return oauth.AuthorizePath + "?" + url.Values{
		"response_type": {"code"}, "client_id": {a.id}, "redirect_uri": {a.redirect}, "scope": {asked}, "state": {"x"},
	}.Encode()
}

// authorise authorises the application as b's user and returns the token.
func authorise(t *testing.T, e *harness.Env, b *harness.Browser, a application) string {
	t.Helper()
	to := b.Submit(b.Get(a.ask()).Form(t, oauth.AuthorizePath), url.Values{"decision": {"allow"}}).Redirect(t)
	token, _ := e.Post(t, oauth.TokenPath, "", map[string]string{
		"grant_type": "authorization_code", "code": to.Query().Get("code"), "redirect_uri": a.redirect,
		"client_id": a.id, "client_secret": a.secret,
	}).Status(t, http.StatusOK).JSON["access_token"].(string)
	return token
}

// enableTwoFactor turns on two-factor authentication and returns the setup key.
func enableTwoFactor(t *testing.T, e *harness.Env, b *harness.Browser) (key string) {
	t.Helper()
	page := b.Get("/settings/second-factor")
	key = page.Value(t, "setup-key")
	b.Submit(page.Form(t, "/settings/second-factor"), url.Values{"code": {code(t, e, key)}}).Status(t, http.StatusOK)
	return key
}

// code returns the code that an authenticator shows now.
func code(t testing.TB, e *harness.Env, key string) string {
	t.Helper()
	code, err := totp.GenerateCode(key, e.Clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// address fills in the names in a path of the table.
func (shown *practice) address(path string) string {
	for name, value := range shown.names {
		path = strings.ReplaceAll(path, name, value)
	}
	return path
}
