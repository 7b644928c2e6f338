package oauth_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"chairside/ent"
	"chairside/ent/accesstoken"
	"chairside/internal/oauth"
	"chairside/internal/principal"
	"chairside/internal/seed"
	"chairside/internal/test/harness"
	"chairside/internal/token"
)

// withRefreshTokens registers {refreshing}, whose scopes are those of {app}.
func (w *world) withRefreshTokens() {
	w.t.Helper()
	w.register(seed.DemoAdmin, "refreshing", "refreshingsecret", oauth.Draft{
		Name: "Refreshing", RedirectURIs: []string{callback}, Scopes: []string{"appointment", "patient:read", "user:read"}, RefreshTokens: true,
	})
}

const asRefreshing = "client_id={refreshing}&client_secret={refreshingsecret}"

// connect authorises {refreshing} for its scopes and returns the response.
func (w *world) connect() *harness.Response {
	w.t.Helper()
	code := w.code(w.admin, "client_id={refreshing}&scope=patient:read+user:read")
	return w.exchange(asRefreshing+"&code="+code).Status(w.t, 200)
}

// refresh exchanges a refresh token as {refreshing}, with further parameters.
func (w *world) refresh(value, more string) *harness.Response {
	w.t.Helper()
	return w.post(oauth.TokenPath, alter(asRefreshing+"&grant_type=refresh_token&refresh_token="+value, more))
}

func TestRefreshTokensRotate(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.withRefreshTokens()
		r := w.connect()
		for range 3 {
			access, refresh := r.Text(t, "access_token"), r.Text(t, "refresh_token")
			if !strings.HasPrefix(refresh, token.Refresh) || len(refresh) != len(token.Refresh)+43 || r.Text(t, "expires_in") != "3600" || r.Text(t, "scope") != "patient:read user:read" {
				t.Fatalf("%s", r.Raw)
			}
			w.Get(t, "/v1/patients?per_page=1", access).Status(t, 200)
			w.Get(t, "/v1/patients?per_page=1", refresh).Error(t, 401, "invalid_token")
			w.Clock.Advance(time.Hour)
			w.Get(t, "/v1/patients?per_page=1", access).Error(t, 401, "expired_token")
			w.Clock.Advance(13 * 24 * time.Hour)
			r = w.refresh(refresh, "").Status(t, 200)
			w.Get(t, "/v1/patients?per_page=1", access).Error(t, 401, "invalid_token")
		}
		w.Clock.Advance(14 * 24 * time.Hour)
		wantError(t, w.refresh(r.Text(t, "refresh_token"), ""), 400, grant)
	})
}

// TestIdempotencyKeysOutliveARefresh: a write whose response was lost is not done again after the token is refreshed.
func TestIdempotencyKeysOutliveARefresh(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.register(seed.DemoAdmin, "refreshing", "refreshingsecret", oauth.Draft{
			Name: "Refreshing", RedirectURIs: []string{callback}, Scopes: []string{"patient"}, RefreshTokens: true,
		})
		r := w.exchange(asRefreshing+"&code="+w.code(w.admin, "client_id={refreshing}&scope=patient")).Status(t, 200)
		patient := w.Get(t, "/v1/patients?per_page=1", r.Text(t, "access_token")).At(t, "patients.0.id")
		write := func(text string) *harness.Response {
			return w.Do(t, harness.Request{
				Method: http.MethodPost, Path: "/v1/notes", Token: r.Text(t, "access_token"), Header: map[string]string{"Idempotency-Key": "lost"},
				Body: map[string]any{"note": map[string]any{"patient_id": patient, "body": text}},
			})
		}
		first := write("Lost").Status(t, 201)
		w.Clock.Advance(time.Hour)
		write("Lost").Error(t, 401, "expired_token")
		r = w.refresh(r.Text(t, "refresh_token"), "").Status(t, 200)
		if again := write("Lost").Status(t, 201); again.Header.Get("Idempotency-Replayed") != "true" || string(again.Raw) != string(first.Raw) {
			t.Errorf("after a refresh: %s, want %s", again.Raw, first.Raw)
		}
		write("Other").Error(t, 422, "idempotency_key_reused")
	})
}

// TestApplicationsHaveRefreshTokensOnlyIfChosen.
func TestApplicationsHaveRefreshTokensOnlyIfChosen(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		r := w.exchange("code="+w.code(w.admin, "")).Status(t, 200)
		if len(r.JSON) != 3 {
			t.Errorf("%s", r.Raw)
		}
		wantError(t, w.post(oauth.TokenPath, "client_id={app}&client_secret={secret}&grant_type=refresh_token&refresh_token=cs_ort_x"), 400, "unauthorized_client")
		w.withRefreshTokens()
		given := w.connect().Text(t, "refresh_token")
		w.change(seed.DemoAdmin, func(ctx context.Context, tx *ent.Client) error {
			return tx.Application.UpdateOneID(w.id("{refreshing}")).SetRefreshTokens(false).Exec(ctx)
		})
		wantError(t, w.refresh(given, ""), 400, "unauthorized_client")
	})
}

// TestReuseOfARefreshTokenRevokesTheAuthorization (RFC 9700, section 4.14.2), and no other.
func TestReuseOfARefreshTokenRevokesTheAuthorization(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.withRefreshTokens()
		stolen, untouched := w.connect().Text(t, "refresh_token"), w.connect()
		second := w.refresh(stolen, "").Status(t, 200)
		third := w.refresh(second.Text(t, "refresh_token"), "").Status(t, 200)
		wantError(t, w.refresh(stolen, ""), 400, grant)
		w.Get(t, "/v1/patients?per_page=1", third.Text(t, "access_token")).Error(t, 401, "invalid_token")
		wantError(t, w.refresh(third.Text(t, "refresh_token"), ""), 400, grant)
		w.Get(t, "/v1/patients?per_page=1", untouched.Text(t, "access_token")).Status(t, 200)
		w.refresh(untouched.Text(t, "refresh_token"), "").Status(t, 200)
	})
}

// TestRefreshTokensAreBoundToTheirClient: others can neither use, revoke nor look at them.
func TestRefreshTokensAreBoundToTheirClient(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.withRefreshTokens()
		w.register(seed.DemoAdmin, "thief", "thiefsecret", oauth.Draft{Name: "Thief", RedirectURIs: []string{callback}, Scopes: []string{"patient:read"}, RefreshTokens: true})
		const asThief = "client_id={thief}&client_secret={thiefsecret}"
		first := w.connect().Text(t, "refresh_token")
		wantError(t, w.refresh(first, asThief), 400, grant)
		wantError(t, w.refresh(first, "client_secret=wrong"), 401, "invalid_client")
		second := w.refresh(first, "").Status(t, 200)
		wantError(t, w.refresh(first, asThief), 400, grant) // does not count as reuse
		refresh := second.Text(t, "refresh_token")
		w.post(oauth.RevokePath, asThief+"&token="+refresh).Status(t, 200)
		if r := w.post(oauth.IntrospectPath, asThief+"&token="+refresh).Status(t, 200); r.Text(t, "active") != "false" {
			t.Errorf("%s", r.Raw)
		}
		w.Get(t, "/v1/patients?per_page=1", second.Text(t, "access_token")).Status(t, 200)
		w.refresh(refresh, "").Status(t, 200)
	})
}

// TestRefreshCanNarrowScopes for one access token; it can never widen them.
func TestRefreshCanNarrowScopes(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.withRefreshTokens()
		refresh := w.connect().Text(t, "refresh_token")
		for _, wide := range []string{"patient", "appointment:read", "patient:read+user", "nonsense"} {
			wantError(t, w.refresh(refresh, "scope="+wide), 400, invalidScope) // and does not use the token
		}
		narrow := w.refresh(refresh, "scope=user:read").Status(t, 200)
		if narrow.Text(t, "scope") != "user:read" {
			t.Errorf("%s", narrow.Raw)
		}
		w.Get(t, "/v1/user", narrow.Text(t, "access_token")).Status(t, 200)
		w.Get(t, "/v1/patients", narrow.Text(t, "access_token")).Error(t, 403, "insufficient_scope")
		again := w.refresh(narrow.Text(t, "refresh_token"), "").Status(t, 200)
		if again.Text(t, "scope") != "patient:read user:read" { // what the user granted (RFC 6749, section 6)
			t.Errorf("%s", again.Raw)
		}
		w.change(seed.DemoAdmin, func(ctx context.Context, tx *ent.Client) error {
			return tx.Application.UpdateOneID(w.id("{refreshing}")).SetScopes("user:read").Exec(ctx)
		})
		if r := w.refresh(again.Text(t, "refresh_token"), "").Status(t, 200); r.Text(t, "scope") != "user:read" {
			t.Errorf("%s", r.Raw)
		}
	})
}

// TestWhatEndsTokensEndsRefreshTokens, also when the access token has expired.
func TestWhatEndsTokensEndsRefreshTokens(t *testing.T) {
	for name, end := range map[string]func(w *world, r *harness.Response){
		"revoked by its refresh token": func(w *world, r *harness.Response) {
			w.post(oauth.RevokePath, asRefreshing+"&token="+r.Text(w.t, "refresh_token")).Status(w.t, 200)
		},
		"revoked by its access token": func(w *world, r *harness.Response) {
			w.post(oauth.RevokePath, asRefreshing+"&token="+r.Text(w.t, "access_token")).Status(w.t, 200)
		},
		"authorization revoked": func(w *world, _ *harness.Response) {
			path := "/settings/authorizations/" + w.names["{refreshing}"] + "/revoke"
			w.admin = w.Browser(w.t).SignIn(seed.DemoAdmin) // the session has expired
			w.admin.Submit(w.admin.Get("/settings/authorizations").Form(w.t, path), url.Values{}).Status(w.t, 303)
		},
		"tokens of the user revoked": func(w *world, _ *harness.Response) {
			u := userOf(w.t, w.Env, seed.DemoAdmin)
			w.change(seed.DemoAdmin, func(ctx context.Context, tx *ent.Client) error {
				return token.Revoke(ctx, tx, accesstoken.UserID(u.ID))
			})
		},
		"user disabled": func(w *world, _ *harness.Response) { w.setActive(seed.DemoAdmin, false) },
		"application deleted": func(w *world, _ *harness.Response) {
			w.change(seed.DemoAdmin, func(ctx context.Context, tx *ent.Client) error { return oauth.Delete(ctx, tx, w.id("{refreshing}")) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				w.withRefreshTokens()
				r := w.connect()
				if w.refresh("", "").Code != 400 || w.post(oauth.IntrospectPath, asRefreshing+"&token="+r.Text(t, "refresh_token")).Text(t, "active") != "true" {
					t.Error("the refresh token is not active")
				}
				w.Clock.Advance(2 * time.Hour)
				end(w, r)
				if answer := w.refresh(r.Text(t, "refresh_token"), ""); answer.Code == http.StatusOK {
					t.Errorf("%s", answer.Raw)
				}
				rows, err := w.DB.Ent.AccessToken.Query().Where(accesstoken.ApplicationID(w.id("{refreshing}"))).All(principal.AsSystem(t.Context()))
				if err != nil || len(rows) != 1 {
					t.Fatalf("%v %v", rows, err)
				}
			})
		})
	}
}

// TestConcurrentRefreshesRedeemATokenOnce through two servers on one database; the other use
// revokes the authorization.
func TestConcurrentRefreshesRedeemATokenOnce(t *testing.T) {
	for name, database := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where := database(t)
			w := build(t, harness.Start(t, where))
			w.withRefreshTokens()
			servers := []string{w.URL, harness.Start(t, where).URL}
			for range 5 {
				form := w.fill(asRefreshing + "&grant_type=refresh_token&refresh_token=" + w.connect().Text(t, "refresh_token"))
				var mu sync.Mutex
				var all sync.WaitGroup
				var won []string
				for racer := range 10 {
					all.Go(func() {
						value, err := redeem(http.DefaultClient, servers[racer%2], form)
						mu.Lock()
						defer mu.Unlock()
						if err != nil {
							t.Error(err)
						}
						if value != "" {
							won = append(won, value)
						}
					})
				}
				all.Wait()
				if len(won) != 1 {
					t.Fatalf("a refresh token was redeemed %d times", len(won))
				}
				w.Get(t, "/v1/patients?per_page=1", won[0]).Error(t, 401, "invalid_token")
			}
		})
	}
}
