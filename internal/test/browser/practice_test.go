package browser

import (
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"chairside/ent"
	"chairside/ent/site"
	"chairside/ent/user"
	"chairside/internal/oauth"
	"chairside/internal/principal"
	"chairside/internal/provision"
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

	e.Clock.Set(harness.Now.Add(-time.Hour))
	e.Get(t, "/v1/patients", used).Status(t, http.StatusOK)
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
	if _, err := e.DB.SQL.ExecContext(t.Context(), "VACUUM INTO ?", p.database); err != nil {
		t.Fatal(err)
	}
	return p
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
func someUser(t *testing.T, e *harness.Env, role schema.Role) string {
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
