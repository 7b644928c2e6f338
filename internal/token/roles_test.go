package token_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"chairside/ent"
	"chairside/ent/user"
	"chairside/internal/clock"
	"chairside/internal/oauth"
	"chairside/internal/principal"
	"chairside/internal/scope"
	"chairside/internal/seed"
	"chairside/internal/store"
	"chairside/internal/test/harness"
	"chairside/internal/token"
	"chairside/schema"
)

// scopesOf returns a token's scopes, from a request that needs none.
func scopesOf(t *testing.T, e *harness.Env, value string) string {
	t.Helper()
	return e.Get(t, "/rate_limit", value).Status(t, http.StatusOK).Header.Get("X-OAuth-Scopes")
}

// waitForScopes waits until the token has the scopes, usually within a second.
func waitForScopes(t *testing.T, e *harness.Env, value, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for got := scopesOf(t, e, value); got != want; got = scopesOf(t, e, value) {
		if ctx.Err() != nil {
			t.Fatalf("still %q, want %q", got, want)
		}
	}
}

// giveRole changes the role of the harness's user.
func giveRole(t *testing.T, e *harness.Env, role schema.Role) {
	t.Helper()
	ctx := principal.AsSystem(t.Context())
	e.Tx(t, ctx, func(tx *ent.Client) error {
		u, err := administrator(ctx, tx)
		if err != nil {
			return err
		}
		return tx.User.UpdateOne(u).SetRole(role).Exec(store.WithoutAdministrator(ctx))
	})
}

// applicationToken registers an application and returns it with a token for the
// administrator.
func applicationToken(t *testing.T, e *harness.Env, scopes ...string) (value string, app *ent.Application) {
	t.Helper()
	u, err := administrator(principal.AsSystem(t.Context()), e.DB.Ent)
	if err != nil {
		t.Fatal(err)
	}
	ctx := clock.With(principal.With(t.Context(), &principal.Principal{PracticeID: u.PracticeID, UserID: u.ID}), e.Clock.Now())
	e.Tx(t, ctx, func(tx *ent.Client) (err error) {
		if app, _, err = oauth.Register(ctx, tx, draft(scopes)); err != nil {
			return err
		}
		set := scope.Set(scopes)
		value, _, err = token.Create(ctx, tx, u, token.Grant{Name: "Robot", Scopes: set, Application: &app.ID})
		return err
	})
	return value, app
}

func draft(scopes []string) oauth.Draft {
	return oauth.Draft{Name: "Robot", RedirectURIs: []string{"https://robot.example/callback"}, Scopes: scopes}
}

func TestRoleChangesTakeEffectAtOnceInTheSameProcess(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		value := e.Token(t, "patient financials user:update")
		for _, change := range []struct {
			role schema.Role
			want string
		}{
			{schema.RoleManager, "financials patient"},
			{schema.RoleReceptionist, "patient:create patient:read patient:update"},
			{schema.RoleDentist, "patient"},
			{schema.RoleAdministrator, "financials patient user:update"}, // back, and no more
		} {
			giveRole(t, e, change.role)
			if got := scopesOf(t, e, value); got != change.want {
				t.Errorf("a %s has %q, want %q", change.role, got, change.want)
			}
		}
	})
}

func TestApplicationScopesLimitItsTokensAtOnce(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		value, app := applicationToken(t, e, "appointment", "patient")
		own := e.Token(t, "appointment patient")
		ctx := e.As(t, seed.DemoSlug)
		for _, change := range []struct {
			scopes []string
			want   string
		}{
			{[]string{"appointment", "patient:read"}, "appointment patient:read"},
			{[]string{"user"}, ""},
			{[]string{"appointment:read", "financials", "patient"}, "appointment:read patient"}, // what its user allowed, and no more
		} {
			e.Tx(t, ctx, func(tx *ent.Client) error { return oauth.Edit(ctx, tx, app.ID, draft(change.scopes)) })
			if got := scopesOf(t, e, value); got != change.want {
				t.Errorf("application scopes %v: token has %q, want %q", change.scopes, got, change.want)
			}
			if got := scopesOf(t, e, own); got != "appointment patient" {
				t.Errorf("a personal token has %q", got)
			}
		}
		e.Get(t, "/v1/patients?per_page=1", value).Status(t, http.StatusOK)
		giveRole(t, e, schema.RoleReceptionist)
		if got := scopesOf(t, e, value); got != "appointment:read patient:create patient:read patient:update" {
			t.Errorf("limited by role and application: %q", got)
		}
	})
}

// TestDeletedApplicationsTokenIsInvalid even if it was created during the deletion,
// and so was not revoked.
func TestDeletedApplicationsTokenIsInvalid(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		value, app := applicationToken(t, e, "patient")
		ctx := e.As(t, seed.DemoSlug)
		e.Tx(t, ctx, func(tx *ent.Client) error {
			return tx.Application.UpdateOneID(app.ID).SetDeletedAt(harness.Now).Exec(ctx)
		})
		e.Get(t, "/rate_limit", value).Error(t, http.StatusUnauthorized, "invalid_token")
	})
}

// TestRoleChangesReachOtherProcesses through the client of another process, and in
// SQL.
func TestRoleChangesReachOtherProcesses(t *testing.T) {
	for name, database := range map[string]func(testing.TB) string{"sqlite": harness.SQLite, "postgres": harness.Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where := database(t)
			here, there := harness.Start(t, where), harness.Start(t, where)
			value, app := applicationToken(t, here, "patient", "user:read")
			waitForScopes(t, there, value, "patient user:read")
			giveRole(t, here, schema.RoleReceptionist)
			waitForScopes(t, there, value, "patient:create patient:read patient:update user:read")
			if _, err := here.DB.SQL.ExecContext(t.Context(), "UPDATE users SET role = 'dentist'"); err != nil {
				t.Fatal(err)
			}
			waitForScopes(t, there, value, "patient user:read")
			ctx := here.As(t, seed.DemoSlug)
			here.Tx(t, ctx, func(tx *ent.Client) error { return oauth.Edit(ctx, tx, app.ID, draft([]string{"patient:read"})) })
			waitForScopes(t, there, value, "patient:read")
		})
	}
}

func TestCreateRefusesScopesBeyondTheRole(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		ctx := principal.AsSystem(t.Context())
		u, err := e.DB.Ent.User.Query().Where(user.RoleEQ(schema.RoleReceptionist)).First(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for asked, want := range map[string]string{
			"patient":                  `the role receptionist does not allow patient:delete: use "patient:create patient:read patient:update" instead`,
			"financials user":          `the role receptionist does not allow financials, user:create, user:delete, user:update: use "user:read" instead`,
			"financials:read":          `the role receptionist does not allow financials:read: it allows "appointment patient:create patient:read patient:update practice:read treatments:read user:read"`,
			"patient:read appointment": "",
		} {
			set, err := scope.Parse(asked)
			if err != nil {
				t.Fatal(err)
			}
			err = e.DB.Tx(ctx, func(tx *ent.Client) error {
				_, _, err := token.Create(ctx, tx, u, token.Grant{Name: asked, Scopes: set})
				return err
			})
			if beyond := new(token.BeyondRoleError); want == "" && err != nil || want != "" && (!errors.As(err, &beyond) || beyond.Error() != want) {
				t.Errorf("asked for %s: %v", asked, err)
			}
		}
		if n, err := e.DB.Ent.AccessToken.Query().Count(ctx); err != nil || n != 1 {
			t.Errorf("%d tokens, %v", n, err)
		}
	})
}

// TestScopesNeedTheTokensOwnUserAndApplication: no other user's role or application's
// registration counts.
func TestScopesNeedTheTokensOwnUserAndApplication(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		_, app := applicationToken(t, e, "patient")
		ctx := principal.AsSystem(t.Context())
		row, err := e.DB.Ent.AccessToken.Query().WithUser().Only(ctx)
		if err != nil {
			t.Fatal(err)
		}
		other, err := e.DB.Ent.User.Query().Where(user.Email(seed.SecondAdmin)).Only(ctx)
		if err != nil {
			t.Fatal(err)
		}
		_, stranger := applicationToken(t, e, "patient")
		gone := *app
		gone.DeletedAt = &harness.Now
		for name, got := range map[string]scope.Effective{
			"no user":             token.Scopes(row, nil, app),
			"another user":        token.Scopes(row, other, app),
			"no application":      token.Scopes(row, row.Edges.User, nil),
			"another application": token.Scopes(row, row.Edges.User, stranger),
			"deleted application": token.Scopes(row, row.Edges.User, &gone),
		} {
			if got.String() != "" || got.Allows("patient:read") {
				t.Errorf("%s: %q", name, got)
			}
		}
		if got := token.Scopes(row, row.Edges.User, app).String(); got != "patient" {
			t.Errorf("its own: %q", got)
		}
	})
}
