package oauth_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/oauth2"

	"chairside/internal/oauth"
	"chairside/internal/seed"
)

// TestGoClientConnects with each authentication method of golang.org/x/oauth2.
func TestGoClientConnects(t *testing.T) {
	for _, c := range []struct {
		name, id, secret, redirect string
		style                      oauth2.AuthStyle
		pkce                       bool
	}{
		{"Basic", "{app}", "{secret}", callback, oauth2.AuthStyleInHeader, false},
		{"Basic and PKCE", "{app}", "{secret}", queryCallback, oauth2.AuthStyleInHeader, true},
		{"body", "{app}", "{secret}", localCallback, oauth2.AuthStyleInParams, false},
		{"body and PKCE", "{app}", "{secret}", callback, oauth2.AuthStyleInParams, true},
		{"tries both", "{app}", "{secret}", callback, oauth2.AuthStyleAutoDetect, true},
		{"public", "{public}", "{none}", publicCallback, oauth2.AuthStyleInParams, true},
		{"public, tries both", "{public}", "{none}", publicCallback, oauth2.AuthStyleAutoDetect, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				w.names["{none}"] = ""
				config := oauth2.Config{
					ClientID: w.fill(c.id), ClientSecret: w.fill(c.secret), RedirectURL: c.redirect, Scopes: []string{"patient:read", "user:read"},
					Endpoint: oauth2.Endpoint{AuthURL: w.URL + oauth.AuthorizePath, TokenURL: w.URL + oauth.TokenPath, AuthStyle: c.style},
				}
				var asking, exchanging []oauth2.AuthCodeOption
				if c.pkce {
					verifier := oauth2.GenerateVerifier()
					asking, exchanging = append(asking, oauth2.S256ChallengeOption(verifier)), append(exchanging, oauth2.VerifierOption(verifier))
				}
				answer := w.consent(config.AuthCodeURL("a state of mine", asking...)).Query()
				if answer.Get("state") != "a state of mine" {
					t.Errorf("state %q", answer.Get("state"))
				}
				token, err := config.Exchange(t.Context(), answer.Get("code"), exchanging...)
				if err != nil {
					t.Fatal(err)
				}
				if token.Type() != "Bearer" || token.Extra("scope") != "patient:read user:read" || !token.Valid() {
					t.Errorf("token %+v", token)
				}
				res, err := config.Client(t.Context(), token).Get(w.URL + "/v1/user")
				if err != nil {
					t.Fatal(err)
				}
				defer res.Body.Close()
				if body, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusOK || !strings.Contains(string(body), seed.DemoAdmin) {
					t.Errorf("%d %s %v", res.StatusCode, body, err)
				}
				if _, err := config.Exchange(t.Context(), answer.Get("code"), exchanging...); err == nil || !strings.Contains(err.Error(), grant) {
					t.Errorf("a second exchange: %v", err)
				}
			})
		})
	}
}

// consent authorises the application as the user and returns the redirect.
func (w *world) consent(address string) *url.URL {
	w.t.Helper()
	path, ok := strings.CutPrefix(address, w.URL)
	if !ok {
		w.t.Fatalf("the application sends the user to %s", address)
	}
	form := w.admin.Get(path).Status(w.t, http.StatusOK).Form(w.t, oauth.AuthorizePath)
	return w.admin.Submit(form, url.Values{"decision": {"allow"}}).Redirect(w.t)
}

// TestJavaScriptClientConnects uses oauth4webapi, which discovers the endpoints and
// checks each response against the RFCs (testdata/client).
func TestJavaScriptClientConnects(t *testing.T) {
	for _, c := range []struct{ method, id, secret, redirect string }{
		{"client_secret_basic", "{app}", "{secret}", callback},
		{"client_secret_post", "{app}", "{secret}", queryCallback},
		{"none", "{public}", "", publicCallback},
	} {
		t.Run(c.method, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				dir := javascript(t)
				node := exec.CommandContext(t.Context(), "node", "client.mjs")
				node.Dir = dir
				node.Env = append(os.Environ(), "ISSUER="+w.URL, "METHOD="+c.method, "CLIENT_ID="+w.fill(c.id), "CLIENT_SECRET="+w.fill(c.secret), "REDIRECT_URI="+c.redirect)
				var complaints strings.Builder
				node.Stderr = &complaints
				to, err := node.StdinPipe()
				if err != nil {
					t.Fatal(err)
				}
				from, err := node.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := node.Start(); err != nil {
					t.Fatal(err)
				}
				lines := bufio.NewScanner(from)
				if lines.Scan() { // where it sends the user
					_, _ = io.WriteString(to, w.consent(lines.Text()).String()+"\n")
				}
				to.Close()
				var found map[string]any
				if lines.Scan() {
					_ = json.Unmarshal(lines.Bytes(), &found)
				}
				if err := node.Wait(); err != nil || found["email"] != seed.DemoAdmin || found["afterwards"] != "invalid_token" {
					t.Errorf("%v %v\n%s", err, found, complaints.String())
				}
			})
		})
	}
}

// javascript installs the client once and returns its directory. Without Node it
// skips the test, or fails it if CI=true.
func javascript(t *testing.T) string {
	t.Helper()
	dir, err := installed()
	if err == nil {
		return dir
	}
	if os.Getenv("CI") == "true" {
		t.Fatal(err)
	}
	t.Skip("no Node, or no way to install its modules: ", err)
	return ""
}

var installed = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "chairside-client-*")
	if err != nil {
		return "", err
	}
	leftOver = dir
	for _, name := range []string{"package.json", "package-lock.json", "client.mjs"} {
		source, err := os.ReadFile(filepath.Join("testdata", "client", name))
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(dir, name), source, 0o600); err != nil {
			return "", err
		}
	}
	npm := exec.Command("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
	npm.Dir = dir
	npm.Stderr = os.Stderr
	return dir, npm.Run()
})

// leftOver is the directory that TestMain removes.
var leftOver string
