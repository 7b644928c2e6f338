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

// Where the applications of a world want their answers.
const (
	callback       = "https://app.example.com/callback"
	queryCallback  = "https://app.example.com/with?a=1&b=2"
	localCallback  = "http://127.0.0.1:9999/callback"
	publicCallback = "com.example.app:/callback"
	secondCallback = "https://second.example.com/callback"
)

// verifier is a code_verifier, and its challenge goes with {challenge}.
const verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"

// The good request and the good exchange, which cases change.
const (
	goodRequest = "client_id={app}&redirect_uri=" + callback + "&response_type=code&scope=patient:read&state=xyz" +
		"&code_challenge={challenge}&code_challenge_method=S256"
	goodExchange = "client_id={app}&client_secret={secret}&grant_type=authorization_code&code={code}" +
		"&redirect_uri=" + callback + "&code_verifier=" + verifier
	ofPublic = "client_id={public}&redirect_uri=" + publicCallback
)

// world is a server, a user who is signed in, and applications:
//
//	{app} {secret}              the one that is attacked: appointment, patient:read, user:read
//	{other} {othersecret}       of the same practice, with the same addresses
//	{second} {secondsecret}     of another practice
//	{public}                    has no secret
//	{deleted} {deletedsecret}   is no more
type world struct {
	*harness.Env
	t     *testing.T
	admin *harness.Browser
	names map[string]string // what a {name} in a case stands for
}

// each makes a world on each database.
func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	harness.Each(t, func(t *testing.T, e *harness.Env) { test(t, build(t, e)) })
}

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

func (w *world) register(email, name, secretName string, d oauth.Draft) {
	w.t.Helper()
	w.change(email, func(ctx context.Context, tx *ent.Client) error {
		app, secret, err := oauth.Register(ctx, tx, d)
		if err == nil {
			w.names["{"+name+"}"] = app.ID.String()
			w.names["{"+secretName+"}"] = secret // of a public one: none, under a name that no case uses
		}
		return err
	})
}

// change does something as a user, past the pages.
func (w *world) change(email string, work func(ctx context.Context, tx *ent.Client) error) {
	w.t.Helper()
	actAs(w.t, w.Env, email, work)
}

func actAs(t testing.TB, e *harness.Env, email string, work func(ctx context.Context, tx *ent.Client) error) {
	t.Helper()
	u := userOf(t, e, email)
	ctx := principal.With(t.Context(), &principal.Principal{PracticeID: u.PracticeID, UserID: u.ID})
	e.Tx(t, ctx, func(tx *ent.Client) error { return work(ctx, tx) })
}

func userOf(t testing.TB, e *harness.Env, email string) *ent.User {
	t.Helper()
	u, err := e.DB.Ent.User.Query().Where(user.Email(email)).Only(principal.AsSystem(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// setActive disables a user, or lets it in again.
func (w *world) setActive(email string, active bool) {
	w.t.Helper()
	w.change(email, func(ctx context.Context, tx *ent.Client) error {
		return tx.User.UpdateOneID(userOf(w.t, w.Env, email).ID).SetActive(active).Exec(store.WithoutAdministrator(ctx))
	})
}

func (w *world) id(name string) uuid.UUID { return uuid.MustParse(w.names[name]) }

// fill puts in what the names in braces stand for; those of codes are made anew.
func (w *world) fill(text string) string {
	w.t.Helper()
	names := maps.Clone(w.names)
	names["{APP}"] = strings.ToUpper(names["{app}"])
	names["{nodashes}"] = strings.ReplaceAll(names["{app}"], "-", "")
	for name, change := range map[string]string{
		"{code}":       "",
		"{barecode}":   "code_challenge&code_challenge_method",
		"{othercode}":  "client_id={other}",
		"{publiccode}": ofPublic,
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

// alter changes a query or form: each name that stands in change is left with
// what stands there; one without "=" is taken away.
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

// ask sends the good authorization request with a change.
func (w *world) ask(b *harness.Browser, change string) *harness.Page {
	w.t.Helper()
	return b.Get(oauth.AuthorizePath + "?" + w.fill(alter(goodRequest, change)))
}

// allow lets the user allow the good request with a change, and gives the
// address that the browser is sent to.
func (w *world) allow(b *harness.Browser, change string) *url.URL {
	w.t.Helper()
	form := w.ask(b, change).Status(w.t, http.StatusOK).Form(w.t, oauth.AuthorizePath)
	return b.Submit(form, url.Values{"decision": {"allow"}}).Redirect(w.t)
}

// code is the code that allow brings to the application.
func (w *world) code(b *harness.Browser, change string) string {
	w.t.Helper()
	to := w.allow(b, change)
	code := to.Query().Get("code")
	if !strings.HasPrefix(code, "cs_code_") {
		w.t.Fatalf("no code in %s", to)
	}
	return code
}

// post sends a form as an application does.
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

// exchange sends the good exchange with a change.
func (w *world) exchange(change string) *harness.Response {
	w.t.Helper()
	return w.post(oauth.TokenPath, alter(goodExchange, change))
}

// token lets the user allow the good request and gives the token.
func (w *world) token(b *harness.Browser) string {
	w.t.Helper()
	return w.exchange("code="+w.code(b, "")).Status(w.t, http.StatusOK).Text(w.t, "access_token")
}

// refused fails the test unless the answer is this error of RFC 6749.
func refused(t testing.TB, r *harness.Response, status int, word string) {
	t.Helper()
	r.Status(t, status)
	if got := r.Text(t, "error"); got != word {
		t.Fatalf("error %q, want %q: %s", got, word, r.Raw)
	}
}

// basic is an Authorization header of an id and a secret as they stand.
func basic(pair string) string {
	return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(pair))
}

func text(v any) string { return fmt.Sprint(v) }
