package web_test

import (
	"net/url"
	"testing"

	"chairside/internal/seed"
	"chairside/internal/test/harness"
)

func TestNextIsConfinedToThisServer(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t)
		for next, want := range map[string]string{
			"":                           "/home",
			"/settings/tokens":           "/settings/tokens",
			"/oauth/authorize?a=b&c=%2F": "/oauth/authorize?a=b&c=%2F",
			"/settings/security#factor":  "/settings/security#factor",
			"/x?to=https://evil.example": "/x?to=https://evil.example",

			"//evil.example":                   "/home",
			"///evil.example":                  "/home",
			"/\\evil.example":                  "/home",
			"\\\\evil.example":                 "/home",
			"/%5Cevil.example\\":               "/home",
			"https://evil.example":             "/home",
			"https:evil.example":               "/home",
			"https:/settings":                  "/home",
			"HTTPS://evil.example/settings":    "/home",
			"javascript:alert(1)":              "/home",
			"data:text/html,x":                 "/home",
			"evil.example":                     "/home",
			"settings":                         "/home",
			"?x":                               "/home",
			"#x":                               "/home",
			" /settings/tokens":                "/home",
			"/settings tokens":                 "/home",
			"/\t/evil.example":                 "/home",
			"/\n/evil.example":                 "/home",
			"/\r\nSet-Cookie: a=b":             "/home",
			"/\u2028/evil.example":             "/home",
			"／/evil.example":                   "/home",
			"/%zz":                             "/home",
			e.URL + "/settings/tokens":         "/home",
			"@evil.example":                    "/home",
			"//" + e.URL[7:] + "@evil.example": "/home",
		} {
			form := b.Get("/sign-in?next="+url.QueryEscape(next)).Form(t, "/sign-in")
			if got := form.Values.Get("next"); got != want {
				t.Errorf("next=%q: the form has %q, want %q", next, got, want)
			}
			for _, p := range []*harness.Page{
				b.Post("/sign-in", url.Values{"email": {seed.DemoAdmin}, "password": {seed.Password}, "next": {next}}),
			} {
				if got := p.Header.Get("Location"); got != want {
					t.Errorf("next=%q redirects to %q, want %q", next, got, want)
				}
			}
			if got := b.Get("/sign-in/code?next=" + url.QueryEscape(next)).Header.Get("Location"); got != "/sign-in?next="+url.QueryEscape(want) {
				t.Errorf("next=%q of a code redirects to %q", next, got)
			}
			if out := b.Post("/sign-out", url.Values{"next": {next}}).Header.Get("Location"); next != "" && out != "/sign-in?next="+url.QueryEscape(want) {
				t.Errorf("next=%q of signing out redirects to %q", next, out)
			}
		}
	})
}
