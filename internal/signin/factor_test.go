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
	"chairside/internal/test/harness"
)

// codes returns the recovery codes on a page.
func codes(t *testing.T, p *harness.Page) []string {
	t.Helper()
	all := strings.Fields(p.Value(t, "recovery-codes"))
	if len(all) != 10 {
		t.Fatalf("%d recovery codes", len(all))
	}
	return all
}

func TestPasswordAloneDoesNotSignIn(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		f := enrol(t, e)
		b := half(t, e.Browser(t))
		mustBeIn(t, b, false, "password alone")
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
		mustBeIn(t, f.browser, true, "the other browser")
		show(b, codeAt(t, f.secret, e.Clock.Now())).Redirect(t)
		mustBeIn(t, b, true, "password and code")
	})
}

// TestCodeNeedsARecentPassword: a code works within ten minutes of the password.
func TestCodeNeedsARecentPassword(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		f := enrol(t, e)
		b := e.Browser(t)
		if to := show(b, codeAt(t, f.secret, e.Clock.Now())).Redirect(t); to.Path != "/sign-in" {
			t.Errorf("sent to %s", to)
		}
		mustBeIn(t, b, false, "code alone")
		half(t, b)
		e.Clock.Advance(9*time.Minute + 59*time.Second)
		show(b, codeAt(t, f.secret, e.Clock.Now())).Redirect(t)
		mustBeIn(t, b, true, "in time")

		late := half(t, e.Browser(t))
		e.Clock.Advance(10*time.Minute + time.Second)
		if to := show(late, codeAt(t, f.secret, e.Clock.Now())).Redirect(t); to.Path != "/sign-in" {
			t.Errorf("sent to %s", to)
		}
		mustBeIn(t, late, false, "too late")
	})
}

// TestCodeWorksOnce: a used code and earlier codes are refused.
func TestCodeWorksOnce(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		f := enrol(t, e)
		now := e.Clock.Now()
		show(half(t, e.Browser(t)), codeAt(t, f.secret, now)).Redirect(t)
		thief := half(t, e.Browser(t))
		for _, at := range []time.Duration{0, -30 * time.Second} {
			show(thief, codeAt(t, f.secret, now.Add(at))).Status(t, http.StatusUnprocessableEntity)
		}
		mustBeIn(t, thief, false, "a used code")
		show(thief, codeAt(t, f.secret, now.Add(30*time.Second))).Redirect(t)
		mustBeIn(t, thief, true, "the next code")
	})
}

func TestSetupCodeDoesNotSignIn(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		f := enrol(t, e)
		e.Clock.Advance(-time.Minute)
		show(half(t, e.Browser(t)), codeAt(t, f.secret, e.Clock.Now())).Status(t, http.StatusUnprocessableEntity)
	})
}

func TestCodeAllowsOneStepOfClockSkew(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		f := enrol(t, e)
		for _, c := range []struct {
			skew time.Duration
			in   bool
		}{{-60 * time.Second, false}, {-30 * time.Second, true}, {0, true}, {30 * time.Second, true}, {60 * time.Second, false}, {-time.Hour, false}} {
			e.Clock.Advance(5 * time.Minute)
			b := half(t, e.Browser(t))
			show(b, codeAt(t, f.secret, e.Clock.Now().Add(c.skew)))
			mustBeIn(t, b, c.in, fmt.Sprint("off by ", c.skew))
		}
		e.Clock.Advance(5 * time.Minute)
		b := half(t, e.Browser(t))
		code := codeAt(t, f.secret, e.Clock.Now())
		show(b, " "+code[:3]+" "+code[3:]+" ")
		mustBeIn(t, b, true, "written in two halves")
	})
}

// TestCodeGuessesAreThrottled per address and over all addresses, even if the correct
// password comes before each guess.
func TestCodeGuessesAreThrottled(t *testing.T) {
	behindProxy(t, func(t *testing.T, e *harness.Env) {
		f := enrol(t, e)
		right := func() string { return codeAt(t, f.secret, e.Clock.Now()) }
		wrong := func() string { return codeAt(t, f.secret, e.Clock.Now().Add(-time.Hour)) }
		for range 5 { // each time with the password before it
			show(half(t, from(t, e, "192.0.2.1")), wrong()).Status(t, http.StatusUnprocessableEntity)
		}
		guesser := half(t, from(t, e, "192.0.2.1"))
		wait(t, show(guesser, right()))
		wait(t, show(guesser, f.recovery[0]))
		mustBeIn(t, guesser, false, "throttled")
		for range 5 {
			show(half(t, from(t, e, "192.0.2.2")), wrong()).Status(t, http.StatusUnprocessableEntity)
		}
		wait(t, show(half(t, from(t, e, "192.0.2.3")), right()))

		known := half(t, from(t, e, "127.0.0.1")) // where the authenticator was set up
		show(known, right()).Redirect(t)
		mustBeIn(t, known, true, "an address that is known")
		e.Clock.Advance(15 * time.Minute)
		again := half(t, from(t, e, "192.0.2.1"))
		show(again, right()).Redirect(t)
		mustBeIn(t, again, true, "a quarter of an hour later")
	})
}

// TestRecoveryCodeWorksOnce however it is typed.
func TestRecoveryCodeWorksOnce(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		f := enrol(t, e)
		for i, code := range []string{f.recovery[0], strings.ToLower(f.recovery[1]), strings.ReplaceAll(f.recovery[2], "-", ""), " " + strings.ReplaceAll(f.recovery[3], "-", " ")} {
			b := half(t, e.Browser(t))
			show(b, code).Redirect(t)
			mustBeIn(t, b, true, code)
			show(half(t, e.Browser(t)), f.recovery[i]).Status(t, http.StatusUnprocessableEntity)
		}
		for _, nonsense := range []string{"", "-", "----", strings.Repeat("-", 5000), "\x00", f.recovery[5][:18]} {
			b := half(t, e.Browser(t))
			if p := show(b, nonsense); p.Code < 400 || p.Code >= 500 {
				t.Errorf("%q: status %d", nonsense, p.Code)
			}
			e.Clock.Advance(15 * time.Minute)
		}
		f.browser = half(t, e.Browser(t))
		show(f.browser, f.recovery[4]).Redirect(t)
		made := codes(t, f.browser.Post("/settings/second-factor/recovery-codes", url.Values{"password": {seed.Password}, "code": {f.recovery[7]}}).Status(t, http.StatusOK))
		show(half(t, e.Browser(t)), f.recovery[6]).Status(t, http.StatusUnprocessableEntity)
		b := half(t, e.Browser(t))
		show(b, made[0]).Redirect(t)
		mustBeIn(t, b, true, "a new one")

		f.browser.Post("/settings/second-factor/off", url.Values{"password": {seed.Password}, "code": {made[1]}}).Redirect(t)
		enter(e.Browser(t), seed.DemoAdmin, seed.Password).Redirect(t)
	})
}

// TestConcurrentUseOfOneCodeSignsInOnce on two servers, for both kinds of code.
func TestConcurrentUseOfOneCodeSignsInOnce(t *testing.T) {
	for name, database := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where := database(t)
			servers := []*harness.Env{harness.Start(t, where), harness.Start(t, where)}
			f := enrol(t, servers[0])
			servers[1].Clock.Set(servers[0].Clock.Now())
			for _, code := range []string{codeAt(t, f.secret, servers[0].Clock.Now()), f.recovery[0]} {
				browsers := make([]*harness.Browser, 4) // fewer than would be throttled
				for i := range browsers {
					browsers[i] = half(t, servers[i%2].Browser(t))
				}
				var all sync.WaitGroup
				for _, b := range browsers {
					all.Go(func() { show(b, code) })
				}
				all.Wait()
				in := 0
				for _, b := range browsers {
					if isIn(t, b) {
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
		f := enrol(t, e)
		chosen, err := password.Unchecked(t.Context(), "another-password")
		if err != nil {
			t.Fatal(err)
		}
		b := half(t, e.Browser(t))
		change(t, e, func(ctx context.Context, tx *ent.Client, u *ent.User) error {
			return signin.ResetPassword(ctx, tx, u, chosen, false)
		})
		show(b, codeAt(t, f.secret, e.Clock.Now())).Redirect(t)
		mustBeIn(t, b, false, "after a reset")

		enter(b, seed.DemoAdmin, "another-password").Redirect(t)
		change(t, e, signin.Disable)
		show(b, codeAt(t, f.secret, e.Clock.Now()))
		mustBeIn(t, b, false, "after the user was disabled")
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
		enter(e.Browser(t), seed.DemoAdmin, seed.Password).Redirect(t)
		b.Post("/settings/second-factor", url.Values{"code": {codeAt(t, secret, e.Clock.Now())}}).Status(t, http.StatusOK)
		half(t, e.Browser(t))

		e.Clock.Advance(time.Minute)
		if p := b.Post("/settings/second-factor", url.Values{"code": {codeAt(t, secret, e.Clock.Now())}}); p.Code == http.StatusOK {
			t.Errorf("set up again: %s", p.Text())
		}
		b.Get("/settings/security").Status(t, http.StatusOK).Lacks(t, secret)
	})
}
