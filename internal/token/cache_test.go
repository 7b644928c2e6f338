package token_test

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"chairside/ent"
	"chairside/ent/accesstoken"
	"chairside/ent/user"
	"chairside/internal/principal"
	"chairside/internal/seed"
	"chairside/internal/store"
	"chairside/internal/test/harness"
	"chairside/internal/token"
)

// requestStatus returns the status of a request that any valid token may make.
func requestStatus(t *testing.T, e *harness.Env, value string) int {
	t.Helper()
	return e.Get(t, "/v1/practice", value).Code
}

// administrator returns the user of the harness's tokens.
func administrator(ctx context.Context, client *ent.Client) (*ent.User, error) {
	return client.User.Query().Where(user.Email(seed.DemoAdmin)).Only(ctx)
}

// changes are changes that invalidate a token, with the status it then gets.
var changes = []struct {
	name string
	make func(ctx context.Context, e *harness.Env, value string) error
	want int
}{
	{"the token is revoked", func(ctx context.Context, e *harness.Env, value string) error {
		return e.DB.Tx(ctx, func(tx *ent.Client) error { return token.Revoke(ctx, tx, accesstoken.Hash(token.Hash(value))) })
	}, http.StatusUnauthorized},
	{"the user is disabled", func(ctx context.Context, e *harness.Env, _ string) error {
		return e.DB.Tx(ctx, func(tx *ent.Client) error {
			u, err := administrator(ctx, tx)
			if err != nil {
				return err
			}
			return tx.User.UpdateOne(u).SetActive(false).Exec(store.WithoutAdministrator(ctx))
		})
	}, http.StatusForbidden},
	{"the token expires", func(ctx context.Context, e *harness.Env, value string) error {
		return e.DB.Tx(ctx, func(tx *ent.Client) error {
			id, err := tx.AccessToken.Query().Where(accesstoken.Hash(token.Hash(value))).OnlyID(ctx)
			if err != nil {
				return err
			}
			return tx.AccessToken.UpdateOneID(id).SetExpiresAt(harness.Now).Exec(ctx)
		})
	}, http.StatusUnauthorized},
}

func TestChangesTakeEffectAtOnceInTheSameProcess(t *testing.T) {
	for _, change := range changes {
		t.Run(change.name, func(t *testing.T) {
			harness.Each(t, func(t *testing.T, e *harness.Env) {
				value := e.Token(t, "")
				if code := requestStatus(t, e, value); code != http.StatusOK {
					t.Fatalf("status %d", code)
				}
				if err := change.make(principal.AsSystem(t.Context()), e, value); err != nil {
					t.Fatal(err)
				}
				if code := requestStatus(t, e, value); code != change.want {
					t.Errorf("status %d", code)
				}
			})
		})
	}
}

// directChanges are SQL statements that bypass the client.
var directChanges = map[string]struct {
	statement string
	want      int
}{
	"the token is revoked": {"UPDATE access_tokens SET revoked_at = created_at", http.StatusUnauthorized},
	"the user is disabled": {"UPDATE users SET active = false", http.StatusForbidden},
}

// TestChangesReachOtherProcesses through the client of another process, and in SQL.
func TestChangesReachOtherProcesses(t *testing.T) {
	for name, database := range map[string]func(testing.TB) string{"sqlite": harness.SQLite, "postgres": harness.Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, change := range changes {
				t.Run(change.name, func(t *testing.T) {
					t.Parallel()
					where := database(t)
					here, there := harness.Start(t, where), harness.Start(t, where)
					value := here.Token(t, "")
					requestStatus(t, there, value)
					if err := change.make(principal.AsSystem(t.Context()), here, value); err != nil {
						t.Fatal(err)
					}
					waitFor(t, there, value, change.want)
				})
			}
			for name, change := range directChanges {
				t.Run(name+" in SQL", func(t *testing.T) {
					t.Parallel()
					e := harness.Start(t, database(t))
					value := e.Token(t, "")
					requestStatus(t, e, value)
					if _, err := e.DB.SQL.ExecContext(t.Context(), change.statement); err != nil {
						t.Fatal(err)
					}
					waitFor(t, e, value, change.want)
				})
			}
		})
	}
}

// waitFor waits until a request with the token gets the status, usually within a second.
func waitFor(t *testing.T, e *harness.Env, value string, status int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for code := requestStatus(t, e, value); code != status; code = requestStatus(t, e, value) {
		if ctx.Err() != nil {
			t.Fatalf("still status %d", code)
		}
	}
}

func TestRolledBackChangeHasNoEffect(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		value, ctx := e.Token(t, ""), principal.AsSystem(t.Context())
		requestStatus(t, e, value)
		never := errors.New("never mind")
		err := e.DB.Tx(ctx, func(tx *ent.Client) error {
			return errors.Join(token.Revoke(ctx, tx, accesstoken.Hash(token.Hash(value))), never)
		})
		if !errors.Is(err, never) {
			t.Fatal(err)
		}
		if code := requestStatus(t, e, value); code != http.StatusOK {
			t.Errorf("status %d", code)
		}
	})
}

// lookups counts the queries of the tokens table. after, if set, runs between a
// query and the use of its result.
type lookups struct {
	n     atomic.Int64
	after atomic.Pointer[func()]
}

// watch starts counting lookups.
func watch(e *harness.Env) *lookups {
	l := &lookups{}
	e.DB.Ent.AccessToken.Intercept(ent.InterceptFunc(func(next ent.Querier) ent.Querier {
		return ent.QuerierFunc(func(ctx context.Context, q ent.Query) (ent.Value, error) {
			l.n.Add(1)
			v, err := next.Query(ctx, q)
			if after := l.after.Swap(nil); after != nil {
				(*after)()
			}
			return v, err
		})
	}))
	return l
}

// TestLookupBeforeACommitIsNotCached: its result counts only for the request that
// asked.
func TestLookupBeforeACommitIsNotCached(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		l, value, ctx := watch(e), e.Token(t, ""), principal.AsSystem(t.Context())
		revoke := func() {
			err := e.DB.Tx(ctx, func(tx *ent.Client) error { return token.Revoke(ctx, tx, accesstoken.Hash(token.Hash(value))) })
			if err != nil {
				t.Error(err)
			}
		}
		l.after.Store(&revoke)
		if code := requestStatus(t, e, value); code != http.StatusOK {
			t.Errorf("the request during the revocation: status %d", code)
		}
		if code := requestStatus(t, e, value); code != http.StatusUnauthorized {
			t.Errorf("the next request: status %d", code)
		}
	})
}

// TestUnknownTokenIsNotCached: a token works as soon as it exists.
func TestUnknownTokenIsNotCached(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		ctx := principal.AsSystem(t.Context())
		value, hash := token.Mint(token.Personal)
		if code := requestStatus(t, e, value); code != http.StatusUnauthorized {
			t.Errorf("status %d", code)
		}
		e.Tx(t, ctx, func(tx *ent.Client) error {
			u, err := administrator(ctx, tx)
			if err != nil {
				return err
			}
			return tx.AccessToken.Create().SetPracticeID(u.PracticeID).SetUserID(u.ID).SetHash(hash).SetName("Late").SetScopes("practice").
				SetCreatedAt(harness.Now).Exec(ctx)
		})
		if code := requestStatus(t, e, value); code != http.StatusOK {
			t.Errorf("status %d", code)
		}
	})
}

// TestCachedTokenExpiresByTheRequestsClock: a cached token expires even if it was read just
// before.
func TestCachedTokenExpiresByTheRequestsClock(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		value := e.Token(t, "")
		for range 3 { // each use extends its life, even while it is cached
			e.Clock.Advance(token.IdleLife)
			if code := requestStatus(t, e, value); code != http.StatusOK {
				t.Errorf("status %d", code)
			}
		}
		e.Clock.Advance(token.IdleLife + time.Hour)
		if code := requestStatus(t, e, value); code != http.StatusUnauthorized {
			t.Errorf("status %d", code)
		}
	})
}
