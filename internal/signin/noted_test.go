package signin_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"chairside/ent/auditevent"
	"chairside/internal/seed"
	"chairside/internal/signin"
	"chairside/internal/store/storetest"
	"chairside/internal/test/harness"
)

// noted returns the actions of the audit log about sign-ins, in order.
func noted(t *testing.T, e *harness.Env) (actions []string) {
	t.Helper()
	e.Settle()
	events, err := e.DB.Ent.AuditEvent.Query().Where(auditevent.ActionHasPrefix("sign_in")).Order(auditevent.ByID()).All(e.As(t, seed.DemoSlug))
	if err != nil {
		t.Fatal(err)
	}
	for _, event := range events {
		action := event.Action
		if strings.Contains(string(event.Details.Text), "second_factor_needed") {
			action += ": second factor"
		}
		actions = append(actions, action)
	}
	return actions
}

// TestPasswordWithoutSecondFactorIsNoted: an attempt that stops after the password is in the audit
// log, and in the history of the user, who learns that someone knows the password.
func TestPasswordWithoutSecondFactorIsNoted(t *testing.T) {
	behindProxy(t, func(t *testing.T, e *harness.Env) {
		f := enrolAdministrator(t, e)
		submitSignIn(e.Browser(t), seed.DemoAdmin, seed.Password).Redirect(t)
		if got := noted(t, e); !slices.Equal(got, []string{"sign_in", "sign_in_failed: second factor"}) {
			t.Errorf("noted %v", got)
		}
		e.Clock.Advance(signin.FactorLife)
		own := enterPassword(t, e.Browser(t))
		enterCode(own, codeAt(t, f.secret, e.Clock.Now())).Redirect(t)
		if got := noted(t, e); !slices.Equal(got, []string{"sign_in", "sign_in_failed: second factor", "sign_in_failed: second factor", "sign_in"}) {
			t.Errorf("noted %v", got)
		}
		history := own.Get("/settings/sign-ins").Status(t, http.StatusOK).Has(t, "Password only")
		if n := len(history.All(func(n *html.Node) bool { return harness.Attr(n, "role") == "rowheader" })); n != 3 {
			t.Errorf("%d rows, want 3: a completed sign-in must not also show its password step", n)
		}
	})
}

// TestRefusedUsersAreNoted: the correct password of a disabled user is a failed sign-in.
func TestRefusedUsersAreNoted(t *testing.T) {
	behindProxy(t, func(t *testing.T, e *harness.Env) {
		storetest.Exec(t, e.DB, "UPDATE users SET active = false WHERE email = $1", seed.DemoAdmin)
		submitSignIn(e.Browser(t), seed.DemoAdmin, seed.Password).Status(t, http.StatusUnprocessableEntity).Has(t, "disabled")
		if got := noted(t, e); !slices.Equal(got, []string{"sign_in_failed"}) {
			t.Errorf("noted %v", got)
		}
	})
}

// TestSignInIsNotedOnceTheSessionExists: a session that cannot be stored is no sign-in.
func TestSignInIsNotedOnceTheSessionExists(t *testing.T) {
	behindProxy(t, func(t *testing.T, e *harness.Env) {
		create, drop := "CREATE TRIGGER no_sessions BEFORE INSERT ON sessions BEGIN SELECT RAISE(ABORT, 'no session'); END", "DROP TRIGGER no_sessions"
		if storetest.Postgres(e.DB) {
			create, drop = "ALTER TABLE sessions ADD CONSTRAINT no_sessions CHECK (false) NOT VALID", "ALTER TABLE sessions DROP CONSTRAINT no_sessions"
		}
		exec := func(text string) {
			if _, err := e.Owner().ExecContext(t.Context(), text); err != nil {
				t.Fatal(err)
			}
		}
		exec(create)
		if p := submitSignIn(e.Browser(t), seed.DemoAdmin, seed.Password); p.Code < http.StatusInternalServerError {
			t.Errorf("status %d", p.Code)
		}
		if got := noted(t, e); len(got) > 0 {
			t.Errorf("noted %v", got)
		}
		exec(drop)
		submitSignIn(e.Browser(t), seed.DemoAdmin, seed.Password).Redirect(t)
		if got := noted(t, e); !slices.Equal(got, []string{"sign_in"}) {
			t.Errorf("noted %v", got)
		}
	})
}

// TestEndedSessionsAndWrongPasswordsAreNoted: the audit log says who ended sessions, and has every wrong password that
// is entered after sign-in.
func TestEndedSessionsAndWrongPasswordsAreNoted(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		e.Browser(t).SignIn(seed.DemoAdmin)
		b.Post("/settings/sessions/end-others", nil).Redirect(t)
		user := storetest.Value(t, e.DB.SQL, "SELECT id FROM users WHERE email <> $1 AND active AND practice_id = (SELECT practice_id FROM users WHERE email = $1) ORDER BY id LIMIT 1", seed.DemoAdmin)
		b.Post("/settings/users/"+user+"/end-sessions", nil).Redirect(t)
		b.Post("/settings/password", url.Values{"current": {"not it"}, "password": {"another-password"}, "again": {"another-password"}}).Status(t, http.StatusUnprocessableEntity)
		if got := noted(t, e); !slices.Equal(got, []string{"sign_in", "sign_in", "sign_in_failed"}) {
			t.Errorf("noted %v", got)
		}
		own := storetest.Value(t, e.DB.SQL, "SELECT id FROM users WHERE email = $1", seed.DemoAdmin)
		for record, reason := range map[string]string{own: "other_sessions_ended", user: "all_sessions_ended"} {
			const ended = "SELECT count(*) FROM audit_events WHERE action = 'sign_out' AND record_id = $1 AND CAST(user_id AS text) = $2 AND CAST(details AS text) LIKE '%' || $3 || '%'"
			if n := storetest.Int(t, e.DB, ended, record, own, reason); n != 1 {
				t.Errorf("%d entries of %s", n, reason)
			}
		}
	})
}
