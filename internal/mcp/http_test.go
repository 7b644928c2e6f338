package mcp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"chairside/internal/mcp"
	"chairside/internal/seed"
	"chairside/internal/server"
	"chairside/internal/test/harness"
)

// post sends a message to /mcp.
func post(t testing.TB, e *harness.Env, token, message string, header map[string]string) *harness.Response {
	t.Helper()
	q := harness.Request{Method: http.MethodPost, Path: mcp.Path, Token: token, Body: message, Header: map[string]string{"Accept": "application/json, text/event-stream"}}
	for name, value := range header {
		q.Header[name] = value
	}
	return e.Do(t, q)
}

const listTools = `{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}`

func TestMissingAndInvalidTokensAreRefused(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		valid := e.Token(t, "patient")
		for name, c := range map[string]struct {
			token, code string
			header      map[string]string
		}{
			"none":      {"", "missing_token", nil},
			"wrong":     {"cs_pat_wrong", "invalid_token", nil},
			"Basic":     {"", "missing_token", map[string]string{"Authorization": "Basic " + valid}},
			"no client": {"", "missing_user_agent", map[string]string{"User-Agent": ""}},
		} {
			status := http.StatusUnauthorized
			if c.code == "missing_user_agent" {
				status = http.StatusForbidden
			}
			r := post(t, e, c.token, listTools, c.header).Error(t, status, c.code)
			challenge := r.Header.Get("WWW-Authenticate")
			if named := strings.Contains(challenge, `resource_metadata="`+e.URL+`/.well-known/oauth-protected-resource/mcp"`); named != (status == http.StatusUnauthorized) {
				t.Errorf("%s: WWW-Authenticate %q", name, challenge)
			}
		}
		// The protocol does not allow a token in the query.
		r := e.Do(t, harness.Request{Method: http.MethodPost, Path: mcp.Path + "?access_token=" + valid, Body: listTools})
		r.Error(t, http.StatusUnauthorized, "missing_token")
		if got := e.Get(t, "/v1/patients", "").Header.Get("WWW-Authenticate"); got != `Bearer realm="chairside"` {
			t.Errorf("the API's WWW-Authenticate is %q", got)
		}
		e.Clock.Advance(15 * 24 * time.Hour)
		post(t, e, valid, listTools, nil).Error(t, http.StatusUnauthorized, "expired_token")
	})
}

func TestProtectedResourceMetadata(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		for path, resource := range map[string]string{"": e.URL, "/mcp": e.URL + "/mcp"} {
			r := e.Get(t, "/.well-known/oauth-protected-resource"+path, "").Status(t, http.StatusOK)
			if r.Text(t, "resource") != resource || r.Text(t, "authorization_servers.0") != e.URL || r.Text(t, "bearer_methods_supported.0") != "header" {
				t.Errorf("%s: %s", path, r.Raw)
			}
			if r.Header.Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("%s: no CORS headers", path)
			}
		}
		e.Post(t, "/.well-known/oauth-protected-resource", "", "{}").Status(t, http.StatusMethodNotAllowed)
		e.Get(t, "/.well-known/oauth-protected-resource/other", "").Status(t, http.StatusNotFound)
	})
}

func TestPagesOfOtherOriginsAreRefused(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "patient")
		for origin, status := range map[string]int{
			e.URL: http.StatusOK, "": http.StatusOK,
			"https://evil.example": http.StatusForbidden, "null": http.StatusForbidden, "http://127.0.0.1": http.StatusForbidden,
			e.URL + ".evil.example": http.StatusForbidden, strings.Replace(e.URL, "http:", "https:", 1): http.StatusForbidden,
		} {
			header := map[string]string{}
			if origin != "" {
				header["Origin"] = origin
			}
			r := post(t, e, token, listTools, header).Status(t, status)
			for name := range r.Header {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("Origin %q: %s", origin, name)
				}
			}
		}
		r := e.Do(t, harness.Request{Method: http.MethodOptions, Path: mcp.Path, Header: map[string]string{"Origin": "https://evil.example"}})
		r.Error(t, http.StatusMethodNotAllowed, "method_not_allowed")
	})
}

func TestOnlySmallSingleMessagesAreServed(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		call := func(arguments string) string {
			return `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "listPatients", "arguments": ` + arguments + `}}`
		}
		for name, c := range map[string]struct {
			message string
			status  int
		}{
			"batch":           {"\n [" + listTools + "," + listTools + "]", http.StatusBadRequest},
			"empty batch":     {"[]", http.StatusBadRequest},
			"no message":      {"", http.StatusBadRequest},
			"not JSON":        {"{", http.StatusBadRequest},
			"NUL":             {"{\"\x00", http.StatusBadRequest},
			"large":           {call(`{"query": "` + strings.Repeat("x", mcp.MaxMessage) + `"}`), http.StatusRequestEntityTooLarge},
			"deep":            {call(strings.Repeat(`{"a":`, 20000) + "1" + strings.Repeat("}", 20000)), http.StatusBadRequest},
			"unknown method":  {`{"jsonrpc": "2.0", "id": 1, "method": "nothing"}`, http.StatusBadRequest},
			"a stream":        {`{"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": {}}`, http.StatusOK},
			"a notification":  {`{"jsonrpc": "2.0", "method": "notifications/initialized"}`, http.StatusAccepted},
			"array arguments": {call(`[1]`), http.StatusOK},
		} {
			r := post(t, e, token, c.message, nil)
			if r.Code != c.status {
				t.Errorf("%s: status %d, want %d: %.300s", name, r.Code, c.status, r.Raw)
			}
			if name == "array arguments" && !strings.Contains(string(r.Raw), "must be a JSON object") {
				t.Errorf("%s: %s", name, r.Raw)
			}
		}
		for _, method := range []string{http.MethodGet, http.MethodDelete, http.MethodPut} {
			r := e.Do(t, harness.Request{Method: method, Path: mcp.Path, Token: token}).Error(t, http.StatusMethodNotAllowed, "method_not_allowed")
			if r.Header.Get("Allow") != "POST" {
				t.Errorf("%s: Allow %q", method, r.Header.Get("Allow"))
			}
		}
		if strings.Contains(e.Log.String(), `"msg":"panic"`) {
			t.Error(e.Log)
		}
	})
}

// TestCallsCountAsRequests checks that an assistant has the rate limit of its token.
func TestCallsCountAsRequests(t *testing.T) {
	t.Parallel()
	e := harness.Start(t, harness.SQLite(t), func(o *server.Options) { o.RateLimit = 100 })
	token := e.Token(t, "patient")
	remaining := func() (n int) {
		fmt.Sscan(e.Get(t, "/rate_limit", token).Status(t, http.StatusOK).Text(t, "resources.core.remaining"), &n)
		return n
	}
	before := remaining()
	r := post(t, e, token, `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "listPatients", "arguments": {}}}`, nil).Status(t, http.StatusOK)
	if strings.Contains(string(r.Raw), "isError") {
		t.Fatalf("%s", r.Raw)
	}
	if counted := before - remaining(); counted != 2 {
		t.Errorf("a call counts as %d requests", counted)
	}
}

func TestTokenLimitedToASiteSeesOnlyThatSite(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		sites, err := e.DB.Ent.Site.Query().All(e.As(t, "demo"))
		if err != nil || len(sites) < 2 {
			t.Fatal(len(sites), err)
		}
		token := e.TokenOf(t, seed.DemoAdmin, "patient", &sites[0].ID)
		var result struct {
			Result struct {
				Content []struct{ Text string }
			}
		}
		r := post(t, e, token, `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "listPatients", "arguments": {"site_id": "`+sites[1].ID.String()+`"}}}`, nil)
		if err := json.Unmarshal(r.Raw, &result); err != nil || !strings.Contains(result.Result.Content[0].Text, `"patients":[]`) {
			t.Errorf("%s", r.Raw)
		}
	})
}
