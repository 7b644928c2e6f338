package signin_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"chairside/ent/user"
	"chairside/internal/principal"
	"chairside/internal/seed"
	"chairside/internal/signin"
	"chairside/internal/store/storetest"
	"chairside/internal/test/harness"
)

func TestBrowserNames(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0":                                              "Firefox on Windows",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.4 Safari/605.1.15":         "Safari on macOS",
		"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/137.0.0.0 Mobile Safari/537.36":               "Chrome on Android",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/137.0.0.0 Safari/537.36 Edg/137.0.0.0": "Edge on Windows",
		"Mozilla/5.0 (Windows NT 10.0) Jane-Doe-has-HIV/1.0":                                                                            "Unknown browser on Windows",
		"Jane Doe has HIV":        "Unknown browser",
		"cs_secret/1 (Jane; Doe)": "Unknown browser",
		"":                        "Unknown browser",
	} {
		if got := signin.BrowserName(header); got != want {
			t.Errorf("%q: %q, want %q", header, got, want)
		}
	}
}

// TestUserAgentsAreNotStored in the audit log, in sessions or with users, whatever text signs in, or fails to.
func TestUserAgentsAreNotStored(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		const canary = "Qcanaryagent"
		for i, agent := range []string{canary, canary + "/1.0", "Mozilla/5.0 (" + canary + "; " + canary + ") " + canary + "/2.0 Chrome/137.0", "Mozilla/5.0 (Windows NT 10.0) " + canary} {
			for _, password := range []string{"wrong", seed.Password} {
				form := url.Values{"email": {seed.DemoAdmin}, "password": {password}}
				r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, e.URL+"/sign-in", strings.NewReader(form.Encode()))
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("User-Agent", agent)
				r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				r.Header.Set("Sec-Fetch-Site", "same-origin")
				response, err := http.DefaultTransport.RoundTrip(r)
				if err != nil {
					t.Fatal(err)
				}
				response.Body.Close()
			}
			e.Settle()
			if n := storetest.Int(t, e.DB, "SELECT count(*) FROM audit_events WHERE action IN ('sign_in', 'sign_in_failed') AND CAST(details AS text) LIKE '%browser%'"); n < 2*(i+1) {
				t.Errorf("%q: %d events", agent, n)
			}
		}
		if n := storetest.Int(t, e.DB, "SELECT count(*) FROM audit_events WHERE CAST(details AS text) LIKE '%"+canary+"%'"); n > 0 {
			t.Errorf("%d events have the text", n)
		}
		ctx := principal.AsSystem(t.Context())
		sessions := e.DB.Ent.Session.Query().AllX(ctx)
		for _, row := range sessions {
			if text := fmt.Sprint(row) + string(row.Data); strings.Contains(text, canary) {
				t.Errorf("a session has the text: %s", text)
			}
		}
		for _, row := range e.DB.Ent.User.Query().Where(user.Email(seed.DemoAdmin)).AllX(ctx) {
			if text := fmt.Sprintf("%+v", row.KnownBrowsers); strings.Contains(text, canary) || len(row.KnownBrowsers) != len(sessions) {
				t.Errorf("the user's browsers: %s", text)
			}
		}
		if strings.Contains(e.Log.String(), canary) {
			t.Error("the log has the text")
		}
	})
}
