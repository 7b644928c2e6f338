package oauth_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"chairside/internal/oauth"
	"chairside/internal/scope"
	"chairside/internal/test/harness"
)

// TestMetadataFollowsRFC8414, and every endpoint that it names exists.
func TestMetadataFollowsRFC8414(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		res := w.Do(t, harness.Request{Method: http.MethodGet, Path: oauth.MetadataPath}).Status(t, 200)
		if got := res.Header.Get("Content-Type"); got != "application/json" {
			t.Errorf("Content-Type %q", got)
		}
		secrets := []any{"client_secret_basic", "client_secret_post"}
		var scopes []any
		for _, s := range scope.All() {
			scopes = append(scopes, s)
		}
		want := map[string]any{
			"issuer":                                         w.URL,
			"authorization_endpoint":                         w.URL + "/oauth/authorize",
			"token_endpoint":                                 w.URL + "/oauth/token",
			"revocation_endpoint":                            w.URL + "/oauth/revoke",
			"introspection_endpoint":                         w.URL + "/oauth/introspect",
			"service_documentation":                          w.URL + "/docs",
			"scopes_supported":                               scopes,
			"response_types_supported":                       []any{"code"},
			"response_modes_supported":                       []any{"query"},
			"grant_types_supported":                          []any{"authorization_code", "refresh_token"},
			"token_endpoint_auth_methods_supported":          []any{"client_secret_basic", "client_secret_post", "none"},
			"revocation_endpoint_auth_methods_supported":     []any{"client_secret_basic", "client_secret_post", "none"},
			"introspection_endpoint_auth_methods_supported":  secrets,
			"code_challenge_methods_supported":               []any{"S256"},
			"authorization_response_iss_parameter_supported": true,
		}
		for name, value := range want {
			a, _ := json.Marshal(value)
			b, _ := json.Marshal(res.JSON[name])
			if string(a) != string(b) {
				t.Errorf("%s is %s, want %s", name, b, a)
			}
		}
		for name := range res.JSON {
			if _, known := want[name]; !known {
				t.Errorf("%s is promised", name)
			}
		}
		w.Get(t, "/docs", "").Status(t, 200)
		w.Do(t, harness.Request{Method: http.MethodHead, Path: oauth.MetadataPath}).Status(t, 200)
		for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete} {
			if res := w.Do(t, harness.Request{Method: method, Path: oauth.MetadataPath}).Status(t, 405); res.Header.Get("Allow") == "" {
				t.Errorf("%s: no Allow", method)
			}
		}
	})
}

func TestEndpointsAcceptOnlyPOST(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for path, form := range map[string]string{oauth.TokenPath: goodExchange, oauth.RevokePath: goodRevocation + "x", oauth.IntrospectPath: goodRevocation + "x"} {
			for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodTrace, "POST2"} {
				res := w.Do(t, harness.Request{Method: method, Path: path + "?" + w.fill(form)}).Status(t, 405)
				if res.Header.Get("Allow") == "" || res.Header.Get("Cache-Control") != "no-store" {
					t.Errorf("%s %s: Allow %q, Cache-Control %q", method, path, res.Header.Get("Allow"), res.Header.Get("Cache-Control"))
				}
				if method != http.MethodHead && res.Text(t, "error") != invalid {
					t.Errorf("%s %s: %s", method, path, res.Raw)
				}
			}
			w.Do(t, harness.Request{Method: http.MethodPost, Path: path, Body: w.fill(form), Header: map[string]string{
				"Content-Type": "application/x-www-form-urlencoded", "User-Agent": "",
			}}).Status(t, 403)
			w.Do(t, harness.Request{Method: http.MethodPost, Path: path + "/", Body: w.fill(form)}).Status(t, 404)
		}
		for _, method := range []string{http.MethodPut, http.MethodPatch, http.MethodDelete} {
			if res := w.Do(t, harness.Request{Method: method, Path: oauth.AuthorizePath}).Status(t, 405); res.Header.Get("Allow") == "" {
				t.Errorf("%s: no Allow", method)
			}
		}
	})
}
