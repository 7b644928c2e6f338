package oauth_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"chairside/ent"
	"chairside/internal/apierror"
	"chairside/internal/oauth"
	"chairside/internal/test/harness"
)

// FuzzTokenParameters sends arbitrary bodies to the token endpoint: the response is an
// RFC 6749 error, and repeated or malformed parameters are refused before
// authentication.
func FuzzTokenParameters(f *testing.F) {
	for _, body := range []string{
		goodExchange, "a=1&a=2", "=1&=2", "a=%zz", "a;b", "=", "&&", `{"a":"1"}`, `{"a":"1","a":"2"}`, `{"a":{"b":"c"}}`, `{"a":null,"\u0061":""}`, `[`, `{`, `{}{}`, "{\"a\":\"\xff\"}", `{"a":1e999}`,
	} {
		f.Add(body, strings.HasPrefix(body, "{"))
	}
	w := fuzzed(f)
	f.Fuzz(func(t *testing.T, body string, isJSON bool) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, oauth.TokenPath, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if isJSON {
			r.Header.Set("Content-Type", "application/json")
		}
		out := httptest.NewRecorder()
		w.server.Token().ServeHTTP(out, r)
		var answer map[string]string
		if err := json.Unmarshal(out.Body.Bytes(), &answer); err != nil || answer["error"] == "" || answer["error_description"] == "" {
			t.Fatalf("%d %s", out.Code, out.Body)
		}
		if !slices.Contains([]int{400, 401, 413}, out.Code) || out.Header().Get("Cache-Control") != "no-store" {
			t.Fatalf("%d %v", out.Code, out.Header())
		}
		for _, r := range answer["error_description"] {
			if r < ' ' || r > '~' || r == '"' || r == '\\' { // RFC 6749, section 5.2
				t.Fatalf("error_description %q", answer["error_description"])
			}
		}
		if form, err := url.ParseQuery(body); !isJSON && (err != nil || repeats(form)) && out.Code == http.StatusUnauthorized {
			t.Fatalf("%q was read", body)
		}
		if isJSON && !json.Valid([]byte(body)) && out.Code == http.StatusUnauthorized {
			t.Fatalf("%q was read", body)
		}
	})
}

// FuzzAuthorizationRequest adds arbitrary parameters to a valid application and
// redirect URI: the browser is redirected only there, with one response, and an
// accepted request matches the registration.
func FuzzAuthorizationRequest(f *testing.F) {
	w := fuzzed(f)
	for _, query := range []string{
		"response_type=code&scope=patient:read&state=xyz", "response_type=code&scope=patient&state=%00", "response_type=token", "scope=a&scope=b&state=c&state=d",
		"response_type=code&scope=patient:read&code_challenge=x&code_challenge_method=plain", "request=x", "redirect_uri=https://evil.example", "client_id=x", "%zz",
	} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		given, err := url.ParseQuery(query)
		if err != nil {
			return // the page refuses it earlier
		}
		sent, _ := url.ParseQuery("client_id=" + w.id + "&redirect_uri=" + callback)
		for name, values := range given {
			sent[name] = append(sent[name], values...)
		}
		q, err := w.server.Check(t.Context(), sent)
		var stays *oauth.Refusal
		var goes *oauth.Redirection
		switch {
		case err == nil:
			good := q.RedirectURI == callback && q.Application.ID.String() == w.id && len(q.Scopes) > 0 && sent.Get("response_type") == "code"
			for _, s := range q.Scopes {
				good = good && slices.Contains([]string{"patient:read", "user", "user:read", "user:create", "user:update", "user:delete"}, s)
			}
			if !good || q.Values().Get("state") != sent.Get("state") {
				t.Fatalf("found good: %+v", q)
			}
		case errors.As(err, &stays):
			if len(sent["client_id"]) == 1 && len(sent["redirect_uri"]) == 1 {
				t.Fatal(err)
			}
		case errors.As(err, &goes):
			to, err := url.Parse(goes.Address)
			if err != nil || !strings.HasPrefix(goes.Address, callback+"?") || to.Fragment != "" || strings.ContainsAny(goes.Address, "\r\n\x00 ") {
				t.Fatalf("sent to %q", goes.Address)
			}
			answer := to.Query()
			if repeats(answer) || answer.Has("code") || answer.Get("error") != goes.Code || answer.Get("iss") != "https://api.example.test" {
				t.Fatalf("answered %v", answer)
			}
			if len(sent["state"]) == 1 && answer.Get("state") != sent.Get("state") || len(sent["state"]) != 1 && answer.Has("state") {
				t.Fatalf("state %q, sent %q", answer["state"], sent["state"])
			}
		default:
			t.Fatal(err)
		}
	})
}

func repeats(form url.Values) bool {
	for _, values := range form {
		if len(values) > 1 {
			return true
		}
	}
	return false
}

// target is the fuzzed server, without pages, and an application.
type target struct {
	server *oauth.Server
	id     string
}

// fuzzed returns an authorization server with an application, without HTTP.
func fuzzed(f *testing.F) target {
	f.Helper()
	e := harness.Start(f, harness.SQLite(f))
	t := target{server: oauth.New(oauth.Options{
		DB: e.DB, Issuer: "https://api.example.test", Explain: func(_ context.Context, err error) *apierror.Error { return apierror.Internal(err) },
	})}
	actAs(f, e, "admin@demo.chairside.test", func(ctx context.Context, tx *ent.Client) error {
		app, _, err := oauth.Register(ctx, tx, oauth.Draft{Name: "Fuzzed", RedirectURIs: []string{callback}, Scopes: []string{"patient:read", "user"}})
		if err == nil {
			t.id = app.ID.String()
		}
		return err
	})
	return t
}
