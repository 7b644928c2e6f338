package oauth_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/user"
	"chairside/internal/oauth"
	"chairside/internal/principal"
	"chairside/internal/seed"
	"chairside/internal/store"
	"chairside/internal/test/harness"
)

// The redirect URIs of the applications.
const (
	callback       = "https://app.example.com/callback"
	queryCallback  = "https://app.example.com/with?a=1&b=2"
	localCallback  = "http://127.0.0.1:9999/callback"
	publicCallback = "com.example.app:/callback"
	secondCallback = "https://second.example.com/callback"
)

// verifier is a code_verifier; {challenge} is its challenge.
const verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"

// The valid request and the valid exchange, which cases change.
const (
	goodRequest = "client_id={app}&redirect_uri=" + callback + "&response_type=code&scope=patient:read&state=xyz" +
		"&code_challenge={challenge}&code_challenge_method=S256"
	goodExchange = "client_id={app}&client_secret={secret}&grant_type=authorization_code&code={code}" +
		"&redirect_uri=" + callback + "&code_verifier=" + verifier
	asPublicClient = "client_id={public}&redirect_uri=" + publicCallback
)

// world is a server, a signed-in user, and applications:
//
//	{app} {secret}              the one under attack: appointment, patient:read, user:read
//	{other} {othersecret}       of the same practice, with the same redirect URIs
//	{second} {secondsecret}     of another practice
//	{public}                    public, without a secret
//	{deleted} {deletedsecret}   deleted
type world struct {
	*harness.Env
	t     *testing.T
	admin *harness.Browser
	names map[string]string // {name} in a case → value

	lastEvent int64 // the last entry of the audit log that wantActors has seen
}

// each runs a test with a world on each database.
func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	harness.Each(t, func(t *testing.T, e *harness.Env) { test(t, build(t, e)) })
}

// build registers the applications and signs the administrator in.
func build(t *testing.T, e *harness.Env) *world {
	t.Helper()
	sum := sha256.Sum256([]byte(verifier))
	w := &world{Env: e, t: t, names: map[string]string{"{challenge}": base64.RawURLEncoding.EncodeToString(sum[:])}}
	scopes := []string{"appointment", "patient:read", "user:read"}
	addresses := []string{callback, queryCallback, localCallback}
	w.register(seed.DemoAdmin, "app", "secret", oauth.Draft{Name: "Recall Robot", RedirectURIs: addresses, Scopes: scopes})
	w.register(seed.DemoAdmin, "other", "othersecret", oauth.Draft{Name: "Other", RedirectURIs: addresses, Scopes: scopes})
	w.register(seed.SecondAdmin, "second", "secondsecret", oauth.Draft{Name: "Second", RedirectURIs: []string{secondCallback}, Scopes: scopes})
	w.register(seed.DemoAdmin, "public", "nosecret", oauth.Draft{Name: "Phone", RedirectURIs: []string{publicCallback, callback}, Scopes: scopes, Public: true})
	w.register(seed.DemoAdmin, "deleted", "deletedsecret", oauth.Draft{Name: "Gone", RedirectURIs: addresses, Scopes: scopes})
	w.change(seed.DemoAdmin, func(ctx context.Context, tx *ent.Client) error { return oauth.Delete(ctx, tx, w.id("{deleted}")) })
	w.admin = e.Browser(t).SignIn(seed.DemoAdmin)
	return w
}

// register registers an application of the user's practice, and names its id and secret.
func (w *world) register(email, name, secretName string, d oauth.Draft) {
	w.t.Helper()
	w.change(email, func(ctx context.Context, tx *ent.Client) error {
		app, secret, err := oauth.Register(ctx, tx, d)
		if err == nil {
			w.names["{"+name+"}"] = app.ID.String()
			w.names["{"+secretName+"}"] = secret // empty for a public one, under a name that no case uses
		}
		return err
	})
}

// change makes a change as a user, without the pages.
func (w *world) change(email string, work func(ctx context.Context, tx *ent.Client) error) {
	w.t.Helper()
	actAs(w.t, w.Env, email, work)
}

// actAs runs work in a transaction as a user.
func actAs(t testing.TB, e *harness.Env, email string, work func(ctx context.Context, tx *ent.Client) error) {
	t.Helper()
	u := userOf(t, e, email)
	ctx := principal.With(t.Context(), &principal.Principal{PracticeID: u.PracticeID, UserID: u.ID})
	e.Tx(t, ctx, func(tx *ent.Client) error { return work(ctx, tx) })
}

// userOf returns the user with an e-mail address.
func userOf(t testing.TB, e *harness.Env, email string) *ent.User {
	t.Helper()
	u, err := e.DB.Ent.User.Query().Where(user.Email(email)).Only(principal.AsSystem(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// setActive disables or enables a user.
func (w *world) setActive(email string, active bool) {
	w.t.Helper()
	w.change(email, func(ctx context.Context, tx *ent.Client) error {
		return tx.User.UpdateOneID(userOf(w.t, w.Env, email).ID).SetActive(active).Exec(store.WithoutAdministrator(ctx))
	})
}

// id returns the id that a name stands for.
func (w *world) id(name string) uuid.UUID { return uuid.MustParse(w.names[name]) }

// fill replaces the names in braces; codes are created on each call.
func (w *world) fill(text string) string {
	w.t.Helper()
	names := maps.Clone(w.names)
	names["{APP}"] = strings.ToUpper(names["{app}"])
	names["{nodashes}"] = strings.ReplaceAll(names["{app}"], "-", "")
	for name, change := range map[string]string{
		"{code}":       "",
		"{barecode}":   "code_challenge&code_challenge_method",
		"{othercode}":  "client_id={other}",
		"{publiccode}": asPublicClient,
		"{usedcode}":   "",
	} {
		if strings.Contains(text, name) {
			names[name] = w.code(w.admin, change)
		}
	}
	if code := names["{usedcode}"]; code != "" {
		w.exchange("code="+code).Status(w.t, http.StatusOK)
	}
	for name, value := range names {
		text = strings.ReplaceAll(text, name, value)
	}
	return text
}

// alter changes a query or form: it sets each name in change, and removes a name
// without "=".
func alter(form, change string) string {
	var kept, added []string
	given := map[string]bool{}
	for pair := range strings.SplitSeq(change, "&") {
		name, _, hasValue := strings.Cut(pair, "=")
		given[name] = true
		if hasValue {
			added = append(added, pair)
		}
	}
	for pair := range strings.SplitSeq(form, "&") {
		if name, _, _ := strings.Cut(pair, "="); !given[name] {
			kept = append(kept, pair)
		}
	}
	return strings.Join(append(kept, added...), "&")
}

// authorize sends the valid authorization request with a change.
func (w *world) authorize(b *harness.Browser, change string) *harness.Page {
	w.t.Helper()
	return b.Get(oauth.AuthorizePath + "?" + w.fill(alter(goodRequest, change)))
}

// allow authorises the valid request with a change, and returns the redirect.
func (w *world) allow(b *harness.Browser, change string) *url.URL {
	w.t.Helper()
	form := w.authorize(b, change).Status(w.t, http.StatusOK).Form(w.t, oauth.AuthorizePath)
	return b.Submit(form, url.Values{"decision": {"allow"}}).Redirect(w.t)
}

// code authorises the valid request with a change, and returns the code.
func (w *world) code(b *harness.Browser, change string) string {
	w.t.Helper()
	to := w.allow(b, change)
	code := to.Query().Get("code")
	if !strings.HasPrefix(code, "cs_code_") {
		w.t.Fatalf("no code in %s", to)
	}
	return code
}

// post sends a form as an application.
func (w *world) post(path, form string, headers ...string) *harness.Response {
	w.t.Helper()
	q := harness.Request{
		Method: http.MethodPost, Path: path, Body: w.fill(form),
		Header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"},
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		q.Header[name] = value
	}
	return w.Do(w.t, q)
}

// exchange sends the valid exchange with a change.
func (w *world) exchange(change string) *harness.Response {
	w.t.Helper()
	return w.post(oauth.TokenPath, alter(goodExchange, change))
}

// token authorises the valid request and returns the token.
func (w *world) token(b *harness.Browser) string {
	w.t.Helper()
	return w.exchange("code="+w.code(b, "")).Status(w.t, http.StatusOK).Text(w.t, "access_token")
}

// wantError fails the test unless the response is this error of RFC 6749.
func wantError(t testing.TB, r *harness.Response, status int, word string) {
	t.Helper()
	r.Status(t, status)
	if got := r.Text(t, "error"); got != word {
		t.Fatalf("error %q, want %q: %s", got, word, r.Raw)
	}
}

// basic is an Authorization header of an id and a secret, not form-encoded.
func basic(pair string) string {
	return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(pair))
}

func text(v any) string { return fmt.Sprint(v) }
