package server

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"chairside/ent"
	"chairside/ent/accesstoken"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/internal/store"
	"chairside/internal/token"
)

// change runs work in a transaction across practices.
func (b *bundle) change(work func(tx *ent.Client) error) {
	b.t.Helper()
	if err := b.DB.Tx(principal.AsSystem(clock.With(b.t.Context(), b.now)), work); err != nil {
		b.t.Fatal(err)
	}
}

func TestTokenInHeaderOrQuery(t *testing.T) {
	t.Parallel()
	b := setup(t)
	query := "?access_token=" + url.QueryEscape(b.token)
	for name, a := range map[string]result{
		"header":                   b.get("/practice"),
		"query":                    b.get("/practice"+query, "Authorization:"),
		"other scheme, and query":  b.get("/practice"+query, "Authorization: Basic eA=="),
		"empty header, and query":  b.get("/practice"+query, "Authorization: Bearer"),
		"scheme in lower case":     b.get("/practice", "Authorization: bearer "+b.token),
		"header counts, not query": b.get("/practice?access_token=nonsense"),
	} {
		if a.StatusCode != 200 || a.Header.Get("X-OAuth-Scopes") != "appointment audit financials patient practice treatments user webhook" {
			t.Errorf("%s: %d, scopes %q", name, a.StatusCode, a.Header.Get("X-OAuth-Scopes"))
		}
		if a.Header.Get("X-Unknown-Parameters") != "" {
			t.Errorf("%s: access_token is reported as unknown", name)
		}
	}
	b.get("/practice"+query, "Authorization: Bearer nonsense").refused(t, 401, "invalid_token")
}

func TestInvalidTokensAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const realm = `Bearer realm="chairside"`
	for _, test := range []struct{ authorization, code, challenge string }{
		{"", "missing_token", realm},
		{"Bearer", "missing_token", realm},
		{"Basic eDp5", "missing_token", realm},
		{"Bearer cs_pat_nonsense", "invalid_token", realm + `, error="invalid_token", error_description="The access token is not valid."`},
		{"Bearer " + strings.Repeat("x", 5000), "invalid_token", realm + `, error="invalid_token", error_description="The access token is not valid."`},
		{"Bearer " + b.token + "x", "invalid_token", realm + `, error="invalid_token", error_description="The access token is not valid."`},
	} {
		a := b.get("/practice", "Authorization: "+test.authorization)
		a.refused(t, 401, test.code)
		if got := a.Header.Get("WWW-Authenticate"); got != test.challenge {
			t.Errorf("%.30s: WWW-Authenticate is %q", test.authorization, got)
		}
		if a.Header.Get("X-OAuth-Scopes") != "" || a.Header.Get("X-RateLimit-Limit") != "" {
			t.Errorf("%.30s: a refused token has scopes or a limit", test.authorization)
		}
	}
}

func TestRevokedTokenAndDisabledUserAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.get("/practice").ok(t, 200)
	b.change(func(tx *ent.Client) error {
		return tx.User.UpdateOneID(b.opened.User).SetActive(false).Exec(store.WithoutAdministrator(principal.AsSystem(t.Context())))
	})
	a := b.get("/practice")
	a.refused(t, 403, "account_disabled")
	if got := a.errorOf(t).Type; got != "invalid_access_error" {
		t.Errorf("type %s", got)
	}
	b.change(func(tx *ent.Client) error {
		if err := tx.User.UpdateOneID(b.opened.User).SetActive(true).Exec(principal.AsSystem(t.Context())); err != nil {
			return err
		}
		return token.Revoke(t.Context(), tx, accesstoken.Hash(token.Hash(b.token)))
	})
	b.get("/practice").refused(t, 401, "invalid_token")
}

func TestUsedTokenDoesNotExpire(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range 3 { // more than 14 days in total
		b.now = b.now.Add(13 * 24 * time.Hour)
		b.get("/practice").ok(t, 200)
	}
	b.now = b.now.Add(token.IdleLife)
	b.get("/practice").ok(t, 200)
	b.now = b.now.Add(token.IdleLife + time.Hour)
	a := b.get("/practice")
	a.refused(t, 401, "expired_token")
	if got := a.Header.Get("WWW-Authenticate"); !strings.Contains(got, `error="invalid_token"`) {
		t.Errorf("WWW-Authenticate is %q", got)
	}
}

func TestTokenExpiresAtItsEnd(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.change(func(tx *ent.Client) error {
		row, err := tx.AccessToken.Query().Only(principal.AsSystem(t.Context()))
		if err != nil {
			return err
		}
		return tx.AccessToken.UpdateOne(row).SetExpiresAt(b.now.Add(time.Minute)).Exec(principal.AsSystem(t.Context()))
	})
	b.get("/practice").ok(t, 200)
	b.now = b.now.Add(time.Minute)
	b.get("/practice").refused(t, 401, "expired_token")
}

func TestLastUseIsWrittenOnceAnHour(t *testing.T) {
	t.Parallel()
	b := setup(t)
	lastUse := func() *time.Time {
		row, err := b.DB.Ent.AccessToken.Query().Only(principal.AsSystem(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		return row.LastUsedAt
	}
	if lastUse() != nil {
		t.Error("a new token has a last use")
	}
	start := b.now
	for _, minute := range []int{0, 1, 59} {
		b.now = start.Add(time.Duration(minute) * time.Minute)
		b.get("/practice").ok(t, 200)
		if got := lastUse(); got == nil || !got.Equal(start) {
			t.Errorf("minute %d: last use is %v", minute, got)
		}
	}
	b.now = start.Add(time.Hour)
	b.get("/practice").ok(t, 200)
	if got := lastUse(); got == nil || !got.Equal(b.now) {
		t.Errorf("after an hour: last use is %v", got)
	}
}

func TestOperationsNeedTheirScope(t *testing.T) {
	t.Parallel()
	b := setup(t)
	fee := b.firstFee()
	for _, test := range []struct {
		scopes, method, path, body string
		needed                     string // "" if it is allowed
	}{
		{"practice", "GET", "/practice", "", ""},
		{"practice:read", "GET", "/practice", "", ""},
		{"practice:update", "GET", "/practice", "", "practice:read"},
		{"patient", "GET", "/practice", "", "practice:read"},
		{"treatments:read", "PUT", "/fees/" + fee, `{"fee":{}}`, "treatments:update"},
		{"treatments:update", "PUT", "/fees/" + fee, `{"fee":{}}`, ""},
		{"user:read", "GET", "/rate_limit", "", ""},
	} {
		a := b.do(test.method, test.path, test.body, "Authorization: Bearer "+b.mint(test.scopes))
		if got := a.Header.Get("X-OAuth-Scopes"); got != test.scopes {
			t.Errorf("X-OAuth-Scopes is %q, want %q", got, test.scopes)
		}
		if test.needed == "" {
			a.ok(t, 200)
			continue
		}
		a.refused(t, 403, "insufficient_scope")
		want := `error="insufficient_scope", error_description="The access token does not have the scope ` + test.needed + `.", scope="` + test.needed + `"`
		if got := a.Header.Get("WWW-Authenticate"); !strings.HasSuffix(got, want) {
			t.Errorf("WWW-Authenticate is %q", got)
		}
	}
}
