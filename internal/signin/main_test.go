package signin_test

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"chairside/ent"
	"chairside/ent/user"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/internal/seed"
	"chairside/internal/server"
	"chairside/internal/signin"
	"chairside/internal/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

var databases = map[string]func(testing.TB) string{"sqlite": harness.SQLite, "postgres": harness.Postgres}

// behindProxy is harness.Each with a server that trusts the client addresses that
// browserAt sets.
func behindProxy(t *testing.T, test func(t *testing.T, e *harness.Env)) {
	t.Helper()
	t.Parallel()
	for name, database := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, proxied(t, database(t)))
		})
	}
}

// proxied starts a server that trusts forwarded addresses.
func proxied(t *testing.T, database string) *harness.Env {
	t.Helper()
	return harness.Start(t, database, func(o *server.Options) {
		o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
}

// browserAt returns a new browser at an address.
func browserAt(t *testing.T, e *harness.Env, address string) *harness.Browser {
	t.Helper()
	b := e.Browser(t)
	b.Header.Set("X-Forwarded-For", address)
	return b
}

// submitSignIn sends the sign-in form.
func submitSignIn(b *harness.Browser, email, password string) *harness.Page {
	return b.Post("/sign-in", url.Values{"email": {email}, "password": {password}})
}

// isSignedIn reports whether a browser has a session that works.
func isSignedIn(t *testing.T, b *harness.Browser) bool {
	t.Helper()
	p := b.Get("/settings/sessions")
	if p.Code != http.StatusOK && p.Redirect(t).Path != "/sign-in" {
		t.Fatalf("status %d, Location %s", p.Code, p.Header.Get("Location"))
	}
	return p.Code == http.StatusOK
}

// wantSignedIn fails the test unless the browser is, or is not, signed in.
func wantSignedIn(t *testing.T, b *harness.Browser, want bool, when string) {
	t.Helper()
	if isSignedIn(t, b) != want {
		t.Errorf("%s: signed in is %t", when, !want)
	}
}

// retryAfter returns the Retry-After of a throttled response.
func retryAfter(t *testing.T, p *harness.Page) time.Duration {
	t.Helper()
	seconds, err := strconv.Atoi(p.Status(t, http.StatusTooManyRequests).Header.Get("Retry-After"))
	if err != nil || seconds < 1 {
		t.Fatalf("Retry-After %q", p.Header.Get("Retry-After"))
	}
	return time.Duration(seconds) * time.Second
}

// colleague returns a user of the main practice who is not the administrator.
func colleague(t *testing.T, e *harness.Env) *ent.User {
	t.Helper()
	u, err := e.DB.Ent.User.Query().Where(user.EmailNEQ(seed.DemoAdmin), user.Active(true)).Order(user.ByID()).First(e.As(t, seed.DemoSlug))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// changeAdministrator changes the administrator without the pages.
func changeAdministrator(t *testing.T, e *harness.Env, work func(ctx context.Context, tx *ent.Client, u *ent.User) error) {
	t.Helper()
	ctx := principal.AsSystem(clock.With(t.Context(), e.Clock.Now()))
	e.Tx(t, ctx, func(tx *ent.Client) error {
		u, err := tx.User.Query().Where(user.Email(seed.DemoAdmin)).Only(ctx)
		if err != nil {
			return err
		}
		return work(signin.Force(ctx), tx, u) // the only administrator
	})
}

// enrolled is the administrator with two-factor authentication turned on.
type enrolled struct {
	secret   string
	recovery []string
	browser  *harness.Browser // signed in
}

// enrolAdministrator turns on two-factor authentication for the administrator.
func enrolAdministrator(t *testing.T, e *harness.Env) enrolled {
	t.Helper()
	b := e.Browser(t).SignIn(seed.DemoAdmin)
	secret := b.Get("/settings/second-factor").Status(t, http.StatusOK).Value(t, "setup-key")
	made := b.Post("/settings/second-factor", url.Values{"code": {codeAt(t, secret, e.Clock.Now())}}).Status(t, http.StatusOK)
	f := enrolled{secret, recoveryCodes(t, made), b}
	e.Clock.Advance(time.Minute) // past the used code
	return f
}

// codeAt returns the code that an authenticator shows.
func codeAt(t *testing.T, secret string, now time.Time) string {
	t.Helper()
	code, err := totp.GenerateCode(secret, now)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// enterPassword sends the password; the browser then waits for a code.
func enterPassword(t *testing.T, b *harness.Browser) *harness.Browser {
	t.Helper()
	if to := submitSignIn(b, seed.DemoAdmin, seed.Password).Redirect(t); to.Path != "/sign-in/code" {
		t.Fatalf("sent to %s", to)
	}
	return b
}

// enterCode sends a code.
func enterCode(b *harness.Browser, code string) *harness.Page {
	return b.Post("/sign-in/code", url.Values{"code": {code}})
}
