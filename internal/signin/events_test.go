package signin_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/authorizationcode"
	"chairside/ent/session"
	"chairside/ent/user"
	"chairside/internal/clock"
	"chairside/internal/oauth"
	"chairside/internal/principal"
	"chairside/internal/scope"
	"chairside/internal/seed"
	"chairside/internal/signin"
	"chairside/internal/signin/password"
	"chairside/internal/store"
	"chairside/internal/test/harness"
	"chairside/internal/token"
	"chairside/schema"
)

const (
	newPassword = "kettle mango nine"
	callback    = "https://app.example.com/callback"
)

// member is a user with every kind of access.
type member struct {
	*ent.User
	browser         *harness.Browser
	personal, other string // tokens: the user's own, an application's
	app             *ent.Application
	secret          string // of app
	code            string // unused
}

// newMember signs a user in and creates both kinds of token and a code.
func newMember(t *testing.T, e *harness.Env, u *ent.User) *member {
	t.Helper()
	m := &member{User: u, browser: e.Browser(t).SignIn(u.Email), personal: e.TokenOf(t, u.Email, "patient:read", nil)}
	ctx := principal.With(clock.With(t.Context(), e.Clock.Now()), &principal.Principal{PracticeID: u.PracticeID, UserID: u.ID})
	e.Tx(t, ctx, func(tx *ent.Client) (err error) {
		m.app, m.secret, err = oauth.Register(ctx, tx, oauth.Draft{Name: "Recall Robot", RedirectURIs: []string{callback}, Scopes: []string{"patient:read"}})
		return err
	})
	m.other = m.exchange(t, e, m.allow(t), http.StatusOK)
	m.code = m.allow(t)
	return m
}

// allow authorises the application and returns the code.
func (m *member) allow(t *testing.T) string {
	t.Helper()
	p := m.browser.Post("/oauth/authorize", url.Values{
		"client_id": {m.app.ID.String()}, "redirect_uri": {callback}, "response_type": {"code"}, "scope": {"patient:read"}, "decision": {"allow"},
	})
	return p.Redirect(t).Query().Get("code")
}

// exchange exchanges a code and returns the token.
func (m *member) exchange(t *testing.T, e *harness.Env, code string, status int) string {
	t.Helper()
	p := e.Browser(t).Send(http.MethodPost, "/oauth/token", url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {callback}, "client_id": {m.app.ID.String()}, "client_secret": {m.secret},
	}, nil).Status(t, status)
	_, rest, _ := strings.Cut(string(p.Raw), `"access_token":"`)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// works reports whether the API accepts a token.
func works(t *testing.T, e *harness.Env, value string) bool {
	t.Helper()
	return e.Get(t, "/v1/patients?per_page=1", value).Code == http.StatusOK
}

// eventually waits until a condition holds: a second on an idle machine.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("%s", what)
		}
	}
}

// inTx runs work in a transaction, as the command line does.
func inTx(t *testing.T, e *harness.Env, work func(ctx context.Context, tx *ent.Client) error) error {
	t.Helper()
	ctx := principal.AsSystem(clock.With(t.Context(), e.Clock.Now()))
	return e.DB.Tx(ctx, func(tx *ent.Client) error { return work(ctx, tx) })
}

// chosen checks and hashes a new password.
func chosen(t *testing.T, text string) password.Chosen {
	t.Helper()
	c, err := password.Choose(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestEventsEndAccess checks which access each event ends, on two servers with one
// database.
func TestEventsEndAccess(t *testing.T) {
	reset := func(keep bool) func(*testing.T, *harness.Env, *member) {
		return func(t *testing.T, e *harness.Env, m *member) {
			c := chosen(t, newPassword)
			if err := inTx(t, e, func(ctx context.Context, tx *ent.Client) error { return signin.ResetPassword(ctx, tx, m.User, c, keep) }); err != nil {
				t.Fatal(err)
			}
		}
	}
	event := func(work func(context.Context, *ent.Client, *ent.User) error) func(*testing.T, *harness.Env, *member) {
		return func(t *testing.T, e *harness.Env, m *member) {
			if err := inTx(t, e, func(ctx context.Context, tx *ent.Client) error { return work(ctx, tx, m.User) }); err != nil {
				t.Fatal(err)
			}
		}
	}
	own := func(values url.Values) func(*testing.T, *harness.Env, *member) {
		return func(t *testing.T, e *harness.Env, m *member) {
			form := url.Values{"current": {seed.Password}, "password": {newPassword}, "again": {newPassword}}
			for name, v := range values {
				form[name] = v
			}
			b := e.Browser(t).SignIn(m.Email)
			b.Post("/settings/password", form).Redirect(t)
			wantSignedIn(t, b, true, "where the password was changed")
		}
	}
	for _, c := range []struct {
		name                                string
		happen                              func(*testing.T, *harness.Env, *member)
		sessions, tokens, applications, all bool // what keeps working; all: the user can sign in
	}{
		{"own password", own(nil), false, true, true, true},
		{"own password with tokens", own(url.Values{"tokens": {"revoke"}}), false, false, false, true},
		{"reset password", reset(false), false, false, false, true},
		{"reset password, tokens kept", reset(true), false, true, false, true},
		{"disable", event(signin.Disable), false, false, false, false},
		{"reset second factor", event(signin.ResetSecondFactor), false, true, true, true},
		{"revoke tokens", event(signin.RevokeTokens), true, false, false, true},
		{"enable", event(func(ctx context.Context, tx *ent.Client, u *ent.User) error {
			// An import has made the user inactive and ended nothing.
			if err := tx.User.UpdateOne(u).SetActive(false).Exec(ctx); err != nil {
				return err
			}
			now, err := tx.User.Get(ctx, u.ID)
			if err != nil {
				return err
			}
			return signin.Enable(ctx, tx, now)
		}), false, false, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for name, database := range databases {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					where := database(t)
					here, there := harness.Start(t, where), harness.Start(t, where)
					m := newMember(t, here, colleague(t, here))
					bystander := here.Token(t, "patient:read")
					for _, e := range []*harness.Env{here, there} { // cached on both
						if !works(t, e, m.personal) || !works(t, e, m.other) || !works(t, e, bystander) {
							t.Fatal("a token does not work at first")
						}
					}
					c.happen(t, here, m)
					for _, e := range []*harness.Env{here, there} {
						eventually(t, "the personal token", func() bool { return works(t, e, m.personal) == c.tokens })
						eventually(t, "the application's token", func() bool { return works(t, e, m.other) == c.applications })
						wantSignedIn(t, m.browser.At(e), c.sessions, "the session")
						if !works(t, e, bystander) {
							t.Error("another user's token ended")
						}
					}
					status := http.StatusBadRequest
					if c.applications {
						status = http.StatusOK
					}
					m.exchange(t, there, m.code, status)
					if !c.all {
						return
					}
					given := seed.Password
					if strings.Contains(c.name, "password") {
						given = newPassword
					}
					submitSignIn(there.Browser(t), m.Email, given).Redirect(t)
				})
			}
		})
	}
}

func TestEnableRestoresNoAccess(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		m := newMember(t, e, colleague(t, e))
		for _, event := range []func(context.Context, *ent.Client, *ent.User) error{signin.Disable, signin.Enable} {
			err := inTx(t, e, func(ctx context.Context, tx *ent.Client) error {
				u, err := tx.User.Get(ctx, m.ID)
				if err != nil {
					return err
				}
				return event(ctx, tx, u)
			})
			if err != nil {
				t.Fatal(err)
			}
			if works(t, e, m.personal) || works(t, e, m.other) {
				t.Error("a token works")
			}
			wantSignedIn(t, m.browser, false, "afterwards")
			m.exchange(t, e, m.code, http.StatusBadRequest)
		}
		submitSignIn(e.Browser(t), m.Email, seed.Password).Redirect(t)
	})
}

// TestLastAdministratorCannotBeRemoved disables and demotes the last two at once.
func TestLastAdministratorCannotBeRemoved(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		second := colleague(t, e)
		if err := inTx(t, e, func(ctx context.Context, tx *ent.Client) error {
			return tx.User.UpdateOne(second).SetRole(schema.RoleAdministrator).Exec(ctx)
		}); err != nil {
			t.Fatal(err)
		}
		first, err := e.DB.Ent.User.Query().Where(user.Email(seed.DemoAdmin)).Only(principal.AsSystem(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		demote := func(ctx context.Context, tx *ent.Client, u *ent.User) error {
			return tx.User.UpdateOne(u).SetRole(schema.RoleManager).Exec(ctx)
		}
		for range 8 {
			results := make(chan error, 2)
			var both sync.WaitGroup
			for i, u := range []*ent.User{first, second} {
				both.Go(func() {
					ctx := principal.AsSystem(clock.With(t.Context(), e.Clock.Now()))
					results <- e.DB.Tx(ctx, func(tx *ent.Client) error {
						return []func(context.Context, *ent.Client, *ent.User) error{signin.Disable, demote}[i](ctx, tx, u)
					})
				})
			}
			both.Wait()
			one, other := <-results, <-results
			if (one == nil) == (other == nil) || !errors.Is(errors.Join(one, other), signin.ErrLastAdministrator) {
				t.Fatalf("%v, %v", one, other)
			}
			if err := inTx(t, e, func(ctx context.Context, tx *ent.Client) error {
				for _, u := range []*ent.User{first, second} {
					if err := tx.User.UpdateOne(u).SetRole(schema.RoleAdministrator).SetActive(true).Exec(ctx); err != nil {
						return err
					}
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		err = inTx(t, e, func(ctx context.Context, tx *ent.Client) error {
			if err := signin.Disable(ctx, tx, first); err != nil {
				return err
			}
			return signin.Disable(signin.Force(ctx), tx, second)
		})
		if err != nil {
			t.Errorf("by force: %v", err)
		}
	})
}

// TestResetPasswordBeatsConcurrentSignIn: no session with the old password is left.
func TestResetPasswordBeatsConcurrentSignIn(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		u := colleague(t, e)
		texts := []string{seed.Password}
		var hashes []password.Chosen
		for _, text := range []string{"kettle mango one", "kettle mango two", "kettle mango six"} {
			texts, hashes = append(texts, text), append(hashes, chosen(t, text))
		}
		for i, hash := range hashes {
			browsers := make([]*harness.Browser, 4)
			var all sync.WaitGroup
			for j := range browsers {
				browsers[j] = e.Browser(t)
				all.Go(func() { submitSignIn(browsers[j], u.Email, texts[i]) })
			}
			all.Go(func() {
				if err := inTx(t, e, func(ctx context.Context, tx *ent.Client) error { return signin.ResetPassword(ctx, tx, u, hash, false) }); err != nil {
					t.Error(err)
				}
			})
			all.Wait()
			for _, b := range browsers {
				wantSignedIn(t, b, false, "with the old password")
			}
			n, err := e.DB.Ent.Session.Query().Where(session.UserID(u.ID)).Count(principal.AsSystem(t.Context()))
			if err != nil || n != 0 {
				t.Errorf("%d sessions, %v", n, err)
			}
			e.Clock.Advance(time.Hour) // failures no longer count
		}
	})
}

// TestRequestInProgressCreatesNoAccess: after the session ends or the user is
// disabled, a request that was admitted cannot create a token or a code.
func TestRequestInProgressCreatesNoAccess(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		m := newMember(t, e, colleague(t, e))
		row, err := e.DB.Ent.Session.Query().Where(session.UserID(m.ID)).Only(principal.AsSystem(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		under := principal.With(clock.With(t.Context(), e.Clock.Now()), &principal.Principal{PracticeID: m.PracticeID, UserID: m.ID})
		makers := map[string]func(ctx context.Context, tx *ent.Client) error{
			"token": func(ctx context.Context, tx *ent.Client) error {
				_, _, err := token.Create(ctx, tx, m.User, token.Grant{Name: "late", Scopes: scope.Set{"patient:read"}})
				return err
			},
			"code": func(ctx context.Context, tx *ent.Client) error {
				_, hash := token.Mint(token.Code)
				return tx.AuthorizationCode.Create().SetHash(hash).SetPracticeID(m.PracticeID).SetApplicationID(m.app.ID).SetUserID(m.ID).
					SetRedirectURI(callback).SetScopes("patient:read").SetExpiresAt(e.Clock.Now().Add(oauth.CodeLife)).Exec(ctx)
			},
		}
		try := func(when string, ctx context.Context, want error) {
			t.Helper()
			for name, create := range makers {
				if err := e.DB.Tx(ctx, func(tx *ent.Client) error { return create(ctx, tx) }); !errors.Is(err, want) {
					t.Errorf("%s, %s: %v", name, when, err)
				}
			}
		}
		live := principal.WithSession(under, row.ID)
		try("before", live, nil)
		try("of no session", principal.WithSession(under, uuid.New()), store.ErrAccessEnded)
		c := chosen(t, newPassword)
		if err := inTx(t, e, func(ctx context.Context, tx *ent.Client) error {
			return signin.ResetPassword(ctx, tx, m.User, c, false)
		}); err != nil {
			t.Fatal(err)
		}
		try("after a reset", live, store.ErrAccessEnded)
		if err := inTx(t, e, func(ctx context.Context, tx *ent.Client) error { return signin.Disable(ctx, tx, m.User) }); err != nil {
			t.Fatal(err)
		}
		try("of a disabled user", under, store.ErrAccessEnded)
		left, err := e.DB.Ent.AuthorizationCode.Query().Where(authorizationcode.UserID(m.ID), authorizationcode.UsedAtIsNil()).Count(principal.AsSystem(t.Context()))
		if err != nil || left != 0 {
			t.Errorf("%d codes, %v", left, err)
		}
	})
}

// TestExchangesAndEventsDoNotDeadlock disables the user while codes are exchanged: no
// working token is left.
func TestExchangesAndEventsDoNotDeadlock(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		m := newMember(t, e, colleague(t, e))
		var codes []string
		for range 6 {
			codes = append(codes, m.allow(t))
		}
		values := make([]string, len(codes))
		var all sync.WaitGroup
		for i, code := range codes {
			all.Go(func() {
				p := e.Browser(t).Send(http.MethodPost, "/oauth/token", url.Values{
					"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {callback}, "client_id": {m.app.ID.String()}, "client_secret": {m.secret},
				}, nil)
				if p.Code != http.StatusOK && p.Code != http.StatusBadRequest {
					t.Errorf("status %d: %s", p.Code, p.Raw)
				}
				_, rest, _ := strings.Cut(string(p.Raw), `"access_token":"`)
				values[i], _, _ = strings.Cut(rest, `"`)
			})
		}
		all.Go(func() {
			if err := inTx(t, e, func(ctx context.Context, tx *ent.Client) error { return signin.Disable(ctx, tx, m.User) }); err != nil {
				t.Error(err)
			}
		})
		all.Wait()
		err := inTx(t, e, func(ctx context.Context, tx *ent.Client) error {
			u, err := tx.User.Get(ctx, m.ID)
			if err != nil {
				return err
			}
			return signin.Enable(ctx, tx, u)
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, value := range append(values, m.other) {
			if value != "" && works(t, e, value) {
				t.Error("a token works")
			}
		}
	})
}
