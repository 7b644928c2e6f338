package oauth_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"chairside/internal/oauth"
	"chairside/internal/seed"
	"chairside/internal/test/harness"
)

const (
	goodRevocation = "client_id={app}&client_secret={secret}&token="
	ofOther        = "client_id={other}&client_secret={othersecret}&token="
)

// TestRevocationWorksOnEveryServerProcess (RFC 7009): at once on the one that receives
// it, within a second on the others.
func TestRevocationWorksOnEveryServerProcess(t *testing.T) {
	for name, database := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := database(t)
			w := build(t, harness.Start(t, url))
			elsewhere := harness.Start(t, url)
			token := w.token(w.admin)
			for _, e := range []*harness.Env{w.Env, elsewhere} { // fills their caches
				e.Get(t, "/v1/patients?per_page=1", token).Status(t, 200)
			}
			res := w.post(oauth.RevokePath, goodRevocation+token+"&token_type_hint=access_token").Status(t, 200)
			if len(res.Raw) != 0 || res.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("answered %q, Cache-Control %q", res.Raw, res.Header.Get("Cache-Control"))
			}
			w.Get(t, "/v1/patients?per_page=1", token).Error(t, 401, "invalid_token")
			remembered := func() bool { return elsewhere.Get(t, "/v1/patients?per_page=1", token).Code == 200 }
			for deadline := time.Now().Add(20 * time.Second); remembered() && time.Now().Before(deadline); {
			}
			elsewhere.Get(t, "/v1/patients?per_page=1", token).Error(t, 401, "invalid_token")
			w.post(oauth.RevokePath, goodRevocation+token).Status(t, 200)
		})
	}
}

var databases = map[string]func(testing.TB) string{"sqlite": harness.SQLite, "postgres": harness.Postgres}

// TestRevocationOfAnotherClientsTokenDoesNothing and reveals nothing.
func TestRevocationOfAnotherClientsTokenDoesNothing(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		own, personal := w.token(w.admin), w.Token(t, "")
		unknown := w.post(oauth.RevokePath, ofOther+"cs_oat_unknown").Status(t, 200)
		for _, c := range []struct{ form, token string }{
			{ofOther + own, own},
			{ofOther + own + "&token_type_hint=access_token", own},
			{"client_id={public}&token=" + own, own},
			{goodRevocation + personal, personal},
			{goodRevocation + personal + "&token_type_hint=refresh_token", personal},
		} {
			res := w.post(oauth.RevokePath, c.form).Status(t, 200)
			if string(res.Raw) != string(unknown.Raw) {
				t.Errorf("%s is answered %q, an unknown one %q", c.form, res.Raw, unknown.Raw)
			}
			w.Get(t, "/v1/patients?per_page=1", c.token).Status(t, 200)
		}
		wantError(t, w.post(oauth.RevokePath, "client_id={other}&client_secret={secret}&token="+own), 401, "invalid_client")
		wantError(t, w.post(oauth.RevokePath, "client_id={app}&token="+own), 401, "invalid_client")
		wantError(t, w.post(oauth.RevokePath, "token="+own), 401, "invalid_client")
		wantError(t, w.post(oauth.RevokePath, goodRevocation), 400, invalid)
		w.post(oauth.RevokePath, goodRevocation+strings.Repeat("x", 10000)).Status(t, 200)
		wantError(t, w.post(oauth.RevokePath, goodRevocation+"%00"), 400, invalid)
		wantError(t, w.post(oauth.RevokePath, goodRevocation+"%ff"), 400, invalid)
		w.post(oauth.RevokePath, goodRevocation+own+"&token_type_hint=nonsense").Status(t, 200)
		w.Get(t, "/v1/patients?per_page=1", own).Error(t, 401, "invalid_token")
	})
}

// TestPublicApplicationCanRevokeItsTokens with only its id.
func TestPublicApplicationCanRevokeItsTokens(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		token := w.exchange(publicExchange).Status(t, 200).Text(t, "access_token")
		w.Get(t, "/v1/patients?per_page=1", token).Status(t, 200)
		w.post(oauth.RevokePath, "client_id={public}&token="+token).Status(t, 200)
		w.Get(t, "/v1/patients?per_page=1", token).Error(t, 401, "invalid_token")
	})
}

func TestIntrospectionFollowsRFC7662(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		token := w.token(w.admin)
		begun := w.Clock.Now()
		w.Clock.Advance(3 * time.Hour)
		w.Get(t, "/v1/patients?per_page=1", token).Status(t, 200)
		used := w.Clock.Now()
		w.Clock.Advance(time.Minute)
		res := w.post(oauth.IntrospectPath, goodRevocation+token).Status(t, 200)
		for name, want := range map[string]any{
			"active": true, "scope": "patient:read", "client_id": w.names["{app}"], "token_type": "bearer", "iss": w.URL,
			"iat": begun.Unix(), "exp": used.Add(14*24*time.Hour + time.Hour).Unix(), "sub": userOf(t, w.Env, seed.DemoAdmin).ID,
		} {
			if got := res.Text(t, name); got != text(want) {
				t.Errorf("%s %s, want %v", name, got, want)
			}
		}
		if len(res.JSON) != 8 {
			t.Errorf("body %s", res.Raw)
		}
		w.Clock.Set(used.Add(14*24*time.Hour + 59*time.Minute)) // introspection is not a use
		w.post(oauth.IntrospectPath, goodRevocation+token).Status(t, 200)
		w.Clock.Set(used.Add(14*24*time.Hour + time.Hour))
		w.Get(t, "/v1/patients?per_page=1", token).Error(t, 401, "expired_token")
		inactive(t, w.post(oauth.IntrospectPath, goodRevocation+token))
	})
}

func TestIntrospectionOfAnotherClientsTokenRevealsNothing(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		own, personal, revoked, code := w.token(w.admin), w.Token(t, ""), w.token(w.admin), w.code(w.admin, "")
		w.post(oauth.RevokePath, goodRevocation+revoked).Status(t, 200)
		for _, form := range []string{
			ofOther + own, ofOther + own + "&token_type_hint=access_token", "client_id={second}&client_secret={secondsecret}&token=" + own,
			goodRevocation + personal, goodRevocation + revoked, goodRevocation + "unknown", goodRevocation + code, goodRevocation + "{secret}",
			goodRevocation + own + "x", goodRevocation + strings.ToUpper(own), goodRevocation + "%01", goodRevocation + strings.Repeat("x", 10000),
		} {
			inactive(t, w.post(oauth.IntrospectPath, form))
		}
		wantError(t, w.post(oauth.IntrospectPath, "client_id={public}&token="+own), 401, "invalid_client")
		wantError(t, w.post(oauth.IntrospectPath, "token="+own), 401, "invalid_client")
		wantError(t, w.post(oauth.IntrospectPath, "token="+own, "Authorization: Bearer "+own), 401, "invalid_client")
		wantError(t, w.post(oauth.IntrospectPath, goodRevocation), 400, invalid)
		w.Get(t, "/v1/patients?per_page=1", own).Status(t, 200)
	})
}

// inactive fails the test unless the response is only {"active": false}.
func inactive(t *testing.T, r *harness.Response) {
	t.Helper()
	if r.Status(t, http.StatusOK); strings.TrimSpace(string(r.Raw)) != `{"active":false}` {
		t.Errorf("answered %s", r.Raw)
	}
}
