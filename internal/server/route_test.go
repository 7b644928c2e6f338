package server

import (
	"net/http"
	"strings"
	"testing"
)

func TestVersionIsOptional(t *testing.T) {
	t.Parallel()
	b := setup(t)
	plain := b.get("/practice").ok(t, 200)
	versioned := b.get("/v1/practice").ok(t, 200)
	if plain.body != versioned.body || plain.Header.Get("ETag") != versioned.Header.Get("ETag") {
		t.Error("/practice and /v1/practice differ")
	}
	b.get("/rate_limit").ok(t, 200)
	b.get("/v1/rate_limit").ok(t, 200)
	for _, path := range []string{"/v1", "/v1/", "/v1/v1/practice", "/v2/practice", "/v1practice", "/practice/", "/", "/v1/../v1/practice", "/%2e%2e/practice"} {
		b.get(path).refused(t, 404, "not_found")
	}
}

func TestMalformedIDsAreNotFound(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, path := range []string{
		"/patients/0", "/patients/-1", "/patients/+1", "/patients/abc", "/patients/1.0", "/patients/%31%00", "/patients/99999999999999999999",
		"/patients/1%2F2", "/patients/", "/fees/7", "/fees/7b0e7ae8", "/fees/01934c04c0007000a2f600114deeb39f", "/fees/%7B01934c04-c000-7000-a2f6-00114deeb39f%7D", "/fees/urn:uuid:01934c04-c000-7000-a2f6-00114deeb39f",
		"/fees/01934c04-c000-7000-a2f6-00114deeb39f",
	} {
		b.get(path).refused(t, 404, "not_found")
	}
}

func TestWrongMethodListsTheAllowedOnes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, test := range []struct{ method, path, allow string }{
		{"DELETE", "/v1/patients", "GET, HEAD, POST, OPTIONS"},
		{"POST", "/patients/1", "GET, HEAD, PUT, PATCH, DELETE, OPTIONS"},
		{"POST", "/practice", "GET, HEAD, OPTIONS"},
		{"PATCH", "/appointments/availability", "GET, HEAD, OPTIONS"},
		{"BREW", "/fees/01934c04-c000-7000-a2f6-00114deeb39f", "GET, HEAD, PUT, PATCH, OPTIONS"},
		{"POST", "/rate_limit", "GET, HEAD, OPTIONS"},
		{"POST", "/openapi.json", "GET, HEAD, OPTIONS"},
		{"DELETE", "/healthz", "GET, HEAD, OPTIONS"},
	} {
		a := b.do(test.method, test.path, "")
		a.refused(t, http.StatusMethodNotAllowed, "method_not_allowed")
		if got := a.Header.Get("Allow"); got != test.allow {
			t.Errorf("%s %s: Allow is %q, want %q", test.method, test.path, got, test.allow)
		}
	}
}

func TestPutIsPatch(t *testing.T) {
	t.Parallel()
	b := setup(t)
	fee := b.firstFee()
	put := b.do("PUT", "/v1/fees/"+fee, `{"fee":{"price_one":"10.10"}}`).ok(t, 200)
	patch := b.do("PATCH", "/v1/fees/"+fee, `{"fee":{"price_one":"10.10"}}`).ok(t, 200)
	if !strings.Contains(put.body, `"price_one":"10.10"`) || put.body != patch.body {
		t.Errorf("PUT %s\nPATCH %s", put.body, patch.body)
	}
}

func TestUserAgentIsRequired(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, path := range []string{"/v1/practice", "/openapi.json", "/static/avatar.svg", "/rate_limit", "/nothing"} {
		b.get(path, "User-Agent:").refused(t, 403, "missing_user_agent")
	}
	b.get("/v1/practice", "User-Agent: x").ok(t, 200)
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		b.get(path, "User-Agent:").ok(t, 200)
	}
}

func TestAcceptMustAllowJSON(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for header, ok := range map[string]bool{
		"":                                   true,
		"*/*":                                true,
		"application/*":                      true,
		"application/json":                   true,
		"Application/JSON; charset=utf-8":    true,
		"text/html, application/json;q=0.1":  true,
		"text/html, */*;q=0.1":               true,
		"text/html":                          false,
		"application/xml, text/*":            false,
		"application/json;q=0":               false,
		"*/*, application/json;q=0":          false,
		"*/*;q=0, application/json":          true,
		"application/json;q=0.5, */*;q=0":    true,
		";;;":                                true,
		"application/vnd.api+json":           false,
		"text/html, application/*;q=0, */*":  false,
		"application/json;q=nonsense":        true,
		"application/json;indent=2, text/*;": true,
	} {
		if got := b.get("/practice", "Accept: "+header).StatusCode; (got == 200) != ok || !ok && got != 406 {
			t.Errorf("Accept: %s: got status %d", header, got)
		}
	}
}
