package oauth_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"chairside/ent"
	"chairside/internal/oauth"
	"chairside/internal/seed"
	"chairside/internal/test/harness"
)

// TestEndpointsAuthenticateApplications, by exactly one method.
func TestEndpointsAuthenticateApplications(t *testing.T) {
	const client = "invalid_client"
	for path, good := range endpoints {
		t.Run(strings.TrimPrefix(path, "/oauth/"), func(t *testing.T) {
			send(t, path, good, []request{
				{"secret in the body", "", "", "", 200, ""},
				{"Basic", noClient, "Authorization: Basic {app}:{secret}", "", 200, ""},
				{"scheme in small letters", noClient, "Authorization: basic {app}:{secret}", "", 200, ""},

				{"nothing", noClient, "", "", 401, client},
				{"secret missing", "client_secret", "", "", 401, client},
				{"secret empty", "client_secret=", "", "", 401, client},
				{"secret wrong", "client_secret=cs_secret_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "", "", 401, client},
				{"secret cut off", "client_secret=cs_secret_", "", "", 401, client},
				{"secret with a letter more", "client_secret={secret}x", "", "", 401, client},
				{"secret with a space after it", "client_secret={secret}%20", "", "", 401, client},
				{"secret with NUL after it", "client_secret={secret}%00", "", "", 400, invalid},
				{"secret of another client", "client_secret={othersecret}", "", "", 401, client},
				{"secret of another practice's client", "client_secret={secondsecret}", "", "", 401, client},
				{"secret as SQL", "client_secret='%20OR%201=1--", "", "", 401, client},
				{"the id as secret", "client_secret={app}", "", "", 401, client},
				{"id of another client", "client_id={other}", "", "", 401, client},
				{"id missing", "client_id", "", "", 401, client},
				{"id in capitals", "client_id={APP}", "", "", 401, client},
				{"id in braces", "client_id=%7B{app}%7D", "", "", 401, client},
				{"id without dashes", "client_id={nodashes}", "", "", 401, client},
				{"id as a URN", "client_id=urn:uuid:{app}", "", "", 401, client},
				{"id with a space after it", "client_id={app}%20", "", "", 401, client},
				{"id with NUL after it", "client_id={app}%00", "", "", 400, invalid},
				{"id as SQL", "client_id='%20OR%201=1--", "", "", 401, client},
				{"deleted application", "client_id={deleted}&client_secret={deletedsecret}", "", "", 401, client},
				{"public application with a secret", "client_id={public}", "", "", 401, client},

				{"Basic and in the body", "", "Authorization: Basic {app}:{secret}", "", 400, invalid},
				{"Basic, and a wrong secret in the body", "client_secret=x", "Authorization: Basic {app}:{secret}", "", 400, invalid},
				{"wrong Basic, and right in the body", "", "Authorization: Basic {app}:x", "", 400, invalid},
				{"Basic, and another client in the body", "client_secret&client_id={other}", "Authorization: Basic {app}:{secret}", "", 400, invalid},
				{"Basic, wrong secret", noClient, "Authorization: Basic {app}:x", "", 401, client},
				{"Basic, empty secret", noClient, "Authorization: Basic {app}:", "", 401, client},
				{"Basic, no colon", noClient, "Authorization: Basic {app}", "", 401, client},
				{"Basic, no id", noClient, "Authorization: Basic :{secret}", "", 401, client},
				{"Basic, empty", noClient, "Authorization: Basic ", "", 401, client},
				{"Basic, a broken escape", noClient, "Authorization: Basic {app}:%zz", "", 401, client},
				{"Basic of a public application", noClient, "Authorization: Basic {public}:", "", 401, client},
				{"a token in place of Basic", noClient, "Authorization: Bearer cs_oat_x", "", 401, client},
				{"a digest in place of Basic", noClient, "Authorization: Digest username={app}", "", 401, client},
				{"JSON, secret wrong", "", asJSON, `{"client_id":"{app}","client_secret":"x","token":"x"}`, 401, client},
				{"JSON, no client", "", asJSON, `{"token":"x"}`, 401, client},
				{"an assertion", "client_secret&client_assertion=x&client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer", "", "", 401, client},
			})
		})
	}
}

// TestBasicIsFormEncoded, as RFC 6749, section 2.3.1 requires.
func TestBasicIsFormEncoded(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		escape := func(text string) string { // escapes every byte, which no client does
			var out strings.Builder
			for _, b := range []byte(text) {
				out.WriteString("%" + string("0123456789ABCDEF"[b>>4]) + string("0123456789ABCDEF"[b&15]))
			}
			return out.String()
		}
		pair := escape(w.names["{app}"]) + ":" + escape(w.names["{secret}"])
		w.post(oauth.TokenPath, alter(goodExchange, noClient), basic(pair)).Status(t, 200)
		pair = url.QueryEscape(w.names["{app}"]) + ":" + url.QueryEscape(w.names["{secret}"])
		w.post(oauth.TokenPath, alter(goodExchange, noClient), basic(pair)).Status(t, 200)
	})
}

// TestTwoAuthorizationHeadersAreRefused, even if both are correct.
func TestTwoAuthorizationHeadersAreRefused(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.URL+oauth.TokenPath, strings.NewReader(w.fill(alter(goodExchange, noClient))))
		if err != nil {
			t.Fatal(err)
		}
		_, value, _ := strings.Cut(basic(w.fill("{app}:{secret}")), ": ")
		r.Header = http.Header{"Authorization": {value, value}, "Content-Type": {"application/x-www-form-urlencoded"}, "User-Agent": {harness.UserAgent}}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusBadRequest {
			t.Errorf("status %d", res.StatusCode)
		}
	})
}

func TestErrorsDoNotRevealWhichApplicationsExist(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		wrong := w.exchange("client_secret=x&code=x").Status(t, 401)
		for _, change := range []string{
			"client_id=00000000-0000-0000-0000-000000000000&client_secret=x&code=x", "client_id=x&client_secret=x&code=x",
			"client_id={deleted}&client_secret={deletedsecret}&code=x", "client_id={public}&client_secret=x&code=x",
		} {
			if got := w.exchange(change).Status(t, 401); string(got.Raw) != string(wrong.Raw) {
				t.Errorf("%s: %s, a wrong secret %s", change, got.Raw, wrong.Raw)
			}
		}
	})
}

// TestRotatedSecretStopsWorkingAtOnce. The new one works, and tokens keep working.
func TestRotatedSecretStopsWorkingAtOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		held := w.token(w.admin)
		code := w.code(w.admin, "")
		old := w.names["{secret}"]
		w.change(seed.DemoAdmin, func(ctx context.Context, tx *ent.Client) (err error) {
			w.names["{secret}"], err = oauth.RotateSecret(ctx, tx, w.id("{app}"))
			return err
		})
		wantError(t, w.exchange("client_secret="+old+"&code="+code), 401, "invalid_client")
		w.exchange("code="+code).Status(t, 200)
		w.Get(t, "/v1/patients?per_page=1", held).Status(t, 200)
	})
}
