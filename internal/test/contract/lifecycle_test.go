package contract

import (
	"net/http"
	"testing"
	"time"

	"chairside/ent"
	"chairside/ent/accesstoken"
	"chairside/internal/principal"
	"chairside/internal/test/harness"
)

const day = 24 * time.Hour

// ask reads the token's user.
func ask(t *testing.T, e *harness.Env, token string) *harness.Response {
	t.Helper()
	return send(t, e, find(t, "getCurrentUser"), harness.Request{Method: http.MethodGet, Path: "/v1/user", Token: token})
}

// alter updates the newest token.
func alter(t *testing.T, e *harness.Env, set func(*ent.AccessTokenUpdateOne)) {
	t.Helper()
	ctx := principal.AsSystem(t.Context())
	e.Tx(t, ctx, func(tx *ent.Client) error {
		newest, err := tx.AccessToken.Query().Order(accesstoken.ByCreatedAt(), accesstoken.ByID()).All(ctx)
		if err != nil {
			return err
		}
		update := tx.AccessToken.UpdateOne(newest[len(newest)-1])
		set(update)
		return update.Exec(ctx)
	})
}

func TestUsedTokensDoNotExpire(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		fresh := e.Token(t, "user:read")
		e.Clock.Advance(13*day + 23*time.Hour)
		ask(t, e, fresh).Status(t, http.StatusOK)

		used := fresh
		for range 5 { // ten weeks
			e.Clock.Advance(13*day + 22*time.Hour)
			ask(t, e, used).Status(t, http.StatusOK)
		}
		e.Clock.Advance(14*day + time.Hour)
		ask(t, e, used).Error(t, http.StatusUnauthorized, "expired_token")
		ask(t, e, used).Error(t, http.StatusUnauthorized, "expired_token") // a request does not revive it
	})
}

func TestUnusedTokensExpire(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "user:read")
		e.Clock.Advance(14*day + time.Hour)
		r := ask(t, e, token).Error(t, http.StatusUnauthorized, "expired_token")
		if got := r.Header.Get("WWW-Authenticate"); got == "" {
			t.Error("no WWW-Authenticate")
		}
		if r.Header.Get("X-OAuth-Scopes") != "" {
			t.Error("a dead token is told its scopes")
		}
	})
}

// TestLastUseIsWrittenHourly counts the writes.
func TestLastUseIsWrittenHourly(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "user:read")
		var written []time.Time
		for range 25 {
			ask(t, e, token).Status(t, http.StatusOK)
			row := column(t, e, "SELECT last_used_at FROM access_tokens ORDER BY created_at DESC")
			at, err := time.Parse("2006-01-02T15:04:05Z", row[0])
			if err != nil {
				t.Fatal(err)
			}
			if len(written) == 0 || !written[len(written)-1].Equal(at) {
				written = append(written, at)
			}
			e.Clock.Advance(10 * time.Minute)
		}
		if len(written) < 4 || len(written) > 5 { // 25 requests in four hours
			t.Errorf("the last use was written %d times: %v", len(written), written)
		}
	})
}

func TestRevokedTokens(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "user:read")
		ask(t, e, token).Status(t, http.StatusOK)
		alter(t, e, func(u *ent.AccessTokenUpdateOne) { u.SetRevokedAt(e.Clock.Now()) })
		ask(t, e, token).Error(t, http.StatusUnauthorized, "invalid_token")
	})
}

func TestTokensWithAnExpiryDate(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "user:read")
		alter(t, e, func(u *ent.AccessTokenUpdateOne) { u.SetExpiresAt(e.Clock.Now().Add(time.Hour)) })
		e.Clock.Advance(time.Hour - time.Second)
		ask(t, e, token).Status(t, http.StatusOK)
		e.Clock.Advance(time.Second)
		ask(t, e, token).Error(t, http.StatusUnauthorized, "expired_token")
	})
}

func TestDisabledUsers(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		ask(t, e, token).Status(t, http.StatusOK)
		execute(t, e, "UPDATE users SET active = false WHERE email = 'admin@demo.chairside.test'")
		// A change by hand takes effect within a second.
		for deadline := time.Now().Add(20 * time.Second); ask(t, e, token).Code == http.StatusOK && time.Now().Before(deadline); {
		}
		for _, op := range operations() {
			q := look(t, e, "demo").request(op, 0)
			q.Token = token
			r := send(t, e, op, q).Error(t, http.StatusForbidden, "account_disabled")
			if r.Header.Get("X-OAuth-Scopes") != "" {
				t.Errorf("%s: the token was accepted", op)
			}
		}
		execute(t, e, "UPDATE users SET active = true WHERE email = 'admin@demo.chairside.test'")
		ask(t, e, token).Status(t, http.StatusOK)
	})
}

func TestScopeChangesTakeEffect(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "user:read")
		ask(t, e, token).Status(t, http.StatusOK)
		alter(t, e, func(u *ent.AccessTokenUpdateOne) { u.SetScopes("patient:read") })
		ask(t, e, token).Error(t, http.StatusForbidden, "insufficient_scope")
	})
}
