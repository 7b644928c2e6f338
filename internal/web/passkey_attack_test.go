package web_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/descope/virtualwebauthn"

	"chairside/ent"
	"chairside/ent/passkeychallenge"
	"chairside/internal/principal"
	"chairside/internal/seed"
	"chairside/internal/server"
	"chairside/internal/signin"
	"chairside/internal/test/harness"
	"chairside/schema"
)

// TestPasskeyAttacksAreRefused: each attack fails, and the passkey still works afterwards.
func TestPasskeyAttacksAreRefused(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		d := withPasskey(t, e, seed.DemoAdmin)
		other := withPasskey(t, e, userWithRole(t, e, schema.RoleManager).Email)
		owned := passkeyRowOf(t, e, seed.DemoAdmin)
		for name, attack := range map[string]func(t *testing.T, b *harness.Browser) string{
			"nothing":  func(*testing.T, *harness.Browser) string { return "" },
			"not JSON": func(*testing.T, *harness.Browser) string { return "{" },
			"empty":    func(*testing.T, *harness.Browser) string { return "{}" },
			"another origin": func(t *testing.T, b *harness.Browser) string {
				return d.at(d.page.ID, "https://evil.example").sign(t, challenge(t, b, "sign-in"))
			},
			"another port": func(t *testing.T, b *harness.Browser) string {
				return d.at(d.page.ID, "http://localhost:1").sign(t, challenge(t, b, "sign-in"))
			},
			"another name": func(t *testing.T, b *harness.Browser) string {
				return d.at("evil.example", d.page.Origin).sign(t, challenge(t, b, "sign-in"))
			},
			"not verified": func(t *testing.T, b *harness.Browser) string {
				return d.with(func(o *virtualwebauthn.AuthenticatorOptions) { o.UserNotVerified = true }).sign(t, challenge(t, b, "sign-in"))
			},
			"not present": func(t *testing.T, b *harness.Browser) string {
				return d.with(func(o *virtualwebauthn.AuthenticatorOptions) { o.UserNotPresent = true }).sign(t, challenge(t, b, "sign-in"))
			},
			"now synced": func(t *testing.T, b *harness.Browser) string {
				return d.with(func(o *virtualwebauthn.AuthenticatorOptions) { o.BackupEligible = true }).sign(t, challenge(t, b, "sign-in"))
			},
			"no user handle": func(t *testing.T, b *harness.Browser) string {
				return d.with(func(o *virtualwebauthn.AuthenticatorOptions) { o.UserHandle = nil }).sign(t, challenge(t, b, "sign-in"))
			},
			"another's handle": func(t *testing.T, b *harness.Browser) string {
				return d.with(func(o *virtualwebauthn.AuthenticatorOptions) { o.UserHandle = other.Options.UserHandle }).sign(t, challenge(t, b, "sign-in"))
			},
			"another's key": func(t *testing.T, b *harness.Browser) string {
				forged := *other
				forged.key.ID, forged.Options.UserHandle = d.key.ID, d.Options.UserHandle
				return forged.sign(t, challenge(t, b, "sign-in"))
			},
			"unknown credential": func(t *testing.T, b *harness.Browser) string {
				unknown := newDevice(e)
				unknown.Options.UserHandle = d.Options.UserHandle
				return unknown.sign(t, challenge(t, b, "sign-in"))
			},
			"expired challenge": func(t *testing.T, b *harness.Browser) string {
				signed := d.sign(t, challenge(t, b, "sign-in"))
				e.Clock.Advance(5 * time.Minute)
				return signed
			},
			"another browser's challenge": func(t *testing.T, b *harness.Browser) string {
				challenge(t, b, "sign-in") // its own, for which there is no response
				return d.sign(t, challenge(t, e.Browser(t), "sign-in"))
			},
			"no challenge": func(t *testing.T, b *harness.Browser) string {
				signed := d.sign(t, challenge(t, b, "sign-in"))
				if _, err := e.DB.Ent.PasskeyChallenge.Delete().Exec(principal.AsSystem(t.Context())); err != nil {
					t.Fatal(err)
				}
				return signed
			},
			"replayed": func(t *testing.T, b *harness.Browser) string {
				signed := d.sign(t, challenge(t, b, "sign-in"))
				b.Post("/sign-in", url.Values{"passkey": {signed}}).Status(t, http.StatusSeeOther)
				b.Post("/sign-out", nil).Status(t, http.StatusSeeOther)
				return signed
			},
			"replayed with a new challenge": func(t *testing.T, b *harness.Browser) string {
				signed := d.sign(t, challenge(t, b, "sign-in"))
				b.Post("/sign-in", url.Values{"passkey": {signed}}).Status(t, http.StatusSeeOther)
				b.Post("/sign-out", nil).Status(t, http.StatusSeeOther)
				challenge(t, b, "sign-in")
				return signed
			},
			"counter as before": func(t *testing.T, b *harness.Browser) string {
				signInWith(t, e.Browser(t), d).Status(t, http.StatusSeeOther)
				copied := *d
				copied.key.Counter--
				return copied.sign(t, challenge(t, b, "sign-in"))
			},
			"counter of zero": func(t *testing.T, b *harness.Browser) string {
				signInWith(t, e.Browser(t), d).Status(t, http.StatusSeeOther)
				return d.withoutCounter().sign(t, challenge(t, b, "sign-in"))
			},
			"another purpose": func(t *testing.T, _ *harness.Browser) string {
				in := e.Browser(t)
				signInWith(t, in, d).Status(t, http.StatusSeeOther)
				signed := d.sign(t, challenge(t, in, "confirm"))
				in.Post("/sign-in", url.Values{"passkey": {signed}}).Status(t, http.StatusUnprocessableEntity)
				return signed
			},
			"registration": func(t *testing.T, _ *harness.Browser) string {
				in := e.Browser(t).SignIn(seed.DemoAdmin)
				return newDevice(e).register(t, in.Post("/settings/passkeys/options", url.Values{"name": {"x"}}).Status(t, http.StatusOK).Raw)
			},
		} {
			b := e.Browser(t)
			p := b.Post("/sign-in", url.Values{"passkey": {attack(t, b)}})
			if p.Code != http.StatusUnprocessableEntity || !strings.Contains(p.Text(), refusedPasskey) {
				t.Errorf("%s: status %d: %s", name, p.Code, p.Text())
			}
			if cookie := sessionCookie(p); cookie != "" && !strings.Contains(cookie, "Max-Age=0") {
				t.Errorf("%s: a session: %s", name, cookie)
			}
			b.Get("/settings/tokens").Status(t, http.StatusSeeOther)
			e.Clock.Advance(15 * time.Minute) // failures no longer count
			if p := signInWith(t, e.Browser(t), d); p.Code != http.StatusSeeOther {
				t.Fatalf("after %s the passkey does not work: %s", name, p.Text())
			}
		}
		if after := passkeyRowOf(t, e, seed.DemoAdmin); string(after.PublicKey) != string(owned.PublicKey) || after.SignCount != int64(d.key.Counter) {
			t.Errorf("the passkey has the counter %d, want %d", after.SignCount, d.key.Counter)
		}
	})
}

// TestForgedRegistrationsAreRefused: no passkey is added.
func TestForgedRegistrationsAreRefused(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		victim := e.Browser(t).SignIn(seed.DemoAdmin)
		options := func(t *testing.T, b *harness.Browser) []byte {
			return b.Post("/settings/passkeys/options", url.Values{"name": {"x"}}).Status(t, http.StatusOK).Raw
		}
		taken := withPasskey(t, e, seed.SecondAdmin)
		for name, attack := range map[string]func(t *testing.T) string{
			"nothing": func(*testing.T) string { return "" },
			"another origin": func(t *testing.T) string {
				return newDevice(e).at("localhost", "https://evil.example").register(t, options(t, victim))
			},
			"another name": func(t *testing.T) string {
				d := newDevice(e)
				return d.at("evil.example", d.page.Origin).register(t, options(t, victim))
			},
			"not verified": func(t *testing.T) string {
				return newDevice(e).with(func(o *virtualwebauthn.AuthenticatorOptions) { o.UserNotVerified = true }).register(t, options(t, victim))
			},
			"another practice's passkey": func(t *testing.T) string { return taken.register(t, options(t, victim)) },
			"another user's challenge": func(t *testing.T) string {
				options(t, victim)
				return newDevice(e).register(t, options(t, e.Browser(t).SignIn(seed.SecondAdmin)))
			},
			"expired challenge": func(t *testing.T) string {
				signed := newDevice(e).register(t, options(t, victim))
				e.Clock.Advance(5 * time.Minute)
				return signed
			},
			"assertion": func(t *testing.T) string { return taken.sign(t, challenge(t, victim, "sign-in")) },
		} {
			p := victim.Post("/settings/passkeys", url.Values{"name": {"Planted"}, "passkey": {attack(t)}})
			if p.Code != http.StatusUnprocessableEntity || !strings.Contains(p.Text(), refusedPasskey) {
				t.Errorf("%s: status %d: %s", name, p.Code, p.Text())
			}
		}
		victim.Get("/settings/security").Lacks(t, "Planted")
		signed := newDevice(e).register(t, options(t, victim))
		victim.Post("/settings/passkeys", url.Values{"name": {"First"}, "passkey": {signed}}).Status(t, http.StatusSeeOther)
		victim.Post("/settings/passkeys", url.Values{"name": {"Replayed"}, "passkey": {signed}}).Status(t, http.StatusUnprocessableEntity)
	})
}

// TestChallengesAreBound to the session that asked for them, and to one address at most a hundred.
func TestChallengesAreBound(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		d := withPasskey(t, e, seed.DemoAdmin)
		b := e.Browser(t)
		signInWith(t, b, d).Status(t, http.StatusSeeOther)
		// The response for an earlier session of the same user and browser.
		e.Clock.Advance(time.Minute)
		earlier := d.sign(t, challenge(t, b, "confirm"))
		b.SignIn(seed.DemoAdmin)
		b.Post("/sign-in/confirm", url.Values{"passkey": {earlier}}).Status(t, http.StatusUnprocessableEntity).Has(t, refusedPasskey)

		ctx := principal.AsSystem(t.Context())
		e.Clock.Advance(5 * time.Minute)
		for range 100 {
			challenge(t, b, "sign-in")
		}
		slow := b.Post("/sign-in/passkey", url.Values{"step": {"sign-in"}}).Status(t, http.StatusTooManyRequests).Has(t, "Too many attempts.")
		if slow.Header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
		e.Clock.Advance(5 * time.Minute)
		challenge(t, b, "sign-in")
		if n, err := e.DB.Ent.PasskeyChallenge.Query().Where(passkeychallenge.Purpose("sign-in")).Count(ctx); err != nil || n != 1 {
			t.Errorf("%d challenges are left (%v)", n, err)
		}
	})
}

// TestConcurrentUseOfOneResponseSignsInOnce on two servers, for an authenticator without a counter.
func TestConcurrentUseOfOneResponseSignsInOnce(t *testing.T) {
	for name, database := range map[string]func(testing.TB) string{"sqlite": harness.SQLite, "postgres": harness.Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := database(t)
			named := func(o *server.Options) { o.BaseURL = "http://localhost:1" } // behind one address
			e, other := harness.Start(t, address, named), harness.Start(t, address, named)
			d := newDevice(e)
			d.page.Origin = "http://localhost:1"
			addPasskey(t, e.Browser(t).SignIn(seed.DemoAdmin), d, "Laptop").Status(t, http.StatusSeeOther)
			for range 5 {
				b := e.Browser(t)
				given := url.Values{"passkey": {d.withoutCounter().sign(t, challenge(t, b, "sign-in"))}}
				statuses := make([]int, 6)
				var all sync.WaitGroup
				for i := range statuses {
					all.Go(func() { statuses[i] = b.At([]*harness.Env{e, other}[i%2]).Post("/sign-in", given).Code })
				}
				all.Wait()
				slices.Sort(statuses)
				if want := []int{303, 422, 422, 422, 422, 422}; !slices.Equal(statuses, want) {
					t.Fatalf("statuses %v, want %v", statuses, want)
				}
				e.Clock.Advance(15 * time.Minute) // failures no longer count
				other.Clock.Advance(15 * time.Minute)
			}
		})
	}
}

// TestRemovalBeatsConcurrentSignIn: no session by a removed passkey is left.
func TestRemovalBeatsConcurrentSignIn(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		ctx := principal.AsSystem(t.Context())
		for range 3 {
			d := withPasskey(t, e, seed.DemoAdmin)
			u := passkeyRowOf(t, e, seed.DemoAdmin).QueryUser().OnlyX(ctx)
			browsers := make([]*harness.Browser, 4)
			var all sync.WaitGroup
			for i := range browsers {
				browsers[i] = e.Browser(t)
				given := url.Values{"passkey": {d.withoutCounter().sign(t, challenge(t, browsers[i], "sign-in"))}}
				all.Go(func() { browsers[i].Post("/sign-in", given) })
			}
			all.Go(func() {
				if err := e.DB.Tx(ctx, func(tx *ent.Client) error { return signin.ResetSecondFactor(ctx, tx, u) }); err != nil {
					t.Error(err)
				}
			})
			all.Wait()
			for _, b := range browsers {
				b.Get("/settings/tokens").Status(t, http.StatusSeeOther)
			}
			e.Clock.Advance(time.Hour) // failures no longer count
		}
	})
}

func TestPasskeyGuessesAreThrottled(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		d := withPasskey(t, e, seed.DemoAdmin)
		thief := e.Browser(t)
		var p *harness.Page
		for range 11 {
			p = signInWith(t, thief, d.at(d.page.ID, "https://evil.example"))
		}
		if p.Status(t, http.StatusTooManyRequests).Has(t, "Too many attempts."); p.Header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
		signInWith(t, e.Browser(t), d).Status(t, http.StatusTooManyRequests)
		e.Browser(t).SignIn(seed.DemoAdmin) // the password is another account
		e.Clock.Advance(15 * time.Minute)
		signInWith(t, e.Browser(t), d).Status(t, http.StatusSeeOther)
	})
}

// at returns the device on another page.
func (d *device) at(name, origin string) *device {
	other := *d
	other.page = virtualwebauthn.RelyingParty{ID: name, Origin: origin}
	return &other
}

// with returns the device with other options.
func (d *device) with(change func(o *virtualwebauthn.AuthenticatorOptions)) *device {
	other := *d
	change(&other.Options)
	return &other
}

// withoutCounter returns the device as one whose signature counter stays 0.
func (d *device) withoutCounter() *device {
	other := *d
	other.key.Counter = ^uint32(0) // sign adds one
	return &other
}
