package signin_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"chairside/ent"
	"chairside/internal/seed"
	"chairside/internal/signin"
	"chairside/internal/signin/password"
	"chairside/internal/store/storetest"
	"chairside/internal/test/harness"
)

// recoveryCodes returns the recovery codes on a page.
func recoveryCodes(t *testing.T, p *harness.Page) []string {
	t.Helper()
	all := strings.Fields(p.Value(t, "recovery-codes"))
	if len(all) != 10 {
		t.Fatalf("%d recovery codes", len(all))
	}
	return all
}

func TestPasswordAloneDoesNotSignIn(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		f := enrolAdministrator(t, e)
		b := enterPassword(t, e.Browser(t))
		wantSignedIn(t, b, false, "password alone")
		for _, path := range []string{"/settings/tokens", "/settings/security", "/settings/second-factor"} {
			if to := b.Get(path).Redirect(t); to.Path != "/sign-in" {
				t.Errorf("%s: sent to %s", path, to)
			}
		}
		for path, form := range map[string]url.Values{
			"/settings/second-factor/off":   {"password": {seed.Password}},
			"/settings/second-factor":       {"code": {codeAt(t, f.secret, e.Clock.Now())}},
			"/settings/password":            {"current": {seed.Password}, "password": {"another-password"}, "again": {"another-password"}},
			"/settings/tokens":              {"name": {"x"}, "scopes": {"patient"}},
			"/settings/sessions/end-others": {},
		} {
			if to := b.Post(path, form).Redirect(t); to.Path != "/sign-in" {
				t.Errorf("%s: sent to %s", path, to)
			}
		}
		wantSignedIn(t, f.browser, true, "the other browser")
		enterCode(b, codeAt(t, f.secret, e.Clock.Now())).Redirect(t)
		wantSignedIn(t, b, true, "password and code")
	})
}

// TestCodeNeedsARecentPassword: a code works within ten minutes of the password.
func TestCodeNeedsARecentPassword(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		f := enrolAdministrator(t, e)
		b := e.Browser(t)
		if to := enterCode(b, codeAt(t, f.secret, e.Clock.Now())).Redirect(t); to.Path != "/sign-in" {
			t.Errorf("sent to %s", to)
		}
		wantSignedIn(t, b, false, "code alone")
		enterPassword(t, b)
		e.Clock.Advance(9*time.Minute + 59*time.Second)
		enterCode(b, codeAt(t, f.secret, e.Clock.Now())).Redirect(t)
		wantSignedIn(t, b, true, "in time")

		late := enterPassword(t, e.Browser(t))
		e.Clock.Advance(10*time.Minute + time.Second)
		if to := enterCode(late, codeAt(t, f.secret, e.Clock.Now())).Redirect(t); to.Path != "/sign-in" {
			t.Errorf("sent to %s", to)
		}
		wantSignedIn(t, late, false, "too late")
	})
}

// TestCodeWorksOnce: a used code and earlier codes are refused.
func TestCodeWorksOnce(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		f := enrolAdministrator(t, e)
		now := e.Clock.Now()
		enterCode(enterPassword(t, e.Browser(t)), codeAt(t, f.secret, now)).Redirect(t)
		thief := enterPassword(t, e.Browser(t))
		for _, at := range []time.Duration{0, -30 * time.Second} {
			enterCode(thief, codeAt(t, f.secret, now.Add(at))).Status(t, http.StatusUnprocessableEntity)
		}
		wantSignedIn(t, thief, false, "a used code")
		enterCode(thief, codeAt(t, f.secret, now.Add(30*time.Second))).Redirect(t)
		wantSignedIn(t, thief, true, "the next code")
	})
}

func TestSetupCodeDoesNotSignIn(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		f := enrolAdministrator(t, e)
		e.Clock.Advance(-time.Minute)
		enterCode(enterPassword(t, e.Browser(t)), codeAt(t, f.secret, e.Clock.Now())).Status(t, http.StatusUnprocessableEntity)
	})
}

func TestCodeAllowsOneStepOfClockSkew(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		f := enrolAdministrator(t, e)
		for _, c := range []struct {
			skew time.Duration
			in   bool
		}{{-60 * time.Second, false}, {-30 * time.Second, true}, {0, true}, {30 * time.Second, true}, {60 * time.Second, false}, {-time.Hour, false}} {
			e.Clock.Advance(5 * time.Minute)
			b := enterPassword(t, e.Browser(t))
			enterCode(b, codeAt(t, f.secret, e.Clock.Now().Add(c.skew)))
			wantSignedIn(t, b, c.in, fmt.Sprint("off by ", c.skew))
		}
		e.Clock.Advance(5 * time.Minute)
		b := enterPassword(t, e.Browser(t))
		code := codeAt(t, f.secret, e.Clock.Now())
		enterCode(b, " "+code[:3]+" "+code[3:]+" ")
		wantSignedIn(t, b, true, "written in two halves")
	})
}

// TestCodeGuessesAreThrottled per address and over all addresses, even if the correct
// password comes before each guess.
func TestCodeGuessesAreThrottled(t *testing.T) {
	behindProxy(t, func(t *testing.T, e *harness.Env) {
		f := enrolAdministrator(t, e)
		right := func() string { return codeAt(t, f.secret, e.Clock.Now()) }
		wrong := func() string { return codeAt(t, f.secret, e.Clock.Now().Add(-time.Hour)) }
		for range 5 { // each time with the password before it
			enterCode(enterPassword(t, browserAt(t, e, "192.0.2.1")), wrong()).Status(t, http.StatusUnprocessableEntity)
		}
		guesser := enterPassword(t, browserAt(t, e, "192.0.2.1"))
		retryAfter(t, enterCode(guesser, right()))
		retryAfter(t, enterCode(guesser, f.recovery[0]))
		wantSignedIn(t, guesser, false, "throttled")
		for range 5 {
			enterCode(enterPassword(t, browserAt(t, e, "192.0.2.2")), wrong()).Status(t, http.StatusUnprocessableEntity)
		}
		retryAfter(t, enterCode(enterPassword(t, browserAt(t, e, "192.0.2.3")), right()))

		known := enterPassword(t, browserAt(t, e, "127.0.0.1")) // where the authenticator was set up
		enterCode(known, right()).Redirect(t)
		wantSignedIn(t, known, true, "an address that is known")
		e.Clock.Advance(15 * time.Minute)
		again := enterPassword(t, browserAt(t, e, "192.0.2.1"))
		enterCode(again, right()).Redirect(t)
		wantSignedIn(t, again, true, "a quarter of an hour later")
	})
}

// TestRecoveryCodeWorksOnce however it is typed.
func TestRecoveryCodeWorksOnce(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		f := enrolAdministrator(t, e)
		for i, code := range []string{f.recovery[0], strings.ToLower(f.recovery[1]), strings.ReplaceAll(f.recovery[2], "-", ""), " " + strings.ReplaceAll(f.recovery[3], "-", " ")} {
			b := enterPassword(t, e.Browser(t))
			enterCode(b, code).Redirect(t)
			wantSignedIn(t, b, true, code)
			enterCode(enterPassword(t, e.Browser(t)), f.recovery[i]).Status(t, http.StatusUnprocessableEntity)
		}
		const named = "SELECT count(*) FROM audit_events WHERE resource = 'User' AND action = 'update' AND CAST(fields AS text) LIKE '%recovery_codes%' AND CAST(user_id AS text) = record_id AND session_id IS NULL"
		if n := storetest.Int(t, e.DB, named); n != 4 {
			t.Errorf("the audit log has %d entries that name the user of a recovery code, want 4", n)
		}
		for _, nonsense := range []string{"", "-", "----", strings.Repeat("-", 5000), "\x00", f.recovery[5][:18]} {
			b := enterPassword(t, e.Browser(t))
			if p := enterCode(b, nonsense); p.Code < 400 || p.Code >= 500 {
				t.Errorf("%q: status %d", nonsense, p.Code)
			}
			e.Clock.Advance(15 * time.Minute)
		}
		f.browser = enterPassword(t, e.Browser(t))
		enterCode(f.browser, f.recovery[4]).Redirect(t)
		made := recoveryCodes(t, f.browser.Post("/settings/second-factor/recovery-codes", url.Values{"password": {seed.Password}, "code": {f.recovery[7]}}).Status(t, http.StatusOK))
		enterCode(enterPassword(t, e.Browser(t)), f.recovery[6]).Status(t, http.StatusUnprocessableEntity)
		b := enterPassword(t, e.Browser(t))
		enterCode(b, made[0]).Redirect(t)
		wantSignedIn(t, b, true, "a new one")

		f.browser.Post("/settings/second-factor/off", url.Values{"password": {seed.Password}, "code": {made[1]}}).Redirect(t)
		submitSignIn(e.Browser(t), seed.DemoAdmin, seed.Password).Redirect(t)
	})
}

// TestConcurrentUseOfOneCodeSignsInOnce on two servers, for both kinds of code.
func TestConcurrentUseOfOneCodeSignsInOnce(t *testing.T) {
	for name, database := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where := database(t)
			servers := []*harness.Env{harness.Start(t, where), harness.Start(t, where)}
			f := enrolAdministrator(t, servers[0])
			servers[1].Clock.Set(servers[0].Clock.Now())
			for _, code := range []string{codeAt(t, f.secret, servers[0].Clock.Now()), f.recovery[0]} {
				browsers := make([]*harness.Browser, 4) // fewer than would be throttled
				for i := range browsers {
					browsers[i] = enterPassword(t, servers[i%2].Browser(t))
				}
				var all sync.WaitGroup
				for _, b := range browsers {
					all.Go(func() { enterCode(b, code) })
				}
				all.Wait()
				in := 0
				for _, b := range browsers {
					if isSignedIn(t, b) {
						in++
					}
				}
				if in != 1 {
					t.Errorf("%d of %d were let in", in, len(browsers))
				}
				for _, e := range servers {
					e.Clock.Advance(15 * time.Minute)
				}
			}
		})
	}
}

// TestPendingSignInEndsWithThePassword: a reset password or a disabled user ends a
// sign-in that waits for a code.
func TestPendingSignInEndsWithThePassword(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		f := enrolAdministrator(t, e)
		chosen, err := password.Unchecked(t.Context(), "another-password")
		if err != nil {
			t.Fatal(err)
		}
		b := enterPassword(t, e.Browser(t))
		changeAdministrator(t, e, func(ctx context.Context, tx *ent.Client, u *ent.User) error {
			return signin.ResetPassword(ctx, tx, u, chosen, false)
		})
		enterCode(b, codeAt(t, f.secret, e.Clock.Now())).Redirect(t)
		wantSignedIn(t, b, false, "after a reset")

		submitSignIn(b, seed.DemoAdmin, "another-password").Redirect(t)
		changeAdministrator(t, e, signin.Disable)
		enterCode(b, codeAt(t, f.secret, e.Clock.Now()))
		wantSignedIn(t, b, false, "after the user was disabled")
	})
}

// TestSetupNeedsACode: two-factor authentication turns on only with a code of the
// secret, and is not replaced without the password.
func TestSetupNeedsACode(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		secret := b.Get("/settings/second-factor").Value(t, "setup-key")
		if again := b.Get("/settings/second-factor").Value(t, "setup-key"); again != secret {
			t.Error("the page cannot be shown twice")
		}
		other := e.Browser(t).SignIn(seed.DemoAdmin)
		other.Post("/settings/second-factor", url.Values{"code": {codeAt(t, secret, e.Clock.Now())}}).Status(t, http.StatusUnprocessableEntity)
		for _, code := range []string{"", "000000", codeAt(t, secret, e.Clock.Now().Add(-time.Hour))} {
			b.Post("/settings/second-factor", url.Values{"code": {code}}).Status(t, http.StatusUnprocessableEntity)
		}
		submitSignIn(e.Browser(t), seed.DemoAdmin, seed.Password).Redirect(t)
		b.Post("/settings/second-factor", url.Values{"code": {codeAt(t, secret, e.Clock.Now())}}).Status(t, http.StatusOK)
		enterPassword(t, e.Browser(t))

		e.Clock.Advance(time.Minute)
		if p := b.Post("/settings/second-factor", url.Values{"code": {codeAt(t, secret, e.Clock.Now())}}); p.Code == http.StatusOK {
			t.Errorf("set up again: %s", p.Text())
		}
		b.Get("/settings/security").Status(t, http.StatusOK).Lacks(t, secret)
	})
}
