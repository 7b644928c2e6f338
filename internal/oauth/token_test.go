package oauth_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"chairside/ent/accesstoken"
	"chairside/internal/oauth"
	"chairside/internal/principal"
	"chairside/internal/seed"
	"chairside/internal/test/harness"
	"chairside/internal/token"
)

const day = 24 * time.Hour

// TestTokenExpiresFourteenDaysAfterItsLastUse, for both kinds.
func TestTokenExpiresFourteenDaysAfterItsLastUse(t *testing.T) {
	for _, c := range []struct {
		name   string
		unused time.Duration
		alive  bool
	}{
		{"14 days", 14 * day, true},
		{"14 days 1 hour", 14*day + time.Hour, false}, // the last use is stored to the hour
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				begun := w.Clock.Now()
				for kind, value := range map[string]string{"never used": w.token(w.admin), "personal": w.Token(t, "")} {
					w.Clock.Set(begun.Add(c.unused))
					checkToken(t, w, kind, value, c.alive)
					w.Clock.Set(begun)
				}
				rolling := w.token(w.admin)
				for range 5 { // far beyond 14 days in total
					w.Clock.Advance(14 * day)
					checkToken(t, w, "in use", rolling, true)
					w.Clock.Advance(59 * time.Minute) // within the hour: this use is not written
					checkToken(t, w, "in use", rolling, true)
				}
				w.Clock.Advance(c.unused)
				checkToken(t, w, "used until then", rolling, c.alive)
			})
		})
	}
}

// checkToken checks that a token is accepted, or that it has expired.
func checkToken(t *testing.T, w *world, kind, value string, alive bool) {
	t.Helper()
	if res := w.Get(t, "/v1/patients?per_page=1", value); alive {
		res.Status(t, 200)
	} else if res.Error(t, 401, "expired_token"); !strings.Contains(res.Header.Get("WWW-Authenticate"), `error="invalid_token"`) {
		t.Errorf("%s: WWW-Authenticate %q", kind, res.Header.Get("WWW-Authenticate"))
	}
}

func TestLastUseIsWrittenAtMostHourly(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		value := w.token(w.admin)
		written := func() time.Time {
			row, err := w.DB.Ent.AccessToken.Query().Where(accesstoken.Hash(token.Hash(value))).Only(principal.AsSystem(t.Context()))
			if err != nil {
				t.Fatal(err)
			}
			if row.LastUsedAt == nil {
				return time.Time{}
			}
			return *row.LastUsedAt
		}
		first := w.Clock.Now()
		for _, c := range []struct {
			minute  int
			written int
		}{{0, 0}, {1, 0}, {30, 0}, {59, 0}, {60, 60}, {61, 60}, {119, 60}, {125, 125}} {
			w.Clock.Set(first.Add(time.Duration(c.minute) * time.Minute))
			w.Get(t, "/v1/patients?per_page=1", value).Status(t, 200)
			if got := written(); !got.Equal(first.Add(time.Duration(c.written) * time.Minute)) {
				t.Errorf("after %d minutes the last use is %s", c.minute, got)
			}
		}
	})
}

// TestSecretsAreRandomAndStoredAsHashes: tokens, codes and client secrets.
func TestSecretsAreRandomAndStoredAsHashes(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		code := w.code(w.admin, "")
		given := w.exchange("code="+code).Status(t, 200).Text(t, "access_token")
		for value, prefix := range map[string]string{code: "cs_code_", given: "cs_oat_", w.Token(t, ""): "cs_pat_", w.names["{secret}"]: "cs_secret_"} {
			if !regexp.MustCompile("^" + prefix + "[A-Za-z0-9_-]{43}$").MatchString(value) {
				t.Errorf("%s is not %s and 256 bits", value, prefix)
			}
		}
		ctx := principal.AsSystem(t.Context())
		app, err := w.DB.Ent.Application.Get(ctx, w.id("{app}"))
		if err != nil {
			t.Fatal(err)
		}
		stored := w.DB.Ent.AuthorizationCode.Query().OnlyX(ctx)
		for name, pair := range map[string][2][]byte{
			"secret": {*app.SecretHash, token.Hash(w.names["{secret}"])},
			"code":   {stored.Hash, token.Hash(code)},
			"token":  {w.DB.Ent.AccessToken.GetX(ctx, *stored.TokenID).Hash, token.Hash(given)},
		} {
			if !bytes.Equal(pair[0], pair[1]) || len(pair[0]) != 32 {
				t.Errorf("%s: stored as %x, want its hash", name, pair[0])
			}
		}
	})
}

// TestLogHoldsNoSecrets, neither from URLs nor from errors.
func TestLogHoldsNoSecrets(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		code := w.code(w.admin, "state=secret-state&scope=patient:read")
		given := w.exchange("code="+code).Status(t, 200).Text(t, "access_token")
		w.exchange("code=" + code)
		w.Get(t, "/v1/patients?access_token="+given, "")
		live := w.token(w.admin)
		w.Get(t, "/v1/patients?query=Smith&access_token="+live, "").Status(t, 200)
		w.Do(t, harness.Request{Method: "GET", Path: "/v1/practice", Token: live, Header: map[string]string{"Referer": "https://app.example.com/?access_token=" + live}})
		w.post(oauth.RevokePath+"?token="+live, goodRevocation+live)
		w.post(oauth.TokenPath, "client_id={app}&client_secret={secret}&client_secret={secret}&"+live+"=1&"+live+"=2")
		w.post(oauth.TokenPath, alter(goodExchange, noClient+"&code=x"), basic(w.fill("{app}:{secret}")))
		stranger := w.Browser(t)
		w.authorize(stranger, "state=secret-state")
		stranger.Open("/sign-in?next=/oauth/authorize?state=secret-state%26code=" + code)
		form := stranger.Get("/sign-in").Form(t, "/sign-in")
		stranger.Submit(form, map[string][]string{"email": {"nobody@example.com"}, "password": {"wrong-password-1"}})
		stranger.Submit(form, map[string][]string{"email": {seed.DemoAdmin}, "password": {"wrong-password-2"}})
		w.Settle()
		log := w.Log.String()
		if !strings.Contains(log, `"route":"/oauth/authorize"`) && !strings.Contains(log, "authorize") {
			t.Errorf("nothing was logged: %s", log)
		}
		for _, secret := range []string{
			code, given, live, w.names["{secret}"], verifier, w.names["{challenge}"], "cs_", "secret-state", "wrong-password", seed.Password,
			seed.DemoAdmin, "nobody@example.com", "Recall Robot", "Smith", callback,
		} {
			if strings.Contains(log, secret) {
				t.Errorf("%s is in the log: %s", secret, log)
			}
		}
		for _, cookie := range w.admin.Cookies() {
			if strings.Contains(log, cookie.Value) {
				t.Errorf("the cookie is in the log: %s", log)
			}
		}
	})
}
