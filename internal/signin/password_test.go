package signin_test

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"chairside/ent"
	"chairside/internal/seed"
	"chairside/internal/signin"
	"chairside/internal/test/harness"
)

func TestSignInDoesNotRevealWhichUsersExist(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		other := colleague(t, e)
		changeAdministrator(t, e, func(ctx context.Context, tx *ent.Client, _ *ent.User) error {
			return signin.Disable(ctx, tx, other)
		})
		answers := map[string]*harness.Page{}
		for name, email := range map[string]string{"known": seed.DemoAdmin, "unknown": "nobody@demo.chairside.test", "disabled": other.Email, "odd": "no address"} {
			p := submitSignIn(e.Browser(t), email, "wrong-password").Status(t, http.StatusUnprocessableEntity)
			p.Raw = []byte(strings.ReplaceAll(string(p.Raw), email, "EMAIL"))
			for _, name := range []string{"Date", "X-Request-Id", "Content-Length"} {
				p.Header.Del(name)
			}
			answers[name] = p
		}
		for name, p := range answers {
			if string(p.Raw) != string(answers["known"].Raw) {
				t.Errorf("%s: %s\nknown: %s", name, p.Raw, answers["known"].Raw)
			}
			for header, values := range answers["known"].Header {
				if !slices.Equal(p.Header[header], values) {
					t.Errorf("%s: %s %q, known %q", name, header, p.Header[header], values)
				}
			}
			if len(p.Header) != len(answers["known"].Header) {
				t.Errorf("%s: other headers", name)
			}
		}
	})
}

func TestSignInNeedsTheCorrectPassword(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		for _, c := range []struct {
			name, email, password string
			in                    bool
		}{
			{"right", seed.DemoAdmin, seed.Password, true},
			{"address in capitals, with spaces around", " ADMIN@Demo.Chairside.Test ", seed.Password, true},
			{"password in capitals", seed.DemoAdmin, strings.ToUpper(seed.Password), false},
			{"password with a space after it", seed.DemoAdmin, seed.Password + " ", false},
			{"password cut off", seed.DemoAdmin, seed.Password[:8], false},
			{"no password", seed.DemoAdmin, "", false},
			{"no address", "", seed.Password, false},
			{"password of 2,000 letters", seed.DemoAdmin, strings.Repeat("x", 2000), false},
			{"password of 70,000 letters", seed.DemoAdmin, strings.Repeat("x", 70000), false},
			{"address of 10,000 letters", strings.Repeat("x", 10000) + "@example.com", seed.Password, false},
			{"SQL", "' OR 1=1 --", seed.Password, false},
			{"pattern", "%@demo.chairside.test", seed.Password, false},
			{"NUL in the address", seed.DemoAdmin + "\x00", seed.Password, false},
			{"NUL in the password", seed.DemoAdmin, seed.Password + "\x00x", false},
			{"broken UTF-8 in the address", seed.DemoAdmin + "\xff", seed.Password, false},
			{"broken UTF-8 in the password", seed.DemoAdmin, seed.Password + "\xff", false},
			{"new line in the address", seed.DemoAdmin + "\r\nX: y", seed.Password, false},
		} {
			b := e.Browser(t)
			p := submitSignIn(b, c.email, c.password)
			if p.Code >= 500 || !c.in && p.Code < 400 {
				t.Errorf("%s: status %d", c.name, p.Code)
			}
			wantSignedIn(t, b, c.in, c.name)
		}
		b := e.Browser(t)
		b.Post("/sign-in", url.Values{"email": {"nobody@example.com", seed.DemoAdmin}, "password": {"wrong", seed.Password}})
		wantSignedIn(t, b, false, "everything twice")
		b.Get("/sign-in?email=" + url.QueryEscape(seed.DemoAdmin) + "&password=" + seed.Password)
		wantSignedIn(t, b, false, "in the address")
		b.Send(http.MethodPost, "/sign-in?email="+url.QueryEscape(seed.DemoAdmin)+"&password="+seed.Password, url.Values{}, nil)
		wantSignedIn(t, b, false, "in the address of a form")
	})
}

// TestDisabledUserCannotSignIn, and learns why only with the correct password.
func TestDisabledUserCannotSignIn(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		changeAdministrator(t, e, signin.Disable)
		b := e.Browser(t)
		p := submitSignIn(b, seed.DemoAdmin, seed.Password).Status(t, http.StatusUnprocessableEntity)
		if len(p.Header.Values("Set-Cookie")) > 0 {
			t.Errorf("cookies %q", p.Header.Values("Set-Cookie"))
		}
		wantSignedIn(t, b, false, "disabled")
	})
}

// TestNextIsALocalPath: another address could lead a user to a fake sign-in page.
func TestNextIsALocalPath(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		for next, want := range map[string]string{
			"":                        "/home",
			"/settings/tokens":        "/settings/tokens",
			"/oauth/authorize?a=b%26": "/oauth/authorize?a=b%26",
			"https://evil.example/":   "/home",
			"//evil.example/":         "/home",
			"///evil.example/":        "/home",
			"/\\evil.example/":        "/home",
			"\\\\evil.example/":       "/home",
			"/\t/evil.example/":       "/home",
			"/\n/evil.example/":       "/home",
			"\t//evil.example/":       "/home",
			" //evil.example/":        "/home",
			"/%0d%0aLocation:x":       "/%0d%0aLocation:x",
			"/\r\nLocation: x":        "/home",
			"javascript:alert(1)":     "/home",
			"http:/settings":          "/home",
			"evil.example":            "/home",
			"?x=y":                    "/home",
			"/ünïcode":                "/home",
		} {
			b := e.Browser(t)
			form := b.Get("/sign-in?next="+url.QueryEscape(next)).Status(t, http.StatusOK).Form(t, "/sign-in")
			p := b.Post("/sign-in", url.Values{"email": {seed.DemoAdmin}, "password": {seed.Password}, "next": {next}})
			for _, got := range []string{form.Values.Get("next"), p.Redirect(t).String(), p.Header.Get("Location")} {
				if got != want {
					t.Errorf("next=%q redirects to %q", next, got)
				}
			}
		}
	})
}
