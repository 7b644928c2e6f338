package signin_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"chairside/internal/seed"
	"chairside/internal/signin/password"
	"chairside/internal/test/harness"
)

// guessPassword sends wrong passwords, which must all be checked. They are longer than
// MaxBytes, so that no hash is computed.
func guessPassword(t *testing.T, b *harness.Browser, email string, times int) {
	t.Helper()
	for range times {
		submitSignIn(b, email, strings.Repeat("x", password.MaxBytes+1)).Status(t, http.StatusUnprocessableEntity)
	}
}

// TestSignInLocksAfterTenFailures from one address, for 15 minutes. Other addresses
// and accounts are not affected.
func TestSignInLocksAfterTenFailures(t *testing.T) {
	for _, email := range []string{seed.DemoAdmin, "nobody@example.com"} {
		t.Run(email, func(t *testing.T) {
			behindProxy(t, func(t *testing.T, e *harness.Env) {
				guesser := browserAt(t, e, "192.0.2.1")
				guessPassword(t, guesser, email, 9)
				e.Clock.Advance(5 * time.Minute)
				guessPassword(t, guesser, email, 1)
				for _, password := range []string{"wrong-password", seed.Password} { // the right one is not looked at either
					if got := retryAfter(t, submitSignIn(guesser, email, password)); got != 10*time.Minute {
						t.Errorf("wait %s", got)
					}
				}
				wantSignedIn(t, guesser, false, "throttled")
				retryAfter(t, submitSignIn(browserAt(t, e, "192.0.2.1"), email, seed.Password)) // another browser there

				elsewhere := browserAt(t, e, "192.0.2.2")
				submitSignIn(elsewhere, seed.DemoAdmin, seed.Password).Status(t, http.StatusSeeOther)
				other := browserAt(t, e, "192.0.2.1")
				submitSignIn(other, seed.SecondAdmin, seed.Password).Status(t, http.StatusSeeOther)

				e.Clock.Advance(10*time.Minute - time.Second)
				retryAfter(t, submitSignIn(guesser, email, seed.Password))
				e.Clock.Advance(time.Second)
				if p := submitSignIn(guesser, email, seed.Password); p.Code == http.StatusTooManyRequests {
					t.Errorf("still throttled after what Retry-After has said: %s", p.Text())
				}
			})
		})
	}
}

// TestSignInLocksAfterThirtyFailuresFromUnknownAddresses, but not for a known address.
func TestSignInLocksAfterThirtyFailuresFromUnknownAddresses(t *testing.T) {
	behindProxy(t, func(t *testing.T, e *harness.Env) {
		owner := browserAt(t, e, "198.51.100.7").SignIn(seed.DemoAdmin)
		e.Clock.Advance(80 * 24 * time.Hour)
		for i := range 6 {
			guessPassword(t, browserAt(t, e, fmt.Sprintf("192.0.2.%d", i)), seed.DemoAdmin, 5)
		}
		for _, address := range []string{"192.0.2.0", "192.0.2.99", "2001:db8::1"} {
			if got := retryAfter(t, submitSignIn(browserAt(t, e, address), seed.DemoAdmin, seed.Password)); got > 15*time.Minute {
				t.Errorf("wait %s", got)
			}
		}
		for range 3 {
			submitSignIn(owner, seed.DemoAdmin, seed.Password).Status(t, http.StatusSeeOther)
		}
		guessPassword(t, owner, seed.DemoAdmin, 9) // failures do not lock the owner out
		submitSignIn(owner, seed.DemoAdmin, seed.Password).Status(t, http.StatusSeeOther)
		submitSignIn(browserAt(t, e, "192.0.2.0"), seed.SecondAdmin, seed.Password).Status(t, http.StatusSeeOther)

		e.Clock.Advance(15 * time.Minute)
		submitSignIn(browserAt(t, e, "192.0.2.99"), seed.DemoAdmin, seed.Password).Status(t, http.StatusSeeOther)
	})
}

func TestAddressIsUnknownAfterNinetyDays(t *testing.T) {
	behindProxy(t, func(t *testing.T, e *harness.Env) {
		owner := browserAt(t, e, "198.51.100.7").SignIn(seed.DemoAdmin)
		e.Clock.Advance(91 * 24 * time.Hour)
		for i := range 6 {
			guessPassword(t, browserAt(t, e, fmt.Sprintf("192.0.2.%d", i)), seed.DemoAdmin, 5)
		}
		retryAfter(t, submitSignIn(owner, seed.DemoAdmin, seed.Password))
	})
}

// TestSignInLocksAfterAHundredFailuresFromOneAddress for any accounts.
func TestSignInLocksAfterAHundredFailuresFromOneAddress(t *testing.T) {
	behindProxy(t, func(t *testing.T, e *harness.Env) {
		guesser := browserAt(t, e, "2001:db8:1:2::1")
		for i := range 100 {
			guessPassword(t, guesser, fmt.Sprintf("user%d@example.com", i), 1)
		}
		retryAfter(t, submitSignIn(guesser, seed.DemoAdmin, seed.Password))
		retryAfter(t, submitSignIn(browserAt(t, e, "2001:db8:1:2:ffff::5"), seed.DemoAdmin, seed.Password)) // the same network of 64 bits
		submitSignIn(browserAt(t, e, "2001:db8:1:3::1"), seed.DemoAdmin, seed.Password).Status(t, http.StatusSeeOther)
		submitSignIn(browserAt(t, e, "192.0.2.1"), seed.DemoAdmin, seed.Password).Status(t, http.StatusSeeOther)
	})
}

// TestSuccessClearsFailures from the same address.
func TestSuccessClearsFailures(t *testing.T) {
	behindProxy(t, func(t *testing.T, e *harness.Env) {
		b := browserAt(t, e, "192.0.2.1")
		for range 3 {
			guessPassword(t, b, seed.DemoAdmin, 9)
			submitSignIn(b, seed.DemoAdmin, seed.Password).Status(t, http.StatusSeeOther)
		}
	})
}

// TestForwardedAddressesNeedATrustedProxy: otherwise each guess could claim another
// address.
func TestForwardedAddressesNeedATrustedProxy(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		for i := range 10 {
			guessPassword(t, browserAt(t, e, fmt.Sprintf("192.0.2.%d", i)), seed.DemoAdmin, 1)
		}
		b := browserAt(t, e, "192.0.2.200")
		b.Header.Set("X-Real-Ip", "192.0.2.201")
		b.Header.Set("Forwarded", "for=192.0.2.202")
		retryAfter(t, submitSignIn(b, seed.DemoAdmin, seed.Password))
	})
}

// TestConcurrentGuessesDoNotPassTheLimit through two servers.
func TestConcurrentGuessesDoNotPassTheLimit(t *testing.T) {
	t.Parallel()
	for name, database := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where := database(t)
			servers := []*harness.Env{harness.Start(t, where), harness.Start(t, where)}
			answers := make([]int, 80)
			var all sync.WaitGroup
			for i := range answers {
				b := servers[i%2].Browser(t)
				all.Go(func() { answers[i] = submitSignIn(b, seed.DemoAdmin, "wrong-password").Code })
			}
			all.Wait()
			looked := 0
			for _, code := range answers {
				if code == http.StatusUnprocessableEntity {
					looked++
				}
				if !slices.Contains([]int{422, 429, 503}, code) { // 503: the machine is too slow for all of them
					t.Errorf("status %d", code)
				}
			}
			if looked > 10 {
				t.Errorf("%d guesses at once were looked at", looked)
			}
		})
	}
}

// TestPasswordGuessesFromASessionAreThrottled when changing the password or
// two-factor authentication.
func TestPasswordGuessesFromASessionAreThrottled(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		f := enrolAdministrator(t, e)
		forms := map[string]url.Values{
			"/settings/password":                     {"current": {"wrong-password"}, "password": {"another-password"}, "again": {"another-password"}},
			"/settings/second-factor/off":            {"password": {"wrong-password"}},
			"/settings/second-factor/recovery-codes": {"password": {"wrong-password"}},
		}
		tries := 0
		for range 4 {
			for path, form := range forms {
				p := f.browser.Post(path, form)
				if tries++; tries <= 10 {
					p.Status(t, http.StatusUnprocessableEntity)
				} else {
					retryAfter(t, p)
				}
			}
		}
		retryAfter(t, f.browser.Post("/settings/second-factor/off", url.Values{"password": {seed.Password}}))
		retryAfter(t, submitSignIn(e.Browser(t), seed.DemoAdmin, seed.Password))
	})
}
