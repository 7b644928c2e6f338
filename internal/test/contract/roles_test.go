package contract

import (
	"net/http"
	"strings"
	"testing"

	"chairside/ent"
	"chairside/ent/user"
	"chairside/internal/scope"
	"chairside/internal/test/harness"
	"chairside/internal/token"
	"chairside/schema"
)

// roleScopes is each role's scopes, as the header of a token with every scope shows
// them. It repeats the table of package scope, to check it.
var roleScopes = map[schema.Role]string{
	schema.RoleReceptionist:  reception,
	schema.RoleNurse:         reception,
	schema.RoleDentist:       practitioner,
	schema.RoleHygienist:     practitioner,
	schema.RoleTherapist:     practitioner,
	schema.RoleManager:       "appointment audit:read financials patient practice treatments user:read",
	schema.RoleAdministrator: "appointment audit financials patient practice treatments user webhook",
}

const (
	reception    = "appointment patient:create patient:read patient:update practice:read treatments:read user:read"
	practitioner = "appointment patient practice:read treatments:read user:read"
)

// employee returns an active user of the main practice with a role.
func employee(t testing.TB, e *harness.Env, role schema.Role) *ent.User {
	t.Helper()
	u, err := e.DB.Ent.User.Query().Where(user.RoleEQ(role), user.Active(true)).Order(user.ByID()).First(e.As(t, "demo"))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// updateUser changes a user through the server's client.
func updateUser(t testing.TB, e *harness.Env, u *ent.User, change func(*ent.UserUpdateOne)) {
	t.Helper()
	ctx := e.As(t, "demo")
	e.Tx(t, ctx, func(tx *ent.Client) error {
		update := tx.User.UpdateOneID(u.ID)
		change(update)
		return update.Exec(ctx)
	})
}

// storeScopes sets a token's scopes to ones that token.Create may refuse, as in old tokens.
func storeScopes(t testing.TB, e *harness.Env, value, scopes string) string {
	t.Helper()
	execute(t, e, "UPDATE access_tokens SET scopes = $1 WHERE hash = $2", scopes, token.Hash(value))
	return value
}

// tryEveryOperation sends a request for each operation and checks that it is allowed
// exactly if the scopes allow it. n selects the rows to delete.
func tryEveryOperation(t *testing.T, e *harness.Env, w *world, who, value, scopes string, n int) {
	t.Helper()
	held := scope.Set(strings.Fields(scopes))
	for _, op := range operations() {
		row := 0
		if op.Method == http.MethodDelete {
			row = n
		}
		q := w.request(op, row)
		q.Token = value
		r := send(t, e, op, q)
		if got := r.Header.Get("X-OAuth-Scopes"); got != scopes {
			t.Errorf("%s, %s: X-OAuth-Scopes is %q, want %q", who, op, got, scopes)
		}
		if op.Scope == "" || held.Allows(op.Scope) {
			r.Status(t, op.Success)
		} else {
			r.Error(t, http.StatusForbidden, "insufficient_scope")
		}
	}
}

// TestRolesLimitEveryOperation: a token with the role's scopes, and one with every scope
// stored, can do exactly what the role allows.
func TestRolesLimitEveryOperation(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, n := loadWorld(t, e, "demo"), 0
		for _, name := range schema.Role("").Values() {
			role := schema.Role(name)
			u, held := employee(t, e, role), roleScopes[role]
			if held == "" {
				t.Errorf("the table lacks the role %s", role)
			}
			for kind, value := range map[string]string{
				"most":            e.TokenOf(t, u.Email, "", nil),
				"made before":     storeScopes(t, e, e.TokenOf(t, u.Email, "appointment", nil), scope.Everything().String()),
				"with every verb": storeScopes(t, e, e.TokenOf(t, u.Email, "appointment", nil), strings.Join(scope.All(), " ")),
			} {
				n++
				shown := held
				if kind == "with every verb" { // "patient patient:create …": as granted, within the role
					shown = scope.Set(scope.All()).Within(strings.Fields(held)).String()
				}
				tryEveryOperation(t, e, w, name+", "+kind, value, shown, n)
			}
		}
	})
}

// TestRolesAndScopes tries every scope in every role, as a new token and as a stored one.
func TestRolesAndScopes(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		for _, name := range schema.Role("").Values() {
			u := employee(t, e, schema.Role(name))
			held := scope.Set(strings.Fields(roleScopes[u.Role]))
			value := e.TokenOf(t, u.Email, "appointment", nil)
			for _, s := range scope.All() {
				err := e.DB.Tx(e.As(t, "demo"), func(tx *ent.Client) error {
					_, _, err := token.Create(e.As(t, "demo"), tx, u, token.Grant{Name: s, Scopes: scope.Set{s}})
					return err
				})
				if allowed := held.Allows(s); (err == nil) != allowed {
					t.Errorf("a %s asks for %s: %v", name, s, err)
				}
				row, err := e.DB.Ent.AccessToken.Query().First(e.As(t, "demo"))
				if err != nil {
					t.Fatal(err)
				}
				row.UserID, row.ApplicationID, row.Scopes = u.ID, nil, scope.Granted(s)
				effective := token.Scopes(row, u, nil)
				for _, needed := range scope.All() {
					if want := held.Allows(needed) && (scope.Set{s}).Allows(needed); effective.Allows(needed) != want {
						t.Errorf("%s of a %s allows %s: %v", s, name, needed, !want)
					}
				}
			}
			e.Get(t, "/v1/appointments?per_page=1", value).Status(t, http.StatusOK)
		}
	})
}

// TestRoleChangesReachEveryOperation of an existing token: demoted, promoted, disabled.
func TestRoleChangesReachEveryOperation(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, u := loadWorld(t, e, "demo"), employee(t, e, schema.RoleManager)
		value := storeScopes(t, e, e.TokenOf(t, u.Email, "appointment", nil), scope.Everything().String())
		for n, role := range []schema.Role{
			schema.RoleManager, schema.RoleReceptionist, schema.RoleAdministrator, schema.RoleDentist, schema.RoleNurse, schema.RoleManager,
		} {
			updateUser(t, e, u, func(change *ent.UserUpdateOne) { change.SetRole(role) })
			tryEveryOperation(t, e, w, "changed to "+string(role), value, roleScopes[role], n+1)
		}
		updateUser(t, e, u, func(change *ent.UserUpdateOne) { change.SetActive(false) })
		for _, op := range operations() {
			q := w.request(op, 0)
			q.Token = value
			send(t, e, op, q).Error(t, http.StatusForbidden, "account_disabled")
		}
	})
}

func TestPromotionRestoresOnlyGrantedScopes(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, u := loadWorld(t, e, "demo"), employee(t, e, schema.RoleReceptionist)
		value := e.TokenOf(t, u.Email, "patient:read user:read", nil)
		for n, role := range []schema.Role{schema.RoleAdministrator, schema.RoleReceptionist, schema.RoleManager} {
			updateUser(t, e, u, func(change *ent.UserUpdateOne) { change.SetRole(role) })
			tryEveryOperation(t, e, w, string(role), value, "patient:read user:read", n+1)
		}
	})
}

// TestNoOperationRaisesARole: no request of a receptionist changes users or tokens.
func TestNoOperationRaisesARole(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, u := loadWorld(t, e, "demo"), employee(t, e, schema.RoleReceptionist)
		value := storeScopes(t, e, e.TokenOf(t, u.Email, "appointment", nil), scope.Everything().String())
		state := func() string {
			return strings.Join(column(t, e, "SELECT CAST(id AS text) || role || password_hash || coalesce(totp_secret, '') || CAST(active AS text) || email FROM users ORDER BY id"), "\n") +
				strings.Join(column(t, e, "SELECT CAST(id AS text) || scopes || CAST(user_id AS text) FROM access_tokens ORDER BY id"), "\n") +
				strings.Join(column(t, e, "SELECT CAST(id AS text) || scopes FROM applications ORDER BY id"), "\n")
		}
		before := state()
		raise := map[string]any{
			"id": u.ID, "role": "administrator", "permission_level": 4, "scopes": "user financials", "active": true, "user_id": 1,
			"password": "a-new-password", "password_hash": "x", "email": "me@elsewhere.test",
		}
		for _, op := range operations() {
			if op.Body == nil || op.Method == http.MethodDelete {
				continue
			}
			q := w.request(op, 0)
			q.Token = value
			members := q.Body.(map[string]any)[op.Body.Key].(map[string]any)
			for name, v := range raise {
				if _, documented := members[name]; !documented {
					members[name] = v
				}
			}
			q.Body.(map[string]any)["user"] = raise
			e.Do(t, q)
		}
		for _, path := range []string{"/v1/user", "/v1/users", "/v1/users/current", "/v1/users/" + itoa(u.ID), "/v1/tokens", "/v1/access_tokens", "/v1/applications"} {
			for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
				r := e.Do(t, harness.Request{Method: method, Path: path, Token: value, Body: map[string]any{"user": raise}})
				if r.Code != http.StatusMethodNotAllowed && r.Code != http.StatusNotFound {
					t.Errorf("%s %s answers %d", method, path, r.Code)
				}
			}
		}
		if after := state(); after != before {
			t.Errorf("before:\n%s\nafter:\n%s", before, after)
		}
	})
}

// TestTokensOpenNoPages: a page needs a session.
func TestTokensOpenNoPages(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		value := e.Token(t, "")
		for _, path := range []string{"/settings/tokens", "/settings/tokens/new", "/settings/applications", "/settings/security", "/reports", "/reports/income", "/reports/income.csv"} {
			for _, q := range []harness.Request{{Path: path, Token: value}, {Path: path + "?access_token=" + value}} {
				q.Method = http.MethodGet
				if r := e.Do(t, q); r.Code != http.StatusSeeOther || !strings.HasPrefix(r.Header.Get("Location"), "/sign-in?") {
					t.Errorf("%s answers %d %s", path, r.Code, r.Header.Get("Location"))
				}
			}
		}
		q := harness.Request{Method: http.MethodPost, Path: "/settings/tokens", Token: value, Body: "name=x&scopes=user", Header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"}}
		if r := e.Do(t, q); r.Code != http.StatusSeeOther {
			t.Errorf("a token was created with a token: status %d", r.Code)
		}
		if made, err := e.DB.Ent.AccessToken.Query().Count(e.As(t, "demo")); err != nil || made != 1 {
			t.Errorf("%d tokens, %v", made, err)
		}
	})
}
