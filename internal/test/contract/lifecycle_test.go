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

// getUser requests the token's user.
func getUser(t *testing.T, e *harness.Env, token string) *harness.Response {
	t.Helper()
	return send(t, e, find(t, "getCurrentUser"), harness.Request{Method: http.MethodGet, Path: "/v1/user", Token: token})
}

// updateNewestToken updates the newest token.
func updateNewestToken(t *testing.T, e *harness.Env, set func(*ent.AccessTokenUpdateOne)) {
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
		getUser(t, e, fresh).Status(t, http.StatusOK)

		used := fresh
		for range 5 { // ten weeks
			e.Clock.Advance(13*day + 22*time.Hour)
			getUser(t, e, used).Status(t, http.StatusOK)
		}
		e.Clock.Advance(14*day + time.Hour)
		getUser(t, e, used).Error(t, http.StatusUnauthorized, "expired_token")
		getUser(t, e, used).Error(t, http.StatusUnauthorized, "expired_token") // a request does not revive it
	})
}

func TestUnusedTokensExpire(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "user:read")
		e.Clock.Advance(14*day + time.Hour)
		r := getUser(t, e, token).Error(t, http.StatusUnauthorized, "expired_token")
		if got := r.Header.Get("WWW-Authenticate"); got == "" {
			t.Error("no WWW-Authenticate")
		}
		if r.Header.Get("X-OAuth-Scopes") != "" {
			t.Error("the response shows the scopes of an expired token")
		}
	})
}

// TestLastUseIsWrittenHourly counts the writes.
func TestLastUseIsWrittenHourly(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "user:read")
		var written []time.Time
		for range 25 {
			getUser(t, e, token).Status(t, http.StatusOK)
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

func TestRevokedTokensAreRefused(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "user:read")
		getUser(t, e, token).Status(t, http.StatusOK)
		updateNewestToken(t, e, func(u *ent.AccessTokenUpdateOne) { u.SetRevokedAt(e.Clock.Now()) })
		getUser(t, e, token).Error(t, http.StatusUnauthorized, "invalid_token")
	})
}

func TestTokensExpireOnTheirExpiryDate(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "user:read")
		updateNewestToken(t, e, func(u *ent.AccessTokenUpdateOne) { u.SetExpiresAt(e.Clock.Now().Add(time.Hour)) })
		e.Clock.Advance(time.Hour - time.Second)
		getUser(t, e, token).Status(t, http.StatusOK)
		e.Clock.Advance(time.Second)
		getUser(t, e, token).Error(t, http.StatusUnauthorized, "expired_token")
	})
}

func TestTokensOfDisabledUsersAreRefused(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		getUser(t, e, token).Status(t, http.StatusOK)
		execute(t, e, "UPDATE users SET active = false WHERE email = 'admin@demo.chairside.test'")
		// A change by hand takes effect within a second.
		for deadline := time.Now().Add(20 * time.Second); getUser(t, e, token).Code == http.StatusOK && time.Now().Before(deadline); {
		}
		for _, op := range operations() {
			q := loadWorld(t, e, "demo").request(op, 0)
			q.Token = token
			r := send(t, e, op, q).Error(t, http.StatusForbidden, "account_disabled")
			if r.Header.Get("X-OAuth-Scopes") != "" {
				t.Errorf("%s: the token was accepted", op)
			}
		}
		execute(t, e, "UPDATE users SET active = true WHERE email = 'admin@demo.chairside.test'")
		getUser(t, e, token).Status(t, http.StatusOK)
	})
}

func TestScopeChangesTakeEffect(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "user:read")
		getUser(t, e, token).Status(t, http.StatusOK)
		updateNewestToken(t, e, func(u *ent.AccessTokenUpdateOne) { u.SetScopes("patient:read") })
		getUser(t, e, token).Error(t, http.StatusForbidden, "insufficient_scope")
	})
}
