package signin_test

import (
	"net/http"
	"testing"

	"entgo.io/ent/dialect"

	"chairside/internal/seed"
	"chairside/internal/test/harness"
)

// TestSessionThatCannotBeStored: the response is the error page alone, without the redirect and the cookies
// of a sign-in. The harness fails if it is begun twice.
func TestSessionThatCannotBeStored(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		refuse, allow := "CREATE TRIGGER refuse BEFORE INSERT ON sessions BEGIN SELECT RAISE(ABORT, 'refused'); END", "DROP TRIGGER refuse"
		if e.DB.Dialect == dialect.Postgres {
			refuse, allow = "ALTER TABLE sessions ADD CONSTRAINT refuse CHECK (false) NOT VALID", "ALTER TABLE sessions DROP CONSTRAINT refuse"
		}
		if _, err := e.Owner().ExecContext(t.Context(), refuse); err != nil {
			t.Fatal(err)
		}
		p := submitSignIn(e.Browser(t), seed.DemoAdmin, seed.Password).Status(t, http.StatusInternalServerError).Has(t, "Something went wrong")
		if location, cookies := p.Header.Get("Location"), p.Header["Set-Cookie"]; location != "" || cookies != nil {
			t.Errorf("redirects to %q, cookies %v", location, cookies)
		}
		if p.Header.Get("Vary") != "Cookie" || p.Header.Get("X-Request-Id") == "" || p.Header.Get("Content-Security-Policy") == "" {
			t.Errorf("headers %v", p.Header)
		}
		if _, err := e.Owner().ExecContext(t.Context(), allow); err != nil {
			t.Fatal(err)
		}
		e.Browser(t).SignIn(seed.DemoAdmin)
	})
}
